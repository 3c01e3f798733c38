"""The interface of locks for leader election. Mirrors client-go/tools/leaderelection/resourcelock/interface.go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.timestamps import format_time
from clientgo.apimachinery.util.json import encode, escape_html
from clientgo.context import Context
from clientgo.golang.strconv import quote
from clientgo.klog.exceptions import as_operational

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

# The removed kinds of lock, with the error message for each.
_REMOVED_RESOURCE_LOCKS = {
    "endpoints": "migrate",
    "configmaps": "migrate",
    "endpointsleases": "migrate",
    "configmapsleases": "migrated",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderElectionRecord:
    """The content of the lock: the holder, and the time and duration of its lease.

    The leader renews it. Another candidate may acquire the lock when `renew_time` has not changed for
    `lease_duration_seconds`, measured by that candidate's own clock. Clocks of different machines are never compared.

    Go: resourcelock.LeaderElectionRecord.
    """

    holder_identity: str = ""
    """Identity of the leader; "" if there is none and any candidate may acquire the lock."""
    lease_duration_seconds: int = 0
    acquire_time: datetime | None = None
    """Time at which the leader acquired the lock."""
    renew_time: datetime | None = None
    """Time at which the leader last renewed the lock."""
    leader_transitions: int = 0
    """Number of changes of the leader."""
    strategy: str = ""
    """Strategy by which a coordinated election selects the leader."""
    preferred_holder: str = ""
    """Identity of the next leader in a coordinated election. The current leader stops when this is set."""

    def to_json(self) -> bytes:
        """Return the record as Go marshals it; times are truncated to seconds."""
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
    """Records events about an object, for example an event recorder of tools/record. Go: resourcelock.EventRecorder."""

    def eventf(self, obj: Any, event_type: str, reason: str, message: str, /, *args: Any) -> None:
        """Record an event. `args` are formatted into `message` by `%`. Go: EventRecorder.Eventf."""
        ...


@dataclass(slots=True, kw_only=True)
class ResourceLockConfig:
    """Options of all kinds of lock. Go: resourcelock.ResourceLockConfig."""

    identity: str = ""
    """Name of this candidate; must be unique among all candidates."""
    event_recorder: EventRecorder | None = None
    """Records an event when this candidate becomes or stops being the leader; may be None."""


class Interface(Protocol):
    """A record that all candidates can read and that one at a time can change. Go: resourcelock.Interface.

    Every method with a context blocks for a request. Not thread-safe.
    """

    def get(self, ctx: Context, /) -> tuple[LeaderElectionRecord, bytes]:
        """Return the record, and its bytes for comparison. Raises a NotFound StatusError if there is none.

        Go: Interface.Get.
        """
        ...

    def create(self, ctx: Context, ler: LeaderElectionRecord, /) -> None:
        """Create the record; raises an error if it exists. Go: Interface.Create."""
        ...

    def update(self, ctx: Context, ler: LeaderElectionRecord, /) -> None:
        """Replace the record. Raises an error if another client changed it since this lock's last request.

        Go: Interface.Update.
        """
        ...

    def record_event(self, s: str, /) -> None:
        """Record an event about this candidate. Go: Interface.RecordEvent."""
        ...

    def identity(self) -> str:
        """Return the identity of this candidate. Go: Interface.Identity."""
        ...

    def describe(self) -> str:
        """Return the lock's name for log lines. Go: Interface.Describe."""
        ...


def require_names(ns: str, name: str) -> None:
    """Raise ValueError if no request can have this namespace or name of a Lease. Beyond Go."""
    from clientgo.rest.request import is_valid_path_segment_name  # a lock of another kind needs no requests

    for what, value in (("namespace", ns), ("name", name)):
        problems = is_valid_path_segment_name(value) if value else ["may not be empty"]
        if problems:
            raise as_operational(ValueError(f"invalid {what} of a Lease {quote(value)}: {', '.join(problems)}"))


def new(
    lock_type: str,
    ns: str,
    name: str,
    core_client: object,
    coordination_client: LeasesGetter,
    rlc: ResourceLockConfig,
) -> Interface:
    """Return a lock of the given type; only LEASES_RESOURCE_LOCK is supported. Ignores `core_client`.

    Raises ValueError for other types; the message names a replacement for removed types. Go: resourcelock.New.
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
    """Return a lock whose object has these labels; see `new`. Go: resourcelock.NewWithLabels.

    Also raises ValueError for a namespace or name that no request can have: in Go each try fails, without end.
    """
    from clientgo.tools.leaderelection.resourcelock.leaselock import LeaseLock  # it implements the Interface above

    if lock_type in _REMOVED_RESOURCE_LOCKS:
        advice = _REMOVED_RESOURCE_LOCKS[lock_type]
        raise as_operational(ValueError(f"{lock_type} lock is removed, {advice} to {LEASES_RESOURCE_LOCK}"))
    if lock_type != LEASES_RESOURCE_LOCK:
        raise as_operational(ValueError(f"Invalid lock-type {lock_type}"))
    require_names(ns, name)
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
    """Return a lock with a separate client; see `new`. Go: resourcelock.NewFromKubeconfig.

    The client's timeout is half of `renew_deadline`, at least one second.
    """
    # The typed clients import this package, so import them only when this function runs.
    from clientgo import kubernetes, rest

    config = rest.copy_config(kubeconfig)
    config.timeout = max(renew_deadline / 2, 1.0)
    client = kubernetes.new_for_config_or_die(rest.add_user_agent(config, "leader-election"))
    return new(lock_type, ns, name, client.core_v1(), client.coordination_v1(), rlc)
