"""Shared informers: one cache of a resource for many handlers.

Mirrors tools/cache/shared_informer.go. A SharedIndexInformer runs one controller (reflector, queue, process loop) whose
process function brings the indexer up to date and hands a notification of each change to the processor; the processor
passes it to a listener for each handler, and the listener to the handler.

Differs from Go:
  * a listener has one thread where Go has three goroutines: its buffer is a deque under a condition instead of a ring
    between two channels, and it hears of the informer's sync by a callback. What can be observed is the same: adding to
    a listener never blocks, so a slow or stuck handler delays neither the others nor the reflector, and what a removed
    listener has not delivered yet is dropped;
  * notifications are distributed in batches, one for each batch that left the queue, by a function that is passed to
    the process functions; in Go the informer is a handler itself;
  * objects are frozen before they reach the cache (see controller.py), which makes CacheMutationDetector a second line
    of defence;
  * a handler that raises is told of the next thing at once, not after a second: here an exception is no panic; what
    waits for a handler is counted, and may be bounded (backlog.py);
  * `last_heard` tells when the server last said how things stand; `in_order`, `clock` and
    `emit_delta_type_replaced` in SharedIndexInformerOptions are choices for one informer;
  * `wait_for` waits on the calling thread, without a goroutine for each checker.

Threads of a running informer, all ended when `run_with_context` returns: the caller's, which empties the queue; the
reflector's and its helpers; "<name> closer" and "<name> synced", which wait; "<name> processor", which starts and stops
the listeners; and one for each handler, named after it.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from clientgo import context, features, klog
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util import wait
from clientgo.golang import channel
from clientgo.golang.channel import Signal, StopChannel
from clientgo.golang.duration import format_duration
from clientgo.hops import hop
from clientgo.tools.cache import inspection, mutation_detector
from clientgo.tools.cache.beyond.backlog import Overflow, merge
from clientgo.tools.cache.beyond.refusals import Refusal, Refusals
from clientgo.tools.cache.beyond.stuck_handlers import StuckHandlers
from clientgo.tools.cache.beyond.unstarted import reporting_unstarted
from clientgo.tools.cache.controller import (
    Config,
    Controller,
    ResourceEventHandler,
    deletion_handling_meta_namespace_key_func,
    new_named,
    new_queue_fifo,
    process_deltas,
    process_deltas_in_batch,
    store_options,
)
from clientgo.tools.cache.delta_fifo import Delta, Deltas, TransformFunc
from clientgo.tools.cache.event_handler_name import name_for_handler
from clientgo.tools.cache.fifo_metrics import HandlerMetrics, InformerMetricsProvider, new_handler_metrics
from clientgo.tools.cache.identity import InformerNameAndResource
from clientgo.tools.cache.index import Indexer, Indexers, IndexFunc
from clientgo.tools.cache.listwatch import ListerWatcher
from clientgo.tools.cache.mutation_detector import MutationDetector, new_cache_mutation_detector
from clientgo.tools.cache.notifications import AddNotification, DeleteNotification, Notification, stamp
from clientgo.tools.cache.reflector import (
    WatchErrorHandler,
    WatchErrorHandlerWithContext,
    name_from_callsite,
    type_string,
)
from clientgo.tools.cache.store import Store, new_indexer
from clientgo.tools.cache.synctrack import SingleFileTracker, new_single_file_tracker
from clientgo.tools.cache.unsynced import EarlyReads, calling_handlers
from clientgo.utils import trace
from clientgo.utils.clock import REAL_CLOCK, WithTickerAndDelayedExecution
from clientgo.utils.snapshot import first_of, in_one_go


class SharedInformer(Protocol):
    """Keeps a cache of a collection of objects and tells handlers of every change to it. Go: SharedInformer.

    An object is known by its namespace and name; its UID plays no part, so an object that is deleted and made anew
    while the informer looks away comes as an update. The cache is eventually right: what it shows of an object is some
    state the object had, later states never come before earlier ones, and some may be left out. Between different
    objects there is no order.

    The cache begins empty and is filled and kept by `run_with_context`. Each query is answered from one moment of it.

    For each handler the notifications come one after the other, and those about one object in order; the cache shows
    each change before the handler hears of it, and maybe later ones too. A handler added while the informer runs first
    hears of everything in the cache as added. Handlers do not wait for each other; what a slow one has not heard yet is
    kept for it, without a limit unless HandlerOptions.max_pending sets one, so hand long work to a queue.

    All methods may be called from any thread.
    """

    def add_event_handler(self, handler: ResourceEventHandler) -> ResourceEventHandlerRegistration:
        """Tell `handler` of every change from now on; resyncs come at the informer's period. Go: AddEventHandler.

        The registration removes the handler again, and tells when it has heard of the first list. Raises RuntimeError
        once the informer has stopped.
        """
        ...

    def add_event_handler_with_resync_period(
        self, handler: ResourceEventHandler, resync_period: float
    ) -> ResourceEventHandlerRegistration:
        """The same with a resync period of the handler's own: every so many seconds it hears of all objects, as
        updates.

        0 is never. The real period may be longer: it is at least a second and the informer's own, and an informer made
        without a period has no resyncs. Nothing is asked of the server. Go: AddEventHandlerWithResyncPeriod.
        """
        ...

    def add_event_handler_with_options(
        self, handler: ResourceEventHandler, options: HandlerOptions
    ) -> ResourceEventHandlerRegistration:
        """The same with everything that has a default. Go: AddEventHandlerWithOptions."""
        ...

    def remove_event_handler(self, handle: ResourceEventHandlerRegistration) -> None:
        """Tell a handler no more; what it is being told just now is the last. Go: RemoveEventHandler.

        Does nothing for one that was removed already or belongs to another informer. Does not wait for the handler.
        Raises TypeError for something that is no registration.
        """
        ...

    def get_store(self) -> Store:
        """The cache; only to be read. Go: GetStore."""
        ...

    def get_controller(self) -> Controller:
        """Something that looks like a controller and cannot be run. Deprecated. Go: GetController."""
        ...

    def run(self, stop_ch: StopChannel) -> None:
        """`run_with_context` until `stop_ch` is set. Go: Run."""
        ...

    def run_with_context(self, ctx: context.Context) -> None:
        """Fill the cache and keep it until `ctx` is done. Blocks; call it in a thread, once. Go: RunWithContext.

        All threads it started have ended when it returns, so it waits for handlers that are at work.
        """
        ...

    def has_synced(self) -> bool:
        """Whether the cache has held a full list once. Handlers may not have heard of it yet. Go: HasSynced.

        A list of which the cache could not take in everything is not full: see `refused`.
        """
        ...

    def has_synced_checker(self) -> DoneChecker:
        """The same for `wait_for`, without polling. Go: HasSyncedChecker."""
        ...

    def last_sync_resource_version(self) -> str:
        """The newest version the reflector saw; the cache may be behind. Go: LastSyncResourceVersion."""
        ...

    def last_heard(self) -> float | None:
        """When the server last said how things stand, in seconds of the informer's clock; None for never.

        For health checks: see StalenessCheck, which says when this is too long ago. Thread-safe. Beyond Go.
        """
        ...

    def refused(self) -> Mapping[str, Refusal]:
        """The objects the cache lacks, or shows an old state of, because an index function or the transform function
        failed for them; by key.

        Normally empty. The informer lists anew until it is; it has not synced before it was empty once, and
        StalenessCheck counts it as stale when it stays otherwise. Never blocks. Beyond Go.
        """
        ...

    def set_watch_error_handler(self, handler: WatchErrorHandler) -> None:
        """Call `handler` when a list or watch fails, in place of logging it; it should return quickly.

        The last one set counts. Raises RuntimeError once the informer was started. Go: SetWatchErrorHandler.
        """
        ...

    def set_watch_error_handler_with_context(self, handler: WatchErrorHandlerWithContext) -> None:
        """The same for a handler that takes the context. Go: SetWatchErrorHandlerWithContext."""
        ...

    def set_transform(self, handler: TransformFunc) -> None:
        """Let `handler` change every object before it is cached, to drop what nobody needs, say; see TransformFunc.

        Raises RuntimeError once the informer was started. Go: SetTransform.
        """
        ...

    def is_stopped(self) -> bool:
        """Whether the informer has run and stopped; it takes no handlers then, and never runs again. Go: IsStopped."""
        ...


class ResourceEventHandlerRegistration(Protocol):
    """A handler's registration with one informer. Go: ResourceEventHandlerRegistration."""

    def has_synced(self) -> bool:
        """Whether the informer has synced and the handler has been told of everything from before. Go: HasSynced."""
        ...

    def has_synced_checker(self) -> DoneChecker:
        """The same for `wait_for`, without polling. Go: HasSyncedChecker."""
        ...

    def statistics(self) -> inspection.HandlerStatistics:
        """How many notifications wait for the handler, since when, and what became of others. Beyond Go."""
        ...


@dataclass(kw_only=True)
class HandlerOptions:
    """Everything about a registration that has a default. Go: HandlerOptions."""

    logger: klog.Logger | None = None
    """klog.background() when None."""
    resync_period: float | None = None
    """See SharedInformer.add_event_handler_with_resync_period; the informer's own period when None."""
    max_pending: int = 0
    """How many notifications may wait for the handler before `overflow` is done about it; 0 for any number. Beyond Go.
    """
    overflow: Overflow = Overflow.MERGE
    """Beyond Go."""


class SharedIndexInformer(SharedInformer, Protocol):
    """A SharedInformer whose cache can be searched by indexes. Go: SharedIndexInformer."""

    def add_indexers(self, indexers: Indexers) -> None:
        """Add indexes, also while it runs. Go: AddIndexers.

        Raises ValueError for a taken name, RuntimeError once stopped.
        """
        ...

    def get_indexer(self) -> Indexer:
        """The cache; only to be read. Go: GetIndexer."""
        ...


def new_shared_informer(
    lw: ListerWatcher, example_object: object, default_event_handler_resync_period: float
) -> SharedInformer:
    """See `new_shared_index_informer_with_options`. Go: NewSharedInformer."""
    return new_shared_index_informer(lw, example_object, default_event_handler_resync_period, {})


def new_shared_index_informer(
    lw: ListerWatcher,
    example_object: object,
    default_event_handler_resync_period: float,
    indexers: Mapping[str, IndexFunc],
) -> SharedIndexInformer:
    """See `new_shared_index_informer_with_options`. Go: NewSharedIndexInformer."""
    return new_shared_index_informer_with_options(
        lw,
        example_object,
        SharedIndexInformerOptions(resync_period=default_event_handler_resync_period, indexers=dict(indexers)),
    )


def new_shared_index_informer_with_options(
    lw: ListerWatcher, example_object: object, options: SharedIndexInformerOptions
) -> SharedIndexInformer:
    """An informer for what `lw` lists and watches. Go: NewSharedIndexInformerWithOptions.

    `example_object` is an object of the type (or the class); others are refused. None takes any.

    With `options.resync_period` 0 there are no resyncs. Otherwise the informer looks for handlers to resync at a check
    period, which is fixed when it starts: the shortest of that option and the periods the handlers asked for by then,
    but at least a second. A handler's own period is then what it asked for, rounded up to a multiple of the check
    period.
    """
    return _SharedIndexInformer(lw, example_object, options)


@dataclass(kw_only=True)
class SharedIndexInformerOptions:
    """Everything about a shared informer that has a default. Go: SharedIndexInformerOptions."""

    resync_period: float = 0.0
    """The handlers' default resync period and the first check period, in seconds; 0 for no resyncs."""
    indexers: Indexers = field(default_factory=dict)
    """The indexes of the cache."""
    object_description: str = ""
    """What to call the objects in logs; made from the example object when empty."""
    identifier: InformerNameAndResource | None = None
    """Which informer it is, for metrics; there are none without it."""
    informer_metrics_provider: InformerMetricsProvider | None = None
    """Makes the metrics; the one of set_informer_metrics_provider when None."""
    in_order: bool | None = None
    """RealFIFO (True) or DeltaFIFO (False); as the gate InOrderInformers says when None. Beyond Go."""
    emit_delta_type_replaced: bool = True
    """Whether a DeltaFIFO calls what a list brings Replaced; Sync otherwise, as informers of old had it. Beyond Go."""
    clock: WithTickerAndDelayedExecution | None = None
    """The real one when None. Beyond Go."""


# Go: InformerSynced. Whether a cache has synced.
InformerSynced = Callable[[], bool]

# How often those wait that can only ask whether a cache has synced.
_SYNCED_POLL_PERIOD = 0.1

# With more notifications than this waiting, a handler that takes long is worth a line in the log.
_INITIAL_BUFFER_SIZE = 1024
_SLOW_HANDLER_SECONDS = 0.1

# With more, and the first of them so old, a handler has fallen behind; that is worth a warning each minute.
_LARGE_BACKLOG = 1000
_OLD_BACKLOG_SECONDS = 10.0
_BACKLOG_WARNING_PERIOD = 60.0


def wait_for_named_cache_sync(controller_name: str, stop_ch: StopChannel, *cache_syncs: InformerSynced) -> bool:
    """`wait_for_cache_sync` that logs, in the name of `controller_name`, that it waits and how it ended.

    Go: WaitForNamedCacheSync.
    """
    klog.background().info("Waiting for caches to sync", controller=controller_name)
    if not wait_for_cache_sync(stop_ch, *cache_syncs):
        utilruntime.handle_error_with_context(
            context.background(), None, "Unable to sync caches", controller=controller_name
        )
        return False
    klog.background().info("Caches are synced", controller=controller_name)
    return True


def wait_for_named_cache_sync_with_context(ctx: context.Context, *cache_syncs: InformerSynced) -> bool:
    """`wait_for_cache_sync` that logs, with the logger of `ctx`, that it waits and how it ended.

    Go: WaitForNamedCacheSyncWithContext.
    """
    logger = klog.from_context(ctx)
    logger.info("Waiting for caches to sync")
    if not wait_for_cache_sync(ctx.done(), *cache_syncs):
        utilruntime.handle_error_with_context(ctx, None, "Unable to sync caches")
        return False
    logger.info("Caches are synced")
    return True


def wait_for_cache_sync(stop_ch: StopChannel, *cache_syncs: InformerSynced) -> bool:
    """Ask each tenth of a second until all say that they have synced: True, or False when `stop_ch` is set first.

    `wait_for` needs no polling. Raises what a function of `cache_syncs` raises. Go: WaitForCacheSync.
    """
    try:
        with reporting_unstarted(cache_syncs):
            wait.poll_immediate_until(_SYNCED_POLL_PERIOD, lambda: all(synced() for synced in cache_syncs), stop_ch)
    except Exception as err:
        if not wait.interrupted(err):
            raise
        return False
    return True


def wait_for(ctx: context.Context, what: str, *checkers: DoneChecker) -> bool:
    """Wait until all of `checkers` are done: True, or False when `ctx` is done first. Does not poll.

    Unless `what` is empty it logs, as "for", what is being waited for, each checker when it is done, and in the end
    those that were not. Go: WaitFor.
    """
    logger = klog.from_context(ctx).with_call_depth(1)
    if what:
        logger.info("Waiting", **{"for": what})
    pending = list(checkers)
    with reporting_unstarted(checkers):
        while pending:
            # The context comes last: what is done when it ends still counts as done.
            chosen = channel.select([*(checker.done() for checker in pending), ctx.done()])
            if chosen.case == len(pending):
                break
            checker = pending.pop(chosen.case)
            if what:
                logger.info("Done waiting", **{"for": what, "instance": checker.name()})
    if what and pending:
        instances = sorted(checker.name() for checker in pending)
        logger.info("Timed out waiting", **{"for": what, "cause": ctx.cause(), "instances": instances})
    return not pending


class DoneChecker(Protocol):
    """Something that is done at some time, with a name to tell it by. Go: DoneChecker.

    `is_done` asks without waiting, `wait_for` waits without asking.
    """

    def name(self) -> str:
        """What is being waited for. May be made anew each time: not for hot paths. Go: Name."""
        ...

    def done(self) -> StopChannel:
        """Set when it is done. Go: Done."""
        ...


def is_done(checker: DoneChecker) -> bool:
    """Whether it is done. Never blocks. Go: IsDone."""
    return checker.done().is_set()


@dataclass
class SyncResult:
    """How the wait of an informer factory for its caches ended. Go: SyncResult.

    The caches only: a handler may still have to hear of what they hold.
    """

    # None if all caches have synced, else why the wait ended.
    err: BaseException | None = None
    # For the type of each informer whether it has synced.
    synced: dict[type, bool] = field(default_factory=dict)

    def as_error(self) -> Exception | None:
        """None if all caches have synced, else an error, caused by `err`, that names the types that have not.

        Go: AsError.
        """
        if self.err is None:
            return None
        unsynced = sorted(type_string(cls) for cls, synced in self.synced.items() if not synced)
        error = RuntimeError(f"failed to sync all caches: {', '.join(unsynced)}: {self.err}")
        error.__cause__ = self.err
        return error


class _SharedIndexInformer:
    """The SharedIndexInformer there is. Go: sharedIndexInformer.

    Three parts: the indexer; the controller, made when the informer starts, whose process functions (`_handle_deltas`,
    `_handle_batch_deltas`) bring the indexer up to date; and the processor, which passes notifications on.

    Locks, in the order in which they may be taken: `_started_lock`, `_block_deltas`, then those of the processor and
    its listeners. No code of users runs under any of them, except index functions and, with DeltaFIFO, transformers.
    """

    def __init__(self, lw: ListerWatcher, example_object: object, options: SharedIndexInformerOptions) -> None:
        clock = options.clock or REAL_CLOCK
        self._indexer: Indexer = new_indexer(
            deletion_handling_meta_namespace_key_func,
            options.indexers,
            *store_options(options.identifier, options.informer_metrics_provider),
        )
        self._controller: Controller | None = None
        # Set when the controller has synced.
        self._synced = Signal()
        name = options.object_description or type_string(example_object)
        self._early_reads = EarlyReads(name, self._indexer, self._synced)
        self._processor = _SharedProcessor(clock)
        self._cache_mutation_detector: MutationDetector | None = None
        if mutation_detector.mutation_detection_enabled:
            self._cache_mutation_detector = new_cache_mutation_detector(type_string(example_object))
        self._lister_watcher = lw
        self._object_type = example_object
        self._object_description = options.object_description
        # How often the reflector asks the processor whether a listener is due for a resync.
        self._resync_check_period = options.resync_period
        self._default_event_handler_resync_period = options.resync_period
        self._clock = clock
        # Guards what changes when the informer starts and stops, and which handlers there are.
        self._started_lock = threading.Lock()
        self._started = False
        self._stopped = False
        # Held while changes are processed: without changes a late handler can join.
        self._block_deltas = threading.Lock()
        self._watch_error_handler: WatchErrorHandlerWithContext | None = None
        self._transform: TransformFunc | None = None
        self._identifier = options.identifier
        self._informer_metrics_provider = options.informer_metrics_provider
        self._in_order = options.in_order
        self._emit_delta_type_replaced = options.emit_delta_type_replaced
        self._key_func = deletion_handling_meta_namespace_key_func
        self._refusals = Refusals(self._key_func, clock)
        self._created_at = name_from_callsite("")

    def set_watch_error_handler(self, handler: WatchErrorHandler) -> None:
        self.set_watch_error_handler_with_context(lambda _, reflector, err: handler(reflector, err))

    def set_watch_error_handler_with_context(self, handler: WatchErrorHandlerWithContext) -> None:
        with self._started_lock:
            self._raise_if_started()
            self._watch_error_handler = handler

    def set_transform(self, handler: TransformFunc | None) -> None:
        with self._started_lock:
            self._raise_if_started()
            self._transform = handler

    def _raise_if_started(self) -> None:
        if self._started:
            raise RuntimeError("informer has already started")

    def run(self, stop_ch: StopChannel) -> None:
        self.run_with_context(wait.context_for_channel(stop_ch))

    @hop("informer.run", go="(*sharedIndexInformer).RunWithContext")
    def run_with_context(self, ctx: context.Context) -> None:
        with utilruntime.handle_crash_with_context(ctx, go_on=True):
            controller = self._start(klog.from_context(ctx))
            if controller is None:
                klog.from_context(ctx).info(
                    "Warning: the sharedIndexInformer has started, run more than once is not allowed"
                )
                return
            self._run(ctx, controller)

    def _start(self, logger: klog.Logger) -> Controller | None:
        """The controller to run; None if the informer was started before."""
        with self._started_lock:
            if self._started:
                return None
            controller = self._controller = self._new_controller(logger)
            self._started = True
            self._early_reads.is_started = True
            return controller

    def _new_controller(self, logger: klog.Logger) -> Controller:
        logger, fifo = new_queue_fifo(
            logger,
            self._object_type,
            self._indexer,
            self._refusals,
            self._transform,
            self._identifier,
            self._informer_metrics_provider,
            self._in_order,
            self._clock,
            self._emit_delta_type_replaced,
        )
        config = Config(
            queue=fifo,
            lister_watcher=self._lister_watcher,
            object_type=self._object_type,
            object_description=self._object_description,
            full_resync_period=self._resync_check_period,
            should_resync=self._processor.should_resync,
            process=lambda obj, is_in_initial_list: self._handle_deltas(logger, obj, is_in_initial_list),
            process_batch=lambda deltas, is_in_initial_list: self._handle_batch_deltas(
                logger, deltas, is_in_initial_list
            ),
            watch_error_handler_with_context=self._watch_error_handler,
            clock=self._clock,
        )
        return new_named(config, self._created_at, self._refusals)

    def _run(self, ctx: context.Context, controller: Controller) -> None:
        # The processor is stopped after the controller, so that it takes what that still processes; until then it must
        # not notice that the context, whose values it keeps, is done.
        processor_ctx, stop_processor = context.with_cancel_cause(context.without_cancel(ctx))
        threads = [
            self._new_thread("processor", self._processor.run, processor_ctx),
            self._new_thread("synced", self._wait_for_sync, ctx, processor_ctx, controller),
        ]
        if (detector := self._cache_mutation_detector) is not None:
            threads.append(self._new_thread("mutation detector", detector.run, processor_ctx.done()))
        for thread in threads:
            thread.start()
        try:
            controller.run_with_context(ctx)
        finally:
            with self._started_lock:
                self._stopped = True
                self._early_reads.is_stopped = True
            stop_processor(RuntimeError("informer is stopping"))
            for thread in threads:
                thread.join()

    def _new_thread(self, what: str, target: Callable[..., None], *args: object) -> threading.Thread:
        name = f"informer {type_string(self._object_type)} {what}"
        return threading.Thread(target=target, args=args, name=name, daemon=True)

    def _wait_for_sync(self, ctx: context.Context, running_ctx: context.Context, controller: Controller) -> None:
        """`running_ctx` ends with the run, if a KeyboardInterrupt ends that before `ctx` is done."""
        synced = controller.has_synced_checker().done()
        if channel.select([ctx.done(), running_ctx.done(), synced]).case != 2:
            return
        self._synced.set()

    def has_started(self) -> bool:
        """Whether the informer was started, be it stopped by now. Go: HasStarted."""
        with self._started_lock:
            return self._started

    def type_name(self) -> str:
        """Return the name of its objects' type, for logs. Beyond Go."""
        return self._object_description or type_string(self._object_type)

    def has_synced(self) -> bool:
        return self._synced.is_set()

    def has_synced_checker(self) -> DoneChecker:
        return _SharedIndexInformerDone(self)

    def last_sync_resource_version(self) -> str:
        with self._started_lock:
            controller = self._controller
        return "" if controller is None else controller.last_sync_resource_version()

    def last_heard(self) -> float | None:
        with self._started_lock:
            controller = self._controller
        return None if controller is None else controller.last_heard()

    def refused(self) -> Mapping[str, Refusal]:
        return self._refusals.by_key()

    def get_store(self) -> Store:
        return self._indexer

    def get_indexer(self) -> Indexer:
        return self._indexer

    def add_indexers(self, indexers: Indexers) -> None:
        with self._started_lock:
            if self._stopped:
                raise RuntimeError("indexer was not added because it has stopped already")
            self._indexer.add_indexers(indexers)

    def get_controller(self) -> Controller:
        return _DummyController(self)

    def parts(self) -> inspection.InformerParts:
        """What it is made of, for inspection. Takes no lock. Beyond Go."""
        controller: Any = self._controller
        fifo, reflector = (None, None) if controller is None else controller.parts()
        return inspection.InformerParts(
            type_string(self._object_type), self._indexer, fifo, reflector, self._processor.listeners(), self._clock
        )

    def add_event_handler(self, handler: ResourceEventHandler) -> ResourceEventHandlerRegistration:
        return self.add_event_handler_with_options(handler, HandlerOptions())

    def add_event_handler_with_resync_period(
        self, handler: ResourceEventHandler, resync_period: float
    ) -> ResourceEventHandlerRegistration:
        return self.add_event_handler_with_options(handler, HandlerOptions(resync_period=resync_period))

    def add_event_handler_with_options(
        self, handler: ResourceEventHandler, options: HandlerOptions
    ) -> ResourceEventHandlerRegistration:
        _check_handler(handler)
        logger = options.logger or klog.background()
        with self._started_lock:
            if self._stopped:
                raise RuntimeError(f"handler {handler} was not added to shared informer because it has stopped already")
            resync_period = options.resync_period
            if resync_period is None:
                resync_period = self._default_event_handler_resync_period
            resync_period = self._fit_resync_period(logger, resync_period)
            listener = _ProcessorListener(
                logger,
                handler,
                resync_period,
                _determine_resync_period(logger, resync_period, self._resync_check_period),
                self._clock,
                self.has_synced_checker(),
                options.max_pending,
                options.overflow,
                new_handler_metrics(
                    self._identifier or InformerNameAndResource(),
                    name_for_handler(handler),
                    self._informer_metrics_provider,
                ),
            )
            if not self._started:
                self._processor.add_listener(listener)
            else:
                self._join_running(listener)
        return listener

    def _fit_resync_period(self, logger: klog.Logger, resync_period: float) -> float:
        """The period a handler can have, given what it asks for. Before the start the check period adapts to it."""
        if resync_period <= 0:
            return resync_period
        if resync_period < _MINIMUM_RESYNC_PERIOD:
            logger.info(
                "Warning: resync period is too small. Changing it to the minimum allowed value",
                resyncPeriod=format_duration(resync_period),
                minimumResyncPeriod=format_duration(_MINIMUM_RESYNC_PERIOD),
            )
            resync_period = _MINIMUM_RESYNC_PERIOD
        if resync_period >= self._resync_check_period:
            return resync_period
        if self._started:
            logger.info(
                "Warning: resync period is smaller than resync check period and the informer has already started. "
                "Changing it to the resync check period",
                resyncPeriod=format_duration(resync_period),
                resyncCheckPeriod=format_duration(self._resync_check_period),
            )
            return self._resync_check_period
        self._resync_check_period = resync_period
        self._processor.resync_check_period_changed(logger, resync_period)
        return resync_period

    def _join_running(self, listener: _ProcessorListener) -> None:
        """Add a listener to a running informer: it hears of all that is in the cache, then of every change."""
        with self._block_deltas:
            # With the additions queued before anybody holds the registration, it cannot seem to be synced too early.
            known: list[Notification] = [AddNotification(obj, True) for obj in self._indexer.list()]
            stamp(known, self._clock.now())
            listener.add(known)
            self._processor.add_listener(listener)

    def _handle_deltas(self, logger: klog.Logger, obj: Any, is_in_initial_list: bool) -> None:
        if not isinstance(obj, Deltas):
            raise TypeError("object given as Process argument is not Deltas")
        with self._block_deltas:
            process_deltas(logger, self._notify, self._indexer, obj, is_in_initial_list, self._key_func)

    def _handle_batch_deltas(self, logger: klog.Logger, deltas: Sequence[Delta], is_in_initial_list: bool) -> None:
        with self._block_deltas:
            process_deltas_in_batch(logger, self._notify, self._indexer, deltas, is_in_initial_list, self._key_func)

    def _notify(self, notifications: Sequence[Notification]) -> None:
        """Pass on what was stored. Called with `_block_deltas` held."""
        if (detector := self._cache_mutation_detector) is not None:
            for notification in notifications:
                if not isinstance(notification, DeleteNotification):
                    detector.add_object(notification.new_obj)
        self._processor.distribute(notifications)

    def is_stopped(self) -> bool:
        with self._started_lock:
            return self._stopped

    def remove_event_handler(self, handle: ResourceEventHandlerRegistration) -> None:
        with self._started_lock, self._block_deltas:
            self._processor.remove_listener(handle)

    def __repr__(self) -> str:
        state = "stopped" if self._stopped else "running" if self._started else "not started"
        synced = "synced" if self.has_synced() else "not synced"
        return f"<SharedIndexInformer {type_string(self._object_type)} {state}, {synced}, {self._processor!r}>"


class _SharedIndexInformerDone:
    """Is done when the informer has synced. Go: sharedIndexInformerDone."""

    def __init__(self, informer: _SharedIndexInformer) -> None:
        self.awaited = informer

    def name(self) -> str:
        return f"SharedIndexInformer {type_string(self.awaited._object_type)}"

    def done(self) -> StopChannel:
        return self.awaited._synced


class _DummyController:
    """Answers for the informer's controller; its run does nothing, since the informer runs that itself.

    Go: dummyController.
    """

    def __init__(self, informer: _SharedIndexInformer) -> None:
        self.awaited = informer

    def run_with_context(self, ctx: context.Context) -> None:
        pass

    def run(self, stop_ch: StopChannel) -> None:
        pass

    def has_synced(self) -> bool:
        return self.awaited.has_synced()

    def has_synced_checker(self) -> DoneChecker:
        return self.awaited.has_synced_checker()

    def last_sync_resource_version(self) -> str:
        if features.feature_gates().enabled(features.INFORMER_RESOURCE_VERSION):
            return self.awaited.last_sync_resource_version()
        return ""

    def last_heard(self) -> float | None:
        return self.awaited.last_heard()

    def refused(self) -> Mapping[str, Refusal]:
        return self.awaited.refused()


_MINIMUM_RESYNC_PERIOD = 1.0


def _determine_resync_period(logger: klog.Logger, desired: float, check: float) -> float:
    """The period a handler really has if it wants `desired` and the informer looks every `check` seconds."""
    if desired == 0:
        return desired
    if check == 0:
        logger.info(
            "Warning: the specified resyncPeriod is invalid because this shared informer doesn't support resyncing",
            desired=format_duration(desired),
        )
        return 0.0
    if desired < check:
        logger.info(
            "Warning: the specified resyncPeriod is being increased to the minimum resyncCheckPeriod",
            desired=format_duration(desired),
            resyncCheckPeriod=format_duration(check),
        )
        return check
    return desired


class _SharedProcessor:
    """Passes notifications on to the listeners there are. Go: sharedProcessor.

    Resyncs, and updates that change nothing, go only to listeners that are due for a resync, which `should_resync`
    finds out anew each time; a new listener counts as due. All else goes to all.

    Invariant (`_check` asserts it): the threads of all listeners run exactly while `_listeners_started` is set.
    """

    def __init__(self, clock: WithTickerAndDelayedExecution) -> None:
        self._clock = clock
        # Guards the three below. The condition tells that the listeners were started, or the processor stopped.
        self._listeners_lock = threading.Lock()
        self._listeners_cond = threading.Condition(self._listeners_lock)
        self._listeners_started = False
        # For each listener whether it is due for a resync.
        self._listeners: dict[_ProcessorListener, bool] = {}
        # The removed ones, whose handlers may still be at work.
        self._removed: list[_ProcessorListener] = []
        self._stuck_handlers = StuckHandlers(clock)

    def get_listener(self, registration: ResourceEventHandlerRegistration) -> _ProcessorListener | None:
        """The listener behind a registration, if it is one of these."""
        if not isinstance(registration, _ProcessorListener):
            return None
        with self._listeners_lock:
            return registration if registration in self._listeners else None

    def add_listener(self, listener: _ProcessorListener) -> None:
        """Let a listener hear of everything from now on; start it if the others run.

        What it should hear of before must have been added to it by then.
        """
        with self._listeners_lock:
            self._listeners[listener] = True
            if self._listeners_started:
                listener.start()
                self._stuck_handlers.watch(self._listeners)

    def remove_listener(self, handle: ResourceEventHandlerRegistration) -> None:
        """Stop a listener; nothing to do if it is none of these. Raises TypeError if it cannot be."""
        if not isinstance(handle, _ProcessorListener):
            raise TypeError(f"invalid key type {type(handle).__name__}")
        with self._listeners_lock:
            self._remove_locked(handle)

    def _remove_locked(self, listener: _ProcessorListener) -> None:
        if self._listeners.pop(listener, None) is None:
            return
        listener.close()
        self._removed = [removed for removed in self._removed if removed.is_alive()]
        self._removed.append(listener)

    def statistics(self) -> tuple[inspection.HandlerStatistics, ...]:
        """Those of all listeners, oldest first. Thread-safe."""
        with self._listeners_lock:
            listeners = [*self._listeners]
        return tuple(listener.statistics() for listener in listeners)

    def listeners(self) -> tuple[_ProcessorListener, ...]:
        """All there are, oldest first. Takes no lock."""
        return tuple(list(self._listeners))  # noqa: C414 - a list is made in one step, see clientgo.utils.snapshot

    def distribute(self, notifications: Sequence[Notification]) -> None:
        """Add to every listener what is for it. Waits for the processor to run, if there are listeners; else not."""
        with self._listeners_lock:
            # When the processor stops it has no listeners any more, and this ends too.
            while not self._listeners_started and self._listeners:
                self._listeners_cond.wait()
            if self._listeners:
                stamp(notifications, self._clock.now())
            changes: list[Notification] | None = None
            overflown: list[_ProcessorListener] = []
            for listener, is_syncing in self._listeners.items():
                if not is_syncing and changes is None:
                    changes = [notification for notification in notifications if not notification.is_sync()]
                if not listener.add(notifications if is_syncing or changes is None else changes):
                    overflown.append(listener)
            for listener in overflown:
                self._remove_locked(listener)
            if self._listeners and not self._stuck_handlers.is_watching:
                self._stuck_handlers.watch(self._listeners)

    def run(self, ctx: context.Context) -> None:
        """Let the listeners run until `ctx` is done. Blocks; returns when their threads have ended."""
        with self._listeners_lock:
            for listener in self._listeners:
                listener.start()
            self._listeners_started = True
            self._listeners_cond.notify_all()
        ctx.done().wait()
        with self._listeners_lock:
            listeners = [*self._listeners, *self._removed]
            self._listeners = {}
            self._removed = []
            self._listeners_started = False
            self._listeners_cond.notify_all()
        for listener in listeners:
            listener.close()
        self._stuck_handlers.end()
        # Without the lock, so that a handler that is still at work may remove itself.
        with self._stuck_handlers.joining(listeners):
            for listener in listeners:
                listener.join()

    def should_resync(self) -> bool:
        """Find out which listeners are due for a resync; whether there are any."""
        now = self._clock.now()
        with self._listeners_lock:
            for listener in self._listeners:
                is_due = self._listeners[listener] = listener.should_resync(now)
                if is_due:
                    listener.determine_next_resync(now)
            return any(self._listeners.values())

    def resync_check_period_changed(self, logger: klog.Logger, resync_check_period: float) -> None:
        """Fit the periods of all listeners to a new check period."""
        with self._listeners_lock:
            for listener in self._listeners:
                period = _determine_resync_period(logger, listener.requested_resync_period, resync_check_period)
                listener.set_resync_period(period)

    def _check(self) -> None:
        with self._listeners_lock:
            for listener in self._listeners:
                assert (listener._thread is not None) == self._listeners_started, listener
                listener._check()

    def __repr__(self) -> str:
        state = "started" if self._listeners_started else "not started"
        return f"<Processor {len(self._listeners)} listeners, {state}>"


def _check_handler(handler: ResourceEventHandler) -> None:
    """Refuse what is no handler here: the thread that would call it could only log, at each event."""
    if isinstance(handler, type) or not all(
        callable(getattr(handler, method, None)) for method in ("on_add", "on_update", "on_delete")
    ):
        raise TypeError(
            f"a handler is an object with on_add, on_update and on_delete, such as a ResourceEventHandlerFuncs made of "
            f"functions; got {handler!r}"
        )


class _ProcessorListener:
    """Passes notifications on to one handler, on a thread of its own. Go: processorListener.

    The listener is the handler's registration too. `add` puts notifications into a buffer; the thread takes all there
    are, and delivers them one by one. A handler that raises is logged, the notification is lost, and the next follows
    at once; as in Go the registration then never has synced if it was about the first list.

    Invariants (`_check` asserts them): a closed listener holds no notifications, and never opens again; with a bound
    and Overflow.MERGE no two wait about one object while there are more than that and twice the objects.
    """

    def __init__(
        self,
        logger: klog.Logger,
        handler: ResourceEventHandler,
        requested_resync_period: float,
        resync_period: float,
        clock: WithTickerAndDelayedExecution,
        has_synced: DoneChecker,
        max_pending: int = 0,
        overflow: Overflow = Overflow.MERGE,
        metrics: HandlerMetrics | None = None,
    ) -> None:
        self.logger = logger
        self._handler = handler
        self._handler_name = name_for_handler(handler)
        self._clock = clock
        self._sync_tracker: SingleFileTracker = new_single_file_tracker(
            f"{has_synced.name()} + event handler {self._handler_name}"
        )
        self.awaited = self._sync_tracker.awaited = has_synced
        # What the handler asked for, at least `_MINIMUM_RESYNC_PERIOD`; the informer's check period bears on it too
        # when the handler came after the start.
        self.requested_resync_period = requested_resync_period
        # Guards the two below.
        self._resync_lock = threading.Lock()
        # The period used: 0 when the informer has no resyncs at all.
        self._resync_period = resync_period
        # The earliest time of the next resync.
        self._next_resync = clock.now() + resync_period
        # Guards the buffer. Never held while the handler runs. The condition tells that something was added to an empty
        # buffer, or that the listener was closed.
        self._cond = threading.Condition(threading.Lock())
        self._pending: deque[Notification] = deque()
        self._overflow = overflow
        self._max_pending = max_pending
        # How many must be pending for the next look at what can be merged.
        self._merge_at = max_pending
        self._merged = 0
        self._next_warning = 0.0
        self._metrics = metrics
        # What the thread has taken out of the buffer; it alone changes these three.
        self._taken: deque[Notification] = deque()
        self._delivering: Notification | None = None
        self._failed = 0
        # Set once. The thread reads it without the lock, between two notifications.
        self._closed = False
        self._thread: threading.Thread | None = None

    def has_synced(self) -> bool:
        """See ResourceEventHandlerRegistration."""
        return self._sync_tracker.has_synced()

    def has_synced_checker(self) -> DoneChecker:
        """See ResourceEventHandlerRegistration."""
        return self._sync_tracker

    @hop("handlers.buffer", go="(*processorListener).add")
    def add(self, notifications: Sequence[Notification]) -> bool:
        """Put notifications into the buffer. Never waits for the handler. Those for a closed listener are dropped.

        False if the handler is to be removed, since there is no room for it.
        """
        initial = sum([notification.is_in_initial_list for notification in notifications])
        if initial:
            self._sync_tracker.start(initial)
        with self._cond:
            if self._closed:
                return True
            if not self._pending:
                self._cond.notify()
            self._pending.extend(notifications)
            if self._metrics is not None:
                self._publish(self._metrics)
            length = len(self._pending) + len(self._taken)
            if length <= _LARGE_BACKLOG and (length <= self._max_pending or not self._max_pending):
                return True
            return self._look_at_backlog_locked()

    def _look_at_backlog_locked(self) -> bool:
        """Warn of many notifications, and merge them or give the handler up (False) if they are too many."""
        now = self._clock.now()
        length, age = self._backlog(now)
        if length > _LARGE_BACKLOG and age > _OLD_BACKLOG_SECONDS and now >= self._next_warning:
            self._next_warning = now + _BACKLOG_WARNING_PERIOD
            self.logger.info(
                "Warning: a handler falls behind, it should hand long work to a queue",
                handler=self._handler_name,
                pendingNotifications=length,
                oldest=format_duration(age),
            )
        if not 0 < self._max_pending < length:
            return True
        if self._overflow is Overflow.REMOVE:
            self.logger.error(
                None, "Removing a handler that fell too far behind", handler=self._handler_name, pending=length
            )
            return False
        if len(self._pending) > self._merge_at:
            self._merge_locked()
        return True

    def _merge_locked(self) -> None:
        """Merge what waits. The next time only when twice as much waits, so that each costs O(1)."""
        before, self._pending = self._pending, merge(self._pending)
        self._merged += len(before) - len(self._pending)
        self._merge_at = max(self._max_pending, 2 * len(self._pending))
        spared = sum(each.is_in_initial_list for each in before) - sum(
            each.is_in_initial_list for each in self._pending
        )
        if spared:
            self._sync_tracker.finished(spared)

    def _backlog(self, now: float) -> tuple[int, float]:
        """How many notifications are not delivered, and the age of the first. Takes no lock: the thread goes on."""
        first = self._delivering
        length = len(self._taken) + len(self._pending) + (first is not None)
        for waiting in (self._taken, self._pending):
            with contextlib.suppress(IndexError):
                first = first or waiting[0]
        return length, 0.0 if first is None else max(now - first.queued_at, 0.0)

    def _publish(self, metrics: HandlerMetrics) -> None:
        now = self._clock.now()
        length, age = self._backlog(now)
        metrics.pending.set(float(length))
        metrics.oldest.set(now - age if length else 0.0)

    def statistics(self) -> inspection.HandlerStatistics:
        """See ResourceEventHandlerRegistration."""
        with self._cond:
            length, age = self._backlog(self._clock.now())
            return inspection.HandlerStatistics(
                handler=self._handler_name,
                pending=length,
                oldest_age=age,
                failed=self._failed,
                merged=self._merged,
                closed=self._closed,
            )

    def name(self) -> str:
        """What the handler is called in logs. Beyond Go."""
        return self._handler_name

    def delivering(self) -> Notification | None:
        """What the handler is being told just now. Takes no lock, as `contents`. Beyond Go."""
        return self._delivering

    def waiting(self) -> int:
        """How much waits for the handler, with what it is being told. O(1). Takes no lock. Beyond Go."""
        return len(self._pending) + len(self._taken) + (self._delivering is not None)

    def contents(self, most: int = sys.maxsize) -> inspection.HandlerContents:
        """What waits for the handler; or of the buffer, and of what was taken, the first so much. O(that).

        Takes no lock, so that one can look at one that is stuck. Beyond Go.
        """
        pending = in_one_go(lambda: tuple(itertools.islice(self._pending, most)), self._cond)
        taken = first_of(self._taken, most)
        return inspection.HandlerContents(self._handler_name, pending, taken, self._delivering, self._closed)

    def start(self) -> None:
        """Begin to deliver. The informer's sync counts from here on; what was added before is its first list."""
        self._thread = threading.Thread(target=self._run, name=f"handler {self._handler_name}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Deliver no more, once the handler has returned from the present call. Does not wait for that."""
        with self._cond:
            self._closed = True
            self._pending = deque()
            self._cond.notify()

    def join(self) -> None:
        """Wait until the handler has returned and the thread has ended. Not to be called by the handler."""
        if self._thread is not None:
            self._thread.join()

    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        forget_sync = channel.add_done_callback(
            self.awaited.done(), self._sync_tracker.upstream_has_synced
        )
        try:
            with calling_handlers():
                while (notifications := self._take_pending()) is not None:
                    self._deliver(notifications)
        finally:
            forget_sync()
            self._taken = deque()

    @hop("handlers.take", go="(*processorListener).pop")
    def _take_pending(self) -> deque[Notification] | None:
        """Wait for notifications and take all there are; None when the listener was closed."""
        with self._cond:
            while not self._pending and not self._closed:
                self._cond.wait()
            if self._closed:
                return None
            self._taken, self._pending = self._pending, deque()
            self._merge_at = self._max_pending
            return self._taken

    def _deliver(self, notifications: deque[Notification]) -> None:
        """Deliver until there are no more or the listener is closed. Keeps nothing that is delivered."""
        handler = self._handler
        take = notifications.popleft
        # Initial notifications delivered in a row, of which the tracker is told at its end: only then can they be all.
        finished = 0
        while notifications and not self._closed:
            self._delivering = notification = take()
            if finished and not notification.is_in_initial_list:
                self._sync_tracker.finished(finished)
                finished = 0
            try:
                if len(notifications) > _INITIAL_BUFFER_SIZE:
                    self._deliver_and_trace(notification, len(notifications))
                else:
                    notification.deliver(handler)
            except Exception:
                self._handle_crash()
            else:
                finished += notification.is_in_initial_list
            if self._metrics is not None:
                self._publish(self._metrics)
        self._delivering = None
        if finished:
            self._sync_tracker.finished(finished)
        if self._metrics is not None:
            self._publish(self._metrics)

    def _deliver_and_trace(self, notification: Notification, pending: int) -> None:
        """Deliver one notification while many wait behind it; log if that takes long."""
        started = self._clock.now()
        try:
            notification.deliver(self._handler)
        finally:
            if self._clock.since(started) >= _SLOW_HANDLER_SECONDS:
                trace.new(
                    "processorListener handler",
                    trace.Field("handler", self._handler_name),
                    trace.Field("pendingNotifications", pending),
                    clock=self._clock,
                    start_time=started,
                ).log_if_long(_SLOW_HANDLER_SECONDS)

    def _handle_crash(self) -> None:
        """Log the exception being handled. Go rests for a second, since a panic is rare there."""
        self._failed += 1
        with utilruntime.handle_crash_with_logger(self.logger, go_on=True):
            raise  # noqa: PLE0704 - called while an exception is handled

    def should_resync(self, now: float) -> bool:
        """Whether a resync is due."""
        with self._resync_lock:
            return self._resync_period != 0 and now >= self._next_resync

    def determine_next_resync(self, now: float) -> None:
        """Put the next resync one period after `now`."""
        with self._resync_lock:
            self._next_resync = now + self._resync_period

    def set_resync_period(self, resync_period: float) -> None:
        """Use this period from the next resync on."""
        with self._resync_lock:
            self._resync_period = resync_period

    def _check(self) -> None:
        with self._cond:
            assert not (self._closed and self._pending)
            statistics = len(self._pending), self._max_pending, self._merge_at
            if self._overflow is Overflow.MERGE and self._max_pending > 0:
                assert len(self._pending) <= max(self._max_pending, self._merge_at), statistics

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        synced = "synced" if self.has_synced() else "not synced"
        return f"<Listener {self._handler_name!r} {len(self._pending) + len(self._taken)} pending, {synced}, {state}>"


__all__ = [
    "DoneChecker",
    "HandlerOptions",
    "InformerSynced",
    "ResourceEventHandlerRegistration",
    "SharedIndexInformer",
    "SharedIndexInformerOptions",
    "SharedInformer",
    "SyncResult",
    "is_done",
    "new_shared_index_informer",
    "new_shared_index_informer_with_options",
    "new_shared_informer",
    "wait_for",
    "wait_for_cache_sync",
    "wait_for_named_cache_sync",
    "wait_for_named_cache_sync_with_context",
]
