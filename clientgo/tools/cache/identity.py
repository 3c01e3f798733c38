"""Identities of informers, for metrics.

Mirrors tools/cache/identity.go. A program makes one InformerName at its start and gives it to its informer factory;
each informer asks it for the pair of name and resource. Only the first one to ask for a resource may publish metrics,
so that no two informers write into the same time series.
"""

from __future__ import annotations

import threading

from clientgo import klog
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.golang.strconv import quote

# All names in use in this process, and the lock that guards them.
_registry: dict[str, InformerName] = {}
_registry_lock = threading.Lock()


class _Reservation:
    """A flag shared by an InformerName and what it gave out; read without a lock on every queue operation."""

    __slots__ = ("held",)

    def __init__(self, held: bool) -> None:
        self.held = held


class InformerName:
    """A name that no other informer factory of the process has, until `release`. Go: InformerName.

    Made by `new_informer_name`. Safe to use from any thread.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        # Guards the two below.
        self._lock = threading.Lock()
        self._reserved = True
        self._gvrs: dict[GroupVersionResource, _Reservation] = {}

    def with_resource(self, gvr: GroupVersionResource) -> InformerNameAndResource:
        """The identity of the informer for `gvr`: reserved for the first one to ask, not reserved for any later one."""
        with self._lock:
            if self._reserved and gvr not in self._gvrs:
                reservation = self._gvrs[gvr] = _Reservation(True)
                return InformerNameAndResource(self._name, gvr, reservation)
            duplicate = self._reserved
        if duplicate:
            klog.todo().error(
                None,
                "Duplicate informer registration - metrics will not be published",
                informerName=self._name,
                group=gvr.group,
                version=gvr.version,
                resource=gvr.resource,
            )
        return InformerNameAndResource(self._name, gvr, _Reservation(False))

    def release(self) -> None:
        """Give up the name and all that was reserved under it; a later `new_informer_name` may take it."""
        with self._lock:
            for reservation in self._gvrs.values():
                reservation.held = False
            self._gvrs = {}
            self._reserved = False
        with _registry_lock:
            if _registry.get(self._name) is self:
                del _registry[self._name]

    def name(self) -> str:
        """The name."""
        return self._name

    def __repr__(self) -> str:
        state = f"{len(self._gvrs)} resources" if self._reserved else "released"
        return f"<InformerName {self._name!r}, {state}>"


def new_informer_name(name: str) -> InformerName:
    """Take `name` for this process. Raises ValueError when it is empty or taken. Go: NewInformerName."""
    if not name:
        raise ValueError("informer name cannot be empty")
    with _registry_lock:
        if name in _registry:
            raise ValueError(f"informer name {quote(name)} is already registered")
        informer_name = _registry[name] = InformerName(name)
    return informer_name


class InformerNameAndResource:
    """Which informer it is: name and resource; without arguments nobody in particular. Go: InformerNameAndResource."""

    __slots__ = ("_gvr", "_name", "_reservation")

    def __init__(
        self, name: str = "", gvr: GroupVersionResource | None = None, reservation: _Reservation | None = None
    ) -> None:
        self._name = name
        self._gvr = gvr or GroupVersionResource("", "", "")
        self._reservation = reservation

    def reserved(self) -> bool:
        """Whether this informer may publish metrics under its identity. Takes no lock: cheap enough for every item."""
        return self._reservation is not None and self._reservation.held

    def name(self) -> str:
        """The informer's name, "" when none was given."""
        return self._name

    def group_version_resource(self) -> GroupVersionResource:
        """The resource it watches."""
        return self._gvr

    def __repr__(self) -> str:
        return f"<InformerNameAndResource {self._name!r} {self._gvr}, reserved {self.reserved()}>"


def _with_resource(informer_name: InformerName | None, gvr: GroupVersionResource) -> InformerNameAndResource:
    """`informer_name.with_resource(gvr)`, also where there is no name: Go calls the method on a nil pointer."""
    return InformerNameAndResource("", gvr) if informer_name is None else informer_name.with_resource(gvr)


def reset_informer_names_for_testing() -> None:
    """Release every name in use. Go: ResetInformerNamesForTesting."""
    with _registry_lock:
        names = list(_registry.values())
    for informer_name in names:
        informer_name.release()
