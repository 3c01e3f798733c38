"""Who takes part: a Lease for each replica, which it renews as long as it lives. No Go counterpart.

A member counts as alive for `lease_duration` after its Lease was last seen to change, by this process' own clock, as
leader election does it: clocks of different machines are never compared.
"""

from __future__ import annotations

import hashlib
import math
import threading
from typing import Protocol

from clientgo import klog
from clientgo.api.coordination import v1 as coordinationv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.time import from_clock
from clientgo.context import Context
from clientgo.tools.leaderelection.resourcelock.leaselock import LeaseInterface
from clientgo.utils.clock.clock import REAL_CLOCK, Clock

__all__ = ["MEMBER_LABEL", "MemberLeases", "MemberLeasesGetter", "Membership"]

MEMBER_LABEL = "sharding.clientgo/member-of"

# A Lease that has not changed for so many lease durations is somebody's who will not come back: it is deleted.
_FORGOTTEN_AFTER = 10


class MemberLeases(LeaseInterface, Protocol):
    """The part of a typed Lease client that members use."""

    def list(self, ctx: Context, opts: metav1.ListOptions | None = None) -> coordinationv1.LeaseList: ...

    def delete(self, ctx: Context, name: str, opts: metav1.DeleteOptions | None = None) -> None: ...


class MemberLeasesGetter(Protocol):
    """Has a client of Leases: the typed client of coordination.k8s.io/v1 does."""

    def leases(self, namespace: str) -> MemberLeases: ...


class Membership:
    """The members of one group, as this replica sees them.

    `renew`, `look` and `leave` block for requests and belong to one thread; `members` may be called from any.
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
        # The name of this member's Lease; an identity may be no name for an object.
        self._name = f"{group}-member-{hashlib.blake2b(identity.encode(), digest_size=5).hexdigest()}"
        # What each Lease said when it last changed, and when that was seen. Touched by the one thread only.
        self._seen: dict[str, tuple[str, float]] = {}
        # Guards _members.
        self._lock = threading.Lock()
        self._members: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"<Membership {self._identity} in {self._namespace}/{self._group}: {len(self.members())} members>"

    def members(self) -> frozenset[str]:
        """The identities of those that were alive at the last look."""
        with self._lock:
            return self._members

    def renew(self, ctx: Context) -> None:
        """Say that this replica is alive. Raises what the request raises."""
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
        """See who is alive. Raises what the request raises; the members stay as they were then."""
        options = metav1.ListOptions(label_selector=f"{MEMBER_LABEL}={self._group}")
        found = {lease.get_name(): lease for lease in self._leases.list(ctx, options).items}
        now = self._clock.now()
        self._seen = {name: self._seen_of(name, lease, now) for name, lease in found.items()}
        alive = frozenset(
            lease.spec.holder_identity or ""
            for name, lease in found.items()
            if now - self._seen[name][1] < self._lease_duration
        )
        with self._lock:
            self._members = alive
        self._forget(ctx, now)
        return alive

    def leave(self, ctx: Context) -> None:
        """Say that this replica is gone, so that others need not wait to find out. Raises what the request raises."""
        try:
            self._leases.delete(ctx, self._name, metav1.DeleteOptions())
        except errors.StatusError as err:
            if not errors.is_not_found(err):
                raise

    def _seen_of(self, name: str, lease: coordinationv1.Lease, now: float) -> tuple[str, float]:
        version = lease.get_resource_version()
        before = self._seen.get(name)
        return before if before is not None and before[0] == version else (version, now)

    def _forget(self, ctx: Context, now: float) -> None:
        for name, (_, since) in self._seen.items():
            if now - since < _FORGOTTEN_AFTER * self._lease_duration:
                continue
            try:
                self._leases.delete(ctx, name, metav1.DeleteOptions())
            except Exception as err:
                # Another member will have deleted it, or will.
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
