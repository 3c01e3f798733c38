"""The low-level controller: a reflector that fills a queue, a loop that empties it, and the informers made of the two.

Mirrors tools/cache/controller.go. `new_informer_with_options` builds the pipeline of the walkthroughs for one handler:
Reflector -> queue (RealFIFO, or DeltaFIFO) -> store and handler; shared_informer.py builds the one for many.

Differs from Go:
  * objects are frozen (read-only from then on) when they leave the queue, before store and handler get them;
  * whoever wants to be told gets notifications in batches (`Notify`): the shared informer for its processor, the
    informers here for their handler;
  * what the store refuses costs nothing else, is reported, and makes the reflector list anew (refusals.py);
  * a handler that raises is logged, and the next notification follows; what a process function raises is logged too,
    where Go ignores the error it returns;
  * `in_order` in InformerOptions chooses between RealFIFO and DeltaFIFO for one informer, in place of the feature gate.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from clientgo import context, features, klog
from clientgo.apimachinery.runtime import Object
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util import wait
from clientgo.golang import channel
from clientgo.golang.channel import Done, Signal, StopChannel
from clientgo.tools.cache.beyond.refusals import (
    Failure,
    KnownObjects,
    ProcessError,
    Refusal,
    Refusals,
    TransformingError,
    Untransformed,
    joined,
    refusing,
)
from clientgo.tools.cache.delta_fifo import (
    DeletedFinalStateUnknown,
    Delta,
    DeltaFIFOOptions,
    Deltas,
    DeltaType,
    TransformFunc,
    deletion_handling_meta_namespace_key_func,
    new_delta_fifo_with_options,
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
from clientgo.tools.cache.store import (
    KeyError,
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
    reads_batches,
    with_store_metrics,
    writes_batches,
)
from clientgo.tools.cache.the_real_fifo import (
    BookmarkInfo,
    RealFIFOOptions,
    ReplacedAllInfo,
    SyncAllInfo,
    new_real_fifo_with_options,
    reconcile_replacement,
)
from clientgo.tools.cache.unsynced import RejectionReport
from clientgo.utils.clock import REAL_CLOCK, WithTickerAndDelayedExecution

if TYPE_CHECKING:
    from clientgo.tools.cache.shared_informer import DoneChecker

# How long the loop that empties the queue rests after something it did not expect was raised in it.
_PROCESS_LOOP_PERIOD = 1.0


@dataclass(kw_only=True)
class Config:
    """Everything one of these controllers needs. Go: Config (which embeds the first two)."""

    # A queue of Deltas that nobody else empties; what it pops, `process` must understand.
    queue: Queue
    # Where the objects come from.
    lister_watcher: ListerWatcher
    # Takes a Deltas. What it raises is reported, and the reflector lists anew; of ProcessError also `refused` tells.
    process: ProcessFunc
    # Takes many deltas at once. Used if given, if the queue has batches (QueueWithBatch), and with the feature gate
    # InOrderInformersBatchProcess; else everything goes to `process`. Raises ProcessError if a part failed.
    process_batch: ProcessBatchFunc | None = None
    # An example of the objects, or their class; None for any.
    object_type: object = None
    # What to call them in logs.
    object_description: str = ""
    # Seconds between two questions to `should_resync`; 0 for never.
    full_resync_period: float = 0.0
    # See ReflectorOptions.
    min_watch_timeout: float = 0.0
    # Whether to resync now; None for always.
    should_resync: ShouldResyncFunc | None = None
    # Called when a list or a watch failed; the first of the two that is given counts.
    watch_error_handler: WatchErrorHandler | None = None
    watch_error_handler_with_context: WatchErrorHandlerWithContext | None = None
    # See Reflector.watch_list_page_size.
    watch_list_page_size: int = 0
    # The real one when None. Beyond Go.
    clock: WithTickerAndDelayedExecution | None = None


# Go: ShouldResyncFunc. Whether a reflector should resync its store now.
ShouldResyncFunc = Callable[[], bool]

# Go: ProcessFunc. Processes what a queue popped; the second argument tells whether it belongs to the first list.
ProcessFunc = Callable[[Any, bool], None]

# Go: ProcessBatchFunc. Processes deltas of different objects at once.
ProcessBatchFunc = Callable[[Sequence[Delta], bool], None]


class Controller(Protocol):
    """Pumps what a reflector finds through a queue into a process function. Go: Controller."""

    def run_with_context(self, ctx: context.Context) -> None:
        """Run reflector and process loop until `ctx` is done. Blocks; may be called once. Go: RunWithContext.

        The loop runs on the calling thread, the reflector and the closing of the queue on threads that have ended when
        this returns.
        """
        ...

    def run(self, stop_ch: StopChannel) -> None:
        """`run_with_context` until `stop_ch` is set. Go: Run."""
        ...

    def has_synced(self) -> bool:
        """Whether the first list has been processed, and nothing is lacking that was refused. Go: HasSynced."""
        ...

    def has_synced_checker(self) -> DoneChecker:
        """The same for `wait_for`, without polling. Go: HasSyncedChecker."""
        ...

    def last_sync_resource_version(self) -> str:
        """The newest version the reflector saw, "" before it runs. Go: LastSyncResourceVersion."""
        ...

    def last_heard(self) -> float | None:
        """When the server last said how things stand; see Reflector.last_heard. Beyond Go."""
        ...

    def refused(self) -> Mapping[str, Refusal]:
        """What the cache lacks because it could not take it in, by key; normally nothing. Never blocks. Beyond Go."""
        ...


class _Controller:
    """The Controller that `new` makes. Go: controller."""

    def __init__(self, config: Config, created_at: str = "", refusals: Refusals | None = None) -> None:
        self._config = config
        self._clock = config.clock or REAL_CLOCK
        # What the process functions could not apply.
        if refusals is None:
            refusals = Refusals(deletion_handling_meta_namespace_key_func, self._clock)
        self._refusals = refusals
        # Set once, when the first list has been processed and nothing of it is lacking.
        self._synced = Signal()
        self._queue_synced = config.queue.has_synced_checker()
        self._refusals.on_clear = self._check_synced
        name = config.object_description or type_string(config.object_type)
        self._rejection_report = RejectionReport(name, self._refusals, self._clock, self._synced.is_set)
        channel.add_done_callback(self._queue_synced.done(), self._check_synced)
        # Who made the pipeline, as file:line. Names the reflector where nobody but a thread's start calls `run`.
        self._created_at = created_at or name_from_callsite("")
        # Set once, by run; reading it needs no lock.
        self._reflector: Reflector | None = None

    def run(self, stop_ch: StopChannel) -> None:
        self.run_with_context(wait.context_for_channel(stop_ch))

    def run_with_context(self, ctx: context.Context) -> None:
        with utilruntime.handle_crash_with_context(ctx, go_on=True):
            self._run(ctx)

    def _run(self, ctx: context.Context) -> None:
        # Cancelled at the end for a run that a KeyboardInterrupt ends before its context is done.
        ctx, cancel = context.with_cancel(ctx)
        reflector = self._new_reflector(ctx)
        self._reflector = reflector
        # In a thread of its own, not in the one that cancels: that one may hold a lock which a handler waits for,
        # while the handler runs under the lock of the queue.
        closer = threading.Thread(target=self._close_queue_when_done, args=(ctx,), name=f"{reflector.name()} closer")
        closer.daemon = True
        reflecting = threading.Thread(
            target=reflector.run_with_context, args=(ctx,), name=f"reflector {reflector.name()}", daemon=True
        )
        closer.start()
        reflecting.start()
        try:
            wait.until_with_context(ctx, self._process_loop, _PROCESS_LOOP_PERIOD)
        finally:
            cancel()
            reflecting.join()
            closer.join()

    def _close_queue_when_done(self, ctx: context.Context) -> None:
        ctx.done().wait()
        self._config.queue.close()

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
        handler = config.watch_error_handler
        if handler is not None:
            reflector.watch_error_handler = lambda _, r, err: handler(r, err)
        elif config.watch_error_handler_with_context is not None:
            reflector.watch_error_handler = config.watch_error_handler_with_context
        return reflector

    def has_synced(self) -> bool:
        return self._synced.is_set()

    def has_synced_checker(self) -> DoneChecker:
        return _ControllerSynced(self._queue_synced.name(), self._synced)

    def _check_synced(self) -> None:
        """Called when the queue has synced, and when nothing is lacking any more; maybe under the queue's lock."""
        if self._queue_synced.done().is_set() and not self._refusals:
            self._synced.set()

    def refused(self) -> Mapping[str, Refusal]:
        return self._refusals.by_key()

    def last_sync_resource_version(self) -> str:
        return "" if self._reflector is None else self._reflector.last_sync_resource_version()

    def last_heard(self) -> float | None:
        return None if self._reflector is None else self._reflector.last_heard()

    def parts(self) -> tuple[Queue, Reflector | None]:
        """The queue, and the reflector once it runs, for inspection. Takes no lock. Beyond Go."""
        return self._config.queue, self._reflector

    def _process_loop(self, ctx: context.Context) -> None:
        """Empty the queue until it is closed.

        What cannot be processed is reported, does not stop what comes next, and makes the reflector list anew.
        """
        config = self._config
        stopped = ctx.done().is_set
        pop = self._pop_function()
        while not stopped():
            try:
                pop()
            except ErrFIFOClosed:
                return
            except Exception as err:
                keys = err.keys if isinstance(err, ProcessError) else []
                utilruntime.handle_error_with_context(
                    ctx,
                    err,
                    "Unable to process all that the queue held, listing anew",
                    queue=repr(config.queue),
                    **({"keys": keys} if keys else {}),
                )
                if self._reflector is not None:
                    self._reflector.request_list()

    def _pop_function(self) -> Callable[[], object]:
        queue, process_batch = self._config.queue, self._config.process_batch
        process = self._refusals.noting(self._config.process)
        batches = features.feature_gates().enabled(features.IN_ORDER_INFORMERS_BATCH_PROCESS)
        if process_batch is not None and batches and isinstance(queue, QueueWithBatch):
            pop_batch, process_batch = queue.pop_batch, self._refusals.noting(process_batch)
            return lambda: pop_batch(process_batch, process)
        return lambda: queue.pop(process)

    def __repr__(self) -> str:
        return f"<Controller of {self._config.queue!r}, {self._reflector!r}>"


class _ControllerSynced:
    """Is done when a controller has synced; named after its queue, as in Go."""

    def __init__(self, name: str, synced: Done) -> None:
        self._name = name
        self._synced = synced

    def name(self) -> str:
        return self._name

    def done(self) -> Done:
        return self._synced


def new_named(config: Config, created_at: str, refusals: Refusals) -> Controller:
    """`new` for those who know better where the pipeline was made (file:line), and what the store refused."""
    return _Controller(config, created_at, refusals)


def new(c: Config) -> Controller:
    """A controller; the configuration must not be changed afterwards. Go: New."""
    return _Controller(c)


class ResourceEventHandler(Protocol):
    """Is told what happened to the objects of a resource. Go: ResourceEventHandler.

    The objects are shared: a handler must not change them (it cannot; they are frozen). For one handler the calls come
    one after the other. A call that raises is logged and counts as done.
    """

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        """`obj` is new to this handler; `is_in_initial_list` if it was there when the handler came. Go: OnAdd."""
        ...

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        """The object changed, or a resync or a new list shows it again. Go: OnUpdate.

        Changes in quick succession may come as one.
        """
        ...

    def on_delete(self, obj: Any) -> None:
        """The object is gone; `obj` is its last state. Go: OnDelete.

        If the deletion itself was missed, `obj` is a DeletedFinalStateUnknown with a state that may be out of date.
        """
        ...


@dataclass(frozen=True)
class ResourceEventHandlerFuncs:
    """A handler made of as many functions as you like. Go: ResourceEventHandlerFuncs."""

    add_func: Callable[[Any], object] | None = None
    update_func: Callable[[Any, Any], object] | None = None
    delete_func: Callable[[Any], object] | None = None

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        """Calls `add_func` if there is one. Go: OnAdd."""
        if self.add_func is not None:
            self.add_func(obj)

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        """Calls `update_func` if there is one. Go: OnUpdate."""
        if self.update_func is not None:
            self.update_func(old_obj, new_obj)

    def on_delete(self, obj: Any) -> None:
        """Calls `delete_func` if there is one. Go: OnDelete."""
        if self.delete_func is not None:
            self.delete_func(obj)


@dataclass(frozen=True)
class ResourceEventHandlerDetailedFuncs:
    """The same with an `add_func` that hears whether the object is of the first list.

    Go: ResourceEventHandlerDetailedFuncs.
    """

    add_func: Callable[[Any, bool], object] | None = None
    update_func: Callable[[Any, Any], object] | None = None
    delete_func: Callable[[Any], object] | None = None

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        """Calls `add_func` if there is one. Go: OnAdd."""
        if self.add_func is not None:
            self.add_func(obj, is_in_initial_list)

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        """Calls `update_func` if there is one. Go: OnUpdate."""
        if self.update_func is not None:
            self.update_func(old_obj, new_obj)

    def on_delete(self, obj: Any) -> None:
        """Calls `delete_func` if there is one. Go: OnDelete."""
        if self.delete_func is not None:
            self.delete_func(obj)


@dataclass(frozen=True)
class FilteringResourceEventHandler:
    """Passes on what passes a filter. Go: FilteringResourceEventHandler.

    To the handler behind it an object that begins to pass is added, and one that no longer passes is deleted.
    """

    filter_func: Callable[[Any], bool]
    handler: ResourceEventHandler

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        """Go: OnAdd."""
        if self.filter_func(obj):
            self.handler.on_add(obj, is_in_initial_list)

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        """Go: OnUpdate."""
        newer = self.filter_func(new_obj)
        older = self.filter_func(old_obj)
        if newer and older:
            self.handler.on_update(old_obj, new_obj)
        elif newer:
            self.handler.on_add(new_obj, False)
        elif older:
            self.handler.on_delete(old_obj)

    def on_delete(self, obj: Any) -> None:
        """Go: OnDelete."""
        if self.filter_func(obj):
            self.handler.on_delete(obj)


def deletion_handling_object_to_name(obj: Any) -> ObjectName:
    """`object_to_name` that knows tombstones. Go: DeletionHandlingObjectToName."""
    if isinstance(obj, DeletedFinalStateUnknown):
        return parse_object_name(obj.key)
    return object_to_name(obj)


@dataclass(kw_only=True)
class InformerOptions:
    """What an informer for one handler is made of. Go: InformerOptions."""

    logger: klog.Logger | None = None
    """klog.background() when None."""
    lister_watcher: ListerWatcher
    """Where the objects come from."""
    object_type: object = None
    """An example of the objects, or their class; None for any."""
    handler: ResourceEventHandler
    """Whom to tell."""
    resync_period: float = 0.0
    """Seconds between resyncs, which show the handler every object again; 0 for none."""
    min_watch_timeout: float = 0.0
    """See ReflectorOptions."""
    indexers: Indexers | None = None
    """The store's indexes; it is an Indexer if this is not None."""
    transform: TransformFunc | None = None
    """Changes every object before it is stored."""
    identifier: InformerNameAndResource | None = None
    """Which informer it is, for metrics; there are none without it."""
    informer_metrics_provider: InformerMetricsProvider | None = None
    """Makes the metrics; the one of set_informer_metrics_provider when None."""
    in_order: bool | None = None
    """RealFIFO (True) or DeltaFIFO (False); as the gate InOrderInformers says when None. Beyond Go."""
    clock: WithTickerAndDelayedExecution | None = None
    """The real one when None. Beyond Go."""


def new_informer_with_options(options: InformerOptions) -> tuple[Store, Controller]:
    """A store and the controller that fills it and tells the handler. Go: NewInformerWithOptions.

    Only read from the store: what is written to it reaches no handler.
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
    if metrics_provider is None:
        return []
    return [with_store_metrics(identifier or InformerNameAndResource(), metrics_provider)]


def new_informer(
    lw: ListerWatcher, obj_type: object, resync_period: float, h: ResourceEventHandler
) -> tuple[Store, Controller]:
    """Deprecated: use `new_informer_with_options`. Go: NewInformer."""
    return new_informer_with_options(
        InformerOptions(lister_watcher=lw, object_type=obj_type, handler=h, resync_period=resync_period)
    )


def new_indexer_informer(
    lw: ListerWatcher, obj_type: object, resync_period: float, h: ResourceEventHandler, indexers: Indexers
) -> tuple[Indexer, Controller]:
    """Deprecated: use `new_informer_with_options`. Go: NewIndexerInformer."""
    options = InformerOptions(
        lister_watcher=lw, object_type=obj_type, handler=h, resync_period=resync_period, indexers=indexers
    )
    indexer = new_indexer(deletion_handling_meta_namespace_key_func, indexers)
    return indexer, _new_informer(indexer, options, deletion_handling_meta_namespace_key_func)


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
    indexer = new_indexer(deletion_handling_meta_namespace_key_func, indexers)
    return indexer, _new_informer(indexer, options, deletion_handling_meta_namespace_key_func)


def notify_each(logger: klog.Logger, handler: ResourceEventHandler) -> Notify:
    """Tells `handler` of everything in order. If it raises that is logged, as for any code of users; it hears the
    rest."""

    def notify(notifications: Sequence[Notification]) -> None:
        for notification in notifications:
            try:
                notification.deliver(handler)
            except Exception:
                with utilruntime.handle_crash_with_logger(logger, go_on=True):
                    raise

    return notify


# Looking a member up in its enum costs more than comparing with it.
_ADD, _UPDATE, _DELETE = TransactionType.ADD, TransactionType.UPDATE, TransactionType.DELETE
_DELETED = DeltaType.DELETED

# The deltas that say what an object looks like now, whether or not it is known already.
_CHANGES = frozenset({DeltaType.SYNC, DeltaType.REPLACED, DeltaType.ADDED, DeltaType.UPDATED})

# A tombstone may hold such an object too.
_MAY_BE_UNTRANSFORMED = frozenset({Untransformed, DeletedFinalStateUnknown})


def process_deltas(
    logger: klog.Logger,
    notify: Notify,
    client_state: Store,
    deltas: Sequence[Delta],
    is_in_initial_list: bool,
    key_func: KeyFunc,
) -> None:
    """Bring `client_state` up to date with `deltas`, oldest first, and tell `notify` of each after it was stored.

    Raises ProcessError at the end when the store refused some, and TypeError for a delta with an object that does not
    belong to its type. Go: processDeltas.
    """
    failures: list[Failure] = []
    for delta in deltas:
        notify(_process_delta(logger, client_state, delta, is_in_initial_list, key_func, failures))
    if failures:
        raise ProcessError(f"not all deltas successfully processed: {joined(failures)}", failures) from failures[0].err


def _process_delta(
    logger: klog.Logger,
    client_state: Store,
    delta: Delta,
    is_in_initial_list: bool,
    key_func: KeyFunc,
    failures: list[Failure],
) -> Sequence[Notification]:
    """Store what one delta says, adding to `failures` what cannot be stored; whatever there is to tell of it."""
    if type(delta.object) in _MAY_BE_UNTRANSFORMED:
        usable = _usable(client_state, delta, key_func, failures)
        if usable is None:
            return ()
        delta = usable
    if delta.type in _CHANGES or delta.type is DeltaType.DELETED:
        try:
            return (_store_one(client_state, delta, is_in_initial_list),)
        except Exception as err:
            failures.append(_failure(delta.object, err, key_func))
            return ()
    obj = delta.object
    if delta.type == DeltaType.REPLACED_ALL:
        if not isinstance(obj, ReplacedAllInfo):
            raise TypeError(f"ReplacedAll did not contain ReplacedAllInfo: {type(obj).__name__}")
        return _process_replaced_all_info(logger, obj, client_state, is_in_initial_list, key_func, failures)
    if delta.type == DeltaType.SYNC_ALL:
        if not isinstance(obj, SyncAllInfo):
            raise TypeError(f"SyncAll did not contain SyncAllInfo: {type(obj).__name__}")
        return [UpdateNotification(known, known) for known in client_state.list()]
    if delta.type == DeltaType.BOOKMARK:
        if not isinstance(obj, BookmarkInfo):
            raise TypeError(f"bookmark delta did not contain BookmarkInfo: {type(obj).__name__}")
        client_state.bookmark(obj.resource_version)
    return ()


def _store_one(client_state: Store, delta: Delta, is_in_initial_list: bool) -> Notification:
    """Store what a delta about one object says; what to tell of it."""
    obj = delta.object
    if delta.type is DeltaType.DELETED:
        _freeze(obj)
        client_state.delete(obj)
        return DeleteNotification(obj)
    old, exists = _get_known(client_state, obj)
    _freeze(obj, old)
    if exists:
        client_state.update(obj)
        return UpdateNotification(old, obj)
    client_state.add(obj)
    return AddNotification(obj, is_in_initial_list)


def _failure(obj: Any, err: Exception, key_func: KeyFunc) -> Failure:
    try:
        return Failure(key_func(obj), obj, err)
    except Exception:
        return Failure("", obj, err)  # no key is the failure


def _usable(client_state: Store, delta: Delta, key_func: KeyFunc, failures: list[Failure]) -> Delta | None:
    """`delta` as it is, unless its object could not be transformed. Nobody is shown that object.

    It is one of the `failures` then; its deletion is that of the state which is known, if there is one.
    """
    obj = delta.object
    final = obj.obj if isinstance(obj, DeletedFinalStateUnknown) else obj
    if not isinstance(final, Untransformed):
        return delta
    if delta.type is not DeltaType.DELETED:
        failures.append(_untransformed(final, key_func))
        return None
    known, exists = _get_known(client_state, obj)
    return Delta(DeltaType.DELETED, DeletedFinalStateUnknown(key_func(obj), known)) if exists else None


def _untransformed(obj: Untransformed, key_func: KeyFunc) -> Failure:
    key = _failure(obj, obj.err, key_func).key
    err = TransformingError(key, obj.err)
    err.__cause__ = obj.err
    return Failure(key, obj.obj, err)


def _freeze(obj: Any, before: Any = None) -> None:
    """From here on the object is shared, and nobody may change it any more; `before` is what it was until then."""
    if isinstance(obj, DeletedFinalStateUnknown):
        obj = obj.obj
    if isinstance(obj, Object):
        obj.freeze(before)


def _get_known(client_state: Store, obj: Any) -> tuple[Any, bool]:
    """What the store has under the key of `obj`; nothing for an object without a key."""
    try:
        return client_state.get(obj)
    except Exception:
        return None, False


def _get_all_known(client_state: Store, objs: Sequence[Any]) -> list[Any]:
    """What the store has under the key of each of `objs`, None for nothing; also for an object without a key."""
    if reads_batches(client_state):
        try:
            return client_state.get_all(objs)
        except Exception:  # one of them has no key
            pass
    return [_get_known(client_state, obj)[0] for obj in objs]


def process_deltas_in_batch(
    logger: klog.Logger,
    notify: Notify,
    client_state: Store,
    deltas: Sequence[Delta],
    is_in_initial_list: bool,
    key_func: KeyFunc,
) -> None:
    """Bring `client_state` up to date with deltas about different objects in one transaction, then tell `notify`.

    A store without transactions gets one delta after the other. Raises ProcessError when some could not be stored;
    `notify` is told of the others, and only of them. Go: processDeltasInBatch.
    """
    if not writes_batches(client_state):
        _process_one_by_one(logger, notify, client_state, deltas, is_in_initial_list, key_func)
        return
    transactions: list[Transaction] = []
    notifications: list[Notification] = []
    failures: list[Failure] = []
    objs = [delta.object for delta in deltas]
    if not _MAY_BE_UNTRANSFORMED.isdisjoint(map(type, objs)):
        usable = [_usable(client_state, delta, key_func, failures) for delta in deltas]
        deltas = [delta for delta in usable if delta is not None]
        objs = [delta.object for delta in deltas]
    # No two deltas of the batch are about one object: what is known now is known until the transaction.
    for delta, obj, old in zip(deltas, objs, _get_all_known(client_state, objs)):
        if isinstance(obj, Object):
            obj.freeze(old)
        else:
            _freeze(obj)
        if delta.type in _CHANGES:
            if old is not None:
                transactions.append(Transaction(obj, _UPDATE))
                notifications.append(UpdateNotification(old, obj))
            else:
                transactions.append(Transaction(obj, _ADD))
                notifications.append(AddNotification(obj, is_in_initial_list))
        elif delta.type is _DELETED:
            transactions.append(Transaction(obj, _DELETE))
            notifications.append(DeleteNotification(obj))
        else:
            raise ValueError(f"Delta type {delta.type} is not supported in batch processing")
    try:
        client_state.transaction(*transactions)
    except TransactionError as err:
        notify([notifications[i] for i in err.successful_indices])
        failures += _failures_of(err, [txn.object for txn in transactions], key_func)
        text = f"not all items in the batch successfully processed: {err}"
        raise ProcessError(text, failures) from failures[0].err
    notify(notifications)
    if failures:
        text = f"not all items in the batch successfully processed: {joined(failures)}"
        raise ProcessError(text, failures) from failures[0].err


def _process_one_by_one(
    logger: klog.Logger,
    notify: Notify,
    client_state: Store,
    deltas: Sequence[Delta],
    is_in_initial_list: bool,
    key_func: KeyFunc,
) -> None:
    try:
        process_deltas(logger, notify, client_state, deltas, is_in_initial_list, key_func)
    except ProcessError as err:
        text = f"unexpected error when handling deltas: {joined(err.failures)}"
        raise ProcessError(text, err.failures) from err.failures[0].err


def _failures_of(error: TransactionError, objs: Sequence[Any], key_func: KeyFunc) -> list[Failure]:
    """What of `objs` was not stored, each with its error."""
    stored = set(error.successful_indices)
    refused = [obj for i, obj in enumerate(objs) if i not in stored]
    if len(refused) != len(error.errors):  # a store of another kind
        return [_failure(obj, error, key_func) for obj in refused]
    return [_failure(obj, err, key_func) for obj, err in zip(refused, error.errors)]


def _process_replaced_all_info(
    logger: klog.Logger,
    info: ReplacedAllInfo,
    client_state: Store,
    is_in_initial_list: bool,
    key_func: KeyFunc,
    failures: list[Failure],
) -> Sequence[Notification]:
    """Make the list the store's content; the notifications: first what is gone, then the list in its order.

    The store is replaced before anybody is told, so that it shows what they are told.
    """
    objs = info.objects
    if any(type(obj) is Untransformed for obj in objs):
        objs = _with_known(objs, client_state, key_func, failures)
    try:
        tombstones = reconcile_replacement(logger, (), client_state, objs, key_func)
    except KeyError:
        objs = _with_keys(objs, key_func, failures)
        tombstones = reconcile_replacement(logger, (), client_state, objs, key_func)
    gone: list[Notification] = [DeleteNotification(tombstone) for tombstone in tombstones]
    listed: list[Notification] = []
    for obj, old in zip(objs, _get_all_known(client_state, objs)):
        _freeze(obj)
        listed.append(AddNotification(obj, is_in_initial_list) if old is None else UpdateNotification(old, obj))
    try:
        client_state.replace(objs, info.resource_version)
    except TransactionError as err:
        failures += _failures_of(err, objs, key_func)
        listed = [listed[i] for i in err.successful_indices]
    return gone + listed if gone else listed


def _with_known(
    objs: Sequence[Any], client_state: Store, key_func: KeyFunc, failures: list[Failure]
) -> list[Any]:
    """`objs` with the known state of those that could not be transformed, if there is one; they are `failures`."""
    usable = []
    for obj in objs:
        if not isinstance(obj, Untransformed):
            usable.append(obj)
            continue
        failures.append(_untransformed(obj, key_func))
        known, exists = _get_known(client_state, obj)
        if exists:
            usable.append(known)
    return usable


def _with_keys(objs: Sequence[Any], key_func: KeyFunc, failures: list[Failure]) -> list[Any]:
    """Those of `objs` that have a key; the others are added to `failures`."""
    keyed = []
    for obj in objs:
        try:
            key_func(obj)
        except Exception as err:
            failures.append(Failure("", obj, err))
        else:
            keyed.append(obj)
    return keyed


def _new_informer(client_state: Store, options: InformerOptions, key_func: KeyFunc) -> Controller:
    """The controller that fills `client_state` and tells the handler."""
    clock = options.clock or REAL_CLOCK
    refusals = Refusals(key_func, clock)
    logger, fifo = new_queue_fifo(
        options.logger or klog.background(),
        options.object_type,
        client_state,
        refusals,
        options.transform,
        options.identifier,
        options.informer_metrics_provider,
        options.in_order,
        clock,
    )
    notify = notify_each(logger, options.handler)

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
    return new_named(config, "", refusals)


def new_queue_fifo(
    logger: klog.Logger,
    object_type: object,
    client_state: Store,
    refusals: Refusals,
    transform: TransformFunc | None,
    identifier: InformerNameAndResource | None,
    metrics_provider: InformerMetricsProvider | None,
    in_order: bool | None,
    clock: WithTickerAndDelayedExecution,
    emit_delta_type_replaced: bool = True,
) -> tuple[klog.Logger, Queue]:
    """The queue of an informer and its logger, which knows the queue's name.

    `in_order` chooses the queue; None leaves that to the feature gate InOrderInformers. `emit_delta_type_replaced` is
    for a DeltaFIFO, see its options.
    """
    gates = features.feature_gates()
    if in_order is None:
        in_order = gates.enabled(features.IN_ORDER_INFORMERS)
    type_name = type_string(object_type)
    known_objects = KnownObjects(client_state, refusals)
    transform = transform and refusing(transform)
    if not in_order:
        name = f"DeltaFIFO {type_name}"
        delta_fifo = new_delta_fifo_with_options(
            DeltaFIFOOptions(
                logger=logger,
                name=name,
                known_objects=known_objects,
                emit_delta_type_replaced=emit_delta_type_replaced,
                transformer=transform,
                clock=clock,
            )
        )
        return klog.logger_with_name(logger, name), delta_fifo
    # With atomic events the queue knows nothing of the store: who processes them compares.
    atomic = gates.enabled(features.ATOMIC_FIFO)
    real_fifo = new_real_fifo_with_options(
        RealFIFOOptions(
            logger=logger,
            name=f"RealFIFO {type_name}",
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


__all__ = [
    "Config",
    "Controller",
    "FilteringResourceEventHandler",
    "InformerOptions",
    "ProcessBatchFunc",
    "ProcessFunc",
    "ResourceEventHandler",
    "ResourceEventHandlerDetailedFuncs",
    "ResourceEventHandlerFuncs",
    "ShouldResyncFunc",
    "deletion_handling_meta_namespace_key_func",
    "deletion_handling_object_to_name",
    "new",
    "new_indexer_informer",
    "new_informer",
    "new_informer_with_options",
    "new_transforming_indexer_informer",
    "new_transforming_informer",
]
