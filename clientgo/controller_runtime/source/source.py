"""Where a controller's events come from. Mirrors pkg/source/source.go."""

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
from clientgo.controller_runtime.internal.source.event_handler import new_event_handler
from clientgo.controller_runtime.internal.source.kind import Kind
from clientgo.controller_runtime.predicate.predicate import Predicate, TypedPredicate
from clientgo.controller_runtime.reconcile.reconcile import Request
from clientgo.golang.channel import Channel, Receive, Send, select
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
    """Queues requests for what happens somewhere. Go: source.TypedSource. One source belongs to one controller."""

    def start(self, ctx: Context, queue: TypedRateLimitingInterface[RequestT], /) -> None:
        """Begin to queue, until `ctx` ends. Must not block; raises when that is not possible."""
        ...


Source: TypeAlias = TypedSource[Request]
"""Of requests that name an object. Go: source.Source."""


@runtime_checkable
class TypedSyncingSource(TypedSource[RequestT], Protocol[RequestT]):
    """A source that begins with what is there already. Go: source.TypedSyncingSource."""

    def wait_for_sync(self, ctx: Context, /) -> None:
        """Block until that is queued; the controller's workers do not begin before. Raises when it cannot be."""
        ...


SyncingSource: TypeAlias = TypedSyncingSource[Request]
"""Of requests that name an object. Go: source.SyncingSource."""


def kind(
    cache: Cache,
    obj: type[ObjectT] | ObjectT,
    handler: TypedEventHandler[ObjectT, Request],
    *predicates: TypedPredicate[ObjectT],
) -> SyncingSource:
    """The objects of a kind, of which `obj` is the class or an example; the cache makes the informer.

    Go: source.Kind.
    """
    return typed_kind(cache, obj, handler, *predicates)


def typed_kind(
    cache: Cache,
    obj: type[ObjectT] | ObjectT,
    handler: TypedEventHandler[ObjectT, RequestT],
    *predicates: TypedPredicate[ObjectT],
) -> TypedSyncingSource[RequestT]:
    """The same with any kind of request. Raises TypeError for a list. Go: source.TypedKind."""
    if obj is not None:  # which Start refuses
        require_object(obj)
    return Kind(obj, cache, handler, predicates)


ChannelOpt: TypeAlias = Callable[["_Channel[AnyT, RequestT]"], None]
"""Changes a channel source. Go: source.ChannelOpt."""


def with_predicates(*p: TypedPredicate[AnyT]) -> ChannelOpt[AnyT, Any]:
    """Only what all predicates' `generic` let pass. Go: source.WithPredicates."""

    def apply(c: _Channel[AnyT, Any]) -> None:
        c.predicates.extend(p)

    return apply


def with_buffer_size(buffer_size: int) -> ChannelOpt[Any, Any]:
    """How many events may wait for the handler before the senders have to; 1024 by default. Go: WithBufferSize."""

    def apply(c: _Channel[Any, Any]) -> None:
        c.buffer_size = buffer_size

    return apply


def channel(
    source: Channel[TypedGenericEvent[AnyT]],
    handler: TypedEventHandler[AnyT, Request],
    *opts: ChannelOpt[AnyT, Request],
) -> Source:
    """Events that the program sends itself, of what happens outside the cluster. Go: source.Channel."""
    return typed_channel(source, handler, *opts)


def typed_channel(
    source: Channel[TypedGenericEvent[AnyT]],
    handler: TypedEventHandler[AnyT, RequestT],
    *opts: ChannelOpt[AnyT, RequestT],
) -> TypedSource[RequestT]:
    """The same with any kind of request. Go: source.TypedChannel."""
    c = _Channel(source, handler)
    for opt in opts:
        opt(c)
    return c


class _Channel(Generic[AnyT, RequestT]):
    """Reads the program's channel in one thread, and handles the events in another for each start.

    Each start gets every event that comes after it, over a buffer of its own. While one buffer is full nobody gets
    anything, and the senders block: no event is lost. The threads end with the context of the first start, or when the
    program closes the channel; then what is buffered is handled first.
    """

    def __init__(
        self, source: Channel[TypedGenericEvent[AnyT]], handler: TypedEventHandler[AnyT, RequestT]
    ) -> None:
        self.source = source
        self.handler = handler
        self.predicates: list[TypedPredicate[AnyT]] = []
        self.buffer_size: int | None = None
        # Guards what follows.
        self._lock = threading.Lock()
        self._destinations: list[Channel[TypedGenericEvent[AnyT]]] = []
        self._is_read = False
        self._stopped = False

    def start(self, ctx: Context, queue: TypedRateLimitingInterface[RequestT], /) -> None:
        """Begin to handle events. Raises ValueError when something is missing."""
        if self.source is None:
            raise ValueError("must specify Channel.Source")
        if self.handler is None:
            raise ValueError("must specify Channel.Handler")
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
                    # A handler that hangs must not keep this thread from ending.
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
        guard = utilruntime.handle_crash_with_context(ctx)
        for event in events:
            with guard:
                if not all(predicate.generic(event) for predicate in self.predicates):
                    continue
                event_ctx, cancel = context.with_cancel(ctx)
                try:
                    self.handler.generic(event_ctx, event, queue)
                finally:
                    cancel()

    def __str__(self) -> str:
        return f"channel source: {hex(id(self))}"


class Informer:
    """An informer that the program has already. Go: source.Informer. It is not waited for."""

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
        """Add the handler to the informer. Raises ValueError when something is missing."""
        if self.informer is None:
            raise ValueError("must specify Informer.Informer")
        if self.handler is None:
            raise ValueError("must specify Informer.Handler")
        self.informer.add_event_handler_with_options(
            new_event_handler(ctx, queue, self.handler, self.predicates),
            toolscache.HandlerOptions(logger=_LOG_INFORMER),
        )

    def __str__(self) -> str:
        return f"informer source: {hex(id(self.informer))}"


class TypedFunc(Generic[RequestT]):
    """A function as a source (Go: source.TypedFunc): `source.Func(lambda ctx, queue: ...)`. It must not block."""

    def __init__(self, function: Callable[[Context, TypedRateLimitingInterface[RequestT]], None]) -> None:
        self._function = function

    def start(self, ctx: Context, queue: TypedRateLimitingInterface[RequestT], /) -> None:
        """Call the function."""
        self._function(ctx, queue)

    def __str__(self) -> str:
        return f"func source: {hex(id(self._function))}"


Func: TypeAlias = TypedFunc[Request]
"""Of requests that name an object. Go: source.Func."""
