"""A handler that queues a request for the event's object. Mirrors pkg/handler/enqueue.go."""

from __future__ import annotations

from typing import Generic, TypeAlias, TypeVar

from clientgo.context import Context
from clientgo.controller_runtime.client.object import Object
from clientgo.controller_runtime.controller.priorityqueue.priorityqueue import PriorityQueue
from clientgo.controller_runtime.event.event import (
    TypedCreateEvent,
    TypedDeleteEvent,
    TypedGenericEvent,
    TypedUpdateEvent,
)
from clientgo.controller_runtime.handler.eventhandler import add_to_queue
from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.controller_runtime.reconcile.reconcile import Request
from clientgo.util.workqueue import TypedRateLimitingInterface

__all__ = ["EnqueueRequestForObject", "TypedEnqueueRequestForObject"]

_LOG = RUNTIME_LOG.with_name("eventhandler").with_name("EnqueueRequestForObject")

ObjectT_contra = TypeVar("ObjectT_contra", bound=Object, contravariant=True)
_Queue: TypeAlias = TypedRateLimitingInterface[Request]


class TypedEnqueueRequestForObject(Generic[ObjectT_contra]):
    """A handler that queues a request for the event's object. Go: handler.TypedEnqueueRequestForObject.

    It logs and drops an event without an object. An update with only one of its objects, which no source makes, is
    queued on a plain queue; on a priority queue it raises AttributeError, as Go panics.
    """

    def create(self, ctx: Context, evt: TypedCreateEvent[ObjectT_contra], q: _Queue, /) -> None:
        """Queue the object."""
        if evt.object is None:
            _LOG.error(None, "CreateEvent received with no metadata", event=evt)
            return
        add_to_queue(q, _request(evt.object), evt.is_in_initial_list)

    def update(self, ctx: Context, evt: TypedUpdateEvent[ObjectT_contra], q: _Queue, /) -> None:
        """Queue the new object, or the old one if the new one is missing."""
        obj = evt.object_old if evt.object_new is None else evt.object_new
        if obj is None:
            _LOG.error(None, "UpdateEvent received with no metadata", event=evt)
            return
        if isinstance(q, PriorityQueue):
            unchanged = evt.object_old.get_resource_version() == evt.object_new.get_resource_version()
            add_to_queue(q, _request(obj), unchanged)
        else:
            q.add(_request(obj))

    def delete(self, ctx: Context, evt: TypedDeleteEvent[ObjectT_contra], q: _Queue, /) -> None:
        """Queue the object."""
        if evt.object is None:
            _LOG.error(None, "DeleteEvent received with no metadata", event=evt)
            return
        q.add(_request(evt.object))

    def generic(self, ctx: Context, evt: TypedGenericEvent[ObjectT_contra], q: _Queue, /) -> None:
        """Queue the object."""
        if evt.object is None:
            _LOG.error(None, "GenericEvent received with no metadata", event=evt)
            return
        q.add(_request(evt.object))

    def __repr__(self) -> str:
        return "EnqueueRequestForObject()"


def _request(obj: Object) -> Request:
    return Request(obj.get_namespace(), obj.get_name())


EnqueueRequestForObject: TypeAlias = TypedEnqueueRequestForObject[Object]
"""A handler for any kind of object. Go: handler.EnqueueRequestForObject."""
