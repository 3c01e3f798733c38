"""Handlers, which turn events into requests on the controller's queue. Mirrors pkg/handler/eventhandler.go.

A handler receives the controller's queue and one event at a time per source, in the thread that delivers the source's
events. It should only queue requests. Objects in events may be read-only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast, runtime_checkable

from clientgo.context import Context
from clientgo.controller_runtime.client.object import Object
from clientgo.controller_runtime.controller.priorityqueue.priorityqueue import AddOpts, ForwardingQueue, PriorityQueue
from clientgo.controller_runtime.event.event import (
    TypedCreateEvent,
    TypedDeleteEvent,
    TypedGenericEvent,
    TypedUpdateEvent,
)
from clientgo.controller_runtime.reconcile.reconcile import Request
from clientgo.util.workqueue import LOW_PRIORITY as _LOW_PRIORITY
from clientgo.util.workqueue import TypedRateLimitingInterface

__all__ = [
    "LOW_PRIORITY",
    "EventHandler",
    "Funcs",
    "TypedEventHandler",
    "TypedFuncs",
    "with_low_priority_when_unchanged",
]

ObjectT = TypeVar("ObjectT")
ObjectT_contra = TypeVar("ObjectT_contra", contravariant=True)
KubeObjectT = TypeVar("KubeObjectT", bound=Object)
RequestT = TypeVar("RequestT", bound=Hashable)

LOW_PRIORITY = _LOW_PRIORITY
"""The priority of requests that can wait: those of the initial list and of resyncs. Go: handler.LowPriority."""


@runtime_checkable
class TypedEventHandler(Protocol[ObjectT_contra, RequestT]):
    """A handler that queues requests for events. Go: handler.TypedEventHandler."""

    def create(
        self, ctx: Context, evt: TypedCreateEvent[ObjectT_contra], q: TypedRateLimitingInterface[RequestT], /
    ) -> None:
        """Handle the creation of an object."""
        ...

    def update(
        self, ctx: Context, evt: TypedUpdateEvent[ObjectT_contra], q: TypedRateLimitingInterface[RequestT], /
    ) -> None:
        """Handle a change of an object."""
        ...

    def delete(
        self, ctx: Context, evt: TypedDeleteEvent[ObjectT_contra], q: TypedRateLimitingInterface[RequestT], /
    ) -> None:
        """Handle the deletion of an object."""
        ...

    def generic(
        self, ctx: Context, evt: TypedGenericEvent[ObjectT_contra], q: TypedRateLimitingInterface[RequestT], /
    ) -> None:
        """Handle another event."""
        ...


EventHandler: TypeAlias = TypedEventHandler[Object, Request]
"""A handler for any kind of object. Go: handler.EventHandler."""


@dataclass(kw_only=True)
class TypedFuncs(Generic[ObjectT, RequestT]):
    """A handler made of functions; it ignores the events of those that are None. Go: handler.TypedFuncs.

    On a priority queue, requests for the initial list and for unchanged objects get LOW_PRIORITY, unless the function
    sets a priority.
    """

    create_func: (
        Callable[[Context, TypedCreateEvent[ObjectT], TypedRateLimitingInterface[RequestT]], None] | None
    ) = None
    update_func: (
        Callable[[Context, TypedUpdateEvent[ObjectT], TypedRateLimitingInterface[RequestT]], None] | None
    ) = None
    delete_func: (
        Callable[[Context, TypedDeleteEvent[ObjectT], TypedRateLimitingInterface[RequestT]], None] | None
    ) = None
    generic_func: (
        Callable[[Context, TypedGenericEvent[ObjectT], TypedRateLimitingInterface[RequestT]], None] | None
    ) = None

    def create(self, ctx: Context, evt: TypedCreateEvent[ObjectT], q: TypedRateLimitingInterface[RequestT], /) -> None:
        """Call `create_func`."""
        if self.create_func is None:
            return
        if isinstance(evt.object, Object) and isinstance(q, PriorityQueue):
            q = WithDefaultPriority(q, LOW_PRIORITY if evt.is_in_initial_list else None)
        self.create_func(ctx, evt, q)

    def update(self, ctx: Context, evt: TypedUpdateEvent[ObjectT], q: TypedRateLimitingInterface[RequestT], /) -> None:
        """Call `update_func`."""
        if self.update_func is None:
            return
        if (
            isinstance(evt.object_old, Object)
            and isinstance(evt.object_new, Object)
            and isinstance(q, PriorityQueue)
        ):
            q = WithDefaultPriority(q, LOW_PRIORITY if is_unchanged(evt) else None)
        self.update_func(ctx, evt, q)

    def delete(self, ctx: Context, evt: TypedDeleteEvent[ObjectT], q: TypedRateLimitingInterface[RequestT], /) -> None:
        """Call `delete_func`."""
        if self.delete_func is not None:
            self.delete_func(ctx, evt, q)

    def generic(
        self, ctx: Context, evt: TypedGenericEvent[ObjectT], q: TypedRateLimitingInterface[RequestT], /
    ) -> None:
        """Call `generic_func`."""
        if self.generic_func is not None:
            self.generic_func(ctx, evt, q)


Funcs: TypeAlias = TypedFuncs[Object, Request]
"""A handler for any kind of object. Go: handler.Funcs."""


def is_unchanged(evt: TypedUpdateEvent[Any]) -> bool:
    """Report whether both objects exist and have the same version, as in a resync or a repeated list."""
    old, new = evt.object_old, evt.object_new
    return old is not None and new is not None and old.get_resource_version() == new.get_resource_version()


def with_low_priority_when_unchanged(
    u: TypedEventHandler[KubeObjectT, RequestT],
) -> TypedEventHandler[KubeObjectT, RequestT]:
    """Return a handler that uses LOW_PRIORITY for the initial list and for unchanged objects.

    The handlers of this package do so already; use it for your own handlers. Go: handler.WithLowPriorityWhenUnchanged.
    """
    return TypedFuncs(create_func=u.create, update_func=u.update, delete_func=u.delete, generic_func=u.generic)


class WithDefaultPriority(ForwardingQueue[RequestT]):
    """A priority queue that gives additions a default priority.

    Go: workqueueWithDefaultPriority.
    """

    def __init__(self, queue: PriorityQueue[RequestT], priority: int | None) -> None:
        super().__init__(queue)
        self._inner = queue
        self._priority = priority

    def add(self, item: RequestT) -> None:
        self._inner.add_with_opts(AddOpts(priority=self._priority), item)

    def add_after(self, item: RequestT, duration: float) -> None:
        self._inner.add_with_opts(AddOpts(priority=self._priority, after=duration), item)

    def add_rate_limited(self, item: RequestT) -> None:
        self._inner.add_with_opts(AddOpts(priority=self._priority, rate_limited=True), item)

    def add_with_opts(self, o: AddOpts, /, *items: RequestT) -> None:
        if o.priority is None:
            o = replace(o, priority=self._priority)
        self._inner.add_with_opts(o, *items)

    def get_with_priority(self) -> tuple[RequestT, int, bool]:
        return self._inner.get_with_priority()


_WITH_PRIORITY = AddOpts(priority=LOW_PRIORITY)
_WITHOUT_PRIORITY = AddOpts()


def add_to_queue(q: TypedRateLimitingInterface[RequestT], item: RequestT, low_priority: bool) -> None:
    """Queue the item, with LOW_PRIORITY if requested and supported. Go: addToQueueCreate, addToQueueUpdate."""
    if isinstance(q, PriorityQueue):
        queue = cast("PriorityQueue[RequestT]", q)
        queue.add_with_opts(_WITH_PRIORITY if low_priority else _WITHOUT_PRIORITY, item)
    else:
        q.add(item)
