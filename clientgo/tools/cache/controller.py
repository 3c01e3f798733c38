"""The low-level controller: a reflector that fills a queue, a loop that empties it, and the informers made of the two.

Mirrors tools/cache/controller.go. `new_informer_with_options` builds the pipeline of the walkthroughs for one handler:
Reflector -> queue (RealFIFO, or DeltaFIFO) -> store and handler; shared_informer.py builds the one for many.

Differs from Go:
  * objects are frozen (read-only from then on) when they leave the queue, before store and handler get them;
  * notifications are passed on in batches to a handler that wants them so; the shared informer does;
  * a handler that raises is logged, and the next notification follows; what a process function raises is logged too,
    where Go ignores the error it returns;
  * `in_order` in InformerOptions chooses between RealFIFO and DeltaFIFO for one informer, in place of the feature gate.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from clientgo import context, features, klog
from clientgo.apimachinery.runtime import Object
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util import wait
from clientgo.channel import StopChannel
from clientgo.tools.cache.delta_fifo import (
    DeletedFinalStateUnknown,
    Delta,
    DeltaFIFOOptions,
    Deltas,
    DeltaType,
    TransformFunc,
    new_delta_fifo_with_options,
)
from clientgo.tools.cache.fifo import ErrFIFOClosed, Queue, QueueWithBatch
from clientgo.tools.cache.fifo_metrics import InformerMetricsProvider
from clientgo.tools.cache.identity import InformerNameAndResource
from clientgo.tools.cache.index import Indexer, Indexers
from clientgo.tools.cache.listwatch import ListerWatcher
from clientgo.tools.cache.object_names import ObjectName, parse_object_name
from clientgo.tools.cache.reflector import (
    Reflector,
    ReflectorOptions,
    WatchErrorHandler,
    WatchErrorHandlerWithContext,
    _name_from_callsite,
    _type_string,
    new_reflector_with_options,
)
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
from clientgo.tools.cache.the_real_fifo import (
    BookmarkInfo,
    RealFIFOOptions,
    ReplacedAllInfo,
    SyncAllInfo,
    _reconcile_replacement,
    new_real_fifo_with_options,
)
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
    # Takes a Deltas.
    process: ProcessFunc
    # Takes many deltas at once. Used if given, if the queue has batches (QueueWithBatch), and with the feature gate
    # InOrderInformersBatchProcess; else everything goes to `process`. Should raise TransactionError for a part failed.
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
        """Whether the first list has been processed; the queue says. Go: HasSynced."""
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


class _Controller:
    """The Controller that `new` makes. Go: controller."""

    def __init__(self, config: Config, created_at: str = "") -> None:
        self._config = config
        self._clock = config.clock or REAL_CLOCK
        # Who made the pipeline, as file:line. Names the reflector where nobody but a thread's start calls `run`.
        self._created_at = created_at or _name_from_callsite("")
        # Set once, by run; reading it needs no lock.
        self._reflector: Reflector | None = None

    def run(self, stop_ch: StopChannel) -> None:
        self.run_with_context(wait.context_for_channel(stop_ch))

    def run_with_context(self, ctx: context.Context) -> None:
        with utilruntime.handle_crash_with_context(ctx):
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
                name=_name_from_callsite(self._created_at),
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
            reflector._watch_error_handler = lambda _, r, err: handler(r, err)
        elif config.watch_error_handler_with_context is not None:
            reflector._watch_error_handler = config.watch_error_handler_with_context
        return reflector

    def has_synced(self) -> bool:
        return self._config.queue.has_synced()

    def has_synced_checker(self) -> DoneChecker:
        return self._config.queue.has_synced_checker()

    def last_sync_resource_version(self) -> str:
        return "" if self._reflector is None else self._reflector.last_sync_resource_version()

    def last_heard(self) -> float | None:
        return None if self._reflector is None else self._reflector.last_heard()

    def _process_loop(self, ctx: context.Context) -> None:
        """Empty the queue until it is closed. One item's failure is reported and does not stop the next."""
        config = self._config
        stopped = ctx.done().is_set
        pop = self._pop_function()
        while not stopped():
            try:
                pop()
            except ErrFIFOClosed:
                return
            except Exception as err:
                utilruntime.handle_error_with_context(
                    ctx, err, "Unable to process an item of the queue", queue=repr(config.queue)
                )

    def _pop_function(self) -> Callable[[], object]:
        queue, process, process_batch = self._config.queue, self._config.process, self._config.process_batch
        batches = features.feature_gates().enabled(features.IN_ORDER_INFORMERS_BATCH_PROCESS)
        if process_batch is not None and batches and isinstance(queue, QueueWithBatch):
            pop_batch = queue.pop_batch
            return lambda: pop_batch(process_batch, process)
        return lambda: queue.pop(process)

    def __repr__(self) -> str:
        return f"<Controller of {self._config.queue!r}, {self._reflector!r}>"


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


def deletion_handling_meta_namespace_key_func(obj: Any) -> str:
    """`meta_namespace_key_func` that knows tombstones. Go: DeletionHandlingMetaNamespaceKeyFunc."""
    if isinstance(obj, DeletedFinalStateUnknown):
        return obj.key
    return meta_namespace_key_func(obj)


def deletion_handling_object_to_name(obj: Any) -> ObjectName:
    """`object_to_name` that knows tombstones. Go: DeletionHandlingObjectToName."""
    if isinstance(obj, DeletedFinalStateUnknown):
        return parse_object_name(obj.key)
    return object_to_name(obj)


@dataclass(kw_only=True)
class InformerOptions:
    """What an informer for one handler is made of. Go: InformerOptions."""

    # klog.background() when None.
    logger: klog.Logger | None = None
    # Where the objects come from.
    lister_watcher: ListerWatcher
    # An example of the objects, or their class; None for any.
    object_type: object = None
    # Whom to tell.
    handler: ResourceEventHandler
    # Seconds between resyncs, which show the handler every object again; 0 for none.
    resync_period: float = 0.0
    # See ReflectorOptions.
    min_watch_timeout: float = 0.0
    # The store's indexes; it is an Indexer if this is not None.
    indexers: Indexers | None = None
    # Changes every object before it is stored.
    transform: TransformFunc | None = None
    # Which informer it is, for metrics; there are none without it.
    identifier: InformerNameAndResource | None = None
    # Makes the metrics; the one of set_informer_metrics_provider when None.
    informer_metrics_provider: InformerMetricsProvider | None = None
    # RealFIFO (True) or DeltaFIFO (False); as the gate InOrderInformers says when None. Beyond Go.
    in_order: bool | None = None
    # The real one when None. Beyond Go.
    clock: WithTickerAndDelayedExecution | None = None


def new_informer_with_options(options: InformerOptions) -> tuple[Store, Controller]:
    """A store and the controller that fills it and tells the handler. Go: NewInformerWithOptions.

    Only read from the store: what is written to it reaches no handler.
    """
    store_options = _store_options(options.identifier, options.informer_metrics_provider)
    client_state: Store
    if options.indexers is None:
        client_state = new_store(deletion_handling_meta_namespace_key_func, *store_options)
    else:
        client_state = new_indexer(deletion_handling_meta_namespace_key_func, options.indexers, *store_options)
    return client_state, _new_informer(client_state, options, deletion_handling_meta_namespace_key_func)


def _store_options(
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


class _AddNotification:
    """An object to tell a handler of as added. Go: addNotification (in shared_informer.go)."""

    __slots__ = ("is_in_initial_list", "new_obj")

    def __init__(self, new_obj: Any, is_in_initial_list: bool) -> None:
        self.new_obj = new_obj
        self.is_in_initial_list = is_in_initial_list

    def is_sync(self) -> bool:
        """Whether only handlers that are due for a resync want to hear of it."""
        return False

    def deliver(self, handler: ResourceEventHandler) -> None:
        handler.on_add(self.new_obj, self.is_in_initial_list)


class _UpdateNotification:
    """A change to tell a handler of. Go: updateNotification (in shared_informer.go)."""

    __slots__ = ("new_obj", "old_obj")

    is_in_initial_list = False

    def __init__(self, old_obj: Any, new_obj: Any) -> None:
        self.old_obj = old_obj
        self.new_obj = new_obj

    def is_sync(self) -> bool:
        """Whether nothing changed: a resync, or a new list with the old object."""
        old, new = self.old_obj, self.new_obj
        if not isinstance(old, Object) or not isinstance(new, Object):
            return False
        return old.get_resource_version() == new.get_resource_version()

    def deliver(self, handler: ResourceEventHandler) -> None:
        handler.on_update(self.old_obj, self.new_obj)


class _DeleteNotification:
    """An object to tell a handler of as deleted. Go: deleteNotification (in shared_informer.go)."""

    __slots__ = ("old_obj",)

    is_in_initial_list = False

    def __init__(self, old_obj: Any) -> None:
        self.old_obj = old_obj

    def is_sync(self) -> bool:
        return False

    def deliver(self, handler: ResourceEventHandler) -> None:
        handler.on_delete(self.old_obj)


_Notification = _AddNotification | _UpdateNotification | _DeleteNotification


def _notify(logger: klog.Logger, handler: ResourceEventHandler, notifications: Sequence[_Notification]) -> None:
    """Tell `handler` of everything in order. One that raises is logged, as any code of users, and hears the rest."""
    # The shared informer takes a batch as a whole, to wake its listeners once for all of it.
    take_batch = getattr(handler, "_on_notifications", None)
    if take_batch is not None:
        take_batch(notifications)
        return
    for notification in notifications:
        try:
            notification.deliver(handler)
        except Exception:
            with utilruntime.handle_crash_with_logger(logger):
                raise


# The deltas that say what an object looks like now, whether or not it is known already.
_CHANGES = frozenset({DeltaType.SYNC, DeltaType.REPLACED, DeltaType.ADDED, DeltaType.UPDATED})


def _process_deltas(
    logger: klog.Logger,
    handler: ResourceEventHandler,
    client_state: Store,
    deltas: Sequence[Delta],
    is_in_initial_list: bool,
    key_func: KeyFunc,
) -> None:
    """Bring `client_state` up to date with `deltas`, oldest first, and tell `handler` of each after it was stored.

    Raises what the store raises, and TypeError for a delta with an object that does not belong to its type.
    """
    for delta in deltas:
        _notify(logger, handler, _process_delta(logger, client_state, delta, is_in_initial_list, key_func))


def _process_delta(
    logger: klog.Logger, client_state: Store, delta: Delta, is_in_initial_list: bool, key_func: KeyFunc
) -> Sequence[_Notification]:
    """Store what one delta says; whatever there is to tell of it."""
    obj = delta.object
    if delta.type in _CHANGES:
        _freeze(obj)
        old, exists = _get_known(client_state, obj)
        if exists:
            client_state.update(obj)
            return (_UpdateNotification(old, obj),)
        client_state.add(obj)
        return (_AddNotification(obj, is_in_initial_list),)
    if delta.type == DeltaType.DELETED:
        _freeze(obj)
        client_state.delete(obj)
        return (_DeleteNotification(obj),)
    if delta.type == DeltaType.REPLACED_ALL:
        if not isinstance(obj, ReplacedAllInfo):
            raise TypeError(f"ReplacedAll did not contain ReplacedAllInfo: {type(obj).__name__}")
        return _process_replaced_all_info(logger, obj, client_state, is_in_initial_list, key_func)
    if delta.type == DeltaType.SYNC_ALL:
        if not isinstance(obj, SyncAllInfo):
            raise TypeError(f"SyncAll did not contain SyncAllInfo: {type(obj).__name__}")
        return [_UpdateNotification(known, known) for known in client_state.list()]
    if delta.type == DeltaType.BOOKMARK:
        if not isinstance(obj, BookmarkInfo):
            raise TypeError(f"bookmark delta did not contain BookmarkInfo: {type(obj).__name__}")
        client_state.bookmark(obj.resource_version)
    return ()


def _freeze(obj: Any) -> None:
    """From here on the object is shared, and nobody may change it any more."""
    if isinstance(obj, DeletedFinalStateUnknown):
        obj = obj.obj
    if isinstance(obj, Object):
        obj.freeze()


def _get_known(client_state: Store, obj: Any) -> tuple[Any, bool]:
    """What the store has under the key of `obj`; nothing for an object without a key."""
    try:
        return client_state.get(obj)
    except Exception:
        return None, False


def _process_deltas_in_batch(
    logger: klog.Logger,
    handler: ResourceEventHandler,
    client_state: Store,
    deltas: Sequence[Delta],
    is_in_initial_list: bool,
    key_func: KeyFunc,
) -> None:
    """Bring `client_state` up to date with deltas about different objects in one transaction, then tell `handler`.

    A store without transactions gets one delta after the other. Raises RuntimeError when some could not be stored; the
    handler is told of the others, and only of them.
    """
    # Not isinstance(client_state, TransactionStore): asking a protocol takes longer than storing the batch.
    transaction = getattr(client_state, "transaction", None)
    if transaction is None:
        _process_one_by_one(logger, handler, client_state, deltas, is_in_initial_list, key_func)
        return
    transactions: list[Transaction] = []
    notifications: list[_Notification] = []
    for delta in deltas:
        obj = delta.object
        _freeze(obj)
        if delta.type in _CHANGES:
            # The old object is still the one in the store: no other delta of the batch is about this object.
            old, exists = _get_known(client_state, obj)
            if exists:
                transactions.append(Transaction(obj, TransactionType.UPDATE))
                notifications.append(_UpdateNotification(old, obj))
            else:
                transactions.append(Transaction(obj, TransactionType.ADD))
                notifications.append(_AddNotification(obj, is_in_initial_list))
        elif delta.type == DeltaType.DELETED:
            transactions.append(Transaction(obj, TransactionType.DELETE))
            notifications.append(_DeleteNotification(obj))
        else:
            raise ValueError(f"Delta type {delta.type} is not supported in batch processing")
    try:
        transaction(*transactions)
    except TransactionError as err:
        _notify(logger, handler, [notifications[i] for i in err.successful_indices])
        raise RuntimeError(f"not all items in the batch successfully processed: {err}") from err
    _notify(logger, handler, notifications)


def _process_one_by_one(
    logger: klog.Logger,
    handler: ResourceEventHandler,
    client_state: Store,
    deltas: Sequence[Delta],
    is_in_initial_list: bool,
    key_func: KeyFunc,
) -> None:
    errors = []
    for delta in deltas:
        try:
            _process_deltas(logger, handler, client_state, (delta,), is_in_initial_list, key_func)
        except Exception as err:
            errors.append(err)
    if errors:
        raise RuntimeError(f"unexpected error when handling deltas: {errors}") from errors[0]


def _process_replaced_all_info(
    logger: klog.Logger,
    info: ReplacedAllInfo,
    client_state: Store,
    is_in_initial_list: bool,
    key_func: KeyFunc,
) -> Sequence[_Notification]:
    """Make the list the store's content; the notifications: first what is gone, then the list in its order.

    The store is replaced before anybody is told, so that it shows what they are told.
    """
    tombstones = _reconcile_replacement(logger, (), client_state, info.objects, key_func)
    notifications: list[_Notification] = [_DeleteNotification(tombstone) for tombstone in tombstones]
    for obj in info.objects:
        _freeze(obj)
        old, exists = _get_known(client_state, obj)
        notifications.append(_UpdateNotification(old, obj) if exists else _AddNotification(obj, is_in_initial_list))
    client_state.replace(info.objects, info.resource_version)
    return notifications


def _new_informer(client_state: Store, options: InformerOptions, key_func: KeyFunc) -> Controller:
    """The controller that fills `client_state` and tells the handler."""
    handler = options.handler
    logger, fifo = _new_queue_fifo(
        options.logger or klog.background(),
        options.object_type,
        client_state,
        options.transform,
        options.identifier,
        options.informer_metrics_provider,
        options.in_order,
    )

    def process(obj: Any, is_in_initial_list: bool) -> None:
        if not isinstance(obj, Deltas):
            raise TypeError("object given as Process argument is not Deltas")
        _process_deltas(logger, handler, client_state, obj, is_in_initial_list, key_func)

    def process_batch(deltas: Sequence[Delta], is_in_initial_list: bool) -> None:
        _process_deltas_in_batch(logger, handler, client_state, deltas, is_in_initial_list, key_func)

    return new(
        Config(
            queue=fifo,
            lister_watcher=options.lister_watcher,
            object_type=options.object_type,
            full_resync_period=options.resync_period,
            min_watch_timeout=options.min_watch_timeout,
            process=process,
            process_batch=process_batch,
            clock=options.clock,
        )
    )


def _new_queue_fifo(
    logger: klog.Logger,
    object_type: object,
    client_state: Store,
    transform: TransformFunc | None,
    identifier: InformerNameAndResource | None,
    metrics_provider: InformerMetricsProvider | None,
    in_order: bool | None,
) -> tuple[klog.Logger, Queue]:
    """The queue of an informer and its logger, which knows the queue's name.

    `in_order` chooses the queue; None leaves that to the feature gate InOrderInformers.
    """
    gates = features.feature_gates()
    if in_order is None:
        in_order = gates.enabled(features.IN_ORDER_INFORMERS)
    type_name = _type_string(object_type)
    if not in_order:
        name = f"DeltaFIFO {type_name}"
        delta_fifo = new_delta_fifo_with_options(
            DeltaFIFOOptions(
                logger=logger,
                name=name,
                known_objects=client_state,
                emit_delta_type_replaced=True,
                transformer=transform,
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
            known_objects=None if atomic else client_state,
            atomic_events=atomic,
            unlock_while_processing=atomic and gates.enabled(features.UNLOCK_WHILE_PROCESSING_FIFO),
            emit_delta_type_bookmark=atomic,
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
