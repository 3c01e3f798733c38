"""The adapter between an informer and a controller's event handler. Mirrors pkg/internal/source/event_handler.go."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar, get_origin

from clientgo import context
from clientgo.context import Context
from clientgo.controller_runtime.client.object import Object
from clientgo.controller_runtime.event.event import TypedCreateEvent, TypedDeleteEvent, TypedUpdateEvent
from clientgo.controller_runtime.handler.eventhandler import TypedEventHandler, TypedFuncs
from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.controller_runtime.predicate.predicate import TypedPredicate
from clientgo.golang.functions import require_function, require_plain
from clientgo.klog.answers import is_true
from clientgo.tools import cache
from clientgo.tools.cache.event_handler_name import name_for_function, name_for_functions, name_for_type
from clientgo.util.workqueue import TypedRateLimitingInterface

__all__ = ["EventHandler", "new_event_handler", "require_methods"]

_LOG = RUNTIME_LOG.with_name("source").with_name("EventHandler")

ObjectT = TypeVar("ObjectT", bound=Object)
RequestT = TypeVar("RequestT", bound=Hashable)


def require_methods(handler: object, predicates: Sequence[object], events: Sequence[str]) -> None:
    """Raise TypeError unless the handler and the predicates have the methods `events`.

    A function or a class in the place of an object would fail for each event.
    """
    for part, remedy in (
        (handler, "a handler is an object with create, update, delete and generic, such as a handler.Funcs"),
        *((each, "a predicate is such an object too, as from predicate.new_predicate_funcs") for each in predicates),
    ):
        is_class = isinstance(part, type) or get_origin(part) is not None
        for event in events:
            if is_class or not callable(getattr(part, event, None)):
                raise TypeError(f"{part!r} has no method {event}: {remedy}")
            parameters = "ctx, event, queue" if part is handler else "event"
            require_plain(getattr(part, event), f"{event} of a handler or predicate", parameters)
            if (function := getattr(part, f"{event}_func", None)) is not None:
                require_function(function, f"the {event}_func of a handler or predicate", parameters)


def new_event_handler(
    ctx: Context,
    queue: TypedRateLimitingInterface[RequestT],
    handler: TypedEventHandler[ObjectT, RequestT],
    predicates: Sequence[TypedPredicate[ObjectT]],
) -> EventHandler[ObjectT, RequestT]:
    """Return an informer's handler. `ctx` is the parent of the contexts that `handler` receives."""
    return EventHandler(ctx, queue, handler, predicates)


class EventHandler(Generic[ObjectT, RequestT]):
    """A cache.ResourceEventHandler that passes events through the predicates to a controller's handler."""

    def __init__(
        self,
        ctx: Context,
        queue: TypedRateLimitingInterface[RequestT],
        handler: TypedEventHandler[ObjectT, RequestT],
        predicates: Sequence[TypedPredicate[ObjectT]],
    ) -> None:
        self._ctx = ctx
        self._queue = queue
        self._handler = handler
        self._predicates = tuple(predicates)

    def handler_name(self) -> str:
        """Return the name of the controller's handler, for logs; see `name_for_handler` of tools/cache."""
        if isinstance(self._handler, TypedFuncs):
            funcs = self._handler
            if name := name_for_functions(funcs.create_func, funcs.update_func, funcs.delete_func):
                return name
        map_func = getattr(self._handler, "map_func", None)
        return name_for_type(type(self._handler)) if map_func is None else name_for_function(map_func)

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        """Pass on a creation."""
        if not isinstance(obj, Object):
            _LOG.error(None, "OnAdd missing Object", object=obj, type=type(obj).__name__)
            return
        event: TypedCreateEvent[Any] = TypedCreateEvent(obj, is_in_initial_list)
        for predicate in self._predicates:
            if not is_true(predicate.create, event):
                return
        ctx, cancel = context.with_cancel(self._ctx)
        try:
            self._handler.create(ctx, event, self._queue)
        finally:
            cancel()

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        """Pass on a change."""
        if not isinstance(old_obj, Object):
            _LOG.error(None, "OnUpdate missing ObjectOld", object=old_obj, type=type(old_obj).__name__)
            return
        if not isinstance(new_obj, Object):
            _LOG.error(None, "OnUpdate missing ObjectNew", object=new_obj, type=type(new_obj).__name__)
            return
        event: TypedUpdateEvent[Any] = TypedUpdateEvent(old_obj, new_obj)
        for predicate in self._predicates:
            if not is_true(predicate.update, event):
                return
        ctx, cancel = context.with_cancel(self._ctx)
        try:
            self._handler.update(ctx, event, self._queue)
        finally:
            cancel()

    def on_delete(self, obj: Any) -> None:
        """Pass on a deletion; a tombstone passes on its last known object."""
        unknown = isinstance(obj, cache.DeletedFinalStateUnknown)
        if unknown:
            obj = obj.obj
        if not isinstance(obj, Object):
            message = "OnDelete missing Object"
            if not unknown:
                message = "Error decoding objects.  Expected cache.DeletedFinalStateUnknown"
            _LOG.error(None, message, object=obj, type=type(obj).__name__)
            return
        event: TypedDeleteEvent[Any] = TypedDeleteEvent(obj, unknown)
        for predicate in self._predicates:
            if not is_true(predicate.delete, event):
                return
        ctx, cancel = context.with_cancel(self._ctx)
        try:
            self._handler.delete(ctx, event, self._queue)
        finally:
            cancel()
