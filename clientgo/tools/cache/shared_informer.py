"""Shared informers: one cache of a resource for many handlers.

Mirrors tools/cache/shared_informer.go. A SharedIndexInformer runs one controller (reflector, queue, process loop). The
controller's process function updates the indexer and passes a notification of each change to the processor. The
processor passes it to one listener for each handler, and the listener calls the handler.

Differs from Go:
  * a listener has one thread, where Go has three goroutines. Its buffer is a deque with a condition, where Go has a
    ring between two channels, and a callback reports the informer's sync. The behaviour is the same: adding to a
    listener never blocks, so a slow handler delays neither other handlers nor the reflector, and the undelivered
    notifications of a removed listener are dropped;
  * the processor distributes notifications in batches: the process functions call `_notify`, where Go calls the
    informer's OnAdd, OnUpdate and OnDelete;
  * objects are read-only in the cache (see controller.py), so CacheMutationDetector is a second check;
  * after an exception of a handler the next notification follows at once, not after a second: an exception is not as
    severe as a panic. The number of waiting notifications is visible and may have a bound (beyond/backlog.py);
  * `in_order`, `clock` and `emit_delta_type_replaced` in SharedIndexInformerOptions apply to one informer;
  * `wait_for` waits on the calling thread, without a goroutine for each checker.

Threads of a running informer, all ended when `run_with_context` returns: the caller's, which empties the queue; the
threads of the reflector; "<name> closer" and "<name> synced", which wait; "<name> processor", which starts and stops
the listeners; and one for each handler, named after it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from clientgo import context, features, klog
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util import wait
from clientgo.golang import channel
from clientgo.golang.channel import Signal, StopChannel
from clientgo.golang.duration import format_duration
from clientgo.golang.functions import require_function
from clientgo.golang.stop import is_crash
from clientgo.golang.time import require_seconds
from clientgo.hops import hop
from clientgo.klog.answers import is_true
from clientgo.klog.exceptions import name_subject
from clientgo.tools.cache import mutation_detector
from clientgo.tools.cache.beyond.backlog import Backlog, HandlerProgress, Overflow, check_handler, stamp
from clientgo.tools.cache.beyond.inspection import CacheHealth, InspectableInformer
from clientgo.tools.cache.beyond.refusals import KnownObjects, Refusals, mark_failures
from clientgo.tools.cache.beyond.stuck_handlers import StuckHandlers, call_timer
from clientgo.tools.cache.beyond.unstarted import reporting_unstarted
from clientgo.tools.cache.beyond.unsynced import EarlyReads, calling_handlers
from clientgo.tools.cache.controller import (
    Config,
    Controller,
    ResourceEventHandler,
    deletion_handling_meta_namespace_key_func,
    new_queue_fifo,
    new_with_refusals,
    process_deltas,
    process_deltas_in_batch,
    store_options,
)
from clientgo.tools.cache.delta_fifo import Delta, Deltas, TransformFunc
from clientgo.tools.cache.event_handler_name import name_for_handler
from clientgo.tools.cache.fifo_metrics import HandlerMetrics, InformerMetricsProvider, new_handler_metrics
from clientgo.tools.cache.identity import InformerNameAndResource
from clientgo.tools.cache.index import Indexer, Indexers, IndexFunc
from clientgo.tools.cache.listwatch import ListerWatcher, require_lister_watcher
from clientgo.tools.cache.mutation_detector import MutationDetector, new_cache_mutation_detector
from clientgo.tools.cache.notifications import (
    AddNotification,
    DeleteNotification,
    Notification,
    name_notification,
)
from clientgo.tools.cache.reflector import (
    WatchErrorHandler,
    WatchErrorHandlerWithContext,
    name_from_callsite,
    type_string,
)
from clientgo.tools.cache.store import Store, new_indexer
from clientgo.tools.cache.synctrack import new_single_file_tracker
from clientgo.utils import trace
from clientgo.utils.clock import REAL_CLOCK, WithTickerAndDelayedExecution


class SharedInformer(CacheHealth, Protocol):
    """A cache of a collection of objects that notifies handlers of each change. Go: SharedInformer.

    An object is identified by its namespace and name, not by its UID. If an object is deleted and created again while
    the watch is interrupted, handlers get an update. The cache is eventually consistent: it has a state that the object
    once had, never goes back to an earlier state, and may skip states. There is no order between different objects.

    The cache is empty until `run_with_context` fills it. Each query sees the cache at one moment.

    A handler gets one notification at a time, and those about one object in order. The cache has each change before the
    handler is notified, and maybe later changes too. A handler that is added while the informer runs first gets the
    whole cache as additions. Handlers do not wait for each other. The notifications that wait for a slow handler have
    no limit unless HandlerOptions.max_pending sets one, so hand long work to a queue.

    All methods are thread-safe.
    """

    def add_event_handler(self, handler: ResourceEventHandler) -> ResourceEventHandlerRegistration:
        """Notify `handler` of every change from now on, with the informer's resync period. Go: AddEventHandler.

        The registration removes the handler again, and reports when it has handled the first list. Raises RuntimeError
        once the informer has stopped, and TypeError for an object that is no handler.
        """
        ...

    def add_event_handler_with_resync_period(
        self, handler: ResourceEventHandler, resync_period: float
    ) -> ResourceEventHandlerRegistration:
        """Add a handler that gets all objects as updates every `resync_period` seconds; 0 for never.

        The period is raised to a second, and to the informer's check period. An informer without a resync period has no
        resyncs. A resync sends no request to the server. Go: AddEventHandlerWithResyncPeriod.
        """
        ...

    def add_event_handler_with_options(
        self, handler: ResourceEventHandler, options: HandlerOptions
    ) -> ResourceEventHandlerRegistration:
        """Add a handler with options; see `add_event_handler`. Go: AddEventHandlerWithOptions."""
        ...

    def remove_event_handler(self, handle: ResourceEventHandlerRegistration) -> None:
        """Stop notifying a handler. A notification that it is handling is its last. Go: RemoveEventHandler.

        Does not wait for the handler. Ignores a handler of another informer, and one that was removed already. Raises
        TypeError for an object that is no registration.
        """
        ...

    def get_store(self) -> Store:
        """Return the cache, which the caller must only read. Go: GetStore."""
        ...

    def get_controller(self) -> Controller:
        """Return a controller that cannot be run. Deprecated. Go: GetController."""
        ...

    def run(self, stop_ch: StopChannel) -> None:
        """Call `run_with_context` until `stop_ch` is set. Go: Run."""
        ...

    def run_with_context(self, ctx: context.Context) -> None:
        """Fill and update the cache until `ctx` is done. Blocks; call it once, in a thread. Go: RunWithContext.

        Returns when all its threads have ended, so it waits for handlers that are busy.
        """
        ...

    def has_synced(self) -> bool:
        """Report whether the cache has held the complete first list. Go: HasSynced.

        Handlers may not have handled the list yet. A rejected object keeps the cache from being complete; see
        `refused`.
        """
        ...

    def has_synced_checker(self) -> DoneChecker:
        """Return a checker for `wait_for` that is done when `has_synced` becomes true. Go: HasSyncedChecker."""
        ...

    def last_sync_resource_version(self) -> str:
        """Return the newest version that the reflector saw; the cache may be older. Go: LastSyncResourceVersion."""
        ...

    def set_watch_error_handler(self, handler: WatchErrorHandler) -> None:
        """Call `handler` when a list or watch fails, in place of logging the error; it must return quickly.

        Replaces an earlier one. Raises RuntimeError once the informer was started. Go: SetWatchErrorHandler.
        """
        ...

    def set_watch_error_handler_with_context(self, handler: WatchErrorHandlerWithContext) -> None:
        """Set a watch error handler that also gets the context. Go: SetWatchErrorHandlerWithContext."""
        ...

    def set_transform(self, handler: TransformFunc) -> None:
        """Change every object with `handler` before it is cached, such as to drop unused fields; see TransformFunc.

        Raises RuntimeError once the informer was started. Go: SetTransform.
        """
        ...

    def is_stopped(self) -> bool:
        """Report whether the informer has stopped. It accepts no handlers then, and never runs again. Go: IsStopped."""
        ...


class ResourceEventHandlerRegistration(HandlerProgress, Protocol):
    """The registration of a handler with one informer. Go: ResourceEventHandlerRegistration."""

    def has_synced(self) -> bool:
        """Report whether the informer has synced and the handler has handled the first list. Go: HasSynced."""
        ...

    def has_synced_checker(self) -> DoneChecker:
        """Return a checker for `wait_for` that is done when `has_synced` becomes true. Go: HasSyncedChecker."""
        ...


@dataclass(kw_only=True)
class HandlerOptions:
    """The options of a handler. Go: HandlerOptions."""

    logger: klog.Logger | None = None
    """klog.background() when None."""
    resync_period: float | None = None
    """See SharedInformer.add_event_handler_with_resync_period. None selects the informer's period."""
    max_pending: int = 0
    """Number of waiting notifications above which `overflow` takes effect; 0 for no limit. Beyond Go."""
    overflow: Overflow = Overflow.MERGE
    """Beyond Go."""


class SharedIndexInformer(SharedInformer, Protocol):
    """A SharedInformer with indexes of its cache. Go: SharedIndexInformer."""

    def add_indexers(self, indexers: Indexers) -> None:
        """Add indexes, also while the informer runs. Go: AddIndexers.

        Raises ValueError for a name that exists, RuntimeError once the informer has stopped.
        """
        ...

    def get_indexer(self) -> Indexer:
        """Return the cache, which the caller must only read. Go: GetIndexer."""
        ...


def new_shared_informer(
    lw: ListerWatcher, example_object: object, default_event_handler_resync_period: float
) -> SharedInformer:
    """Return a shared informer; see `new_shared_index_informer_with_options`. Go: NewSharedInformer."""
    return new_shared_index_informer(lw, example_object, default_event_handler_resync_period, {})


def new_shared_index_informer(
    lw: ListerWatcher,
    example_object: object,
    default_event_handler_resync_period: float,
    indexers: Mapping[str, IndexFunc],
) -> SharedIndexInformer:
    """Return a shared informer; see `new_shared_index_informer_with_options`. Go: NewSharedIndexInformer."""
    options = SharedIndexInformerOptions(resync_period=default_event_handler_resync_period, indexers=dict(indexers))
    return new_shared_index_informer_with_options(lw, example_object, options)


def new_shared_index_informer_with_options(
    lw: ListerWatcher, example_object: object, options: SharedIndexInformerOptions
) -> SharedIndexInformer:
    """Return an informer for the objects that `lw` lists and watches. Go: NewSharedIndexInformerWithOptions.

    `example_object` is an object of their type, or the class; the reflector drops objects of other types. None accepts
    any type.

    With `options.resync_period` 0 there are no resyncs. Otherwise the informer checks periodically whether a handler is
    due for a resync. The check period is fixed at the start: the shortest of that option and of the handlers' periods
    by then, and at least a second. A handler's period is rounded up to a multiple of the check period.
    """
    return _SharedIndexInformer(lw, example_object, options)


@dataclass(kw_only=True)
class SharedIndexInformerOptions:
    """The options of a shared informer. Go: SharedIndexInformerOptions."""

    resync_period: float = 0.0
    """The handlers' default resync period and the first check period, in seconds; 0 for no resyncs."""
    indexers: Indexers = field(default_factory=dict)
    """The indexes of the cache."""
    object_description: str = ""
    """The objects' name in logs; made from the example object when empty."""
    identifier: InformerNameAndResource | None = None
    """Identifies the informer in metrics; None disables them."""
    informer_metrics_provider: InformerMetricsProvider | None = None
    """Creates the metrics; None selects the provider of set_informer_metrics_provider."""
    in_order: bool | None = None
    """RealFIFO (True) or DeltaFIFO (False); None selects by the gate InOrderInformers. Beyond Go."""
    emit_delta_type_replaced: bool = True
    """The type of a DeltaFIFO's deltas of a list: Replaced, or Sync when False, as in old informers. Beyond Go."""
    clock: WithTickerAndDelayedExecution | None = None
    """The real clock when None. Beyond Go."""


# Go: InformerSynced. Reports whether a cache has synced.
InformerSynced = Callable[[], bool]

# Seconds between two calls of an InformerSynced.
_SYNCED_POLL_PERIOD = 0.1

# A handler that takes longer than these seconds is logged while more notifications than this wait.
_INITIAL_BUFFER_SIZE = 1024
_SLOW_HANDLER_SECONDS = 0.1


def wait_for_named_cache_sync(controller_name: str, stop_ch: StopChannel, *cache_syncs: InformerSynced) -> bool:
    """Call `wait_for_cache_sync` and log, for `controller_name`, its start and result. Go: WaitForNamedCacheSync."""
    klog.background().info("Waiting for caches to sync", controller=controller_name)
    if not wait_for_cache_sync(stop_ch, *cache_syncs):
        utilruntime.handle_error_with_context(
            context.background(), None, "Unable to sync caches", controller=controller_name
        )
        return False
    klog.background().info("Caches are synced", controller=controller_name)
    return True


def wait_for_named_cache_sync_with_context(ctx: context.Context, *cache_syncs: InformerSynced) -> bool:
    """Call `wait_for_cache_sync` and log, with the logger of `ctx`, its start and result.

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
    """Poll every 0.1 seconds until all caches have synced: True, or False when `stop_ch` is set first.

    `wait_for` needs no polling. Raises any exception of a function of `cache_syncs`. Go: WaitForCacheSync.
    """
    try:
        with reporting_unstarted(cache_syncs):
            wait.poll_immediate_until(
                _SYNCED_POLL_PERIOD, lambda: all(is_true(synced) for synced in cache_syncs), stop_ch
            )
    except Exception as err:
        if not wait.interrupted(err):
            raise
        return False
    return True


def wait_for(ctx: context.Context, what: str, *checkers: DoneChecker) -> bool:
    """Wait until all `checkers` are done: True, or False when `ctx` is done first. Does not poll.

    Unless `what` is empty, logs `what` (as "for") at the start, each checker that is done, and at the end the checkers
    that are not. Go: WaitFor.
    """
    logger = klog.from_context(ctx).with_call_depth(1)
    if what:
        logger.info("Waiting", **{"for": what})
    pending = list(checkers)
    with reporting_unstarted(checkers):
        while pending:
            # The context comes last: a checker that is done when the context ends still counts.
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
    """A condition that becomes true once, with a name for logs. Go: DoneChecker.

    `is_done` checks it without waiting; `wait_for` waits for it.
    """

    def name(self) -> str:
        """Return the name of the condition. May be expensive: not for hot paths. Go: Name."""
        ...

    def done(self) -> StopChannel:
        """Return a channel that is set when the condition is true. Go: Done."""
        ...


def is_done(checker: DoneChecker) -> bool:
    """Report whether the condition is true. Never blocks. Go: IsDone."""
    return checker.done().is_set()


@dataclass
class SyncResult:
    """The result of an informer factory's wait for its caches. Go: SyncResult.

    Handlers may not have handled the caches' contents yet.
    """

    # None if all caches have synced, else the reason for the end of the wait.
    err: BaseException | None = None
    # For the type of each informer, True if it has synced.
    synced: dict[type, bool] = field(default_factory=dict)

    def as_error(self) -> Exception | None:
        """Return None if all caches have synced, else an error with the types that have not, caused by `err`.

        Go: AsError.
        """
        if self.err is None:
            return None
        unsynced = sorted(type_string(cls) for cls, synced in self.synced.items() if not synced)
        error = RuntimeError(f"failed to sync all caches: {', '.join(unsynced)}: {self.err}")
        error.__cause__ = self.err
        return error


class _SharedIndexInformer(InspectableInformer):
    """The SharedIndexInformer. Go: sharedIndexInformer.

    It has an indexer; a controller, created at the start, whose process functions (`_handle_deltas`,
    `_handle_batch_deltas`) update the indexer; and a processor, which passes notifications to the handlers.

    Locks, in the order in which they may be taken: `_started_lock`, `_block_deltas`, then those of the processor and
    its listeners. No user function runs with one of them held, except index functions and, with DeltaFIFO, transform
    functions.
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
        self._processor = _SharedProcessor(clock)
        self._cache_mutation_detector: MutationDetector | None = None
        self._type_string = type_string(example_object)
        if mutation_detector.mutation_detection_enabled:
            self._cache_mutation_detector = new_cache_mutation_detector(self._type_string)
        self._lister_watcher = require_lister_watcher(lw)
        self._object_type = example_object
        self._object_description = options.object_description
        # Seconds between two checks whether a listener is due for a resync.
        self._resync_check_period = require_seconds(options.resync_period, "resync_period")
        self._default_event_handler_resync_period = options.resync_period
        self._clock = clock
        # Guards the state that changes when the informer starts and stops, and the set of handlers.
        self._started_lock = threading.Lock()
        self._started = False
        self._stopped = False
        # Held while changes are processed, so that a handler can be added between two changes.
        self._block_deltas = threading.Lock()
        self._watch_error_handler: WatchErrorHandlerWithContext | None = None
        self._transform: TransformFunc | None = None
        self._identifier = options.identifier or InformerNameAndResource()
        self._options = options
        self._key_func = deletion_handling_meta_namespace_key_func
        self._refusals = Refusals(self._key_func, clock)
        self._created_at = name_from_callsite("")
        self._early_reads = EarlyReads(self.type_name(), self._indexer, self._synced)

    def set_watch_error_handler(self, handler: WatchErrorHandler) -> None:
        require_function(handler, "a watch error handler", "reflector, err")
        self.set_watch_error_handler_with_context(lambda _, reflector, err: handler(reflector, err))

    def set_watch_error_handler_with_context(self, handler: WatchErrorHandlerWithContext) -> None:
        require_function(handler, "a watch error handler with a context", "ctx, reflector, err")
        with self._started_lock:
            self._raise_if_started()
            self._watch_error_handler = handler

    def set_transform(self, handler: TransformFunc | None) -> None:
        if handler is not None:
            require_function(handler, "a transform function", "obj")
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
            # The processor stops after the controller, so that it gets the controller's last notifications. Until then
            # it has the values of the context, but not its cancellation.
            processor_ctx, stop_processor = context.with_cancel_cause(context.without_cancel(ctx))
            ctx, cancel = context.with_cancel(ctx)
            threads = [
                self._new_thread("processor", self._run_processor, processor_ctx, cancel),
                self._new_thread("synced", self._wait_for_sync, ctx, processor_ctx, controller),
            ]
            if (detector := self._cache_mutation_detector) is not None:
                threads.append(self._new_thread("mutation detector", detector.run, processor_ctx.done()))
            try:
                for thread in threads:
                    thread.start()
                controller.run_with_context(ctx)
            finally:
                with self._started_lock:
                    self._stopped = True  # no further handlers
                    self._early_reads.is_stopped = True
                stop_processor(RuntimeError("informer is stopping"))
                for thread in threads:
                    if thread.is_alive():
                        thread.join()

    def _run_processor(self, ctx: context.Context, cancel: Callable[[], None]) -> None:
        """Run the processor. An error, such as no thread for a handler, ends the informer too."""
        try:
            self._processor.run(ctx)
        finally:
            cancel()

    def _start(self, logger: klog.Logger) -> Controller | None:
        """Return the controller to run; None if the informer was started before."""
        with self._started_lock:
            if self._started:
                return None
            self._early_reads.start()
            logger, fifo = new_queue_fifo(
                logger,
                self._object_type,
                KnownObjects(self._indexer, self._refusals),
                mark_failures(self._transform),
                self._identifier,
                self._options.informer_metrics_provider,
                in_order=self._options.in_order,
                clock=self._clock,
                emit_delta_type_replaced=self._options.emit_delta_type_replaced,
            )
            config = Config(
                queue=fifo,
                lister_watcher=self._lister_watcher,
                object_type=self._object_type,
                object_description=self._object_description,
                full_resync_period=self._resync_check_period,
                should_resync=self._processor.should_resync,
                process=partial(self._handle_deltas, logger),
                process_batch=partial(self._handle_batch_deltas, logger),
                watch_error_handler_with_context=self._watch_error_handler,
                clock=self._clock,
            )
            self._controller = new_with_refusals(config, self._created_at, self._refusals)
            self._started = True
            return self._controller

    def _new_thread(self, purpose: str, target: Callable[..., None], *args: object) -> threading.Thread:
        name = f"informer {self._type_string} {purpose}"
        return threading.Thread(target=target, args=args, name=name, daemon=True)

    def _wait_for_sync(self, ctx: context.Context, running_ctx: context.Context, controller: Controller) -> None:
        """Set `_synced` when the controller has synced. `running_ctx` ends a run that a KeyboardInterrupt ends."""
        synced = controller.has_synced_checker().done()
        if channel.select([ctx.done(), running_ctx.done(), synced]).case == 2:
            self._synced.set()

    def has_started(self) -> bool:
        """Report whether the informer was started; it may have stopped since. Go: HasStarted."""
        with self._started_lock:
            return self._started

    def has_synced(self) -> bool:
        return self._synced.is_set()

    def has_synced_checker(self) -> DoneChecker:
        return _SharedIndexInformerDone(self)

    def last_sync_resource_version(self) -> str:
        with self._started_lock:
            controller = self._controller
        return "" if controller is None else controller.last_sync_resource_version()

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

    def add_event_handler(self, handler: ResourceEventHandler) -> ResourceEventHandlerRegistration:
        return self.add_event_handler_with_options(handler, HandlerOptions())

    def add_event_handler_with_resync_period(
        self, handler: ResourceEventHandler, resync_period: float
    ) -> ResourceEventHandlerRegistration:
        return self.add_event_handler_with_options(handler, HandlerOptions(resync_period=resync_period))

    def add_event_handler_with_options(
        self, handler: ResourceEventHandler, options: HandlerOptions
    ) -> ResourceEventHandlerRegistration:
        check_handler(handler)
        logger = options.logger or klog.background()
        with self._started_lock:
            if self._stopped:
                raise RuntimeError(f"handler {handler} was not added to shared informer because it has stopped already")
            resync_period = options.resync_period
            if resync_period is None:
                resync_period = self._default_event_handler_resync_period
            resync_period = self._fit_resync_period(logger, require_seconds(resync_period, "resync_period"))
            listener = _ProcessorListener(
                logger,
                handler,
                resync_period,
                _determine_resync_period(logger, resync_period, self._resync_check_period),
                self._clock,
                self.has_synced_checker(),
                options,
                new_handler_metrics(
                    self._identifier, name_for_handler(handler), self._options.informer_metrics_provider
                ),
            )
            if not self._started:
                self._processor.add_listener(listener)
                return listener
            # To join safely: stop the notifications, list the store, add the objects as additions, then go on.
            with self._block_deltas:
                # The additions are queued before the caller gets the registration, so that its `has_synced` cannot be
                # true too early.
                known: list[Notification] = [AddNotification(obj, True) for obj in self._indexer.list()]
                stamp(known, self._clock.now())
                listener.add(known)
                self._processor.add_listener(listener)
        return listener

    def _fit_resync_period(self, logger: klog.Logger, resync_period: float) -> float:
        """Return the period of a handler that requests `resync_period`. May lower the check period before the start."""
        if resync_period <= 0:
            return resync_period
        if resync_period < _MINIMUM_RESYNC_PERIOD:
            logger.info(
                "Warning: resync period is too small. Changing it to the minimum allowed value",
                resyncPeriod=format_duration(resync_period),
                minimumResyncPeriod=format_duration(_MINIMUM_RESYNC_PERIOD),
            )
            resync_period = _MINIMUM_RESYNC_PERIOD
        if resync_period < self._resync_check_period:
            if self._started:
                logger.info(
                    "Warning: resync period is smaller than resync check period and the informer has already started. "
                    "Changing it to the resync check period",
                    resyncPeriod=format_duration(resync_period),
                    resyncCheckPeriod=format_duration(self._resync_check_period),
                )
                resync_period = self._resync_check_period
            else:
                self._resync_check_period = resync_period
                self._processor.resync_check_period_changed(logger, resync_period)
        return resync_period

    def _handle_deltas(self, logger: klog.Logger, obj: Any, is_in_initial_list: bool) -> None:
        if not isinstance(obj, Deltas):
            raise TypeError("object given as Process argument is not Deltas")
        with self._block_deltas:
            process_deltas(logger, self._notify, self._indexer, obj, is_in_initial_list, self._key_func)

    def _handle_batch_deltas(self, logger: klog.Logger, deltas: Sequence[Delta], is_in_initial_list: bool) -> None:
        with self._block_deltas:
            process_deltas_in_batch(logger, self._notify, self._indexer, deltas, is_in_initial_list, self._key_func)

    def _notify(self, notifications: Sequence[Notification]) -> None:
        """Distribute notifications. The caller holds `_block_deltas`. Go: OnAdd, OnUpdate and OnDelete."""
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
        return f"<SharedIndexInformer {self._type_string} {state}, {synced}, {self._processor!r}>"


class _SharedIndexInformerDone:
    """A DoneChecker for the informer's sync. Go: sharedIndexInformerDone."""

    def __init__(self, informer: _SharedIndexInformer) -> None:
        self.awaited = informer

    def name(self) -> str:
        return f"SharedIndexInformer {self.awaited._type_string}"

    def done(self) -> StopChannel:
        return self.awaited._synced


class _DummyController:
    """A controller that answers for the informer, and whose `run` does nothing. Go: dummyController."""

    def __init__(self, informer: _SharedIndexInformer) -> None:
        self.awaited = informer
        self.has_synced = informer.has_synced
        self.has_synced_checker = informer.has_synced_checker
        self.last_contact = informer.last_contact
        self.refused = informer.refused

    def run_with_context(self, ctx: context.Context) -> None:
        pass

    def run(self, stop_ch: StopChannel) -> None:
        pass

    def last_sync_resource_version(self) -> str:
        if features.feature_gates().enabled(features.INFORMER_RESOURCE_VERSION):
            return self.awaited.last_sync_resource_version()
        return ""


_MINIMUM_RESYNC_PERIOD = 1.0


def _determine_resync_period(logger: klog.Logger, desired: float, check: float) -> float:
    """Return the period of a handler that requests `desired` when the informer checks every `check` seconds."""
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
    """Passes notifications to its listeners. Go: sharedProcessor.

    Updates without a change, such as resyncs, go only to the listeners that are due for a resync. `should_resync` finds
    these; a new listener is due. All other notifications go to all listeners.

    Invariant (`_check` asserts it): the threads of all listeners run exactly while `_listeners_started` is set.
    """

    def __init__(self, clock: WithTickerAndDelayedExecution) -> None:
        self._clock = clock
        # Guards the fields below. The condition is notified when the listeners are started and when the processor
        # stops.
        self._listeners_lock = threading.Lock()
        self._listeners_cond = threading.Condition(self._listeners_lock)
        self._listeners_started = False
        # For each listener, True if it is due for a resync.
        self._listeners: dict[_ProcessorListener, bool] = {}
        # The removed listeners whose handlers may still be busy.
        self._removed: list[_ProcessorListener] = []
        self._stuck_handlers = StuckHandlers(clock)

    def get_listener(self, registration: ResourceEventHandlerRegistration) -> _ProcessorListener | None:
        """Return the listener of a registration; None if this processor does not have it."""
        if not isinstance(registration, _ProcessorListener):
            return None
        with self._listeners_lock:
            return registration if registration in self._listeners else None

    def add_listener(self, listener: _ProcessorListener) -> None:
        """Add a listener, and start it if the others run. The caller has added its initial notifications before."""
        with self._listeners_lock:
            if self._listeners_started:
                listener.start()
            self._listeners[listener] = True
            if self._listeners_started:
                self._stuck_handlers.watch(self._listeners)

    def remove_listener(self, handle: ResourceEventHandlerRegistration) -> None:
        """Stop a listener of this processor; ignore another. Raises TypeError for an object that is no listener."""
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

    def distribute(self, notifications: Sequence[Notification]) -> None:
        """Add the notifications to the listeners. If there are listeners, first waits until the processor runs."""
        with self._listeners_lock:
            # A processor that stops has no listeners, which ends this wait too.
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
        """Run the listeners until `ctx` is done. Blocks; returns when their threads have ended."""
        try:
            with self._listeners_lock:
                for listener in self._listeners:
                    listener.start()
                self._listeners_started = True
                self._listeners_cond.notify_all()
            ctx.done().wait()
        finally:  # also if the system has no thread left for a listener, so that nothing waits for the start
            self._stop_listeners()

    def _stop_listeners(self) -> None:
        with self._listeners_lock:
            listeners = [*self._listeners, *self._removed]
            self._listeners = {}
            self._removed = []
            self._listeners_started = False
            self._listeners_cond.notify_all()
        for listener in listeners:
            listener.close()
        self._stuck_handlers.end()
        # Without the lock, so that a handler that is still busy may remove itself.
        with self._stuck_handlers.joining(listeners):
            for listener in listeners:
                listener.join()

    def should_resync(self) -> bool:
        """Find the listeners that are due for a resync, and report whether there are any."""
        now = self._clock.now()
        with self._listeners_lock:
            for listener in self._listeners:
                is_due = self._listeners[listener] = listener.should_resync(now)
                if is_due:
                    listener.determine_next_resync(now)
            return any(self._listeners.values())

    def resync_check_period_changed(self, logger: klog.Logger, resync_check_period: float) -> None:
        """Adapt the periods of all listeners to a new check period."""
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


class _ProcessorListener(Backlog):
    """Passes notifications to one handler, on a thread of its own. Also the handler's registration.

    `add` appends notifications to a buffer (Backlog). The thread takes all of them and delivers one after the other. An
    exception of the handler is logged, and the next notification follows. As in Go, the registration never syncs if the
    exception was for an object of the first list. Go: processorListener.
    """

    def __init__(
        self,
        logger: klog.Logger,
        handler: ResourceEventHandler,
        requested_resync_period: float,
        resync_period: float,
        clock: WithTickerAndDelayedExecution,
        has_synced: DoneChecker,
        options: HandlerOptions,
        metrics: HandlerMetrics | None = None,
    ) -> None:
        self.logger = logger
        self._handler = handler
        name = name_for_handler(handler)
        sync_tracker = new_single_file_tracker(f"{has_synced.name()} + event handler {name}")
        super().__init__(name, clock, sync_tracker, options.max_pending, options.overflow, metrics)
        self.awaited = sync_tracker.awaited = has_synced
        # The period that the handler requested, at least `_MINIMUM_RESYNC_PERIOD`, and at least the informer's check
        # period for a handler that was added after the start.
        self.requested_resync_period = requested_resync_period
        # Guards the two fields below.
        self._resync_lock = threading.Lock()
        # The period in use: 0 when the informer has no resyncs.
        self._resync_period = resync_period
        # The earliest time of the next resync.
        self._next_resync = clock.now() + resync_period
        self._thread: threading.Thread | None = None

    def has_synced(self) -> bool:
        """See ResourceEventHandlerRegistration."""
        return self._sync_tracker.has_synced()

    def has_synced_checker(self) -> DoneChecker:
        """See ResourceEventHandlerRegistration."""
        return self._sync_tracker

    @hop("handlers.buffer", go="(*processorListener).add")
    def add(self, notifications: Sequence[Notification]) -> bool:
        """Append notifications to the buffer. Never waits for the handler. A closed listener drops them.

        Returns False if the handler must be removed because too many notifications wait.
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
            return self.is_within_bounds_locked()

    def start(self) -> None:
        """Start to deliver. From now on the informer's sync counts: the notifications added before are the first list.
        """
        thread = threading.Thread(target=self._run, name=f"handler {self._handler_name}", daemon=True)
        thread.start()
        self._thread = thread

    def close(self) -> None:
        """Drop the notifications in the buffer, and stop once the handler has returned. Does not wait for it."""
        with self._cond:
            self._closed = True
            self._pending = deque()
            self._cond.notify()

    def join(self) -> None:
        """Wait until the handler has returned and the thread has ended. The handler itself must not call this."""
        if self._thread is not None:
            self._thread.join()

    def thread_ident(self) -> int | None:
        """Return the identifier of the thread that calls the handler; None before the start."""
        return None if self._thread is None else self._thread.ident

    def is_alive(self) -> bool:
        """Report whether the thread runs."""
        return self._thread is not None and self._thread.is_alive()

    @hop("handlers.take", go="(*processorListener).pop")
    def _take_pending(self) -> deque[Notification] | None:
        """Wait for notifications and take all of them; None when the listener is closed. Go: pop."""
        with self._cond:
            while not self._pending and not self._closed:
                self._cond.wait()
            if self._closed:
                return None
            self._taken, self._pending = self._pending, deque()
            self._merge_at = self._max_pending
            return self._taken

    def _run(self) -> None:
        forget_sync = channel.add_done_callback(self.awaited.done(), self._sync_tracker.upstream_has_synced)
        try:
            with calling_handlers():
                while (notifications := self._take_pending()) is not None:
                    self._deliver(notifications)
        finally:
            forget_sync()
            self._taken = deque()

    def _deliver(self, notifications: deque[Notification]) -> None:
        """Deliver all notifications, or until the listener is closed. Keeps no reference to a delivered one. Go: run.
        """
        handler = self._handler
        take = notifications.popleft
        # Number of initial notifications delivered in a row. The tracker gets it at the end of the row: the last of
        # them may be the last of the first list only there.
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
            except BaseException as err:
                if not is_crash(err):
                    raise
                self._failed += 1
                name_notification(err, notification)
                name_subject(err, handler=self._handler_name)
                with utilruntime.handle_crash_with_logger(self.logger, go_on=True):
                    raise
            else:
                finished += notification.is_in_initial_list
            if self._metrics is not None:
                self.publish_delivery()
        self._delivering = None
        if finished:
            self._sync_tracker.finished(finished)
        self.publish_delivery()

    def _deliver_and_trace(self, notification: Notification, pending: int) -> None:
        """Deliver a notification while many wait behind it, and log if that takes long, without a debugger's hold."""
        call_timer.start(self._clock)
        try:
            notification.deliver(self._handler)
        finally:
            started = call_timer.started
            if self._clock.since(started) >= _SLOW_HANDLER_SECONDS:
                trace.new(
                    "processorListener handler",
                    trace.Field("handler", self._handler_name),
                    trace.Field("pendingNotifications", pending),
                    clock=self._clock,
                    start_time=started,
                ).log_if_long(_SLOW_HANDLER_SECONDS)

    def should_resync(self, now: float) -> bool:
        """Report whether a resync is due."""
        with self._resync_lock:
            return self._resync_period != 0 and now >= self._next_resync

    def determine_next_resync(self, now: float) -> None:
        """Schedule the next resync one period after `now`."""
        with self._resync_lock:
            self._next_resync = now + self._resync_period

    def set_resync_period(self, resync_period: float) -> None:
        """Change the period; the next resync stays as scheduled."""
        with self._resync_lock:
            self._resync_period = resync_period

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        synced = "synced" if self.has_synced() else "not synced"
        return f"<Listener {self._handler_name!r} {len(self._pending) + len(self._taken)} pending, {synced}, {state}>"
