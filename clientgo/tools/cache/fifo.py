"""Queues, as the pipeline between Reflector and store sees them, and the simplest one.

Mirrors tools/cache/fifo.go. Informers use RealFIFO or DeltaFIFO; FIFO keeps only the newest object of each key.

Differs from Go: `pop` raises an exception of the process function unchanged, and returns the argument of that function.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from clientgo.golang.channel import Done
from clientgo.tools.cache.beyond.initial_population import InitialPopulation
from clientgo.tools.cache.beyond.inspection import InspectableFIFO
from clientgo.tools.cache.store import KeyError as CacheKeyError
from clientgo.tools.cache.store import KeyFunc, checked_key_func

if TYPE_CHECKING:
    from clientgo.tools.cache.controller import ProcessBatchFunc
    from clientgo.tools.cache.shared_informer import DoneChecker

PopProcessFunc = Callable[[Any, bool], None]
"""Processes a popped item; the second argument is True for an item of the initial list. Go: PopProcessFunc."""


class ErrFIFOClosed(Exception):
    """The queue is closed and empty. Go: ErrFIFOClosed."""

    def __init__(self, message: str = "DeltaFIFO: manipulating with closed queue") -> None:
        super().__init__(message)


class Queue(Protocol):
    """A queue that a Reflector fills and a controller empties. Go: Queue.

    Any number of threads may produce. Only one should consume, since several might process two versions of an object
    at the same time. The first five methods are those of Go's ReflectorStore.
    """

    def add(self, obj: Any, /) -> None:
        """Queue the addition of `obj`. Never waits for a consumer. Raises KeyError when it has no key."""
        ...

    def update(self, obj: Any, /) -> None:
        """Queue the change of `obj`. Never waits for a consumer. Raises KeyError when it has no key."""
        ...

    def delete(self, obj: Any, /) -> None:
        """Queue the deletion of `obj`. Never waits for a consumer. Raises KeyError when it has no key."""
        ...

    def replace(self, objs: Sequence[Any], resource_version: str, /) -> None:
        """Queue a new list of all objects."""
        ...

    def resync(self) -> None:
        """Queue all known objects again."""
        ...

    def pop(self, process: PopProcessFunc, /) -> Any:
        """Wait for an item, remove it, call `process` with it, and return it.

        Blocks until there is an item. Raises ErrFIFOClosed once the queue is closed and empty. Raises any exception of
        `process`; the item is removed then too.
        """
        ...

    def has_synced(self) -> bool:
        """Report whether the first batch was popped: the first `replace`, or none if another change came first."""
        ...

    def has_synced_checker(self) -> DoneChecker:
        """Return a checker for `wait_for` that is done when `has_synced` becomes true."""
        ...

    def close(self) -> None:
        """Make `pop` raise ErrFIFOClosed once the queue is empty, also in a thread that waits in it."""
        ...


@runtime_checkable
class QueueWithBatch(Queue, Protocol):
    """A Queue that pops several items at once. Go: QueueWithBatch."""

    def pop_batch(self, process_batch: ProcessBatchFunc, process_single: PopProcessFunc, /) -> None:
        """Wait for items and remove as many as can be processed together; otherwise like `pop`.

        Calls `process_batch` with several deltas, or `process_single` with one; both must have the same effect.
        """
        ...


class FIFO(InspectableFIFO):
    """A queue of the newest object of each key, in the order in which the keys were added. Go: FIFO.

    For a consumer that processes each object once, in its newest version, and ignores deletions. An object that changes
    while it waits keeps its place. An object that is deleted while it waits is dropped.

    `process` runs with the queue's lock held: it may change data that must agree with the queue, and must not call the
    queue.

    Invariant (`_check` asserts it): every key of `_items` is in `_queue`, and no key is in it twice unless it was
    deleted and added again meanwhile.
    """

    def __init__(self, key_func: KeyFunc) -> None:
        self._key_func = checked_key_func(key_func)
        # Guards the fields below. The condition is notified when an item is added and when the queue is closed.
        self._lock = threading.Lock()
        self._cond = threading.Condition(self._lock)
        self._waiting = False
        self._items: dict[str, Any] = {}
        self._queue: deque[str] = deque()
        self._initial = InitialPopulation()
        self._closed = False

    def close(self) -> None:
        """See Queue.close."""
        with self._lock:
            self._closed = True
            self._cond.notify_all()

    def has_synced(self) -> bool:
        """See Queue.has_synced."""
        with self._lock:
            return self._initial.synced.is_set()

    def has_synced_checker(self) -> DoneChecker:
        """Return the queue itself: its `done` is set when `has_synced` becomes true."""
        return self

    def name(self) -> str:
        """Return "FIFO"."""
        return "FIFO"

    def done(self) -> Done:
        """Return a signal that is set when `has_synced` becomes true."""
        return self._initial.synced

    def add(self, obj: Any) -> None:
        """Queue `obj`, or replace the waiting object with its key. Raises KeyError when it has none."""
        key = self._key_of(obj)
        with self._lock:
            self._initial.begin()
            if key not in self._items:
                self._queue.append(key)
            self._items[key] = obj
            self._wake_locked()

    def update(self, obj: Any) -> None:
        """Queue `obj`; see `add`."""
        self.add(obj)

    def delete(self, obj: Any) -> None:
        """Drop the waiting object with the key of `obj`. Raises KeyError when it has none."""
        key = self._key_of(obj)
        with self._lock:
            self._initial.begin()
            self._items.pop(key, None)

    def is_closed(self) -> bool:
        """Report whether `close` was called."""
        with self._lock:
            return self._closed

    def pop(self, process: PopProcessFunc) -> Any:
        """See Queue.pop; `process` is called with the object."""
        with self._lock:
            taken = 0
            try:
                while True:
                    while not self._queue:
                        if self._closed:
                            raise ErrFIFOClosed
                        self._wait_locked()
                    is_in_initial_list = not self._initial.synced.is_set()
                    key = self._queue.popleft()
                    taken += 1
                    if key not in self._items:
                        continue  # deleted while it waited
                    obj = self._items.pop(key)
                    process(obj, is_in_initial_list)
                    return obj
            finally:
                # Not earlier: has_synced must not become true while the last object is being processed.
                self._initial.processed(taken)

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """Replace all waiting objects by `objs`. Raises KeyError, without a change, when an object has no key."""
        items = {self._key_of(obj): obj for obj in objs}
        with self._lock:
            self._initial.begin(len(items))
            self._items = items
            self._queue = deque(items)
            if items:
                self._wake_locked()

    def resync(self) -> None:
        """Queue every key of `_items` that is not queued; there should be none."""
        with self._lock:
            queued = set(self._queue)
            self._queue.extend(key for key in self._items if key not in queued)
            if self._queue:
                self._wake_locked()

    def _key_of(self, obj: Any) -> str:
        try:
            return self._key_func(obj)
        except Exception as err:
            raise CacheKeyError(obj, err) from err

    def _wait_locked(self) -> None:
        self._waiting = True
        self._cond.wait()

    def _wake_locked(self) -> None:
        # A notification without a waiter costs as much as adding an item.
        if self._waiting:
            self._waiting = False
            self._cond.notify_all()

    def _check(self) -> None:
        with self._lock:
            assert self._items.keys() <= set(self._queue), (self._items.keys(), self._queue)
            self._initial._check()

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<FIFO {len(self._items)} objects, {self._initial!r}, {state}>"


def new_fifo(key_func: KeyFunc) -> FIFO:
    """Return an empty FIFO. Go: NewFIFO."""
    return FIFO(key_func)
