"""A work queue that only accepts and returns items of this replica. Not in Go.

It connects the sharder with handlers, queue and workers without a change in any of them: it does not queue items of
other replicas, it drops queued items that belong to another replica by now, and it keeps a shard while a worker
processes one of its items.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from clientgo.tools.sharding.sharder import Sharder
from clientgo.util import workqueue
from clientgo.util.workqueue.beyond.inspection import name_of
from clientgo.util.workqueue.beyond.unhashable import check_hashable

__all__ = ["PrioritizedQueue", "ShardedPriorityQueue", "ShardedQueue"]

T = TypeVar("T")


class ShardedQueue(workqueue.TypedRateLimitingInterface[T], Generic[T]):
    """A rate limited queue in front of another. Thread-safe; blocks as the other does.

    Invariant (`_check` asserts it): the shard of every item in progress is held.
    """

    def __init__(
        self,
        queue: workqueue.TypedRateLimitingInterface[T],
        sharder: Sharder,
        name_of: Callable[[T], tuple[str, str]],
    ) -> None:
        """Wrap a queue. `name_of` returns the namespace and name of an item."""
        self._queue = queue
        self._sharder = sharder
        self._name_of = name_of
        # Guards _out.
        self._lock = threading.Lock()
        # Ends the work on each item in progress.
        self._out: dict[T, contextlib.ExitStack] = {}

    def __repr__(self) -> str:
        return f"<ShardedQueue before {self._queue!r}, {len(self._out)} out>"

    def _check(self) -> None:
        with self._lock:
            assert self._sharder.statistics().working >= len(self._out)

    def name(self) -> str:
        """Return the name of the queue behind this one; "" without one."""
        return name_of(self._queue)

    def add(self, item: T) -> None:
        """Queue the item if this replica owns it."""
        if self._owns(item):
            self._queue.add(item)

    def add_after(self, item: T, duration: float) -> None:
        """Queue the item after `duration` seconds, if this replica owns it when the method is called."""
        if self._owns(item):
            self._queue.add_after(item, duration)

    def add_rate_limited(self, item: T) -> None:
        """Queue the item after the rate limiter's delay, if this replica owns it when the method is called."""
        if self._owns(item):
            self._queue.add_rate_limited(item)

    def _owns(self, item: T) -> bool:
        """Report whether this replica owns the item. Raises TypeError for an unhashable item."""
        # `name_of` expects keys: its error for an object would not explain the solution.
        check_hashable(item)
        return self._sharder.owns(*self._name_of(item))

    def get(self) -> tuple[T, bool]:
        """Return the next item that this replica owns. Blocks. Call `done` afterwards."""
        while True:
            item, shutdown = self._queue.get()
            if shutdown or self._begin(item):
                return item, shutdown

    def _begin(self, item: T) -> bool:
        """Begin the work on an item from the queue. Returns False and drops it if this replica does not own it any
        more.
        """
        work = contextlib.ExitStack()
        if work.enter_context(self._sharder.working_on(*self._name_of(item))):
            with self._lock:
                self._out[item] = work
            return True
        self._queue.forget(item)
        self._queue.done(item)
        return False

    def done(self, item: T) -> None:
        """End the work on the item."""
        check_hashable(item)
        with self._lock:
            work = self._out.pop(item, None)
        self._queue.done(item)
        if work is not None:
            work.close()

    def forget(self, item: T) -> None:
        self._queue.forget(item)

    def num_requeues(self, item: T) -> int:
        return self._queue.num_requeues(item)

    def len(self) -> int:
        return self._queue.len()

    def shut_down(self) -> None:
        self._queue.shut_down()

    def shut_down_with_drain(self) -> None:
        self._queue.shut_down_with_drain()

    def shutting_down(self) -> bool:
        return self._queue.shutting_down()


class PrioritizedQueue(workqueue.TypedRateLimitingInterface[T], Protocol[T]):
    """A rate limited queue with priorities, such as workqueue.PriorityQueue and controller-runtime's queue."""

    def add_with_opts(self, o: workqueue.AddOpts, /, *items: T) -> None:
        """Add items with a priority, after a delay or rate limited."""
        ...

    def get_with_priority(self) -> tuple[T, int, bool]:
        """Return the next item with its priority, as `get` does."""
        ...


class ShardedPriorityQueue(ShardedQueue[T]):
    """A ShardedQueue with priorities. Can be used where controller-runtime needs a PriorityQueue."""

    def __init__(
        self, queue: PrioritizedQueue[T], sharder: Sharder, name_of: Callable[[T], tuple[str, str]]
    ) -> None:
        """Create the queue; see ShardedQueue."""
        super().__init__(queue, sharder, name_of)
        self._prioritized = queue

    def add_with_opts(self, o: workqueue.AddOpts, /, *items: T) -> None:
        """Queue the items that this replica owns now."""
        for item in items:
            if self._owns(item):
                self._prioritized.add_with_opts(o, item)

    def get_with_priority(self) -> tuple[T, int, bool]:
        """Return the next item that this replica owns, with its priority. Blocks."""
        while True:
            item, priority, shutdown = self._prioritized.get_with_priority()
            if shutdown or self._begin(item):
                return item, priority, shutdown
