"""Informers that hold only the objects of a replica's shards. No Go counterpart.

A ShardedInformer has one shared informer for each shard that the replica has, with a list and a watch of its own. When
a shard comes or goes, one informer starts or stops and the others are not touched: no object that the replica keeps is
listed again. To a controller all of them look like one SharedIndexInformer.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clientgo import context, klog
from clientgo.apimachinery.util import wait
from clientgo.context import CancelFunc, Context
from clientgo.golang.channel import Signal, StopChannel
from clientgo.tools import cache
from clientgo.tools.sharding.indexer import ShardedIndexer
from clientgo.tools.sharding.list_watch import ShardListWatch
from clientgo.tools.sharding.ranges import ShardBy, selector_of, shard_of_value

__all__ = ["ShardedInformer", "ShardedInformers", "ShardedRegistration"]


class ShardedInformers:
    """All informers of a controller, which get and give up shards together. Thread-safe.

    Pass it to the sharder as `ShardingConfig.informers`. The sharder starts a shard's informers when it has the shard's
    Lease, and the replica owns the shard once they have synced. It stops them before it gives the Lease back.
    """

    def __init__(self, shards: int, by: ShardBy) -> None:
        """Raise ValueError for `ShardBy.NAME`, by which no informer can select, and for less than one shard."""
        selector_of(range(shards), shards, by)
        self.shards = shards
        self.by = by
        # Guards the fields below.
        self._lock = threading.Lock()
        self._informers: list[ShardedInformer] = []
        self._started: set[int] = set()

    def __repr__(self) -> str:
        return f"<ShardedInformers {len(self._all())} informers of {self.shards} shards by {self.by.name.lower()}>"

    def informer(
        self,
        lw: cache.ListerWatcher,
        example_object: object,
        resync_period: float = 0.0,
        indexers: Mapping[str, cache.IndexFunc] | None = None,
    ) -> ShardedInformer:
        """Return a new informer of the objects of this replica's shards.

        `list_watch_of(client.apps_v1().deployments(""))` makes an `lw`. The other parameters are those of
        `cache.new_shared_index_informer`. An informer that is created while the replica has shards already starts them
        with `run_with_context`; until it has synced its cache lacks them.
        """
        informer = ShardedInformer(self, lw, example_object, resync_period, indexers or {})
        with self._lock:
            self._informers.append(informer)
        return informer

    def new_informer(self, *kinds: type) -> Callable[..., cache.SharedIndexInformer]:
        """Return a function for controller-runtime's `cache.Options.new_informer`.

        Informers of these kinds hold the replica's shards only. Informers of other kinds hold everything: give no
        cluster-scoped kind here with `ShardBy.NAMESPACE`.
        """

        def create(
            lw: cache.ListerWatcher,
            example_object: object,
            resync_period: float,
            indexers: Mapping[str, cache.IndexFunc],
        ) -> cache.SharedIndexInformer:
            if isinstance(example_object, kinds):
                return self.informer(lw, example_object, resync_period, indexers)
            return cache.new_shared_index_informer(lw, example_object, resync_period, indexers)

        return create

    def started(self) -> set[int]:
        """Return the shards that were started and not stopped."""
        with self._lock:
            return set(self._started)

    def shard_of(self, namespace: str, name: str) -> int | None:
        """Return the shard of an object; None if it is unknown.

        By namespace every object's shard is known. By uid it is known while an informer's cache has an object of this
        name, and for a while after its deletion.
        """
        if self.by is ShardBy.NAMESPACE:
            return shard_of_value(namespace, self.shards)
        key = f"{namespace}/{name}" if namespace else name
        return next((found for each in self._all() if (found := each.shard_of_key(key)) is not None), None)

    def start(self, ctx: Context, shard: int) -> bool:
        """Start the informers of a shard and block until they have synced; report that, or False when `ctx` is done.

        After False the informers are stopped.
        """
        with self._lock:
            self._started.add(shard)
            informers = list(self._informers)
        for informer in informers:
            informer.start(shard)
        checkers = [informer.synced_checker_of(shard) for informer in informers]
        if cache.wait_for(ctx, "", *checkers):
            return True
        self.stop(shard)
        return False

    def stop(self, shard: int) -> None:
        """Stop the informers of a shard and forget its objects; no handler is notified. Blocks for the handlers."""
        with self._lock:
            self._started.discard(shard)
            informers = list(self._informers)
        for informer in informers:
            informer.stop(shard)

    def _all(self) -> list[ShardedInformer]:
        with self._lock:
            return list(self._informers)


@dataclass
class _ShardInformer:
    """The informer of one shard, and what ends it."""

    informer: cache.SharedIndexInformer
    cancel: CancelFunc
    thread: threading.Thread | None = None


@dataclass(eq=False)
class _Handler:
    """A handler with its options, for the shards that come later, and its registrations with the present shards."""

    handler: cache.ResourceEventHandler
    options: cache.HandlerOptions
    registrations: dict[int, cache.ResourceEventHandlerRegistration] = field(default_factory=dict)


# How many deleted objects' shards are remembered, by uid.
_DELETED = 65536


class ShardedInformer:
    """A SharedIndexInformer of the shards that a replica has; create it with `ShardedInformers.informer`.

    `run_with_context` blocks until its context is done; shards that start before it wait for it. Handlers are notified
    of an object's addition when its shard comes, and of nothing when it goes. Notifications of one shard come in order;
    those of different shards come in different threads, at the same time, so a handler must be thread-safe.

    Invariant (`_check` asserts it): every handler is registered with every shard's informer.
    """

    def __init__(
        self,
        group: ShardedInformers,
        lw: cache.ListerWatcher,
        example_object: object,
        resync_period: float,
        indexers: Mapping[str, cache.IndexFunc],
    ) -> None:
        self._group = group
        self._lw = lw
        self._example_object = example_object
        self._resync_period = resync_period
        self._indexers: cache.Indexers = dict(indexers)
        # Guards all below. Held while informers are made and given handlers, never while one runs or a handler does.
        self._lock = threading.RLock()
        self._shards: dict[int, _ShardInformer] = {}
        self._handlers: list[_Handler] = []
        self._transform: cache.TransformFunc | None = None
        self._watch_error_handler: cache.WatchErrorHandlerWithContext | None = None
        self._ctx: Context | None = None
        self._stopped = False
        # The shards of objects that were deleted, oldest first; see _DELETED.
        self._deleted: dict[str, int] = {}
        self._synced = Signal()
        self._running = wait.Group()
        self._view = ShardedIndexer(self._present_indexers, self._indexers)

    def __repr__(self) -> str:
        example = self._example_object
        kind = example.__name__ if isinstance(example, type) else type(example).__name__
        return f"<ShardedInformer of {kind}, shards {sorted(self._shards)}>"

    def _check(self) -> None:
        with self._lock:
            for handler in self._handlers:
                assert handler.registrations.keys() == self._shards.keys()

    # ---- shards

    def start(self, shard: int) -> None:
        """Start the informer of a shard, or let `run_with_context` start it. Does not block.

        Does nothing for a shard that is started.
        """
        selector = selector_of([shard], self._group.shards, self._group.by)
        with self._lock:
            if shard in self._shards:
                return
            made = cache.new_shared_index_informer(
                ShardListWatch(self._lw, selector), self._example_object, self._resync_period, self._indexers
            )
            if self._transform is not None:
                made.set_transform(self._transform)
            if self._watch_error_handler is not None:
                made.set_watch_error_handler_with_context(self._watch_error_handler)
            self._shards[shard] = started = _ShardInformer(made, lambda: None)
            for handler in self._handlers:
                self._register(handler, shard, made)
            if self._ctx is not None:
                self._run(started, shard, self._ctx)

    def stop(self, shard: int) -> None:
        """Stop the informer of a shard and forget its objects. Blocks for its handlers; does nothing for another shard.

        Do not call it from a handler.
        """
        with self._lock:
            stopped = self._shards.pop(shard, None)
            for handler in self._handlers:
                handler.registrations.pop(shard, None)
            for key in [key for key, of in self._deleted.items() if of == shard]:
                del self._deleted[key]
        if stopped is None:
            return
        stopped.cancel()
        if stopped.thread is not None:
            stopped.thread.join()

    def _run(self, started: _ShardInformer, shard: int, ctx: Context) -> None:
        """Start the thread of a shard's informer. The lock is held."""
        running, started.cancel = context.with_cancel(ctx)
        started.thread = threading.Thread(
            target=self._run_shard,
            args=(started.informer, running),
            name=f"{threading.current_thread().name} shard {shard}",
            daemon=True,
        )
        started.thread.start()

    def _run_shard(self, informer: cache.SharedIndexInformer, ctx: Context) -> None:
        try:
            informer.run_with_context(ctx)
        except Exception as err:
            klog.from_context(ctx).error(err, "The informer of a shard ended")

    def synced_checker_of(self, shard: int) -> cache.DoneChecker:
        """Return the checker whether a started shard's cache has synced. Raises LookupError for another shard."""
        with self._lock:
            return self._shards[shard].informer.has_synced_checker()

    def objects_of(self, shard: int) -> list[Any]:
        """Return the cached objects of a shard, [] for a shard that is not started."""
        with self._lock:
            started = self._shards.get(shard)
        return started.informer.get_indexer().list() if started is not None else []

    def shard_of_key(self, key: str) -> int | None:
        """Return the shard whose cache has the key, or had it at its deletion; None if none has. O(shards)."""
        with self._lock:
            shards = {shard: started.informer for shard, started in self._shards.items()}
            deleted = self._deleted.get(key)
        for shard, informer in shards.items():
            if informer.get_indexer().get_by_key(key)[1]:
                return shard
        return deleted

    def _register(self, added: _Handler, shard: int, informer: cache.SharedIndexInformer) -> None:
        handler = added.handler
        if self._group.by is ShardBy.UID:
            handler = _RememberingHandler(handler, functools.partial(self._remember, shard))
        added.registrations[shard] = informer.add_event_handler_with_options(handler, added.options)

    def _remember(self, shard: int, obj: object) -> None:
        with self._lock:
            if shard in self._shards:
                self._deleted[cache.deletion_handling_meta_namespace_key_func(obj)] = shard
            if len(self._deleted) > _DELETED:
                del self._deleted[next(iter(self._deleted))]

    # ---- handlers

    def add_event_handler(self, handler: cache.ResourceEventHandler) -> ShardedRegistration:
        """Notify the handler of every change in the replica's shards, including shards that it takes over later."""
        return self.add_event_handler_with_options(handler, cache.HandlerOptions())

    def add_event_handler_with_resync_period(
        self, handler: cache.ResourceEventHandler, resync_period: float
    ) -> ShardedRegistration:
        """Add a handler with a resync period of its own, in seconds."""
        return self.add_event_handler_with_options(handler, cache.HandlerOptions(resync_period=resync_period))

    def add_event_handler_with_options(
        self, handler: cache.ResourceEventHandler, options: cache.HandlerOptions
    ) -> ShardedRegistration:
        """Add a handler with options. Raises RuntimeError once the informer has stopped."""
        with self._lock:
            if self._stopped:
                raise RuntimeError("handler was not added to shared informer because it has stopped already")
            added = _Handler(handler, options)
            for shard, started in self._shards.items():
                self._register(added, shard, started.informer)
            self._handlers.append(added)
        return ShardedRegistration(self, added)

    def remove_event_handler(self, handle: cache.ResourceEventHandlerRegistration) -> None:
        """Remove a handler from all shards; does nothing for one that is removed. Raises TypeError for another type."""
        if not isinstance(handle, ShardedRegistration):
            raise TypeError(f"invalid registration {handle!r}: it is not from a ShardedInformer")
        with self._lock:
            if handle.added not in self._handlers:
                return
            self._handlers.remove(handle.added)
            registrations, handle.added.registrations = handle.added.registrations, {}
            informers = {shard: started.informer for shard, started in self._shards.items()}
        for shard, registration in registrations.items():
            if shard in informers:
                informers[shard].remove_event_handler(registration)

    # ---- the cache

    def get_store(self) -> cache.Store:
        """Return the cache of all shards; see `get_indexer`."""
        return self._view

    def get_indexer(self) -> cache.Indexer:
        """Return the caches of all shards as one, which is read-only and follows the shards."""
        return self._view

    def add_indexers(self, indexers: cache.Indexers) -> None:
        """Add indexes to all shards. Raises ValueError for a taken name, RuntimeError once stopped."""
        with self._lock:
            if self._stopped:
                raise RuntimeError("indexer was not added because it has stopped already")
            if taken := self._indexers.keys() & indexers.keys():
                raise ValueError(f"indexer conflict: {sorted(taken)}")
            for started in self._shards.values():
                started.informer.add_indexers(indexers)
            self._indexers.update(indexers)

    def _present_indexers(self) -> Sequence[cache.Indexer]:
        with self._lock:
            return [started.informer.get_indexer() for started in self._shards.values()]

    # ---- running

    def get_controller(self) -> cache.Controller:
        """Raise RuntimeError: every shard has a controller of its own."""
        raise RuntimeError("a ShardedInformer has a controller for each shard")

    def run(self, stop_ch: StopChannel) -> None:
        """Run the informers until `stop_ch` is set; see `run_with_context`."""
        self.run_with_context(wait.context_for_channel(stop_ch))

    def run_with_context(self, ctx: Context) -> None:
        """Run the informers of all shards until `ctx` is done. Blocks; call it in a thread, once."""
        with self._lock:
            if self._ctx is not None:
                raise RuntimeError("the sharded informer was started more than once")
            for shard in self._group.started():
                self.start(shard)
            self._ctx = ctx
            for shard, started in self._shards.items():
                self._run(started, shard, ctx)
            checkers = [started.informer.has_synced_checker() for started in self._shards.values()]
        if cache.wait_for(ctx, "", *checkers):
            self._synced.set()
        ctx.done().wait()
        with self._lock:
            self._stopped = True
            threads = [started.thread for started in self._shards.values() if started.thread is not None]
        for thread in threads:
            thread.join()

    def has_synced(self) -> bool:
        """Report whether it runs and all shards that it has now have synced; True without a shard."""
        with self._lock:
            started = [each.informer for each in self._shards.values()]
        return self._synced.is_set() and all(informer.has_synced() for informer in started)

    def has_synced_checker(self) -> cache.DoneChecker:
        """Return the checker whether the shards that it had at its start have synced."""
        return _SyncedChecker(self, self._synced)

    def last_sync_resource_version(self) -> str:
        """Return "": the shards are at different versions."""
        return ""

    def last_contact(self) -> float | None:
        """Return the time at which the server last sent the state of the shard that has waited longest, or None."""
        with self._lock:
            times = [started.informer.last_contact() for started in self._shards.values()]
        known = [time for time in times if time is not None]
        return min(known) if len(known) == len(times) and known else None

    def refused(self) -> Mapping[str, cache.Refusal]:
        """Return the objects that the caches of the shards have rejected, by key."""
        with self._lock:
            started = [each.informer for each in self._shards.values()]
        return {key: refusal for informer in started for key, refusal in informer.refused().items()}

    def set_watch_error_handler(self, handler: cache.WatchErrorHandler) -> None:
        """Call `handler` when a list or watch fails, for the shards that start later."""
        self.set_watch_error_handler_with_context(lambda ctx, reflector, err: handler(reflector, err))

    def set_watch_error_handler_with_context(self, handler: cache.WatchErrorHandlerWithContext) -> None:
        """Call `handler` when a list or watch fails. Raises RuntimeError once a shard was started."""
        with self._lock:
            self._reject_if_started()
            self._watch_error_handler = handler

    def set_transform(self, handler: cache.TransformFunc) -> None:
        """Let `handler` change every object before it is cached. Raises RuntimeError once a shard was started."""
        with self._lock:
            self._reject_if_started()
            self._transform = handler

    def _reject_if_started(self) -> None:
        if self._shards or self._ctx is not None:
            raise RuntimeError("informer has already started")

    def is_stopped(self) -> bool:
        """Report whether it has run and stopped."""
        return self._stopped


class _RememberingHandler:
    """A handler that notes the shard of a deleted object first, so that the queue still knows whose the key is."""

    def __init__(self, handler: cache.ResourceEventHandler, remember: Callable[[object], None]) -> None:
        self._remember = remember
        self._handler = handler
        self.on_add = handler.on_add
        self.on_update = handler.on_update

    def __repr__(self) -> str:
        return repr(self._handler)

    def on_delete(self, obj: Any) -> None:
        self._remember(obj)
        self._handler.on_delete(obj)


class ShardedRegistration:
    """A handler's registration with a ShardedInformer."""

    def __init__(self, informer: ShardedInformer, added: _Handler) -> None:
        self._informer = informer
        self.added = added

    def has_synced(self) -> bool:
        """Report whether the handler was notified of every object from the lists of the present shards."""
        return self._informer.has_synced() and all(
            registration.has_synced() for registration in list(self.added.registrations.values())
        )

    def has_synced_checker(self) -> cache.DoneChecker:
        """Return the informer's checker: the handlers of shards that come later sync later."""
        return self._informer.has_synced_checker()

    def statistics(self) -> cache.HandlerStatistics:
        """Raise RuntimeError: every shard has statistics of its own."""
        raise RuntimeError("a handler of a ShardedInformer has statistics for each shard")


class _SyncedChecker:
    """A DoneChecker for the shards that a ShardedInformer had at its start."""

    def __init__(self, informer: ShardedInformer, synced: Signal) -> None:
        self._informer = informer
        self._synced = synced

    def name(self) -> str:
        return repr(self._informer)

    def done(self) -> StopChannel:
        return self._synced
