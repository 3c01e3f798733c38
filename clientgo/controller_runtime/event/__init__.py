"""sigs.k8s.io/controller-runtime/pkg/event: the events that sources pass to handlers."""

from clientgo.controller_runtime.event.event import (
    CreateEvent,
    DeleteEvent,
    GenericEvent,
    TypedCreateEvent,
    TypedDeleteEvent,
    TypedGenericEvent,
    TypedUpdateEvent,
    UpdateEvent,
)

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
