"""A handler that queues the requests that a function derives from an object. Mirrors pkg/handler/enqueue_mapped.go."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeAlias, TypeVar

from clientgo.context import Context
from clientgo.controller_runtime.client.object import Object
from clientgo.controller_runtime.controller.priorityqueue.priorityqueue import AddOpts, PriorityQueue
from clientgo.controller_runtime.event.event import (
    TypedCreateEvent,
    TypedDeleteEvent,
    TypedGenericEvent,
    TypedUpdateEvent,
)
from clientgo.controller_runtime.handler.eventhandler import LOW_PRIORITY, TypedEventHandler, is_unchanged
from clientgo.controller_runtime.reconcile.reconcile import Request
from clientgo.golang.functions import call_checked, describe_function, require_function
from clientgo.util.workqueue import TypedRateLimitingInterface

__all__ = ["MapFunc", "TypedMapFunc", "enqueue_requests_from_map_func", "typed_enqueue_requests_from_map_func"]

ObjectT = TypeVar("ObjectT")
RequestT = TypeVar("RequestT", bound=Hashable)

TypedMapFunc: TypeAlias = Callable[[Context, ObjectT], Iterable[RequestT]]
"""A function that returns the requests that an object affects. Go: handler.TypedMapFunc."""

MapFunc: TypeAlias = TypedMapFunc[Object, Request]
"""A function for any kind of object. Go: handler.MapFunc."""


def enqueue_requests_from_map_func(fn: MapFunc) -> TypedEventHandler[Object, Request]:
    """Return a handler that queues the requests of `fn`. For an update it queues those of both objects, each once.

    Go: handler.EnqueueRequestsFromMapFunc.
    """
    return typed_enqueue_requests_from_map_func(fn)


def typed_enqueue_requests_from_map_func(fn: TypedMapFunc[ObjectT, RequestT]) -> TypedEventHandler[ObjectT, RequestT]:
    """Return a handler for one kind of object and any type of request. Go: handler.TypedEnqueueRequestsFromMapFunc."""
    return _EnqueueRequestsFromMapFunc(fn)


class _EnqueueRequestsFromMapFunc(Generic[ObjectT, RequestT]):
    def __init__(self, to_requests: TypedMapFunc[ObjectT, RequestT]) -> None:
        require_function(to_requests, "a map function", "ctx, obj", may_yield=True)
        self.map_func = to_requests

    def create(self, ctx: Context, evt: TypedCreateEvent[ObjectT], q: TypedRateLimitingInterface[RequestT], /) -> None:
        self._enqueue(ctx, q, evt.is_in_initial_list and evt.object is not None, evt.object)

    def update(self, ctx: Context, evt: TypedUpdateEvent[ObjectT], q: TypedRateLimitingInterface[RequestT], /) -> None:
        unchanged = isinstance(evt.object_new, Object) and is_unchanged(evt)
        self._enqueue(ctx, q, unchanged, evt.object_old, evt.object_new)

    def delete(self, ctx: Context, evt: TypedDeleteEvent[ObjectT], q: TypedRateLimitingInterface[RequestT], /) -> None:
        self._enqueue(ctx, q, False, evt.object)

    def generic(
        self, ctx: Context, evt: TypedGenericEvent[ObjectT], q: TypedRateLimitingInterface[RequestT], /
    ) -> None:
        self._enqueue(ctx, q, False, evt.object)

    def _enqueue(
        self, ctx: Context, q: TypedRateLimitingInterface[RequestT], low_priority: bool, *objects: ObjectT
    ) -> None:
        queued: set[RequestT] = set()
        for obj in objects:
            requests = call_checked(self.map_func, ctx, obj)
            if isinstance(requests, str) or not isinstance(requests, Iterable):
                kind = "a string" if isinstance(requests, str) else repr(requests)
                name = describe_function(self.map_func)
                raise TypeError(f"the map function returns {kind}, not a list of requests: {name}")
            for request in requests:
                if request in queued:
                    continue
                queued.add(request)
                if low_priority and isinstance(q, PriorityQueue):
                    q.add_with_opts(AddOpts(priority=LOW_PRIORITY), request)
                else:
                    q.add(request)
