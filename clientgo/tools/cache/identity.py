"""Identities of informers, for metrics.

Mirrors tools/cache/identity.go. A program creates one InformerName at its start and passes it to its informer factory.
Each informer gets a pair of name and resource from it. Only the first informer of a resource may publish metrics, so
that no two informers write to the same time series.
"""

from __future__ import annotations

import threading

from clientgo import klog
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.golang.strconv import quote

# All names in use in this process, and their lock.
_registry: dict[str, InformerName] = {}
_registry_lock = threading.Lock()


class _Reservation:
    """A flag that an InformerName shares with its identities. Each queue operation reads it without a lock."""

    __slots__ = ("held",)

    def __init__(self, held: bool) -> None:
        self.held = held


class InformerName:
    """A name of one informer factory, unique in the process until `release`. Go: InformerName.

    Created by `new_informer_name`. Thread-safe.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        # Guards the two fields below.
        self._lock = threading.Lock()
        self._reserved = True
        self._gvrs: dict[GroupVersionResource, _Reservation] = {}

    def with_resource(self, gvr: GroupVersionResource) -> InformerNameAndResource:
        """Return an identity for an informer of `gvr`.

        Only the first identity per `gvr` is reserved. An informer with another one publishes no metrics.
        """
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
        """Release the name and its reservations; `new_informer_name` may use the name again."""
        with self._lock:
            for reservation in self._gvrs.values():
                reservation.held = False
            self._gvrs = {}
            self._reserved = False
        with _registry_lock:
            if _registry.get(self._name) is self:
                del _registry[self._name]

    def name(self) -> str:
        """Return the name."""
        return self._name

    def __repr__(self) -> str:
        state = f"{len(self._gvrs)} resources" if self._reserved else "released"
        return f"<InformerName {self._name!r}, {state}>"


def new_informer_name(name: str) -> InformerName:
    """Reserve `name` in this process. Raises ValueError when it is empty or in use. Go: NewInformerName."""
    if not name:
        raise ValueError("informer name cannot be empty")
    with _registry_lock:
        if name in _registry:
            raise ValueError(f"informer name {quote(name)} is already registered")
        informer_name = _registry[name] = InformerName(name)
    return informer_name


class InformerNameAndResource:
    """The identity of an informer: name and resource; empty without arguments. Go: InformerNameAndResource."""

    __slots__ = ("_gvr", "_name", "_reservation")

    def __init__(
        self, name: str = "", gvr: GroupVersionResource | None = None, reservation: _Reservation | None = None
    ) -> None:
        self._name = name
        self._gvr = gvr or GroupVersionResource("", "", "")
        self._reservation = reservation

    def reserved(self) -> bool:
        """Report whether the informer may publish metrics. Takes no lock, so it is cheap enough for every item."""
        return self._reservation is not None and self._reservation.held

    def name(self) -> str:
        """Return the informer's name; "" for none."""
        return self._name

    def group_version_resource(self) -> GroupVersionResource:
        """Return the resource that the informer watches."""
        return self._gvr

    def __repr__(self) -> str:
        return f"<InformerNameAndResource {self._name!r} {self._gvr}, reserved {self.reserved()}>"


def _with_resource(informer_name: InformerName | None, gvr: GroupVersionResource) -> InformerNameAndResource:
    """Return `informer_name.with_resource(gvr)`, also for None: Go calls the method on a nil pointer."""
    return InformerNameAndResource("", gvr) if informer_name is None else informer_name.with_resource(gvr)


def reset_informer_names_for_testing() -> None:
    """Release every name in use. Go: ResetInformerNamesForTesting."""
    with _registry_lock:
        names = list(_registry.values())
    for informer_name in names:
        informer_name.release()
