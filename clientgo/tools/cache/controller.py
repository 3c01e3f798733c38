"""The low-level controller and the informers for one handler.

Mirrors tools/cache/controller.go. A controller runs a reflector, which fills a queue, and a loop, which empties it. The
informers add a store and call a handler: `new_informer_with_options` connects Reflector, queue (RealFIFO or DeltaFIFO),
store and handler. shared_informer.py does the same for many handlers.

Differs from Go:
  * the process functions pass notifications in batches to a `Notify`, which the shared informer passes to its
    processor; Go calls a ResourceEventHandler for each notification;
  * an object is read-only from the moment it leaves the queue;
  * an object that the store rejects costs no other object; see beyond/refusals.py;
  * a handler that raises is logged, and the next notification follows; an error of a process function is logged, where
    Go ignores it;
  * `in_order` in InformerOptions chooses RealFIFO or DeltaFIFO for one informer, in place of the feature gate.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, cast

from clientgo import context, features, klog
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util import wait
from clientgo.golang.channel import StopChannel
from clientgo.klog.answers import is_true
from clientgo.tools.cache import delta_fifo, the_real_fifo
from clientgo.tools.cache.beyond.inspection import CacheHealth, InspectableController
from clientgo.tools.cache.beyond.processing import (
    CompleteSync,
    FailureCollector,
    freeze,
    freeze_all,
    get_all_known,
    get_known,
    report_unprocessed,
    supports_transactions,
)
from clientgo.tools.cache.beyond.refusals import KnownObjects, Refusals, mark_failures
from clientgo.tools.cache.beyond.unsynced import RUN_THE_CONTROLLER, EarlyReads, running
from clientgo.tools.cache.delta_fifo import DeletedFinalStateUnknown, Delta, Deltas, DeltaType, TransformFunc
from clientgo.tools.cache.delta_fifo import (
    deletion_handling_meta_namespace_key_func as deletion_handling_meta_namespace_key_func,
)
from clientgo.tools.cache.fifo import ErrFIFOClosed, Queue, QueueWithBatch
from clientgo.tools.cache.fifo_metrics import InformerMetricsProvider
from clientgo.tools.cache.identity import InformerNameAndResource
from clientgo.tools.cache.index import Indexer, Indexers
from clientgo.tools.cache.listwatch import ListerWatcher
from clientgo.tools.cache.notifications import (
    AddNotification,
    DeleteNotification,
    Notification,
    Notify,
    UpdateNotification,
    notify_each,
)
from clientgo.tools.cache.object_names import ObjectName, parse_object_name
from clientgo.tools.cache.reflector import (
    Reflector,
    ReflectorOptions,
    WatchErrorHandler,
    WatchErrorHandlerWithContext,
    name_from_callsite,
    new_reflector_with_options,
    type_string,
)
from clientgo.tools.cache.store import KeyError as CacheKeyError
from clientgo.tools.cache.store import (
    KeyFunc,
    Store,
    StoreOption,
    Transaction,
    TransactionError,
    TransactionType,
    meta_namespace_key_func,
    new_indexer,
    new_store,
    object_to_name,
    with_store_metrics,
)
from clientgo.tools.cache.the_real_fifo import BookmarkInfo, ReplacedAllInfo, SyncAllInfo, reconcile_replacement
from clientgo.utils.clock import REAL_CLOCK, WithTickerAndDelayedExecution

if TYPE_CHECKING:
    from clientgo.tools.cache.shared_informer import DoneChecker

# Seconds until the process loop starts again after an unexpected exception.
_PROCESS_LOOP_PERIOD = 1.0


@dataclass(kw_only=True)
class Config:
    """The settings of a controller. Go: Config (which embeds Queue and ListerWatcher)."""

    queue: Queue
    """A queue of Deltas that no other consumer empties. `process` must accept its items."""
    lister_watcher: ListerWatcher
    """Lists and watches the objects."""
    process: ProcessFunc
    """Processes a Deltas. An exception is logged, and the reflector relists; `refused` shows those of a ProcessError.
    """
    process_batch: ProcessBatchFunc | None = None
    """Processes many deltas at once, if the queue is a QueueWithBatch and the gate InOrderInformersBatchProcess is on.

    Raises ProcessError if a part failed.
    """
    object_type: object = None
    """An example of the objects, or their class; None for any."""
    object_description: str = ""
    """The objects' name in logs."""
    full_resync_period: float = 0.0
    """Seconds between two calls of `should_resync`; 0 for no resync."""
    min_watch_timeout: float = 0.0
    """See ReflectorOptions."""
    should_resync: ShouldResyncFunc | None = None
    """Report whether to resync now; None for always."""
    watch_error_handler: WatchErrorHandler | None = None
    """Called when a list or a watch failed. Has precedence over the next field."""
    watch_error_handler_with_context: WatchErrorHandlerWithContext | None = None
    """Called with the context when a list or a watch failed."""
    watch_list_page_size: int = 0
    """See Reflector.watch_list_page_size."""
    clock: WithTickerAndDelayedExecution | None = None
    """The real clock when None. Beyond Go."""


# Go: ShouldResyncFunc. Reports whether a reflector should resync its store now.
ShouldResyncFunc = Callable[[], bool]

# Go: ProcessFunc. Processes an item of a queue; the second argument is True for an item of the first list.
ProcessFunc = Callable[[Any, bool], None]

# Go: ProcessBatchFunc. Processes deltas of different objects at once.
ProcessBatchFunc = Callable[[Sequence[Delta], bool], None]


class Controller(CacheHealth, Protocol):
    """A loop that passes the changes that a reflector finds through a queue to a process function. Go: Controller."""

    def run_with_context(self, ctx: context.Context, /) -> None:
        """Run the reflector and the process loop until `ctx` is done. Blocks; may be called once. Go: RunWithContext.

        The loop runs on the calling thread. Two other threads run the reflector and close the queue. Both have ended
        when this returns.
        """
        ...

    def run(self, stop_ch: StopChannel, /) -> None:
        """Call `run_with_context` until `stop_ch` is set. Go: Run."""
        ...

    def has_synced(self) -> bool:
        """Report whether the first list was processed and no object is rejected. Go: HasSynced."""
        ...

    def has_synced_checker(self) -> DoneChecker:
        """Return a checker for `wait_for` that is done when `has_synced` becomes true. Go: HasSyncedChecker."""
        ...

    def last_sync_resource_version(self) -> str:
        """Return the newest version that the reflector saw; "" before it runs. Go: LastSyncResourceVersion."""
        ...


class _Controller(InspectableController):
    """The Controller. Go: controller."""

    def __init__(self, config: Config, created_at: str = "", refusals: Refusals | None = None) -> None:
        clock = config.clock or REAL_CLOCK
        if refusals is None:
            refusals = Refusals(deletion_handling_meta_namespace_key_func, clock)
        self._config = config
        self._clock = clock
        self._refusals = refusals
        description = config.object_description or type_string(config.object_type)
        self._synced = CompleteSync(description, config.queue, refusals, clock)
        # The caller that made the pipeline, as file:line. It names a reflector that runs in a thread of its own.
        self._created_at = created_at or name_from_callsite("")
        # Reports reads of the store before the run; None for the controller of a shared informer, which has its own.
        self.early_reads: EarlyReads | None = None
        # Set once, by run_with_context. Reading it needs no lock.
        self._reflector: Reflector | None = None

    def run(self, stop_ch: StopChannel) -> None:
        self.run_with_context(wait.context_for_channel(stop_ch))

    def run_with_context(self, ctx: context.Context) -> None:
        with utilruntime.handle_crash_with_context(ctx, go_on=True), running(self.early_reads):
            # Cancelled when a KeyboardInterrupt ends the run before its context is done.
            ctx, cancel = context.with_cancel(ctx)
            reflector = self._reflector = self._new_reflector(ctx)
            threads = [
                threading.Thread(target=self._close_queue, args=(ctx,), name=f"{reflector.name()} closer"),
                threading.Thread(target=reflector.run_with_context, args=(ctx,), name=f"reflector {reflector.name()}"),
            ]
            for thread in threads:
                thread.daemon = True
                thread.start()
            try:
                wait.until_with_context(ctx, self._process_loop, _PROCESS_LOOP_PERIOD)
            finally:
                cancel()
                for thread in threads:
                    thread.join()

    def _new_reflector(self, ctx: context.Context) -> Reflector:
        config = self._config
        reflector = new_reflector_with_options(
            config.lister_watcher,
            config.object_type,
            config.queue,
            ReflectorOptions(
                logger=klog.from_context(ctx),
                name=name_from_callsite(self._created_at),
                resync_period=config.full_resync_period,
                min_watch_timeout=config.min_watch_timeout,
                type_description=config.object_description,
                clock=self._clock,
            ),
        )
        reflector.should_resync = config.should_resync
        reflector.watch_list_page_size = config.watch_list_page_size
        if (handler := config.watch_error_handler) is not None:
            reflector.watch_error_handler = lambda _, r, err: handler(r, err)
        elif config.watch_error_handler_with_context is not None:
            reflector.watch_error_handler = config.watch_error_handler_with_context
        return reflector

    def _close_queue(self, ctx: context.Context) -> None:
        """Close the queue when `ctx` is done.

        Runs in its own thread: the thread that cancels may hold a lock for which a handler waits that runs with the
        queue's lock held.
        """
        ctx.done().wait()
        self._config.queue.close()

    def has_synced(self) -> bool:
        return self._synced.done().is_set()

    def has_started(self) -> bool:
        """Report whether it was ever run, for the report of a wait that cannot end."""
        return self._reflector is not None

    def type_name(self) -> str:
        """Return the name of the objects' type, for the same report."""
        return self._config.object_description or type_string(self._config.object_type)

    def has_synced_checker(self) -> DoneChecker:
        return self._synced

    def last_sync_resource_version(self) -> str:
        return "" if self._reflector is None else self._reflector.last_sync_resource_version()

    def _process_loop(self, ctx: context.Context) -> None:
        """Empty the queue until it is closed. Go: processLoop."""
        queue, process_batch = self._config.queue, self._config.process_batch
        process = self._refusals.tracking(self._config.process)
        pop: Callable[[], object] = partial(queue.pop, process)
        batches = features.feature_gates().enabled(features.IN_ORDER_INFORMERS_BATCH_PROCESS)
        if process_batch is not None and batches and isinstance(queue, QueueWithBatch):
            pop = partial(queue.pop_batch, self._refusals.tracking(process_batch), process)
        stopped = ctx.done().is_set
        while not stopped():
            try:
                pop()
            except ErrFIFOClosed:
                return
            except Exception as err:
                report_unprocessed(ctx, err, queue, self._reflector)

    def __repr__(self) -> str:
        return f"<Controller of {self._config.queue!r}, {self._reflector!r}>"


def new_with_refusals(config: Config, created_at: str, refusals: Refusals) -> Controller:
    """Return a controller that records rejected objects in `refusals`.

    `created_at` is the file:line in the user's code that created the controller.
    """
    return _Controller(config, created_at, refusals)


def new(c: Config) -> Controller:
    """Return a controller. The caller must not change the configuration afterwards. Go: New."""
    return _Controller(c)


class ResourceEventHandler(Protocol):
    """A handler of the changes of a resource's objects. Go: ResourceEventHandler.

    The objects are shared with the cache and with other handlers, and are read-only. A handler gets one call at a time.
    A call that raises is logged and not repeated.
    """

    def on_add(self, obj: Any, is_in_initial_list: bool, /) -> None:
        """Handle an object that is new to this handler. Go: OnAdd.

        `is_in_initial_list` is True if the object existed when the handler was added.
        """
        ...

    def on_update(self, old_obj: Any, new_obj: Any, /) -> None:
        """Handle a change of an object, or a resync or relist that shows the object again. Go: OnUpdate.

        Several changes in quick succession may arrive as one.
        """
        ...

    def on_delete(self, obj: Any, /) -> None:
        """Handle the deletion of an object; `obj` is its last state. Go: OnDelete.

        `obj` is a DeletedFinalStateUnknown, maybe with an outdated state, if the watch missed the deletion.
        """
        ...


@dataclass(frozen=True)
class ResourceEventHandlerFuncs:
    """A handler made of functions; each may be None. Go: ResourceEventHandlerFuncs."""

    add_func: Callable[[Any], object] | None = None
    update_func: Callable[[Any, Any], object] | None = None
    delete_func: Callable[[Any], object] | None = None

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        """Call `add_func` if it is not None. Go: OnAdd."""
        if self.add_func is not None:
            self.add_func(obj)

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        """Call `update_func` if it is not None. Go: OnUpdate."""
        if self.update_func is not None:
            self.update_func(old_obj, new_obj)

    def on_delete(self, obj: Any) -> None:
        """Call `delete_func` if it is not None. Go: OnDelete."""
        if self.delete_func is not None:
            self.delete_func(obj)


@dataclass(frozen=True)
class ResourceEventHandlerDetailedFuncs:
    """A handler made of functions; `add_func` also gets `is_in_initial_list`. Go: ResourceEventHandlerDetailedFuncs."""

    add_func: Callable[[Any, bool], object] | None = None
    update_func: Callable[[Any, Any], object] | None = None
    delete_func: Callable[[Any], object] | None = None

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        """Call `add_func` if it is not None. Go: OnAdd."""
        if self.add_func is not None:
            self.add_func(obj, is_in_initial_list)

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        """Call `update_func` if it is not None. Go: OnUpdate."""
        if self.update_func is not None:
            self.update_func(old_obj, new_obj)

    def on_delete(self, obj: Any) -> None:
        """Call `delete_func` if it is not None. Go: OnDelete."""
        if self.delete_func is not None:
            self.delete_func(obj)


@dataclass(frozen=True)
class FilteringResourceEventHandler:
    """A handler that notifies another one only of objects that pass a filter. Go: FilteringResourceEventHandler.

    `handler` gets an addition when an object begins to pass the filter, and a deletion when it no longer passes.
    """

    filter_func: Callable[[Any], bool]
    handler: ResourceEventHandler

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        """Notify the handler of an addition if the object passes the filter. Go: OnAdd."""
        if is_true(self.filter_func, obj):
            self.handler.on_add(obj, is_in_initial_list)

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        """Notify the handler of an update if both states pass the filter. Go: OnUpdate.

        If only the new state passes, the notification is an addition; if only the old one does, a deletion.
        """
        newer = is_true(self.filter_func, new_obj)
        older = is_true(self.filter_func, old_obj)
        if newer and older:
            self.handler.on_update(old_obj, new_obj)
        elif newer:
            self.handler.on_add(new_obj, False)
        elif older:
            self.handler.on_delete(old_obj)

    def on_delete(self, obj: Any) -> None:
        """Notify the handler of a deletion if the object passes the filter. Go: OnDelete."""
        if is_true(self.filter_func, obj):
            self.handler.on_delete(obj)


def deletion_handling_object_to_name(obj: Any) -> ObjectName:
    """Return the name of an object or of a tombstone's object. Go: DeletionHandlingObjectToName."""
    if isinstance(obj, DeletedFinalStateUnknown):
        return parse_object_name(obj.key)
    return object_to_name(obj)


@dataclass(kw_only=True)
class InformerOptions:
    """The options of an informer for one handler. Go: InformerOptions."""

    logger: klog.Logger | None = None
    """klog.background() when None."""
    lister_watcher: ListerWatcher
    """Lists and watches the objects."""
    object_type: object = None
    """An example of the objects, or their class; None for any."""
    handler: ResourceEventHandler
    """Handles the changes."""
    resync_period: float = 0.0
    """Seconds between resyncs, which update every object without a change; 0 for no resyncs."""
    min_watch_timeout: float = 0.0
    """See ReflectorOptions."""
    indexers: Indexers | None = None
    """The store's indexes; the store is an Indexer if this is not None."""
    transform: TransformFunc | None = None
    """Changes every object before it is stored."""
    identifier: InformerNameAndResource | None = None
    """Identifies the informer in metrics; None disables them."""
    informer_metrics_provider: InformerMetricsProvider | None = None
    """Creates the metrics; None selects the provider of set_informer_metrics_provider."""
    in_order: bool | None = None
    """RealFIFO (True) or DeltaFIFO (False); None selects by the gate InOrderInformers. Beyond Go."""
    clock: WithTickerAndDelayedExecution | None = None
    """The real clock when None. Beyond Go."""


def new_informer_with_options(options: InformerOptions) -> tuple[Store, Controller]:
    """Return a store, and the controller that fills the store and calls the handler. Go: NewInformerWithOptions.

    The first read of the store before the controller runs is logged, because the store is empty. Do not write to the
    store: the handler gets no notification of it.
    """
    opts = store_options(options.identifier, options.informer_metrics_provider)
    client_state: Store
    if options.indexers is None:
        client_state = new_store(deletion_handling_meta_namespace_key_func, *opts)
    else:
        client_state = new_indexer(deletion_handling_meta_namespace_key_func, options.indexers, *opts)
    return client_state, _new_informer(client_state, options, deletion_handling_meta_namespace_key_func)


def store_options(
    identifier: InformerNameAndResource | None, metrics_provider: InformerMetricsProvider | None
) -> list[StoreOption]:
    """Return the options of an informer's store."""
    return [] if identifier is None else [with_store_metrics(identifier, metrics_provider)]


def new_informer(
    lw: ListerWatcher, obj_type: object, resync_period: float, h: ResourceEventHandler
) -> tuple[Store, Controller]:
    """Deprecated: use `new_informer_with_options`. Go: NewInformer."""
    return new_transforming_informer(lw, obj_type, resync_period, h, None)


def new_indexer_informer(
    lw: ListerWatcher, obj_type: object, resync_period: float, h: ResourceEventHandler, indexers: Indexers
) -> tuple[Indexer, Controller]:
    """Deprecated: use `new_informer_with_options`. Go: NewIndexerInformer."""
    return new_transforming_indexer_informer(lw, obj_type, resync_period, h, indexers, None)


def new_transforming_informer(
    lw: ListerWatcher,
    obj_type: object,
    resync_period: float,
    h: ResourceEventHandler,
    transformer: TransformFunc | None,
) -> tuple[Store, Controller]:
    """Deprecated: use `new_informer_with_options`. Go: NewTransformingInformer."""
    return new_informer_with_options(
        InformerOptions(
            lister_watcher=lw, object_type=obj_type, handler=h, resync_period=resync_period, transform=transformer
        )
    )


def new_transforming_indexer_informer(
    lw: ListerWatcher,
    obj_type: object,
    resync_period: float,
    h: ResourceEventHandler,
    indexers: Indexers,
    transformer: TransformFunc | None,
) -> tuple[Indexer, Controller]:
    """Deprecated: use `new_informer_with_options`. Go: NewTransformingIndexerInformer."""
    options = InformerOptions(
        lister_watcher=lw,
        object_type=obj_type,
        handler=h,
        resync_period=resync_period,
        indexers=indexers,
        transform=transformer,
    )
    store, controller = new_informer_with_options(options)
    return cast(Indexer, store), controller


# Looking up a member in its enum costs more than a comparison.
_ADD, _UPDATE, _DELETE = TransactionType.ADD, TransactionType.UPDATE, TransactionType.DELETE
_REPLACED_ALL, _SYNC_ALL = DeltaType.REPLACED_ALL, DeltaType.SYNC_ALL
_DELETED, _BOOKMARK = DeltaType.DELETED, DeltaType.BOOKMARK

# The deltas with an object's newest state, whether or not the store has the object.
_CHANGES = frozenset({DeltaType.SYNC, DeltaType.REPLACED, DeltaType.ADDED, DeltaType.UPDATED})


def process_deltas(
    logger: klog.Logger,
    notify: Notify,
    client_state: Store,
    deltas: Sequence[Delta],
    is_in_initial_list: bool,
    key_func: KeyFunc,
) -> None:
    """Apply `deltas` to `client_state`, oldest first, and call `notify` for each delta after it was stored.

    Raises ProcessError at the end if the store rejected an object, and TypeError for a delta whose object does not fit
    its type. Go: processDeltas.
    """
    failures = FailureCollector(key_func)
    # From oldest to newest.
    for received in deltas:
        delta = failures.admit(received, client_state)
        if delta is None:
            continue
        kind, obj = delta.type, delta.object
        if kind in _CHANGES:
            notification: Notification
            try:
                old, exists = get_known(client_state, obj)
                freeze(obj, old)
                if exists:
                    client_state.update(obj)
                    notification = UpdateNotification(old, obj)
                else:
                    client_state.add(obj)
                    notification = AddNotification(obj, is_in_initial_list)
            except Exception as err:
                failures.add(obj, err)
                continue
            notify((notification,))
        elif kind is _DELETED:
            try:
                freeze(obj)
                client_state.delete(obj)
            except Exception as err:
                failures.add(obj, err)
                continue
            notify((DeleteNotification(obj),))
        elif kind is _REPLACED_ALL:
            if not isinstance(obj, ReplacedAllInfo):
                raise TypeError(f"ReplacedAll did not contain ReplacedAllInfo: {type(obj).__name__}")
            with failures.collecting():
                _process_replaced_all_info(logger, notify, obj, client_state, is_in_initial_list, key_func)
        elif kind is _SYNC_ALL:
            if not isinstance(obj, SyncAllInfo):
                raise TypeError(f"SyncAll did not contain SyncAllInfo: {type(obj).__name__}")
            notify([UpdateNotification(known, known) for known in client_state.list()])
        elif kind is _BOOKMARK:
            if not isinstance(obj, BookmarkInfo):
                raise TypeError(f"bookmark delta did not contain BookmarkInfo: {type(obj).__name__}")
            client_state.bookmark(obj.resource_version)
    if failures.failures:
        failures.raise_all("not all deltas successfully processed")


def process_deltas_in_batch(
    logger: klog.Logger,
    notify: Notify,
    client_state: Store,
    deltas: Sequence[Delta],
    is_in_initial_list: bool,
    key_func: KeyFunc,
) -> None:
    """Apply deltas about different objects to `client_state` in one transaction, then call `notify`.

    A store without transactions gets one delta after the other. Raises ProcessError if the store rejected an object;
    `notify` gets the notifications of the other objects. Go: processDeltasInBatch.
    """
    failures = FailureCollector(key_func)
    if not supports_transactions(client_state):
        for delta in deltas:
            with failures.collecting():
                process_deltas(logger, notify, client_state, (delta,), is_in_initial_list, key_func)
        if failures.failures:
            failures.raise_all("unexpected error when handling deltas")
        return
    deltas, objs = failures.admit_all(deltas, client_state)
    # The deltas are about different objects, so their known states hold until the transaction.
    known = get_all_known(client_state, objs)
    freeze_all(objs, known)
    txns: list[Transaction] = []
    notifications: list[Notification] = []
    for delta, obj, old in zip(deltas, objs, known):
        if delta.type in _CHANGES:
            if old is not None:
                txns.append(Transaction(obj, _UPDATE))
                notifications.append(UpdateNotification(old, obj))
            else:
                txns.append(Transaction(obj, _ADD))
                notifications.append(AddNotification(obj, is_in_initial_list))
        elif delta.type is _DELETED:
            txns.append(Transaction(obj, _DELETE))
            notifications.append(DeleteNotification(obj))
        else:
            raise ValueError(f"Delta type {delta.type} is not supported in batch processing")
    try:
        client_state.transaction(*txns)
    except TransactionError as err:
        # Notify only of the objects that were stored.
        notifications = [notifications[i] for i in err.successful_indices]
        failures.add_rejected([txn.object for txn in txns], err)
    notify(notifications)
    if failures.failures:
        failures.raise_all("not all items in the batch successfully processed")


def _process_replaced_all_info(
    logger: klog.Logger,
    notify: Notify,
    info: ReplacedAllInfo,
    client_state: Store,
    is_in_initial_list: bool,
    key_func: KeyFunc,
) -> None:
    """Replace the store's contents by a list. Raises ProcessError if the store rejected an object.

    Go: processReplacedAllInfo.
    """
    failures = FailureCollector(key_func)
    objs = failures.admit_listed(info.objects, client_state)
    try:
        tombstones = reconcile_replacement(logger, (), client_state, objs, key_func)
    except CacheKeyError:
        objs = failures.admit_keyed(objs)
        tombstones = reconcile_replacement(logger, (), client_state, objs, key_func)
    replacements: list[Notification] = []
    for obj, old in zip(objs, get_all_known(client_state, objs)):
        freeze(obj)
        replacements.append(AddNotification(obj, is_in_initial_list) if old is None else UpdateNotification(old, obj))
    # Replace the contents first, so that the store has the objects that handlers are notified of.
    try:
        client_state.replace(objs, info.resource_version)
    except TransactionError as err:
        replacements = [replacements[i] for i in err.successful_indices]
        failures.add_rejected(objs, err)
    # First the deletions, then the list in its order, as with RealFIFO.replace.
    notify([*map(DeleteNotification, tombstones), *replacements])
    if failures.failures:
        failures.raise_all("not all items of the list successfully processed")


def _new_informer(client_state: Store, options: InformerOptions, key_func: KeyFunc) -> Controller:
    """Return the controller that fills `client_state` and calls the handler. Go: newInformer."""
    # Imported here: only informers that are not shared need them.
    from clientgo.tools.cache.beyond.backlog import check_handler
    from clientgo.tools.cache.beyond.stuck_handlers import DirectDelivery

    clock = options.clock or REAL_CLOCK
    refusals = Refusals(key_func, clock)
    logger, fifo = new_queue_fifo(
        options.logger or klog.background(),
        options.object_type,
        KnownObjects(client_state, refusals),
        mark_failures(options.transform),
        options.identifier,
        options.informer_metrics_provider,
        in_order=options.in_order,
        clock=clock,
    )
    check_handler(options.handler)
    notify = notify_each(logger, options.handler, DirectDelivery(logger, options.handler, clock).delivering_now)

    def process(obj: Any, is_in_initial_list: bool) -> None:
        if not isinstance(obj, Deltas):
            raise TypeError("object given as Process argument is not Deltas")
        process_deltas(logger, notify, client_state, obj, is_in_initial_list, key_func)

    def process_batch(deltas: Sequence[Delta], is_in_initial_list: bool) -> None:
        process_deltas_in_batch(logger, notify, client_state, deltas, is_in_initial_list, key_func)

    config = Config(
        queue=fifo,
        lister_watcher=options.lister_watcher,
        object_type=options.object_type,
        full_resync_period=options.resync_period,
        min_watch_timeout=options.min_watch_timeout,
        process=process,
        process_batch=process_batch,
        clock=clock,
    )
    controller = _Controller(config, "", refusals)
    synced = controller.has_synced_checker().done()
    controller.early_reads = EarlyReads(type_string(options.object_type), client_state, synced, RUN_THE_CONTROLLER)
    return controller


def new_queue_fifo(
    logger: klog.Logger,
    object_type: object,
    known_objects: KnownObjects,
    transform: TransformFunc | None,
    identifier: InformerNameAndResource | None,
    metrics_provider: InformerMetricsProvider | None,
    *,
    in_order: bool | None,
    clock: WithTickerAndDelayedExecution,
    emit_delta_type_replaced: bool = True,
) -> tuple[klog.Logger, Queue]:
    """Return the queue of an informer, and a logger with the queue's name. Go: newQueueFIFO.

    `in_order` selects the queue; None selects it by the gate InOrderInformers. `emit_delta_type_replaced` is an option
    of DeltaFIFO.
    """
    gates = features.feature_gates()
    if gates.enabled(features.IN_ORDER_INFORMERS) if in_order is None else in_order:
        # With atomic events the queue must not know the store: the process function compares.
        atomic = gates.enabled(features.ATOMIC_FIFO)
        real_fifo = the_real_fifo.new_real_fifo_with_options(
            the_real_fifo.RealFIFOOptions(
                logger=logger,
                name=f"RealFIFO {type_string(object_type)}",
                key_function=meta_namespace_key_func,
                transformer=transform,
                identifier=identifier,
                metrics_provider=metrics_provider,
                known_objects=None if atomic else known_objects,
                atomic_events=atomic,
                unlock_while_processing=atomic and gates.enabled(features.UNLOCK_WHILE_PROCESSING_FIFO),
                emit_delta_type_bookmark=atomic,
                clock=clock,
            )
        )
        return klog.logger_with_name(logger, real_fifo.name()), real_fifo
    fifo = delta_fifo.new_delta_fifo_with_options(
        delta_fifo.DeltaFIFOOptions(
            logger=logger,
            name=f"DeltaFIFO {type_string(object_type)}",
            known_objects=known_objects,
            emit_delta_type_replaced=emit_delta_type_replaced,
            transformer=transform,
            clock=clock,
        )
    )
    return klog.logger_with_name(logger, fifo.name()), fifo
