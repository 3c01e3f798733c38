"""DeltaFIFO, a queue that collects the changes of each object until they are processed.

Mirrors tools/cache/delta_fifo.go. Walkthroughs show this queue between Reflector and Indexer. Since client-go v0.33
informers use RealFIFO instead; the gate InOrderInformers switches back to DeltaFIFO.

Differs from Go: `pop` raises an exception of the process function unchanged, and returns the argument of that function.
The errors that Go marks as impossible are assertions in `_check`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from clientgo import klog
from clientgo.apimachinery.runtime import Identified
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.golang.channel import Done
from clientgo.hops import hop
from clientgo.tools.cache.beyond.initial_population import InitialPopulation
from clientgo.tools.cache.beyond.inspection import InspectableDeltaFIFO
from clientgo.tools.cache.fifo import ErrFIFOClosed, PopProcessFunc
from clientgo.tools.cache.store import KeyError as CacheKeyError
from clientgo.tools.cache.store import KeyFunc, checked_key_func, meta_namespace_key_func
from clientgo.utils import clock, trace

if TYPE_CHECKING:
    from clientgo.tools.cache.shared_informer import DoneChecker

# A pop that takes longer than these seconds is logged while more items than this wait.
_SLOW_POP_DEPTH = 10
_SLOW_POP_SECONDS = 0.1


@dataclass(kw_only=True, slots=True)
class DeltaFIFOOptions:
    """The options of a DeltaFIFO. Go: DeltaFIFOOptions."""

    logger: klog.Logger | None = None
    """klog.background() when None. The queue's name is added to it."""

    name: str = ""
    """The queue's name, "DeltaFIFO" by default."""

    key_function: KeyFunc | None = None
    """Returns the keys; `meta_namespace_key_func` when None. `DeltaFIFO.key_of` also accepts tombstones."""

    known_objects: KeyListerGetter | None = None
    """The objects that the consumer has. A replace adds a deletion of each of them that is not listed, and a resync
    repeats them. When None, a replace adds deletions only of queued objects, and a resync does nothing."""

    emit_delta_type_replaced: bool = False
    """Use deltas of type REPLACED for a replace, which the consumer must support; else of type SYNC."""

    transformer: TransformFunc | None = None
    """Transforms every object before it is queued; see TransformFunc."""

    clock: clock.PassiveClock | None = None
    """Measures the duration of a pop; the real clock when None. Beyond Go."""


class DeltaFIFO(InspectableDeltaFIFO):
    """A queue of objects, each with all its changes since it was last processed. Go: DeltaFIFO.

    It is for a consumer that

    * processes each change at most once,
    * sees all changes of an object since it last processed the object,
    * processes deletions too, and
    * processes every object again from time to time.

    An object is identified by its key. Each change is appended to its Deltas, except that of two deletions in a row
    only the one with the object's final state is kept. A key waits at the position of its oldest delta.

    `known_objects` are the objects that the consumer has, normally its indexer. `delete` queues a deletion only of an
    object that is known or queued. `replace` queues deletions of all known or queued objects that are not listed.
    `resync` repeats the known objects.

    Any number of threads may produce. `pop` calls the process function with the queue's lock held: the function may
    change `known_objects` and other data that must agree with the queue, and must not call the queue. Several consumers
    might process two versions of an object at the same time.

    Invariants (`_check` asserts them):
      * `_queue` and `_items` have the same keys, and no key is in `_queue` twice;
      * no Deltas is empty, and none has two deletions in a row;
      * those of InitialPopulation.
    """

    def __init__(self, opts: DeltaFIFOOptions) -> None:
        self._name = opts.name or "DeltaFIFO"
        self._logger = (opts.logger or klog.background()).with_name(self._name)
        self._key_func = checked_key_func(opts.key_function or meta_namespace_key_func)
        self._known_objects = opts.known_objects
        self._emit_delta_type_replaced = opts.emit_delta_type_replaced
        self._transformer = opts.transformer
        self._clock = opts.clock or clock.REAL_CLOCK

        # Guards the fields below. The condition is notified when an item is added and when the queue is closed.
        self._lock = threading.Lock()
        self._cond = threading.Condition(self._lock)
        # True while a thread waits on the condition and was not notified yet.
        self._waiting = False
        self._items: dict[str, Deltas] = {}
        self._queue: deque[str] = deque()
        self._initial = InitialPopulation()
        # Ends the wait in pop. Producers may still add.
        self._closed = False

    def close(self) -> None:
        """See Queue.close."""
        with self._lock:
            self._closed = True
            self._cond.notify_all()

    def key_of(self, obj: Any) -> str:
        """Return the key of an object, of a tombstone, or of the newest object of a Deltas.

        Raises KeyError for an empty Deltas, and any exception of the key function. Go: DeltaFIFO.KeyOf.
        """
        if isinstance(obj, Deltas):
            newest = obj.newest()
            if newest is None:
                raise CacheKeyError(obj, ErrZeroLengthDeltasObject())
            obj = newest.object
        if isinstance(obj, DeletedFinalStateUnknown):
            return obj.key
        return self._key_func(obj)

    def transformer(self) -> TransformFunc | None:
        """Return the transform function, for a Reflector that compares listed objects with stored ones."""
        return self._transformer

    def has_synced(self) -> bool:
        """See Queue.has_synced. Waits while an item is processed."""
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

    def add(self, obj: Any) -> None:
        """Queue an ADDED delta. Raises KeyError when `obj` has no key, and any exception of the transform function."""
        with self._lock:
            self._initial.begin()
            self._queue_action_locked(_ADDED, obj)

    def update(self, obj: Any) -> None:
        """Queue an UPDATED delta. Raises the same exceptions as `add`."""
        with self._lock:
            self._initial.begin()
            self._queue_action_locked(_UPDATED, obj)

    def delete(self, obj: Any) -> None:
        """Queue a DELETED delta of an object that is queued or known. Raises the same exceptions as `add`."""
        key = self._key_or_raise(obj)
        with self._lock:
            self._initial.begin()
            # The deletion of an unknown object was queued before, by a replace.
            if key in self._items or self._is_known(key):
                self._queue_action_locked(_DELETED, obj)

    def _is_known(self, key: str) -> bool:
        if self._known_objects is None:
            return False
        try:
            _, exists = self._known_objects.get_by_key(key)
        except Exception:
            return True  # a needless deletion does less harm than a missing one
        return exists

    def _key_or_raise(self, obj: Any) -> str:
        try:
            return self.key_of(obj)
        except Exception as err:
            raise CacheKeyError(obj, err) from err

    def _queue_action_locked(self, action_type: DeltaType, obj: Any) -> None:
        """Append a delta of the object, which is transformed unless it is a tombstone or known."""
        self._queue_action_internal_locked(action_type, action_type, obj)

    @hop("fifo.queue_delta", go="(*DeltaFIFO).queueActionInternalLocked")
    def _queue_action_internal_locked(self, action_type: DeltaType, internal_action_type: DeltaType, obj: Any) -> None:
        """Append a delta of type `action_type`; `internal_action_type` is its real type.

        The two differ for a replace whose deltas have the type SYNC, for a consumer that does not support REPLACED.
        """
        key = self._key_or_raise(obj)
        # The objects of a SYNC and of tombstones were transformed before.
        if (
            self._transformer is not None
            and internal_action_type is not _SYNC
            and not isinstance(obj, DeletedFinalStateUnknown)
        ):
            obj = self._transformer(obj)
        deltas = self._items.get(key)
        if deltas is None:
            self._items[key] = Deltas((Delta(action_type, obj),))
            self._queue.append(key)
        else:
            deltas.append(Delta(action_type, obj))
            _dedup_deltas(deltas)
        # A notification without a waiter would cost more than all of the above.
        if self._waiting:
            self._waiting = False
            self._cond.notify_all()

    def is_closed(self) -> bool:
        """Report whether `close` was called."""
        with self._lock:
            return self._closed

    @hop("fifo.pop", go="(*DeltaFIFO).Pop")
    def pop(self, process: PopProcessFunc) -> Deltas:
        """Wait for a key, call `process` with its Deltas, with the lock held, and return them; see Queue.pop.

        The Deltas belong to the caller. A change for which `process` raises is lost unless the caller adds it again.
        """
        with self._lock:
            while not self._queue:
                if self._closed:
                    raise ErrFIFOClosed
                self._waiting = True
                self._cond.wait()
            is_in_initial_list = not self._initial.synced.is_set()
            key = self._queue.popleft()
            deltas = self._items.pop(key)
            depth = len(self._queue)
            try:
                if depth <= _SLOW_POP_DEPTH:
                    process(deltas, is_in_initial_list)
                else:
                    self._process_and_trace(process, deltas, is_in_initial_list, key, depth)
            finally:
                # Not earlier: has_synced must not become true while the last item is being processed.
                self._initial.processed()
            return deltas

    def _process_and_trace(
        self, process: PopProcessFunc, deltas: Deltas, is_in_initial_list: bool, key: str, depth: int
    ) -> None:
        started = self._clock.now()
        try:
            process(deltas, is_in_initial_list)
        finally:
            if self._clock.since(started) >= _SLOW_POP_SECONDS:
                trace.new(
                    "DeltaFIFO Pop Process",
                    trace.Field("ID", key),
                    trace.Field("Depth", depth),
                    trace.Field("Reason", "slow event handlers blocking the queue"),
                    start_time=started,
                ).log_if_long(_SLOW_POP_SECONDS)

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """Queue a REPLACED (or SYNC) delta of each of `objs`, then a DELETED delta of each other queued or known key.

        A DELETED delta has a DeletedFinalStateUnknown with the newest queued state, or with the known state. It is
        dropped if the newest queued delta is a deletion already. Raises KeyError when an object has no key, ValueError
        when it cannot be transformed; the deltas before it stay queued.
        """
        with self._lock:
            action = _REPLACED if self._emit_delta_type_replaced else _SYNC
            keys = set()
            for obj in objs:
                keys.add(self._key_or_raise(obj))
                try:
                    self._queue_action_internal_locked(action, _REPLACED, obj)
                except Exception as err:
                    raise ValueError(f"couldn't enqueue object: {err}") from err
            tombstones = self._queued_but_gone(keys) + self._known_but_gone(keys)
            for tombstone in tombstones:
                self._queue_action_locked(_DELETED, tombstone)
            self._initial.begin(len(keys) + len(tombstones))

    def _queued_but_gone(self, listed: set[str]) -> list[DeletedFinalStateUnknown]:
        tombstones = []
        for key, deltas in self._items.items():
            if key in listed:
                continue
            obj = deltas[-1].object
            if isinstance(obj, DeletedFinalStateUnknown):
                obj = obj.obj
            tombstones.append(DeletedFinalStateUnknown(key, obj))
        return tombstones

    def _known_but_gone(self, listed: set[str]) -> list[DeletedFinalStateUnknown]:
        if self._known_objects is None:
            return []
        tombstones = []
        for key in self._known_objects.list_keys():
            if key in listed or key in self._items:
                continue
            obj = None
            try:
                obj, exists = self._known_objects.get_by_key(key)
                if not exists:
                    self._logger.info(
                        "Key does not exist in known objects store, "
                        "placing DeleteFinalStateUnknown marker without object",
                        key=key,
                    )
            except Exception as err:
                utilruntime.handle_error_with_logger(
                    self._logger,
                    err,
                    "Unexpected error during lookup, placing DeleteFinalStateUnknown marker without object",
                    key=key,
                )
            tombstones.append(DeletedFinalStateUnknown(key, obj))
        return tombstones

    @hop("fifo.resync_deltas", go="(*DeltaFIFO).Resync")
    def resync(self) -> None:
        """Queue a SYNC delta of each known object that has no queued delta."""
        with self._lock:
            if self._known_objects is None:
                return
            for key in self._known_objects.list_keys():
                self._sync_key_locked(key)

    def _sync_key_locked(self, key: str) -> None:
        assert self._known_objects is not None
        try:
            obj, exists = self._known_objects.get_by_key(key)
        except Exception as err:
            utilruntime.handle_error_with_logger(
                self._logger, err, "Unexpected error during lookup, unable to queue object for sync", key=key
            )
            return
        if not exists:
            self._logger.info("Key does not exist in known objects store, unable to queue object for sync", key=key)
            return
        # A queued state is newer than the known one, and a SYNC after it would bring the old state back.
        if self._key_or_raise(obj) in self._items:
            return
        try:
            self._queue_action_locked(_SYNC, obj)
        except Exception as err:
            raise ValueError(f"couldn't queue object: {err}") from err

    def _check(self) -> None:
        with self._lock:
            assert len(self._queue) == len(set(self._queue)), self._queue
            assert set(self._queue) == self._items.keys(), (self._queue, self._items.keys())
            for key, deltas in self._items.items():
                assert deltas, key
                for older, newer in pairwise(deltas):
                    assert not (older.type == newer.type == _DELETED), (key, deltas)
            self._initial._check()

    def __repr__(self) -> str:
        n_deltas = sum(map(len, list(self._items.values())))
        state = "closed" if self._closed else "open"
        return f"<{self._name} {len(self._items)} keys, {n_deltas} deltas, {self._initial!r}, {state}>"


TransformFunc = Callable[[Any], Any]
"""Changes an object before it is queued and cached. Go: TransformFunc.

Mostly used to drop fields that the program does not need, to save memory. It may change the object in place and return
it. It should be idempotent: a second call should change nothing. It runs with the queue's lock held and must be quick.
An object for which it raises is not queued, and an informer does not cache it: see `refused` of SharedInformer.
"""


class DeltaType(StrEnum):
    """The kind of a change. Go: DeltaType."""

    ADDED = "Added"
    UPDATED = "Updated"
    DELETED = "Deleted"
    REPLACED = "Replaced"
    """The object is in a new list; it may or may not have changed. Only queues with an option for it emit this type."""
    REPLACED_ALL = "ReplacedAll"
    """A new list of all objects, in one delta with a ReplacedAllInfo. Queues with atomic events emit it in place of
    REPLACED."""
    SYNC = "Sync"
    """No change: a resync of the object."""
    SYNC_ALL = "SyncAll"
    """No change: a resync of all objects, in one delta with a SyncAllInfo."""
    BOOKMARK = "Bookmark"
    """No change up to the version in a BookmarkInfo."""


# Looking up a member in its enum costs more than adding a delta.
_ADDED = DeltaType.ADDED
_UPDATED = DeltaType.UPDATED
_DELETED = DeltaType.DELETED
_REPLACED = DeltaType.REPLACED
_SYNC = DeltaType.SYNC


# A class with slots is faster than a NamedTuple, to create and to read: test/bench/cache/bench_structures.py.
@dataclass(slots=True)
class Delta:
    """A change of an object, and the state after it; the last state before a deletion. Go: Delta."""

    type: DeltaType
    object: Any


class Deltas(list[Delta]):
    """The changes of one object, oldest first. Go: Deltas."""

    __slots__ = ()

    def oldest(self) -> Delta | None:
        """Return the first delta; None if there is none."""
        return self[0] if self else None

    def newest(self) -> Delta | None:
        """Return the last delta; None if there is none."""
        return self[-1] if self else None

    def __repr__(self) -> str:
        return f"Deltas({super().__repr__()})"


def new_delta_fifo(key_func: KeyFunc | None, known_objects: KeyListerGetter | None) -> DeltaFIFO:
    """Return an empty DeltaFIFO whose replace queues SYNC deltas. Deprecated in Go: NewDeltaFIFO."""
    return new_delta_fifo_with_options(DeltaFIFOOptions(key_function=key_func, known_objects=known_objects))


def new_delta_fifo_with_options(opts: DeltaFIFOOptions) -> DeltaFIFO:
    """Return an empty DeltaFIFO. Go: NewDeltaFIFOWithOptions."""
    return DeltaFIFO(opts)


class ErrZeroLengthDeltasObject(Exception):
    """A Deltas without a delta has no key. Go: ErrZeroLengthDeltasObject."""

    def __init__(self, message: str = "0 length Deltas object; can't get key") -> None:
        super().__init__(message)


def _dedup_deltas(deltas: Deltas) -> None:
    """Replace the last two deltas by one if they are duplicates: list and watch may report a change twice."""
    if len(deltas) < 2:
        return
    kept = _is_dup(deltas[-1], deltas[-2])
    if kept is not None:
        deltas[-2:] = [kept]


def _is_dup(newer: Delta, older: Delta) -> Delta | None:
    """Return the delta to keep if the two are duplicates, else None. Only deletions are duplicates."""
    return _is_deletion_dup(newer, older)


def _is_deletion_dup(newer: Delta, older: Delta) -> Delta | None:
    """Return the deletion with more information if both are deletions, else None."""
    if newer.type is not _DELETED or older.type is not _DELETED:
        return None
    return newer if isinstance(older.object, DeletedFinalStateUnknown) else older


class KeyLister(Protocol):
    """An object that lists its keys. Go: KeyLister."""

    def list_keys(self) -> list[str]:
        """Return all keys."""
        ...


class KeyGetter(Protocol):
    """Looks up objects by key. Go: KeyGetter."""

    def get_by_key(self, key: str, /) -> tuple[Any, bool]:
        """Return (the object with that key, True), or (None, False)."""
        ...


class KeyListerGetter(KeyLister, KeyGetter, Protocol):
    """A KeyLister that looks up objects by key, like every Store. Go: KeyListerGetter."""


@dataclass(frozen=True, slots=True)
class DeletedFinalStateUnknown:
    """A tombstone: the deletion of an object that the watch missed. Go: DeletedFinalStateUnknown.

    `obj` is the last known state, which may be outdated; None if no state is known.
    """

    key: str
    obj: Any


def deletion_handling_meta_namespace_key_func(obj: Any) -> str:
    """Return the key of an object or of a tombstone. Go: DeletionHandlingMetaNamespaceKeyFunc, in controller.go.

    It is in this module because the reflector needs it, and controller.py imports the reflector.
    """
    # As in `meta_namespace_key_func`, nearly every call has an API object.
    if isinstance(obj, Identified):
        return obj.object_key()
    if isinstance(obj, DeletedFinalStateUnknown):
        return obj.key
    return meta_namespace_key_func(obj)
