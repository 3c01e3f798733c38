"""Sources of a controller's events. Mirrors pkg/source/source.go."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from clientgo import context
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.context import Context
from clientgo.controller_runtime.cache.cache import Cache
from clientgo.controller_runtime.cache.cache import Informer as CacheInformer
from clientgo.controller_runtime.client.object import Object, require_object
from clientgo.controller_runtime.event.event import TypedGenericEvent
from clientgo.controller_runtime.handler.eventhandler import EventHandler, TypedEventHandler
from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.controller_runtime.internal.source.event_handler import new_event_handler, require_methods
from clientgo.controller_runtime.internal.source.kind import Kind
from clientgo.controller_runtime.predicate.predicate import Predicate, TypedPredicate
from clientgo.controller_runtime.reconcile.reconcile import Request
from clientgo.golang.channel import Channel, Receive, Send, select
from clientgo.golang.functions import call_checked
from clientgo.klog.answers import is_true
from clientgo.tools import cache as toolscache
from clientgo.util.workqueue import TypedRateLimitingInterface

__all__ = [
    "ChannelOpt",
    "Func",
    "Informer",
    "Source",
    "SyncingSource",
    "TypedFunc",
    "TypedSource",
    "TypedSyncingSource",
    "channel",
    "kind",
    "typed_channel",
    "typed_kind",
    "with_buffer_size",
    "with_predicates",
]

_LOG_INFORMER = RUNTIME_LOG.with_name("source").with_name("Informer")
_DEFAULT_BUFFER_SIZE = 1024

AnyT = TypeVar("AnyT")
ObjectT = TypeVar("ObjectT", bound=Object)
RequestT = TypeVar("RequestT", bound=Hashable)


@runtime_checkable
class TypedSource(Protocol[RequestT]):
    """A source that queues requests for events. It belongs to one controller. Go: source.TypedSource."""

    def start(self, ctx: Context, queue: TypedRateLimitingInterface[RequestT], /) -> None:
        """Start to queue requests, until `ctx` ends. Must not block. Raises an error if it cannot start."""
        ...


Source: TypeAlias = TypedSource[Request]
"""A source of requests that name an object. Go: source.Source."""


@runtime_checkable
class TypedSyncingSource(TypedSource[RequestT], Protocol[RequestT]):
    """A source that first queues requests for the existing state. Go: source.TypedSyncingSource."""

    def wait_for_sync(self, ctx: Context, /) -> None:
        """Wait until those requests are queued; the workers start afterwards. Raises an error if that is impossible."""
        ...


SyncingSource: TypeAlias = TypedSyncingSource[Request]
"""A source of requests that name an object. Go: source.SyncingSource."""


def kind(
    cache: Cache,
    obj: type[ObjectT] | ObjectT,
    handler: TypedEventHandler[ObjectT, Request],
    *predicates: TypedPredicate[ObjectT],
) -> SyncingSource:
    """Return a source for the objects of a kind; `obj` is the class or an example, and the cache makes the informer.

    Go: source.Kind.
    """
    return typed_kind(cache, obj, handler, *predicates)


def typed_kind(
    cache: Cache,
    obj: type[ObjectT] | ObjectT,
    handler: TypedEventHandler[ObjectT, RequestT],
    *predicates: TypedPredicate[ObjectT],
) -> TypedSyncingSource[RequestT]:
    """Return a source for the objects of a kind and any type of request. Raises TypeError for a list.

    Go: source.TypedKind.
    """
    if obj is not None:  # which `start` rejects
        require_object(obj)
    return Kind(obj, cache, handler, predicates)


ChannelOpt: TypeAlias = Callable[["_Channel[AnyT, RequestT]"], None]
"""An option of a channel source. Go: source.ChannelOpt."""


def with_predicates(*p: TypedPredicate[AnyT]) -> ChannelOpt[AnyT, Any]:
    """Return an option that drops the events that one of the predicates rejects. Go: source.WithPredicates."""

    def apply(c: _Channel[AnyT, Any]) -> None:
        c.predicates.extend(p)

    return apply


def with_buffer_size(buffer_size: int) -> ChannelOpt[Any, Any]:
    """Return an option that sets the number of buffered events, at which senders block; 1024 by default.

    Go: WithBufferSize.
    """

    def apply(c: _Channel[Any, Any]) -> None:
        c.buffer_size = buffer_size

    return apply


def channel(
    source: Channel[TypedGenericEvent[AnyT]],
    handler: TypedEventHandler[AnyT, Request],
    *opts: ChannelOpt[AnyT, Request],
) -> Source:
    """Return a source of events that the program sends, for changes outside the cluster. Go: source.Channel."""
    return typed_channel(source, handler, *opts)


def typed_channel(
    source: Channel[TypedGenericEvent[AnyT]],
    handler: TypedEventHandler[AnyT, RequestT],
    *opts: ChannelOpt[AnyT, RequestT],
) -> TypedSource[RequestT]:
    """Return a source of events that the program sends, for any type of request. Go: source.TypedChannel."""
    c = _Channel(source, handler)
    for opt in opts:
        opt(c)
    return c


class _Channel(Generic[AnyT, RequestT]):
    """A source that reads the program's channel in one thread and handles events in one thread per start.

    Each start receives the events that come after it, through its own buffer. While one buffer is full, no start
    receives events and the senders block, so no event is lost. The threads end with the context of the first start, or
    when the program closes the channel; then they handle the buffered events first.
    """

    def __init__(
        self, source: Channel[TypedGenericEvent[AnyT]], handler: TypedEventHandler[AnyT, RequestT]
    ) -> None:
        self.source = source
        self.handler = handler
        self.predicates: list[TypedPredicate[AnyT]] = []
        self.buffer_size: int | None = None
        # Guards the attributes below.
        self._lock = threading.Lock()
        self._destinations: list[Channel[TypedGenericEvent[AnyT]]] = []
        self._is_read = False
        self._stopped = False

    def start(self, ctx: Context, queue: TypedRateLimitingInterface[RequestT], /) -> None:
        """Start to handle events. Raises ValueError if a part is missing."""
        if self.source is None:
            raise ValueError("must specify Channel.Source")
        if self.handler is None:
            raise ValueError("must specify Channel.Handler")
        require_methods(self.handler, self.predicates, ("generic",))
        size = _DEFAULT_BUFFER_SIZE if self.buffer_size is None else self.buffer_size
        destination: Channel[TypedGenericEvent[AnyT]] = Channel(size)
        with self._lock:
            first = not self._is_read
            self._is_read = True
            if self._stopped:
                destination.close()
            else:
                self._destinations.append(destination)
        if first:
            threading.Thread(target=self._distribute, args=(ctx,), name=f"source-{self}", daemon=True).start()
        threading.Thread(
            target=self._handle, args=(ctx, destination, queue), name=f"source-{self}-handler", daemon=True
        ).start()

    def _distribute(self, ctx: Context) -> None:
        try:
            while True:
                chosen = select([ctx.done(), Receive(self.source)])
                if chosen.case == 0 or not chosen.ok:
                    return
                with self._lock:
                    destinations = list(self._destinations)
                for destination in destinations:
                    # A blocked handler must not keep this thread alive.
                    if select([Send(destination, chosen.value), ctx.done()]).case == 1:
                        return
        finally:
            with self._lock:
                self._stopped = True
                for destination in self._destinations:
                    destination.close()

    def _handle(
        self,
        ctx: Context,
        events: Iterable[TypedGenericEvent[AnyT]],
        queue: TypedRateLimitingInterface[RequestT],
    ) -> None:
        guard = utilruntime.handle_crash_with_context(ctx, go_on=True)
        for event in events:
            with guard:
                if not all(is_true(predicate.generic, event) for predicate in self.predicates):
                    continue
                event_ctx, cancel = context.with_cancel(ctx)
                try:
                    self.handler.generic(event_ctx, event, queue)
                finally:
                    cancel()

    def __str__(self) -> str:
        return f"channel source: {hex(id(self))}"


class Informer:
    """A source for an informer that the program already has. The controller does not wait for its sync.

    Go: source.Informer.
    """

    def __init__(
        self,
        informer: CacheInformer | None = None,
        handler: EventHandler | None = None,
        predicates: Iterable[Predicate] = (),
    ) -> None:
        self.informer = informer
        self.handler = handler
        self.predicates = list(predicates)

    def start(self, ctx: Context, queue: TypedRateLimitingInterface[Request], /) -> None:
        """Add the handler to the informer. Raises ValueError if a part is missing."""
        if self.informer is None:
            raise ValueError("must specify Informer.Informer")
        if self.handler is None:
            raise ValueError("must specify Informer.Handler")
        require_methods(self.handler, self.predicates, ("create", "update", "delete"))
        self.informer.add_event_handler_with_options(
            new_event_handler(ctx, queue, self.handler, self.predicates),
            toolscache.HandlerOptions(logger=_LOG_INFORMER),
        )

    def __str__(self) -> str:
        return f"informer source: {hex(id(self.informer))}"


class TypedFunc(Generic[RequestT]):
    """A function as a source: `source.Func(lambda ctx, queue: ...)`. The function must not block.

    Go: source.TypedFunc.
    """

    def __init__(self, function: Callable[[Context, TypedRateLimitingInterface[RequestT]], None]) -> None:
        self._function = function

    def start(self, ctx: Context, queue: TypedRateLimitingInterface[RequestT], /) -> None:
        """Call the function."""
        call_checked(self._function, ctx, queue)

    def __str__(self) -> str:
        return f"func source: {hex(id(self._function))}"


Func: TypeAlias = TypedFunc[Request]
"""A source of requests that name an object. Go: source.Func."""
