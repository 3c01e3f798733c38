"""The events that handlers and predicates receive. Mirrors pkg/event/event.go.

Sources make events, which must not be changed. A source always sets the objects. In an event from other code an object
may be None, which the types do not show: it corresponds to a nil pointer in Go.
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
    """An event for an object that was created, or that existed when the watch began. Go: event.TypedCreateEvent."""

    object: ObjectT_co = None  # type: ignore[assignment]
    is_in_initial_list: bool = False
    """True if the object existed when the watch began."""


@dataclass
class TypedUpdateEvent(Generic[ObjectT_co]):
    """An event for a changed object, or for a resync: then both objects have the same version.

    Go: event.TypedUpdateEvent.
    """

    object_old: ObjectT_co = None  # type: ignore[assignment]
    object_new: ObjectT_co = None  # type: ignore[assignment]


@dataclass
class TypedDeleteEvent(Generic[ObjectT_co]):
    """An event for a deleted object. Go: event.TypedDeleteEvent."""

    object: ObjectT_co = None  # type: ignore[assignment]
    delete_state_unknown: bool = False
    """True if the watch missed the deletion: `object` is the last known state, which may be old."""


@dataclass
class TypedGenericEvent(Generic[ObjectT_co]):
    """An event of another sort, for example from outside the cluster. Go: event.TypedGenericEvent."""

    object: ObjectT_co = None  # type: ignore[assignment]


CreateEvent = TypedCreateEvent[Object]
"""An event of any kind of object. Go: event.CreateEvent."""
UpdateEvent = TypedUpdateEvent[Object]
"""An event of any kind of object. Go: event.UpdateEvent."""
DeleteEvent = TypedDeleteEvent[Object]
"""An event of any kind of object. Go: event.DeleteEvent."""
GenericEvent = TypedGenericEvent[Object]
"""An event of any kind of object. Go: event.GenericEvent."""
