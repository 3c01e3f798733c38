"""The live replicas, each with a Lease that it renews. Not in Go.

A member is alive for `lease_duration` after its last activity: a change of its own Lease, or of the Lease of a shard
that it holds. Every member observes all of them continuously with its own clock, as in leader election: clocks of
different machines are never compared. Therefore, when a member is found dead, the Leases of its shards have expired as
well, and the new owner of a shard need not wait for another lease duration.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from clientgo import klog
from clientgo.api.coordination import v1 as coordinationv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.time import from_clock
from clientgo.context import Context
from clientgo.tools.leaderelection.resourcelock.leaselock import LeaseInterface
from clientgo.utils.clock.clock import REAL_CLOCK, Clock

__all__ = ["MEMBER_LABEL", "SHARD_LABEL", "MemberLeases", "MemberLeasesGetter", "Membership", "Observation"]

MEMBER_LABEL = "sharding.clientgo/member-of"
SHARD_LABEL = "sharding.clientgo/shard-of"
"""The label of the Leases of shards. Renewals add it to a Lease of an older version."""

# A Lease that has not changed for this number of lease durations is deleted: its replica is gone.
_FORGOTTEN_AFTER = 10


class MemberLeases(LeaseInterface, Protocol):
    """The methods of a typed Lease client that members use."""

    def list(self, ctx: Context, opts: metav1.ListOptions | None = None, /) -> coordinationv1.LeaseList: ...

    def delete(self, ctx: Context, name: str, opts: metav1.DeleteOptions | None = None, /) -> None: ...


class MemberLeasesGetter(Protocol):
    """A source of a client for Leases, such as the typed client of coordination.k8s.io/v1."""

    def leases(self, namespace: str, /) -> MemberLeases: ...


class Observation(NamedTuple):
    """The last observed change of a Lease."""

    lease: coordinationv1.Lease
    since: float
    """The time of the change, in seconds of this process' clock."""


class Membership:
    """The members of one group, as this replica observes them.

    `renew`, `look`, `leave` and `observation` block for requests and belong to one thread; `members` is thread-safe.
    """

    def __init__(
        self,
        leases: MemberLeasesGetter,
        namespace: str,
        group: str,
        identity: str,
        lease_duration: float,
        clock: Clock = REAL_CLOCK,
    ) -> None:
        self._leases = leases.leases(namespace)
        self._namespace = namespace
        self._group = group
        self._identity = identity
        self._lease_duration = lease_duration
        self._clock = clock
        # The name of this member's Lease; an identity may not be a valid name.
        self._name = f"{group}-member-{hashlib.blake2b(identity.encode(), digest_size=5).hexdigest()}"
        # By the names of the Leases. Accessed only by the one thread.
        self._seen: dict[str, Observation] = {}
        self._shards: dict[str, Observation] = {}
        # Guards _members.
        self._lock = threading.Lock()
        self._members: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"<Membership {self._identity} in {self._namespace}/{self._group}: {len(self.members())} members>"

    def members(self) -> frozenset[str]:
        """Return the identities of the members that were alive at the last check."""
        with self._lock:
            return self._members

    def renew(self, ctx: Context) -> None:
        """Renew this replica's Lease. Raises the request's error."""
        now = from_clock(self._clock.now())
        try:
            lease = self._leases.get(ctx, self._name, metav1.GetOptions())
        except errors.StatusError as err:
            if not errors.is_not_found(err):
                raise
            self._leases.create(ctx, self._new_lease(), metav1.CreateOptions())
            return
        lease.spec.holder_identity = self._identity
        lease.spec.renew_time = now
        lease.spec.lease_duration_seconds = math.ceil(self._lease_duration)
        self._leases.update(ctx, lease, metav1.UpdateOptions())

    def look(self, ctx: Context) -> frozenset[str]:
        """Check the Leases and return the live members. If a request fails, raises its error and keeps the previous
        result.
        """
        # The shards first, so that a member that has just acquired one is known.
        self._shards = self._look_at(ctx, SHARD_LABEL, self._shards)
        self._seen = self._look_at(ctx, MEMBER_LABEL, self._seen)
        signs: dict[str, float] = {}
        for observation in (*self._seen.values(), *self._shards.values()):
            holder = observation.lease.spec.holder_identity or ""
            signs[holder] = max(observation.since, signs.get(holder, observation.since))
        now = self._clock.now()
        members = {observation.lease.spec.holder_identity or "" for observation in self._seen.values()}
        alive = frozenset(member for member in members if now - signs[member] < self._lease_duration)
        with self._lock:
            self._members = alive
        self._forget(ctx, now)
        return alive

    def observation(self, lease_name: str) -> Observation | None:
        """Return the last observed change of a shard's Lease, or None before the first check or without a Lease."""
        return self._shards.get(lease_name)

    def is_held_by_another(self, lease_name: str) -> bool:
        """Report whether another member had a shard's Lease at the last check, and the Lease has not expired since."""
        observation = self._shards.get(lease_name)
        if observation is None or observation.lease.spec.holder_identity in (None, "", self._identity):
            return False
        return self._clock.now() - observation.since < self._lease_duration

    def leave(self, ctx: Context) -> None:
        """Delete this replica's Lease, so that others need not wait for its expiry. Raises the request's error."""
        try:
            self._leases.delete(ctx, self._name, metav1.DeleteOptions())
        except errors.StatusError as err:
            if not errors.is_not_found(err):
                raise

    def _look_at(self, ctx: Context, label: str, before: Mapping[str, Observation]) -> dict[str, Observation]:
        options = metav1.ListOptions(label_selector=f"{label}={self._group}")
        found = self._leases.list(ctx, options).items
        # Measured after the response, as in an elector: the holder measures from before its write.
        now = self._clock.now()
        return {lease.get_name(): _newer(before.get(lease.get_name()), lease, now) for lease in found}

    def _forget(self, ctx: Context, now: float) -> None:
        for name, observation in self._seen.items():
            if now - observation.since < _FORGOTTEN_AFTER * self._lease_duration:
                continue
            try:
                self._leases.delete(ctx, name, metav1.DeleteOptions())
            except Exception as err:
                # Another member has deleted it, or will.
                klog.from_context(ctx).v(4).info("Failed to delete the Lease of a member that is gone", err=err)

    def _new_lease(self) -> coordinationv1.Lease:
        now = from_clock(self._clock.now())
        return coordinationv1.Lease(
            metadata=metav1.ObjectMeta(
                name=self._name, namespace=self._namespace, labels={MEMBER_LABEL: self._group}
            ),
            spec=coordinationv1.LeaseSpec(
                holder_identity=self._identity,
                lease_duration_seconds=math.ceil(self._lease_duration),
                acquire_time=now,
                renew_time=now,
            ),
        )


def _newer(before: Observation | None, lease: coordinationv1.Lease, now: float) -> Observation:
    if before is not None and before.lease.get_resource_version() == lease.get_resource_version():
        return before
    return Observation(lease, now)
