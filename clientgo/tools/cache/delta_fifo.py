"""DeltaFIFO, the queue that collects what happened to each object until somebody comes to process it.

Mirrors tools/cache/delta_fifo.go. It is what every walkthrough draws between Reflector and Indexer. Since client-go
v0.33 informers use RealFIFO instead; switch the gate InOrderInformers off to see this one at work.

Differs from Go in `pop`: an error of the process function is raised as it is, and what was popped is what that function
was called with. Of the errors that Go marks as impossible nothing is left but the assertions of `_check`.
"""

from __future__ import annotations

import sys
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
from clientgo.tools.cache import inspection
from clientgo.tools.cache.beyond.initial_population import InitialPopulation
from clientgo.tools.cache.fifo import ErrFIFOClosed, PopProcessFunc
from clientgo.tools.cache.store import KeyError, KeyFunc, meta_namespace_key_func
from clientgo.utils import clock, trace
from clientgo.utils.snapshot import in_one_go

if TYPE_CHECKING:
    from clientgo.tools.cache.shared_informer import DoneChecker

# A pop that takes long is worth a line in the log when more items than this are waiting behind it.
_SLOW_POP_DEPTH = 10
_SLOW_POP_SECONDS = 0.1


@dataclass(kw_only=True, slots=True)
class DeltaFIFOOptions:
    """What a DeltaFIFO may be given; everything is optional. Go: DeltaFIFOOptions."""

    logger: klog.Logger | None = None
    """Where to log; klog.background() by default. The queue's name is added to it."""

    name: str = ""
    """The queue's name, "DeltaFIFO" by default."""

    key_function: KeyFunc | None = None
    """Makes the keys, `meta_namespace_key_func` by default. `DeltaFIFO.key_of` calls it, and knows tombstones."""

    known_objects: KeyListerGetter | None = None
    """What the consumer knows already: a replace makes deletions for those of them that are gone, a resync repeats
    them. Without it a replace only makes deletions for what is still in the queue, and a resync does nothing."""

    emit_delta_type_replaced: bool = False
    """Whether a replace gives deltas of type REPLACED, which the consumer must know then; of type SYNC otherwise."""

    transformer: TransformFunc | None = None
    """Called with every object before it is queued; see TransformFunc."""

    clock: clock.PassiveClock | None = None
    """Tells how long a pop takes; the real one by default. Beyond Go."""


class DeltaFIFO:
    """A queue of the objects to process, each with all that happened to it since it was last processed. Go: DeltaFIFO.

    It is for a consumer that wants to

    * process each change at most once,
    * see everything that happened to an object since it last looked at it,
    * process the deletion of objects too, and
    * be given every object again now and then.

    An object is known by its key. Whatever happens to it is appended to its Deltas, with one exception: of a deletion
    after a deletion only the one that knows the object's final state is kept. A key waits in the place of its oldest
    delta.

    The `known_objects` are what the consumer holds, normally its indexer. `delete` reports only objects that are known
    or queued; `replace` reports as deleted what is known or queued and not listed; `resync` repeats what is known.

    Any number of threads may produce. `pop` runs the process function under the queue's lock: it may change
    `known_objects` and whatever else must stay in step with the queue, and must not call the queue. Several consumers
    may end up processing two versions of one object at the same time.

    Invariants (`_check` asserts them):
      * queue and items hold the same keys, and queue holds none twice
      * no Deltas is empty, and none has two deletions in a row
      * those of InitialPopulation
    """

    def __init__(self, opts: DeltaFIFOOptions) -> None:
        self._name = opts.name or "DeltaFIFO"
        self._logger = (opts.logger or klog.background()).with_name(self._name)
        self._key_func = opts.key_function or meta_namespace_key_func
        self._known_objects = opts.known_objects
        self._emit_delta_type_replaced = opts.emit_delta_type_replaced
        self._transformer = opts.transformer
        self._clock = opts.clock or clock.REAL_CLOCK

        # Guards all below; the condition tells that something came or the queue was closed.
        self._lock = threading.Lock()
        self._cond = threading.Condition(self._lock)
        # Whether a thread waits on the condition and nobody has woken it yet.
        self._waiting = False
        self._items: dict[str, Deltas] = {}
        self._queue: deque[str] = deque()
        self._initial = InitialPopulation()
        # Only ends the waiting in pop; producers may go on.
        self._closed = False

    def close(self) -> None:
        """See Queue.close."""
        with self._lock:
            self._closed = True
            self._cond.notify_all()

    def key_of(self, obj: Any) -> str:
        """The key of an object, of a tombstone, or of the newest object of a Deltas.

        Raises KeyError for an empty Deltas, otherwise whatever the key function raises. Go: DeltaFIFO.KeyOf.
        """
        if isinstance(obj, Deltas):
            newest = obj.newest()
            if newest is None:
                raise KeyError(obj, ErrZeroLengthDeltasObject())
            obj = newest.object
        if isinstance(obj, DeletedFinalStateUnknown):
            return obj.key
        return self._key_func(obj)

    def transformer(self) -> TransformFunc | None:
        """The transform function it was given, for a Reflector that must compare with what it stores."""
        return self._transformer

    def has_synced(self) -> bool:
        """See Queue.has_synced. Waits while an item is being processed."""
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

    def add(self, obj: Any) -> None:
        """Queue an ADDED delta. Raises KeyError when `obj` has no key, and whatever the transform function raises."""
        with self._lock:
            self._initial.begin()
            self._queue_action_locked(_ADDED, obj)

    def update(self, obj: Any) -> None:
        """Queue an UPDATED delta; raises as `add` does."""
        with self._lock:
            self._initial.begin()
            self._queue_action_locked(_UPDATED, obj)

    def delete(self, obj: Any) -> None:
        """Queue a DELETED delta, unless neither the queue nor the known objects know the key; raises as `add` does."""
        key = self._key_or_raise(obj)
        with self._lock:
            self._initial.begin()
            # An object that nobody knows was reported as deleted already, by a replace.
            if key in self._items or self._is_known(key):
                self._queue_action_locked(_DELETED, obj)

    def _is_known(self, key: str) -> bool:
        if self._known_objects is None:
            return False
        try:
            _, exists = self._known_objects.get_by_key(key)
        except Exception:
            return True  # cannot be told: rather report a deletion too many
        return exists

    def _key_or_raise(self, obj: Any) -> str:
        try:
            return self.key_of(obj)
        except Exception as err:
            raise KeyError(obj, err) from err

    def _queue_action_locked(self, action_type: DeltaType, obj: Any) -> None:
        """Append to the Deltas of the object, transformed unless it is a tombstone or known already."""
        self._queue_action_internal_locked(action_type, action_type, obj)

    @hop("fifo.queue_delta", go="(*DeltaFIFO).queueActionInternalLocked")
    def _queue_action_internal_locked(self, action_type: DeltaType, internal_action_type: DeltaType, obj: Any) -> None:
        """Append a delta of type `action_type`; `internal_action_type` tells what it really is.

        The two differ where a replace has to call itself a sync, for consumers that do not know REPLACED.
        """
        key = self._key_or_raise(obj)
        # Every object comes through here exactly once, except for those of a SYNC and in tombstones, which did before.
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
        # Waking nobody would cost more than all of the above.
        if self._waiting:
            self._waiting = False
            self._cond.notify_all()

    def is_closed(self) -> bool:
        """Whether `close` was called."""
        with self._lock:
            return self._closed

    @hop("fifo.pop", go="(*DeltaFIFO).Pop")
    def pop(self, process: PopProcessFunc) -> Deltas:
        """Wait for a key, call `process` with its Deltas under the lock, and return them; see Queue.pop.

        The Deltas belong to the caller. A change that `process` fails on is lost unless the caller adds it again.
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
                # Only now: nobody shall learn that the first batch is through while its last item is being processed.
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
        """Queue a REPLACED (or SYNC) delta for each of `objs`, then a DELETED one for each other key.

        Those are the keys that are queued, unless their newest delta is a deletion already, and the known ones. Their
        object is a DeletedFinalStateUnknown with the newest queued state, or the known one. Raises KeyError when an
        object has no key, ValueError when it cannot be transformed; what was queued until then stays queued.
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
        """Queue a SYNC delta for each known object for which nothing is queued."""
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
        # What is queued is newer than what is known: a SYNC behind it would take the consumer back.
        if self._key_or_raise(obj) in self._items:
            return
        try:
            self._queue_action_locked(_SYNC, obj)
        except Exception as err:
            raise ValueError(f"couldn't queue object: {err}") from err

    def statistics(self) -> inspection.FIFOStatistics:
        """How full it is. O(n). May wait for what is being processed. Beyond Go."""
        with self._lock:
            deltas = sum(map(len, self._items.values()))
            return inspection.FIFOStatistics(len(self._items), deltas, self._initial.left, self._closed)

    def contents(self, most: int = sys.maxsize) -> inspection.FIFOContents:
        """What is queued, key by key, or the first so many. O(n).

        Takes no lock, so that one can look at a queue that is stuck. Beyond Go.
        """
        items, queue = dict(self._items), in_one_go(lambda: tuple(self._queue), self._lock)
        deltas = tuple((key, tuple(items.get(key, ()))) for key in queue[:most])
        return inspection.FIFOContents(deltas, self._initial.left, self._initial.synced.is_set(), len(queue))

    def peek(self, key: str) -> tuple[Delta, ...]:
        """What is queued of one key. Takes no lock, as `contents`. Beyond Go."""
        return tuple(self._items.get(key, ()))

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
"""Changes an object before anybody else sees it. Go: TransformFunc.

Mostly used to drop what nobody needs, to save memory. It may change the object in place and return it. It should be
idempotent: applied to an object that came out of it once, it should change nothing. It runs while a queue is locked and
must be quick. What it raises keeps the object out of the queue; of an informer's, it keeps it out of the cache: see
`refused` of SharedInformer.
"""


class DeltaType(StrEnum):
    """What happened to an object. Go: DeltaType."""

    ADDED = "Added"
    UPDATED = "Updated"
    DELETED = "Deleted"
    REPLACED = "Replaced"
    """It is in a new list of everything; nobody knows whether it has changed. Comes only from queues that were told
    that their consumer knows it."""
    REPLACED_ALL = "ReplacedAll"
    """There is a new list of everything, in one delta with a ReplacedAllInfo. Comes instead of REPLACED from queues
    whose events are atomic."""
    SYNC = "Sync"
    """Nothing: it is time to look at it again."""
    SYNC_ALL = "SyncAll"
    """Nothing: it is time to look at everything again, in one delta with a SyncAllInfo."""
    BOOKMARK = "Bookmark"
    """No object has changed up to the version in a BookmarkInfo."""


# Looking a member up in its enum costs more than queueing it.
_ADDED = DeltaType.ADDED
_UPDATED = DeltaType.UPDATED
_DELETED = DeltaType.DELETED
_REPLACED = DeltaType.REPLACED
_SYNC = DeltaType.SYNC


# Slots and no NamedTuple: made twice as fast, read twice as fast (measured on Python 3.11).
@dataclass(slots=True)
class Delta:
    """What happened to an object, and its state after that; for a deletion the last one before. Go: Delta."""

    type: DeltaType
    object: Any


class Deltas(list[Delta]):
    """What happened to one object, oldest first. Go: Deltas."""

    __slots__ = ()

    def oldest(self) -> Delta | None:
        """The first delta, None when there is none."""
        return self[0] if self else None

    def newest(self) -> Delta | None:
        """The last delta, None when there is none."""
        return self[-1] if self else None

    def __repr__(self) -> str:
        return f"Deltas({super().__repr__()})"


def new_delta_fifo(key_func: KeyFunc | None, known_objects: KeyListerGetter | None) -> DeltaFIFO:
    """An empty DeltaFIFO whose replace gives SYNC deltas. Deprecated in Go: NewDeltaFIFO."""
    return new_delta_fifo_with_options(DeltaFIFOOptions(key_function=key_func, known_objects=known_objects))


def new_delta_fifo_with_options(opts: DeltaFIFOOptions) -> DeltaFIFO:
    """An empty DeltaFIFO. Go: NewDeltaFIFOWithOptions."""
    return DeltaFIFO(opts)


class ErrZeroLengthDeltasObject(Exception):
    """A Deltas without a delta has no key. Go: ErrZeroLengthDeltasObject."""

    def __init__(self, message: str = "0 length Deltas object; can't get key") -> None:
        super().__init__(message)


def _dedup_deltas(deltas: Deltas) -> None:
    """Make one of the last two deltas if they say the same: list and watch may report a change twice."""
    if len(deltas) < 2:
        return
    kept = _is_dup(deltas[-1], deltas[-2])
    if kept is not None:
        deltas[-2:] = [kept]


def _is_dup(newer: Delta, older: Delta) -> Delta | None:
    """The one to keep if both say the same, None otherwise. Only deletions are ever the same."""
    return _is_deletion_dup(newer, older)


def _is_deletion_dup(newer: Delta, older: Delta) -> Delta | None:
    """The one that knows more if both are deletions, None otherwise."""
    if newer.type is not _DELETED or older.type is not _DELETED:
        return None
    return newer if isinstance(older.object, DeletedFinalStateUnknown) else older


class KeyLister(Protocol):
    """Knows its keys. Go: KeyLister."""

    def list_keys(self) -> list[str]:
        """All keys."""
        ...


class KeyGetter(Protocol):
    """Can look up by key. Go: KeyGetter."""

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        """(the object under `key`, True), or (None, False)."""
        ...


class KeyListerGetter(KeyLister, KeyGetter, Protocol):
    """Knows its keys and can look up by them, as every Store does. Go: KeyListerGetter."""


@dataclass(frozen=True, slots=True)
class DeletedFinalStateUnknown:
    """A tombstone: the object was deleted while nobody watched. Go: DeletedFinalStateUnknown.

    `obj` is its last known state, which may be old; None when not even that is known.
    """

    key: str
    obj: Any


def deletion_handling_meta_namespace_key_func(obj: Any) -> str:
    """`meta_namespace_key_func` that knows tombstones. Go: DeletionHandlingMetaNamespaceKeyFunc, in controller.go.

    It stands here for the reflector, which the controller builds on.
    """
    # As in `meta_namespace_key_func`: nearly every call brings an API object.
    if isinstance(obj, Identified):
        return obj.object_key()
    if isinstance(obj, DeletedFinalStateUnknown):
        return obj.key
    return meta_namespace_key_func(obj)
