"""What happened to an object, as handlers and predicates get it. Mirrors pkg/event/event.go.

Events are made by sources and are not meant to be changed. Sources never make one without its objects; where somebody
else did, the object is None, which the types do not say: as in Go, where it is a nil pointer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from clientgo.controller_runtime.client.object import Object

__all__ = [
    "CreateEvent",
    "DeleteEvent",
    "GenericEvent",
    "TypedCreateEvent",
    "TypedDeleteEvent",
    "TypedGenericEvent",
    "TypedUpdateEvent",
    "UpdateEvent",
]

# Covariant: a handler of any Object takes the events of Foos.
ObjectT_co = TypeVar("ObjectT_co", covariant=True)


@dataclass
class TypedCreateEvent(Generic[ObjectT_co]):
    """An object came into being, or was there when the watch began. Go: event.TypedCreateEvent."""

    object: ObjectT_co = None  # type: ignore[assignment]
    is_in_initial_list: bool = False
    """Whether it is one of those there were when the watch began."""


@dataclass
class TypedUpdateEvent(Generic[ObjectT_co]):
    """An object was changed, or an informer resynced: then both have the same version. Go: event.TypedUpdateEvent."""

    object_old: ObjectT_co = None  # type: ignore[assignment]
    object_new: ObjectT_co = None  # type: ignore[assignment]


@dataclass
class TypedDeleteEvent(Generic[ObjectT_co]):
    """An object is gone. Go: event.TypedDeleteEvent."""

    object: ObjectT_co = None  # type: ignore[assignment]
    delete_state_unknown: bool = False
    """The deletion itself was missed: `object` is the last state known, perhaps an old one."""


@dataclass
class TypedGenericEvent(Generic[ObjectT_co]):
    """Something else happened, outside the cluster perhaps. Go: event.TypedGenericEvent."""

    object: ObjectT_co = None  # type: ignore[assignment]


CreateEvent = TypedCreateEvent[Object]
"""Of any kind of object. Go: event.CreateEvent."""
UpdateEvent = TypedUpdateEvent[Object]
"""Of any kind of object. Go: event.UpdateEvent."""
DeleteEvent = TypedDeleteEvent[Object]
"""Of any kind of object. Go: event.DeleteEvent."""
GenericEvent = TypedGenericEvent[Object]
"""Of any kind of object. Go: event.GenericEvent."""
