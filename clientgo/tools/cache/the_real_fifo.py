"""RealFIFO, a queue of all changes in the order of their arrival.

Mirrors tools/cache/the_real_fifo.go. Informers use it since client-go v0.33, in place of DeltaFIFO.

Differs from Go: `pop` and `pop_batch` raise an exception of the process function unchanged. `reconcile_replacement`
returns the deletions, where Go calls a function for each deletion and each new object.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clientgo import klog
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.golang.channel import Done
from clientgo.hops import hop
from clientgo.tools.cache.beyond.initial_population import InitialPopulation
from clientgo.tools.cache.beyond.inspection import InspectableRealFIFO
from clientgo.tools.cache.delta_fifo import (
    DeletedFinalStateUnknown,
    Delta,
    Deltas,
    DeltaType,
    ErrZeroLengthDeltasObject,
    KeyListerGetter,
    TransformFunc,
)
from clientgo.tools.cache.fifo import ErrFIFOClosed, PopProcessFunc
from clientgo.tools.cache.fifo_metrics import InformerMetricsProvider, new_fifo_metrics
from clientgo.tools.cache.identity import InformerNameAndResource
from clientgo.tools.cache.store import KeyError as CacheKeyError
from clientgo.tools.cache.store import KeyFunc, checked_key_func, meta_namespace_key_func
from clientgo.utils import clock, trace

if TYPE_CHECKING:
    from clientgo.tools.cache.controller import ProcessBatchFunc
    from clientgo.tools.cache.shared_informer import DoneChecker

# A pop that takes longer than these seconds is logged while more deltas than this wait.
_SLOW_POP_DEPTH = 10
_SLOW_POP_SECONDS = 0.1


@dataclass(kw_only=True, slots=True)
class RealFIFOOptions:
    """The options of a RealFIFO. Go: RealFIFOOptions."""

    logger: klog.Logger | None = None
    """klog.background() when None. The queue's name is added to it."""

    name: str = ""
    """The queue's name if `identifier` has none; "RealFIFO" by default."""

    key_function: KeyFunc | None = None
    """Returns the keys; `meta_namespace_key_func` when None."""

    known_objects: KeyListerGetter | None = None
    """The objects that the consumer has: a replace adds a deletion of each of them that is not listed, and a resync
    repeats them. Required without `atomic_events`, forbidden with it."""

    transformer: TransformFunc | None = None
    """Transforms every object before it is queued; see TransformFunc."""

    atomic_events: bool = False
    """Queue one REPLACED_ALL delta for a replace and one SYNC_ALL delta for a resync, which the consumer compares with
    its objects. Otherwise the queue compares, and adds one delta for each object."""

    unlock_while_processing: bool = False
    """Release the lock while the consumer processes. Requires `atomic_events` and a single consumer."""

    identifier: InformerNameAndResource | None = None
    """Identifies the informer in metrics and logs. None disables the metrics."""

    metrics_provider: InformerMetricsProvider | None = None
    """Creates the metrics; None selects the provider of `set_informer_metrics_provider`."""

    emit_delta_type_bookmark: bool = False
    """Queue a BOOKMARK delta for `bookmark`. Requires `atomic_events`."""

    clock: clock.PassiveClock | None = None
    """Measures the duration of a pop; the real clock when None. Beyond Go."""


_DEFAULT_BATCH_SIZE = 1000


class RealFIFO(InspectableRealFIFO):
    """A queue of all changes in the order of their arrival. Go: RealFIFO.

    No change is dropped or merged, not even of an object that was deleted meanwhile. A delta is popped alone, or in a
    batch that has no key twice.

    The effect of `replace` and `resync` depends on `atomic_events`, see RealFIFOOptions. With atomic events the queue
    does not use the consumer's objects, so it can release its lock while the consumer processes. It does so with
    `unlock_while_processing`, unless two batches or more are waiting.

    Any number of threads may produce; only one may call `pop` and `pop_batch`.

    Invariants (`_check` asserts them):
      * the first `_initial.left` items are the rest of the first replace;
      * those of InitialPopulation.
    """

    def __init__(self, opts: RealFIFOOptions) -> None:
        _check_options(opts)
        identifier = opts.identifier or InformerNameAndResource()
        self._name = identifier.name() or opts.name or "RealFIFO"
        self._logger = (opts.logger or klog.background()).with_name(self._name)
        self._key_func = checked_key_func(opts.key_function or meta_namespace_key_func)
        self._known_objects = opts.known_objects
        self._transformer = opts.transformer
        self._batch_size = _DEFAULT_BATCH_SIZE
        self._emit_atomic_events = opts.atomic_events
        self._unlock_while_processing = opts.unlock_while_processing
        self._emit_delta_type_bookmark = opts.emit_delta_type_bookmark
        self._identifier = identifier
        self._metrics = new_fifo_metrics(identifier, opts.metrics_provider)
        self._clock = opts.clock or clock.REAL_CLOCK

        # Guards the fields below. The condition is notified when a delta is added and when the queue is closed.
        self._lock = threading.Lock()
        self._cond = threading.Condition(self._lock)
        # True while a thread waits on the condition and was not notified yet.
        self._waiting = False
        self._items: deque[Delta] = deque()
        self._initial = InitialPopulation()
        # Ends the wait in pop. Producers may still add.
        self._closed = False

    def close(self) -> None:
        """See Queue.close."""
        with self._lock:
            self._closed = True
            self._cond.notify_all()

    def _key_of(self, obj: Any) -> str:
        """Return the key of an object, of a tombstone, of a delta's object, or of the newest object of a Deltas."""
        if isinstance(obj, Deltas):
            newest = obj.newest()
            if newest is None:
                raise CacheKeyError(obj, ErrZeroLengthDeltasObject())
            obj = newest.object
        if isinstance(obj, Delta):
            obj = obj.object
        if isinstance(obj, DeletedFinalStateUnknown):
            return obj.key
        return self._key_func(obj)

    def has_synced(self) -> bool:
        """See Queue.has_synced."""
        with self._lock:
            return self._initial.synced.is_set()

    def has_synced_checker(self) -> DoneChecker:
        """Return the queue itself: its `done` is set when `has_synced` becomes true."""
        return self

    def name(self) -> str:
        """Return the queue's name."""
        return self._name

    def done(self) -> Done:
        """Return a signal that is set when `has_synced` becomes true."""
        return self._initial.synced

    def _add_to_items_locked(self, delta_type: DeltaType, skip_transform: bool, obj: Any) -> None:
        """Append a delta of `obj`, which is transformed unless it is a tombstone or known.

        Raises KeyError when `obj` has no key.
        """
        # The key is not needed yet, but a queued object without a key could not be compared with the known objects.
        try:
            self._key_func(obj)
        except Exception:
            self._require_key(obj)
        if self._transformer is not None and not skip_transform and not isinstance(obj, DeletedFinalStateUnknown):
            obj = self._transformer(obj)
        self._append_locked(Delta(delta_type, obj))

    def _require_key(self, obj: Any) -> None:
        """Raise KeyError unless `obj` is a tombstone."""
        try:
            self._key_of(obj)
        except Exception as err:
            raise CacheKeyError(obj, err) from err

    def _add_replace_to_items_locked(self, objs: Sequence[Any], resource_version: str) -> None:
        if self._transformer is not None:
            objs = [self._transformer(obj) for obj in objs]
        self._append_locked(Delta(DeltaType.REPLACED_ALL, ReplacedAllInfo(resource_version, objs)))

    @hop("fifo.append", go="(*RealFIFO).addToItems_locked")
    def _append_locked(self, delta: Delta) -> None:
        """Append a delta and wake the thread that waits in `pop`."""
        self._items.append(delta)
        # A notification without a waiter would cost more than all of the above.
        if self._waiting:
            self._waiting = False
            self._cond.notify_all()
        if self._metrics is not None:
            self._publish_depth_locked()

    def add(self, obj: Any) -> None:
        """Queue an ADDED delta. Raises KeyError when `obj` has no key, and any exception of the transform function."""
        with self._lock:
            if not self._initial.has_begun:
                self._initial.begin()
            self._add_to_items_locked(_ADDED, False, obj)

    def update(self, obj: Any) -> None:
        """Queue an UPDATED delta. Raises the same exceptions as `add`."""
        with self._lock:
            if not self._initial.has_begun:
                self._initial.begin()
            self._add_to_items_locked(_UPDATED, False, obj)

    def delete(self, obj: Any) -> None:
        """Queue a DELETED delta, also of an unknown object. Raises the same exceptions as `add`."""
        with self._lock:
            if not self._initial.has_begun:
                self._initial.begin()
            self._add_to_items_locked(_DELETED, False, obj)

    def is_closed(self) -> bool:
        """Report whether `close` was called."""
        with self._lock:
            return self._closed

    def pop(self, process: PopProcessFunc) -> Deltas:
        """Wait for a delta, call `process` with a Deltas of it, and return the Deltas; see Queue.pop.

        `process` runs with the lock held, except with the option `unlock_while_processing`.
        """
        with self._lock:
            self._wait_for_items_locked()
            is_in_initial_list = not self._initial.synced.is_set()
            deltas = Deltas((self._items.popleft(),))
            self._process_locked("RealFIFO Pop Process", process, deltas, is_in_initial_list, _SLOW_POP_SECONDS)
            return deltas

    def _wait_for_items_locked(self) -> None:
        while not self._items:
            if self._closed:
                raise ErrFIFOClosed
            self._waiting = True
            self._cond.wait()

    @hop("fifo.process", go="(*RealFIFO).PopBatch")
    def _process_locked(
        self,
        trace_name: str,
        process: Callable[[Any, bool], None],
        deltas: list[Delta],
        is_in_initial_list: bool,
        slow: float,
    ) -> None:
        """Call `process` with `deltas`, which were just removed, then count the initial deltas down.

        Releases the lock meanwhile only if less than two batches wait, so that a fast producer cannot fill the memory.
        """
        depth = len(self._items)
        if self._metrics is not None:
            self._publish_depth_locked()
        unlock = self._unlock_while_processing and depth < 2 * self._batch_size
        started = self._clock.now()
        if unlock:
            self._lock.release()
        try:
            process(deltas, is_in_initial_list)
        finally:
            elapsed = self._clock.since(started)
            if unlock:
                self._lock.acquire()
            if self._metrics is not None:
                self._metrics.processing_latency.observe(elapsed)
            # Not earlier: has_synced must not become true while the last initial delta is being processed.
            self._initial.processed(len(deltas))
            if depth > _SLOW_POP_DEPTH and elapsed >= slow:
                self._log_slow_pop(trace_name, deltas, depth, started, slow)

    def _log_slow_pop(self, trace_name: str, deltas: list[Delta], depth: int, started: float, slow: float) -> None:
        try:
            key = self._key_of(deltas[0])
        except Exception:
            key = ""
        fields = [
            trace.Field("ID", key),
            trace.Field("Depth", depth),
            trace.Field("Reason", "slow event handlers blocking the queue"),
        ]
        if len(deltas) > 1:
            fields.append(trace.Field("BatchSize", len(deltas)))
        if self._identifier.name():
            fields.append(trace.Field("Name", self._identifier.name()))
        if not self._identifier.group_version_resource().empty():
            fields.append(trace.Field("Resource", self._identifier.group_version_resource()))
        trace.new(trace_name, *fields, start_time=started).log_if_long(slow)

    def pop_batch(self, process_batch: ProcessBatchFunc, process_single: PopProcessFunc) -> None:
        """Wait for deltas, remove a batch, and call one of the two functions with it. Otherwise like `pop`.

        A batch has at most 1000 deltas, no key twice, and never both initial and later deltas. A delta that is not
        about one object (REPLACED_ALL, SYNC_ALL, BOOKMARK) is popped alone. `process_single` gets a Deltas of one
        delta, `process_batch` a list of several.
        """
        with self._lock:
            self._wait_for_items_locked()
            is_in_initial_list = not self._initial.synced.is_set()
            n = self._batch_length_locked()
            popleft = self._items.popleft
            batch = [popleft() for _ in range(n)]
            trace_name, slow = "RealFIFO PopBatch Process", min(_SLOW_POP_SECONDS * n, 1.0)
            if n == 1:
                self._process_locked(trace_name, process_single, Deltas(batch), is_in_initial_list, slow)
            else:
                self._process_locked(trace_name, process_batch, batch, is_in_initial_list, slow)

    def _batch_length_locked(self) -> int:
        """Return the number of items in the next batch; at least one."""
        limit = self._batch_size
        if 0 < self._initial.left < limit:
            limit = self._initial.left
        key_func = self._key_func
        keys: set[str] = set()
        n = 0
        for delta in self._items:
            if n == limit:
                break
            if delta.type not in _BATCHABLE:
                return n or 1
            obj = delta.object
            try:
                key = obj.key if isinstance(obj, DeletedFinalStateUnknown) else key_func(obj)
            except Exception:
                # The process function rejects it, as after `pop`. The deltas after it might be about the same object.
                return n + 1
            if key in keys:
                break
            keys.add(key)
            n += 1
        return n

    def bookmark(self, resource_version: str) -> None:
        """Queue a BOOKMARK delta, if the option `emit_delta_type_bookmark` is set."""
        if not self._emit_delta_type_bookmark:
            return
        with self._lock:
            self._append_locked(Delta(DeltaType.BOOKMARK, BookmarkInfo(resource_version)))

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """Queue a new list of all objects.

        With atomic events, one delta. Otherwise a DELETED delta with a tombstone for each queued or known key that is
        not listed, then a REPLACED delta of each of `objs`. Raises KeyError when an object has no key, and any
        exception of the transform function.
        """
        with self._lock:
            if self._emit_atomic_events:
                self._add_replace_to_items_locked(objs, resource_version)
            else:
                self._replace_by_single_deltas_locked(objs)
            self._initial.begin(len(self._items))

    def _replace_by_single_deltas_locked(self, objs: Sequence[Any]) -> None:
        assert self._known_objects is not None
        tombstones = reconcile_replacement(self._logger, self._items, self._known_objects, objs, self._key_of)
        for tombstone in tombstones:
            self._append_locked(Delta(_DELETED, tombstone))
        for obj in objs:
            try:
                self._add_to_items_locked(DeltaType.REPLACED, False, obj)
            except Exception as err:
                raise ValueError(f"couldn't enqueue object: {err}") from err

    @hop("fifo.resync", go="(*RealFIFO).Resync")
    def resync(self) -> None:
        """Queue all known objects again.

        With atomic events, one SYNC_ALL delta. Otherwise a SYNC delta of each known object that has no queued delta.
        """
        with self._lock:
            if self._emit_atomic_events:
                self._append_locked(Delta(DeltaType.SYNC_ALL, SyncAllInfo()))
            else:
                self._resync_by_single_deltas_locked()

    def _resync_by_single_deltas_locked(self) -> None:
        assert self._known_objects is not None
        queued = set()
        for delta in self._items:
            try:
                queued.add(self._key_of(delta))
            except Exception as err:
                raise CacheKeyError(delta, err) from err
        for key in self._known_objects.list_keys():
            # A queued state is newer than the known one, and a SYNC after it would bring the old state back.
            if key in queued:
                continue
            try:
                obj, exists = self._known_objects.get_by_key(key)
            except Exception as err:
                utilruntime.handle_error_with_logger(self._logger, err, "Unable to queue object for sync", key=key)
                continue
            if not exists:
                utilruntime.handle_error_with_logger(
                    self._logger,
                    None,
                    "Key does not exist in known objects store, unable to queue object for sync",
                    key=key,
                )
                continue
            try:
                self._add_to_items_locked(DeltaType.SYNC, True, obj)
            except Exception as err:
                raise ValueError(f"couldn't queue object: {err}") from err

    def transformer(self) -> TransformFunc | None:
        """Return the transform function, for a Reflector that compares listed objects with stored ones."""
        return self._transformer

    def _publish_depth_locked(self) -> None:
        assert self._metrics is not None
        self._metrics.number_of_queued_item.set(float(len(self._items)))

    def _check(self) -> None:
        with self._lock:
            self._initial._check()

    def __repr__(self) -> str:
        mode = "atomic" if self._emit_atomic_events else "single"
        state = "closed" if self._closed else "open"
        return f"<{self._name} {len(self._items)} deltas, {mode} events, {self._initial!r}, {state}>"


@dataclass(slots=True)
class ReplacedAllInfo:
    """The object of a REPLACED_ALL delta: the arguments of `replace`, transformed. Go: ReplacedAllInfo."""

    resource_version: str
    objects: Sequence[Any]


@dataclass(slots=True)
class BookmarkInfo:
    """The object of a BOOKMARK delta: the argument of `bookmark`. Go: BookmarkInfo."""

    resource_version: str


@dataclass(slots=True)
class SyncAllInfo:
    """The object of a SYNC_ALL delta. Go: SyncAllInfo."""


# Looking up a member in its enum costs more than adding a delta.
_ADDED = DeltaType.ADDED
_UPDATED = DeltaType.UPDATED
_DELETED = DeltaType.DELETED

# The types of deltas that are about one object.
_BATCHABLE = frozenset(
    {DeltaType.SYNC, DeltaType.REPLACED, DeltaType.ADDED, DeltaType.UPDATED, DeltaType.DELETED},
)


def reconcile_replacement(
    logger: klog.Logger,
    queued_items: Iterable[Delta],
    known_objects: KeyListerGetter,
    new_items: Sequence[Any],
    key_of: Callable[[Any], str],
) -> list[DeletedFinalStateUnknown]:
    """Return the tombstones of queued and known objects that are not in `new_items`; first the queued ones, in order.

    An object whose last queued delta is a deletion needs no tombstone. Takes no lock of its own. Raises KeyError when
    an object has no key. Go: reconcileReplacement.
    """

    def key_or_raise(obj: Any) -> str:
        try:
            return key_of(obj)
        except Exception as err:
            raise CacheKeyError(obj, err) from err

    last_queued = {key_or_raise(delta.object): delta for delta in queued_items}
    known_keys = known_objects.list_keys()
    # Start from the known keys, not from the listed: before the first list, the longest, no object is known.
    gone = {*last_queued, *known_keys}
    gone.difference_update(map(key_or_raise, new_items))
    tombstones = [
        DeletedFinalStateUnknown(key, delta.object)
        for key, delta in last_queued.items()
        if key in gone and delta.type is not _DELETED
    ]
    for key in known_keys:
        if key not in gone or key in last_queued:
            continue
        obj = None
        try:
            obj, exists = known_objects.get_by_key(key)
            if not exists:
                utilruntime.handle_error_with_logger(
                    logger,
                    None,
                    "Key does not exist in known objects store, placing DeleteFinalStateUnknown marker without object",
                    key=key,
                )
        except Exception as err:
            utilruntime.handle_error_with_logger(
                logger, err, "Error during lookup, placing DeleteFinalStateUnknown marker without object", key=key
            )
        tombstones.append(DeletedFinalStateUnknown(key, obj))
    return tombstones


def new_real_fifo(
    key_func: KeyFunc | None, known_objects: KeyListerGetter, transformer: TransformFunc | None
) -> RealFIFO:
    """Return an empty RealFIFO without atomic events. Deprecated in Go: NewRealFIFO."""
    return new_real_fifo_with_options(
        RealFIFOOptions(key_function=key_func, known_objects=known_objects, transformer=transformer)
    )


def new_real_fifo_with_options(opts: RealFIFOOptions) -> RealFIFO:
    """Return an empty RealFIFO. Raises ValueError for contradictory options. Go: NewRealFIFOWithOptions."""
    return RealFIFO(opts)


def _check_options(opts: RealFIFOOptions) -> None:
    if opts.atomic_events:
        # While the lock is released, the consumer's objects do not agree with the queue.
        if opts.known_objects is not None:
            raise ValueError("coding error: knownObjects must not be provided when AtomicEvents is true")
        return
    if opts.unlock_while_processing:
        raise ValueError("coding error: UnlockWhileProcessing must be false when AtomicEvents is false")
    if opts.known_objects is None:
        raise ValueError("coding error: knownObjects must be provided when AtomicEvents is false")
    if opts.emit_delta_type_bookmark:
        raise ValueError("coding error: EmitDeltaTypeBookmark must be false when AtomicEvents is false")
