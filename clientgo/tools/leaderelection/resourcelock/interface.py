"""What a lock for leader election must do. Mirrors client-go/tools/leaderelection/resourcelock/interface.go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.timestamps import format_time
from clientgo.apimachinery.util.json import encode, escape_html
from clientgo.context import Context

if TYPE_CHECKING:
    from clientgo import rest
    from clientgo.tools.leaderelection.resourcelock.leaselock import LeasesGetter

__all__ = [
    "LEADER_ELECTION_RECORD_ANNOTATION_KEY",
    "LEASES_RESOURCE_LOCK",
    "EventRecorder",
    "Interface",
    "LeaderElectionRecord",
    "ResourceLockConfig",
    "new",
    "new_from_kubeconfig",
    "new_with_labels",
]

LEADER_ELECTION_RECORD_ANNOTATION_KEY = "control-plane.alpha.kubernetes.io/leader"
LEASES_RESOURCE_LOCK = "leases"

# The kinds of lock that are gone, and what the error says of them.
_REMOVED_RESOURCE_LOCKS = {
    "endpoints": "migrate",
    "configmaps": "migrate",
    "endpointsleases": "migrate",
    "configmapsleases": "migrated",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderElectionRecord:
    """Who leads, since when and for how long: the content of the lock, as everybody sees it.

    A leader renews it; when `renew_time` has not changed for `lease_duration_seconds`, by an observer's own clock,
    anybody may take it. The clocks of different machines are never compared.

    Go: resourcelock.LeaderElectionRecord.
    """

    holder_identity: str = ""
    """The leader; "" when nobody leads and the lock may be taken at once."""
    lease_duration_seconds: int = 0
    acquire_time: datetime | None = None
    """When the leader took the lock."""
    renew_time: datetime | None = None
    """When the leader last renewed it."""
    leader_transitions: int = 0
    """How often the leader has changed."""
    strategy: str = ""
    """How a coordinated election picks the leader."""
    preferred_holder: str = ""
    """Who shall lead next in a coordinated election; the leader gives up when this is set."""

    def to_json(self) -> bytes:
        """The record as Go marshals it; times to the second."""
        document = {
            "holderIdentity": self.holder_identity,
            "leaseDurationSeconds": self.lease_duration_seconds,
            "acquireTime": _time_to_json(self.acquire_time),
            "renewTime": _time_to_json(self.renew_time),
            "leaderTransitions": self.leader_transitions,
            "strategy": self.strategy,
            "preferredHolder": self.preferred_holder,
        }
        return escape_html(encode(document)).encode()


def _time_to_json(moment: datetime | None) -> str | None:
    return None if moment is None else format_time(moment)


class EventRecorder(Protocol):
    """Records an event about an object: an event recorder of tools/record is one. Go: resourcelock.EventRecorder."""

    def eventf(self, obj: Any, event_type: str, reason: str, message: str, /, *args: Any) -> None:
        """Record an event whose text is `message` with `args` filled in by `%`. Go: EventRecorder.Eventf."""
        ...


@dataclass(slots=True, kw_only=True)
class ResourceLockConfig:
    """What all kinds of lock need. Go: resourcelock.ResourceLockConfig."""

    identity: str = ""
    """The name of this candidate; must be unique among all of them."""
    event_recorder: EventRecorder | None = None
    """Told when this candidate becomes and stops being the leader; may be None."""


class Interface(Protocol):
    """A record that all candidates see and that one at a time can change. Go: resourcelock.Interface.

    Every method with a context blocks for a request. Used by one thread.
    """

    def get(self, ctx: Context) -> tuple[LeaderElectionRecord, bytes]:
        """The record, and its bytes to compare with those of last time. Raises a NotFound StatusError if none.

        Go: Interface.Get.
        """
        ...

    def create(self, ctx: Context, ler: LeaderElectionRecord) -> None:
        """Create the record; fails when there is one. Go: Interface.Create."""
        ...

    def update(self, ctx: Context, ler: LeaderElectionRecord) -> None:
        """Replace the record; fails when somebody else changed it since this lock last saw it. Go: Interface.Update."""
        ...

    def record_event(self, s: str) -> None:
        """Record what happened to this candidate as an event. Go: Interface.RecordEvent."""
        ...

    def identity(self) -> str:
        """The name of this candidate. Go: Interface.Identity."""
        ...

    def describe(self) -> str:
        """What to call the lock in a log. Go: Interface.Describe."""
        ...


def new(
    lock_type: str,
    ns: str,
    name: str,
    core_client: object,
    coordination_client: LeasesGetter,
    rlc: ResourceLockConfig,
) -> Interface:
    """The lock of the given type; LEASES_RESOURCE_LOCK is the only one left. `core_client` is not used any more.

    Raises ValueError for all others, saying what became of them.

    Go: resourcelock.New.
    """
    return new_with_labels(lock_type, ns, name, core_client, coordination_client, rlc, None)


def new_with_labels(
    lock_type: str,
    ns: str,
    name: str,
    core_client: object,
    coordination_client: LeasesGetter,
    rlc: ResourceLockConfig,
    labels: Mapping[str, str] | None,
) -> Interface:
    """As `new`, with labels for the object that holds the lock. Go: resourcelock.NewWithLabels."""
    from clientgo.tools.leaderelection.resourcelock.leaselock import LeaseLock  # it implements the Interface above

    if lock_type in _REMOVED_RESOURCE_LOCKS:
        advice = _REMOVED_RESOURCE_LOCKS[lock_type]
        raise ValueError(f"{lock_type} lock is removed, {advice} to {LEASES_RESOURCE_LOCK}")
    if lock_type != LEASES_RESOURCE_LOCK:
        raise ValueError(f"Invalid lock-type {lock_type}")
    lease_meta = metav1.ObjectMeta(namespace=ns, name=name)
    return LeaseLock(lease_meta, coordination_client, rlc, labels)


def new_from_kubeconfig(
    lock_type: str,
    ns: str,
    name: str,
    rlc: ResourceLockConfig,
    kubeconfig: rest.Config,
    renew_deadline: float,
) -> Interface:
    """As `new`, with a client of its own that gives every request up in half of `renew_deadline`, at least a second.

    Go: resourcelock.NewFromKubeconfig.
    """
    # The typed clients stand above this package: only who calls this function needs them.
    from clientgo import kubernetes, rest

    config = rest.copy_config(kubeconfig)
    config.timeout = max(renew_deadline / 2, 1.0)
    client = kubernetes.new_for_config_or_die(rest.add_user_agent(config, "leader-election"))
    return new(lock_type, ns, name, client.core_v1(), client.coordination_v1(), rlc)
