"""Queues, as the pipeline between Reflector and store sees them, and the simplest one.

Mirrors tools/cache/fifo.go. Informers use RealFIFO or DeltaFIFO; FIFO keeps only the newest object of each key.

Differs from Go in `pop`: an error of the process function is raised as it is, and what was popped is what that function
was called with.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from clientgo.golang.channel import Done
from clientgo.tools.cache import inspection
from clientgo.tools.cache.beyond.initial_population import InitialPopulation
from clientgo.tools.cache.store import KeyError, KeyFunc

if TYPE_CHECKING:
    from clientgo.tools.cache.controller import ProcessBatchFunc
    from clientgo.tools.cache.shared_informer import DoneChecker

PopProcessFunc = Callable[[Any, bool], None]
"""Processes what was popped; the second argument tells whether it belongs to the initial list. Go: PopProcessFunc."""


class ErrFIFOClosed(Exception):
    """The queue is closed and empty: there will be nothing to pop any more. Go: ErrFIFOClosed."""

    def __init__(self, message: str = "DeltaFIFO: manipulating with closed queue") -> None:
        super().__init__(message)


class Queue(Protocol):
    """What a Reflector fills and a controller empties. Go: Queue.

    Producers may be many threads; the consumer should be one, since several would process several versions of one
    object at the same time. The first five methods are those of Go's ReflectorStore.
    """

    def add(self, obj: Any) -> None:
        """Queue that `obj` was added. Never blocks for a consumer. Raises KeyError when it has no key."""
        ...

    def update(self, obj: Any) -> None:
        """Queue that `obj` was changed. Never blocks for a consumer. Raises KeyError when it has no key."""
        ...

    def delete(self, obj: Any) -> None:
        """Queue that `obj` was deleted. Never blocks for a consumer. Raises KeyError when it has no key."""
        ...

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """Queue that `objs` is all there is now."""
        ...

    def resync(self) -> None:
        """Queue everything known once more."""
        ...

    def pop(self, process: PopProcessFunc) -> Any:
        """Wait for something to process, take it out, call `process` with it, and return it.

        Blocks until there is something or the queue is closed and empty; then it raises ErrFIFOClosed. Whatever
        `process` raises is raised on; the item is out of the queue also then.
        """
        ...

    def has_synced(self) -> bool:
        """Whether the first batch was popped: that of the first `replace`, or nothing if something else came first."""
        ...

    def has_synced_checker(self) -> DoneChecker:
        """The same to wait for without polling."""
        ...

    def close(self) -> None:
        """Let `pop` raise ErrFIFOClosed once the queue is empty, also in threads that wait in it now."""
        ...


@runtime_checkable
class QueueWithBatch(Queue, Protocol):
    """A Queue that can hand out several items at once. Go: QueueWithBatch."""

    def pop_batch(self, process_batch: ProcessBatchFunc, process_single: PopProcessFunc) -> None:
        """Like `pop`, for as many items as go together.

        Calls `process_batch` with several deltas, or `process_single` when there is only one; both must do the same.
        """
        ...


class FIFO:
    """A queue that holds the newest object of each key, in the order in which the keys came. Go: FIFO.

    For a consumer that wants each object once, in its newest version, and does not care for deleted ones. An object
    changed while it waits keeps its place; an object deleted while it waits is not handed out.

    `process` runs under the queue's lock: it may change what must stay in step with the queue, and must not call it.

    Invariants (`_check` asserts them):
      * every key of items is in queue, and no key is in queue twice unless it was deleted and added again meanwhile
    """

    def __init__(self, key_func: KeyFunc) -> None:
        self._key_func = key_func
        # Guards all below; the condition tells that something came or the queue was closed.
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
        """The queue itself: its `done` is set when `has_synced` becomes true."""
        return self

    def name(self) -> str:
        """The name of what is waited for: "FIFO"."""
        return "FIFO"

    def done(self) -> Done:
        """Set when `has_synced` becomes true."""
        return self._initial.synced

    def add(self, obj: Any) -> None:
        """Queue `obj`, or put it in place of what waits under its key. Raises KeyError when it has none."""
        key = self._key_of(obj)
        with self._lock:
            self._initial.begin()
            if key not in self._items:
                self._queue.append(key)
            self._items[key] = obj
            self._wake_locked()

    def update(self, obj: Any) -> None:
        """The same as `add`."""
        self.add(obj)

    def delete(self, obj: Any) -> None:
        """Drop what waits under the key of `obj`. Raises KeyError when it has none."""
        key = self._key_of(obj)
        with self._lock:
            self._initial.begin()
            self._items.pop(key, None)

    def is_closed(self) -> bool:
        """Whether `close` was called."""
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
                # Only now: has_synced must not turn true while the last object is still being processed.
                self._initial.processed(taken)

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """Drop what waits and queue `objs` instead. Raises KeyError, changing nothing, when one has no key."""
        items = {self._key_of(obj): obj for obj in objs}
        with self._lock:
            self._initial.begin(len(items))
            self._items = items
            self._queue = deque(items)
            if items:
                self._wake_locked()

    def resync(self) -> None:
        """Queue every key of items that is not queued; there should be none."""
        with self._lock:
            queued = set(self._queue)
            self._queue.extend(key for key in self._items if key not in queued)
            if self._queue:
                self._wake_locked()

    def _key_of(self, obj: Any) -> str:
        try:
            return self._key_func(obj)
        except Exception as err:
            raise KeyError(obj, err) from err

    def _wait_locked(self) -> None:
        self._waiting = True
        self._cond.wait()

    def _wake_locked(self) -> None:
        # Waking nobody costs as much as queueing an item does.
        if self._waiting:
            self._waiting = False
            self._cond.notify_all()

    def statistics(self) -> inspection.FIFOStatistics:
        """How full it is. O(1). May wait for what is being processed. Beyond Go."""
        with self._lock:
            return inspection.FIFOStatistics(len(self._items), len(self._items), self._initial.left, self._closed)

    def _check(self) -> None:
        with self._lock:
            assert self._items.keys() <= set(self._queue), (self._items.keys(), self._queue)
            self._initial._check()

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<FIFO {len(self._items)} objects, {self._initial!r}, {state}>"


def new_fifo(key_func: KeyFunc) -> FIFO:
    """An empty FIFO. Go: NewFIFO."""
    return FIFO(key_func)
