"""RealFIFO, the queue that hands out every change, in the order in which the changes came.

Mirrors tools/cache/the_real_fifo.go. It is what informers use since client-go v0.33, where they used DeltaFIFO before.

Differs from Go in `pop` and `pop_batch`: an error of the process function is raised as it is. And
`reconcile_replacement` returns the deletions instead of calling back for each deletion and each new object.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clientgo import klog
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.golang.channel import Done
from clientgo.hops import hop
from clientgo.tools.cache import inspection
from clientgo.tools.cache.beyond.initial_population import InitialPopulation
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
from clientgo.tools.cache.store import KeyError, KeyFunc, meta_namespace_key_func
from clientgo.utils import clock, trace
from clientgo.utils.snapshot import in_one_go

if TYPE_CHECKING:
    from clientgo.tools.cache.controller import ProcessBatchFunc
    from clientgo.tools.cache.shared_informer import DoneChecker

# A pop that takes long is worth a line in the log when more deltas than this are waiting behind it.
_SLOW_POP_DEPTH = 10
_SLOW_POP_SECONDS = 0.1


@dataclass(kw_only=True, slots=True)
class RealFIFOOptions:
    """What a RealFIFO may be given. Go: RealFIFOOptions."""

    logger: klog.Logger | None = None
    """Where to log; klog.background() by default. The queue's name is added to it."""

    name: str = ""
    """The queue's name where `identifier` has none, "RealFIFO" by default."""

    key_function: KeyFunc | None = None
    """Makes the keys, `meta_namespace_key_func` by default."""

    known_objects: KeyListerGetter | None = None
    """What the consumer knows already, to make deletions on a replace and to repeat on a resync. Needed unless
    `atomic_events`, and forbidden with it."""

    transformer: TransformFunc | None = None
    """Called with every object before it is queued; see TransformFunc."""

    atomic_events: bool = False
    """Whether a replace is one REPLACED_ALL delta and a resync one SYNC_ALL delta, which the consumer then compares
    with what it knows. Otherwise the queue does that when they come, and gives single deltas."""

    unlock_while_processing: bool = False
    """Whether producers may go on while the consumer processes; needs `atomic_events` and a single consumer."""

    identifier: InformerNameAndResource | None = None
    """Which informer it is, for metrics and logs. Without it no metrics are published."""

    metrics_provider: InformerMetricsProvider | None = None
    """Makes the metrics, the one of `set_informer_metrics_provider` by default."""

    emit_delta_type_bookmark: bool = False
    """Whether `bookmark` gives a BOOKMARK delta; needs `atomic_events`."""

    clock: clock.PassiveClock | None = None
    """Tells how long a pop takes; the real one by default. Beyond Go."""


_DEFAULT_BATCH_SIZE = 1000


class RealFIFO:
    """A queue of all that happened, in the order in which it happened. Go: RealFIFO.

    Nothing is left out or put together: objects deleted meanwhile are reported, and so is each change of an object.
    Each delta is handed out by itself, or in a batch in which no key comes twice.

    What `replace` and `resync` give depends on `atomic_events`, see RealFIFOOptions. With atomic events the queue needs
    to know nothing of its consumer, and so the two need not hold one lock: with `unlock_while_processing` the lock is
    free while the consumer works, unless two batches or more are waiting already.

    Any number of threads may produce; only one may call `pop` and `pop_batch`.

    Invariants (`_check` asserts them):
      * the first `_initial.left` items are what is left of the first replace
      * those of InitialPopulation
    """

    def __init__(self, opts: RealFIFOOptions) -> None:
        _check_options(opts)
        identifier = opts.identifier or InformerNameAndResource()
        self._name = identifier.name() or opts.name or "RealFIFO"
        self._logger = (opts.logger or klog.background()).with_name(self._name)
        self._key_func = opts.key_function or meta_namespace_key_func
        self._known_objects = opts.known_objects
        self._transformer = opts.transformer
        self._batch_size = _DEFAULT_BATCH_SIZE
        self._emit_atomic_events = opts.atomic_events
        self._unlock_while_processing = opts.unlock_while_processing
        self._emit_delta_type_bookmark = opts.emit_delta_type_bookmark
        self._identifier = identifier
        self._metrics = new_fifo_metrics(identifier, opts.metrics_provider)
        self._clock = opts.clock or clock.REAL_CLOCK

        # Guards all below; the condition tells that something came or the queue was closed.
        self._lock = threading.Lock()
        self._cond = threading.Condition(self._lock)
        # Whether a thread waits on the condition and nobody has woken it yet.
        self._waiting = False
        self._items: deque[Delta] = deque()
        self._initial = InitialPopulation()
        # Only ends the waiting in pop; producers may go on.
        self._closed = False

    def close(self) -> None:
        """See Queue.close."""
        with self._lock:
            self._closed = True
            self._cond.notify_all()

    def _key_of(self, obj: Any) -> str:
        """The key of an object, of a tombstone, of a delta's object, or of the newest object of a Deltas."""
        if isinstance(obj, Deltas):
            newest = obj.newest()
            if newest is None:
                raise KeyError(obj, ErrZeroLengthDeltasObject())
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
        """The queue itself: its `done` is set when `has_synced` becomes true."""
        return self

    def name(self) -> str:
        """The queue's name."""
        return self._name

    def done(self) -> Done:
        """Set when `has_synced` becomes true."""
        return self._initial.synced

    def _add_to_items_locked(self, delta_type: DeltaType, skip_transform: bool, obj: Any) -> None:
        """Append a delta, transformed unless it is a tombstone or known already. Raises KeyError without a key."""
        # Nobody asks for the key yet; but a queued object without one could not be compared with what is known.
        try:
            self._key_func(obj)
        except Exception:
            self._require_key(obj)
        if self._transformer is not None and not skip_transform and not isinstance(obj, DeletedFinalStateUnknown):
            obj = self._transformer(obj)
        self._append_locked(Delta(delta_type, obj))

    def _require_key(self, obj: Any) -> None:
        """Raise KeyError if `obj` is no tombstone either."""
        try:
            self._key_of(obj)
        except Exception as err:
            raise KeyError(obj, err) from err

    def _add_replace_to_items_locked(self, objs: Sequence[Any], resource_version: str) -> None:
        if self._transformer is not None:
            objs = [self._transformer(obj) for obj in objs]
        self._append_locked(Delta(DeltaType.REPLACED_ALL, ReplacedAllInfo(resource_version, objs)))

    @hop("fifo.append", go="(*RealFIFO).addToItems_locked")
    def _append_locked(self, delta: Delta) -> None:
        """Append a delta and wake the thread that waits in `pop`."""
        self._items.append(delta)
        # Waking nobody would cost more than all of the above.
        if self._waiting:
            self._waiting = False
            self._cond.notify_all()
        if self._metrics is not None:
            self._publish_depth_locked()

    def add(self, obj: Any) -> None:
        """Queue an ADDED delta. Raises KeyError when `obj` has no key, and whatever the transform function raises."""
        with self._lock:
            if not self._initial.has_begun:
                self._initial.begin()
            self._add_to_items_locked(_ADDED, False, obj)

    def update(self, obj: Any) -> None:
        """Queue an UPDATED delta; raises as `add` does."""
        with self._lock:
            if not self._initial.has_begun:
                self._initial.begin()
            self._add_to_items_locked(_UPDATED, False, obj)

    def delete(self, obj: Any) -> None:
        """Queue a DELETED delta, whether or not anybody knows the object; raises as `add` does."""
        with self._lock:
            if not self._initial.has_begun:
                self._initial.begin()
            self._add_to_items_locked(_DELETED, False, obj)

    def is_closed(self) -> bool:
        """Whether `close` was called."""
        with self._lock:
            return self._closed

    def pop(self, process: PopProcessFunc) -> Deltas:
        """Wait for a delta, call `process` with it as the only one of a Deltas, and return that; see Queue.pop.

        `process` runs under the lock unless the queue was made to unlock while processing.
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
        what: str,
        process: Callable[[Any, bool], None],
        deltas: list[Delta],
        is_in_initial_list: bool,
        slow: float,
    ) -> None:
        """Call `process` with `deltas`, which were just taken out; then count the initial ones down.

        Unlocks for it only while less than two batches are waiting, so that a fast producer cannot fill the memory.
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
            # Only now: has_synced must not turn true while the last initial delta is still being processed.
            self._initial.processed(len(deltas))
            if depth > _SLOW_POP_DEPTH and elapsed >= slow:
                self._log_slow_pop(what, deltas, depth, started, slow)

    def _log_slow_pop(self, what: str, deltas: list[Delta], depth: int, started: float, slow: float) -> None:
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
        trace.new(what, *fields, start_time=started).log_if_long(slow)

    def pop_batch(self, process_batch: ProcessBatchFunc, process_single: PopProcessFunc) -> None:
        """Wait for deltas, take out as many as go together, and call one of the two with them.

        A batch holds at most 1000 deltas and no key twice, and never initial deltas together with later ones. A delta
        of everything (REPLACED_ALL, SYNC_ALL) or of nothing (BOOKMARK) goes alone. `process_single` gets a Deltas of
        one delta, `process_batch` a list of several. Otherwise like `pop`.
        """
        with self._lock:
            self._wait_for_items_locked()
            is_in_initial_list = not self._initial.synced.is_set()
            n = self._batch_length_locked()
            popleft = self._items.popleft
            batch = [popleft() for _ in range(n)]
            what, slow = "RealFIFO PopBatch Process", min(_SLOW_POP_SECONDS * n, 1.0)
            if n == 1:
                self._process_locked(what, process_single, Deltas(batch), is_in_initial_list, slow)
            else:
                self._process_locked(what, process_batch, batch, is_in_initial_list, slow)

    def _batch_length_locked(self) -> int:
        """How many of the first items go together; at least one."""
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
                # Handed out all the same, as `pop` would; but what follows could not be told from it.
                return n + 1
            if key in keys:
                break
            keys.add(key)
            n += 1
        return n

    def bookmark(self, resource_version: str) -> None:
        """Queue a BOOKMARK delta; does nothing unless the queue was made to."""
        if not self._emit_delta_type_bookmark:
            return
        with self._lock:
            self._append_locked(Delta(DeltaType.BOOKMARK, BookmarkInfo(resource_version)))

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """Queue that `objs` is all there is now.

        With atomic events that is one delta. Otherwise it is a DELETED delta with a tombstone for each key that is
        queued or known and not listed, then a REPLACED delta for each of `objs`. Raises KeyError when an object has no
        key, and what the transform function raises.
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
        """Queue everything known once more.

        With atomic events that is one SYNC_ALL delta. Otherwise it is a SYNC delta for each known object for which
        nothing is queued.
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
                raise KeyError(delta, err) from err
        for key in self._known_objects.list_keys():
            # What is queued is newer than what is known: a SYNC behind it would take the consumer back.
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
        """The transform function it was given, for a Reflector that must compare with what it stores."""
        return self._transformer

    def _publish_depth_locked(self) -> None:
        assert self._metrics is not None
        self._metrics.number_of_queued_item.set(float(len(self._items)))

    def statistics(self) -> inspection.FIFOStatistics:
        """How full it is. O(1). May wait for what is being processed. Beyond Go."""
        with self._lock:
            return inspection.FIFOStatistics(len(self._items), len(self._items), self._initial.left, self._closed)

    def contents(self, most: int = sys.maxsize) -> inspection.FIFOContents:
        """What is queued, or the first so many. O(n), little of it for what is not asked for.

        Takes no lock, so that one can look at a queue that is stuck. Beyond Go.
        """
        items = in_one_go(lambda: tuple(self._items), self._lock)
        deltas = tuple((self._key_of(delta) if delta.type in _BATCHABLE else "", (delta,)) for delta in items[:most])
        return inspection.FIFOContents(deltas, self._initial.left, self._initial.synced.is_set(), len(items))

    def _check(self) -> None:
        with self._lock:
            self._initial._check()

    def __repr__(self) -> str:
        mode = "atomic" if self._emit_atomic_events else "single"
        state = "closed" if self._closed else "open"
        return f"<{self._name} {len(self._items)} deltas, {mode} events, {self._initial!r}, {state}>"


@dataclass(slots=True)
class ReplacedAllInfo:
    """The object of a REPLACED_ALL delta: what `replace` was called with, transformed. Go: ReplacedAllInfo."""

    resource_version: str
    objects: Sequence[Any]


@dataclass(slots=True)
class BookmarkInfo:
    """The object of a BOOKMARK delta: what `bookmark` was called with. Go: BookmarkInfo."""

    resource_version: str


@dataclass(slots=True)
class SyncAllInfo:
    """The object of a SYNC_ALL delta. Go: SyncAllInfo."""


# Looking a member up in its enum costs more than queueing it.
_ADDED = DeltaType.ADDED
_UPDATED = DeltaType.UPDATED
_DELETED = DeltaType.DELETED

# The deltas that are about one object each.
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
    """The tombstones of what is queued or known and not among `new_items`; first the queued ones, in queue order.

    An object whose last queued delta is a deletion needs none. Calls only what it is given, and takes no lock. Raises
    KeyError when an object has no key.
    """

    def key_or_raise(obj: Any) -> str:
        try:
            return key_of(obj)
        except Exception as err:
            raise KeyError(obj, err) from err

    last_queued = {key_or_raise(delta.object): delta for delta in queued_items}
    known_keys = known_objects.list_keys()
    # Not the keys of the list: the first is the longest, and before it nothing is known.
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
    """An empty RealFIFO that gives single deltas. Deprecated in Go: NewRealFIFO."""
    return new_real_fifo_with_options(
        RealFIFOOptions(key_function=key_func, known_objects=known_objects, transformer=transformer)
    )


def new_real_fifo_with_options(opts: RealFIFOOptions) -> RealFIFO:
    """An empty RealFIFO. Raises ValueError when the options contradict each other. Go: NewRealFIFOWithOptions."""
    return RealFIFO(opts)


def _check_options(opts: RealFIFOOptions) -> None:
    if opts.atomic_events:
        # With the lock free while the consumer works, what it knows is not in step with the queue.
        if opts.known_objects is not None:
            raise ValueError("coding error: knownObjects must not be provided when AtomicEvents is true")
        return
    if opts.unlock_while_processing:
        raise ValueError("coding error: UnlockWhileProcessing must be false when AtomicEvents is false")
    if opts.known_objects is None:
        raise ValueError("coding error: knownObjects must be provided when AtomicEvents is false")
    if opts.emit_delta_type_bookmark:
        raise ValueError("coding error: EmitDeltaTypeBookmark must be false when AtomicEvents is false")
