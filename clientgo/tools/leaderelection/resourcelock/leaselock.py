"""A lock in a Lease. Mirrors client-go/tools/leaderelection/resourcelock/leaselock.go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from clientgo.api.coordination import v1 as coordinationv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.golang.functions import require_methods
from clientgo.tools.leaderelection.resourcelock.interface import LeaderElectionRecord, ResourceLockConfig

__all__ = ["LeaseLock", "leader_election_record_to_lease_spec", "lease_spec_to_leader_election_record"]


class LeaseInterface(Protocol):
    """The methods of a typed Lease client that the lock uses."""

    def get(self, ctx: Context, name: str, options: metav1.GetOptions | None = None, /) -> coordinationv1.Lease: ...

    def create(
        self, ctx: Context, obj: coordinationv1.Lease, opts: metav1.CreateOptions | None = None, /
    ) -> coordinationv1.Lease: ...

    def update(
        self, ctx: Context, obj: coordinationv1.Lease, opts: metav1.UpdateOptions | None = None, /
    ) -> coordinationv1.Lease: ...


class LeasesGetter(Protocol):
    """A source of clients for Leases, such as the typed client of coordination.k8s.io/v1."""

    def leases(self, namespace: str, /) -> LeaseInterface: ...


class LeaseLock:
    """A lock whose record is the spec of a Lease. The server's resourceVersion check prevents concurrent writes.

    Not thread-safe. Go: resourcelock.LeaseLock.
    """

    def __init__(
        self,
        lease_meta: metav1.ObjectMeta,
        client: LeasesGetter,
        lock_config: ResourceLockConfig,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """Create a lock in the Lease that `lease_meta` names. `labels` are added to the Lease's own labels.

        Raises TypeError for a client that is no LeasesGetter, such as a whole clientset.
        """
        self.lease_meta = lease_meta
        self.client = require_methods(client, "client", "leases")
        self.lock_config = lock_config
        self.labels = labels
        # The last state from the server. Updates use its resourceVersion.
        self._lease: coordinationv1.Lease | None = None

    def get(self, ctx: Context) -> tuple[LeaderElectionRecord, bytes]:
        """See `Interface.get`. Go: LeaseLock.Get."""
        self._lease = self._leases().get(ctx, self.lease_meta.name)
        record = lease_spec_to_leader_election_record(self._lease.spec)
        return record, record.to_json()

    def create(self, ctx: Context, ler: LeaderElectionRecord) -> None:
        """See `Interface.create`. Go: LeaseLock.Create."""
        metadata = metav1.ObjectMeta(name=self.lease_meta.name, namespace=self.lease_meta.namespace)
        if self.labels is not None:
            metadata.labels = dict(self.labels)
        lease = coordinationv1.Lease(metadata=metadata, spec=leader_election_record_to_lease_spec(ler))
        self._lease = self._leases().create(ctx, lease)

    def update(self, ctx: Context, ler: LeaderElectionRecord) -> None:
        """See `Interface.update`. Raises RuntimeError before the first get or create. Go: LeaseLock.Update."""
        if self._lease is None:
            raise RuntimeError("lease not initialized, call get or create first")
        self._lease.spec = leader_election_record_to_lease_spec(ler)
        if self.labels is not None:
            self._lease.metadata.labels.update(self.labels)
        self._lease = self._leases().update(ctx, self._lease)

    def record_event(self, s: str) -> None:
        """Record an event; see `Interface.record_event`. Does nothing without a recorder or before the first request.

        Go: LeaseLock.RecordEvent.
        """
        recorder = self.lock_config.event_recorder
        if recorder is None or self._lease is None:
            return
        # The event needs only the Lease's name. Decoding removed the kind from the Lease.
        subject = coordinationv1.Lease(metadata=self._lease.metadata.deep_copy())
        subject.kind = "Lease"
        subject.api_version = str(coordinationv1.SCHEME_GROUP_VERSION)
        recorder.eventf(subject, "Normal", "LeaderElection", "%s", f"{self.lock_config.identity} {s}")

    def describe(self) -> str:
        """Return the Lease's "namespace/name". Go: LeaseLock.Describe."""
        return f"{self.lease_meta.namespace}/{self.lease_meta.name}"

    def identity(self) -> str:
        """See `Interface.identity`. Go: LeaseLock.Identity."""
        return self.lock_config.identity

    def _leases(self) -> LeaseInterface:
        return self.client.leases(self.lease_meta.namespace)

    def __repr__(self) -> str:
        return f"<LeaseLock {self.describe()} for {self.identity()}>"


def lease_spec_to_leader_election_record(spec: coordinationv1.LeaseSpec) -> LeaderElectionRecord:
    """Return the record in a Lease's spec. Absent fields have their zero values.

    Go: resourcelock.LeaseSpecToLeaderElectionRecord.
    """
    return LeaderElectionRecord(
        holder_identity=spec.holder_identity or "",
        lease_duration_seconds=spec.lease_duration_seconds or 0,
        acquire_time=spec.acquire_time,
        renew_time=spec.renew_time,
        leader_transitions=spec.lease_transitions or 0,
        strategy=spec.strategy or "",
        preferred_holder=spec.preferred_holder or "",
    )


def leader_election_record_to_lease_spec(ler: LeaderElectionRecord) -> coordinationv1.LeaseSpec:
    """Return the spec of a Lease with this record. Go: resourcelock.LeaderElectionRecordToLeaseSpec."""
    return coordinationv1.LeaseSpec(
        holder_identity=ler.holder_identity,
        lease_duration_seconds=ler.lease_duration_seconds,
        acquire_time=ler.acquire_time,
        renew_time=ler.renew_time,
        lease_transitions=ler.leader_transitions,
        strategy=ler.strategy or None,
        preferred_holder=ler.preferred_holder or None,
    )
