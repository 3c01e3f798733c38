"""A work queue that can add items after a delay. Mirrors util/workqueue/delaying_queue.go.

In Go one goroutine owns the heap of waiting items and receives new ones through a channel of capacity 1000. Here the
caller pushes the item on the heap under a lock, and one thread adds the items that are due. A channel would cost a
thread switch per item and would block the callers of a busy queue. The thread's Condition is notified only when a new
item becomes the earliest, so adding 100,000 items rarely wakes the thread. Go's heartbeat of ten seconds is not needed
without the channel. Differs from Go: shutdown waits for the thread to end.
"""

from __future__ import annotations

import heapq
import math
import threading
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import count
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from clientgo import klog
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.golang.time import require_seconds
from clientgo.hops import hop
from clientgo.util.workqueue.beyond.inspection import InspectableDelayingQueue
from clientgo.util.workqueue.beyond.unhashable import check_hashable
from clientgo.util.workqueue.metrics import MetricsProvider, _new_retry_metrics
from clientgo.util.workqueue.queue import (
    Interface,
    TypedInterface,
    TypedQueueConfig,
    new_typed_with_config,
)
from clientgo.utils.clock import REAL_CLOCK, RESOLUTION, WithTicker

__all__ = [
    "DelayingInterface",
    "DelayingQueueConfig",
    "TypedDelayingInterface",
    "TypedDelayingQueueConfig",
    "new_delaying_queue",
    "new_delaying_queue_with_config",
    "new_delaying_queue_with_custom_clock",
    "new_delaying_queue_with_custom_queue",
    "new_named_delaying_queue",
    "new_typed_delaying_queue",
    "new_typed_delaying_queue_with_config",
    "typed_new_delaying_queue",
]

T = TypeVar("T", bound=Hashable)


class TypedDelayingInterface(TypedInterface[T], Protocol[T]):
    """A queue that can add an item after a delay, so that a failed item is not retried in a hot loop.

    Go: workqueue.TypedDelayingInterface.
    """

    def add_after(self, item: T, duration: float, /) -> None:
        """Add `item` after `duration` seconds; immediately if `duration` is not positive. Never blocks."""
        ...


DelayingInterface: TypeAlias = TypedDelayingInterface[Any]
"""Deprecated: use TypedDelayingInterface."""


@dataclass(kw_only=True)
class TypedDelayingQueueConfig(Generic[T]):
    """Options of a delaying queue. Go: workqueue.TypedDelayingQueueConfig."""

    logger: klog.Logger | None = None
    """Logs errors of the queue's thread. The queue's name is not added to it."""
    name: str = ""
    """A queue without a name reports no metrics."""
    metrics_provider: MetricsProvider | None = None
    """Replaces the provider passed to `set_provider`."""
    clock: WithTicker | None = None
    """The queue's clock; None selects the real clock."""
    queue: TypedInterface[T] | None = None
    """The queue that receives items when they are due; None creates a `Typed`."""


DelayingQueueConfig: TypeAlias = TypedDelayingQueueConfig[Any]
"""Deprecated: use TypedDelayingQueueConfig."""


def new_delaying_queue() -> DelayingInterface:
    """Deprecated: use new_typed_delaying_queue."""
    return new_delaying_queue_with_config(DelayingQueueConfig())


def new_typed_delaying_queue() -> TypedDelayingInterface[Any]:
    """Return a delaying queue without a name and without metrics. Go: workqueue.NewTypedDelayingQueue."""
    return new_typed_delaying_queue_with_config(TypedDelayingQueueConfig())


def new_delaying_queue_with_config(config: DelayingQueueConfig) -> DelayingInterface:
    """Deprecated: use new_typed_delaying_queue_with_config."""
    return new_typed_delaying_queue_with_config(config)


def typed_new_delaying_queue() -> TypedDelayingInterface[Any]:
    """Deprecated: use new_typed_delaying_queue."""
    return new_typed_delaying_queue()


def new_typed_delaying_queue_with_config(config: TypedDelayingQueueConfig[T]) -> TypedDelayingInterface[T]:
    """Return a delaying queue with these options. Starts its thread. Go: workqueue.NewTypedDelayingQueueWithConfig."""
    logger = config.logger or klog.background()
    clock = config.clock or REAL_CLOCK
    queue = config.queue
    if queue is None:
        queue = new_typed_with_config(
            TypedQueueConfig(name=config.name, metrics_provider=config.metrics_provider, clock=clock)
        )
    return _DelayingType(logger, clock, queue, config.name, config.metrics_provider)


def new_delaying_queue_with_custom_queue(q: Interface, name: str) -> DelayingInterface:
    """Deprecated: use new_delaying_queue_with_config."""
    return new_delaying_queue_with_config(DelayingQueueConfig(name=name, queue=q))


def new_named_delaying_queue(name: str) -> DelayingInterface:
    """Deprecated: use new_delaying_queue_with_config."""
    return new_delaying_queue_with_config(DelayingQueueConfig(name=name))


def new_delaying_queue_with_custom_clock(clock: WithTicker, name: str) -> DelayingInterface:
    """Deprecated: use new_delaying_queue_with_config."""
    return new_delaying_queue_with_config(DelayingQueueConfig(name=name, clock=clock))


# A Condition rejects very long timeouts. For longer delays the thread wakes once per day and waits again.
_LONGEST_WAIT = 86_400.0

# Number of replaced entries that may always stay on a heap, even a small one.
_REPLACED_AT_LEAST = 64

_ASLEEP_FOR_GOOD = math.inf
_AWAKE = -math.inf


class _DelayingType(InspectableDelayingQueue[T]):
    """Adds items to another queue when they are due. All other operations are those of the inner queue.

    An item waits at most once: if it is added again while it waits, the earlier time counts. Items that are due at the
    same time are added in order of arrival. O(log n) for n waiting items.

    Invariants (`_check` asserts them):
      * `_waiting` maps each waiting item to its entry, and that entry is on the heap;
      * the other entries on the heap were replaced by earlier ones; there are at most 64 more of them than valid
        entries;
      * the thread wakes at the time of the earliest entry or before it.
    """

    @hop("queue.new_delaying", go="newDelayingQueue")
    def __init__(
        self,
        logger: klog.Logger,
        clock: WithTicker,
        queue: TypedInterface[T],
        name: str,
        provider: MetricsProvider | None,
    ) -> None:
        self._inner = queue
        self._name = name
        # Go embeds the inner queue. Here its methods become attributes of this object, so that hot calls need no
        # forwarding.
        self.add = queue.add
        self.len = queue.len
        self.get = queue.get
        self.done = queue.done
        self.shutting_down = queue.shutting_down

        self._clock = clock
        # Times below are seconds since `_began`: plain floats that do not change when the wall clock is set.
        self._began = clock.now()
        self._metrics = _new_retry_metrics(name, provider)
        self._guard = utilruntime.handle_crash_with_logger(logger, go_on=True)
        # Guards everything below. Not held while the inner queue is called.
        self._lock = threading.Lock()
        # Notified by shutdown, and when an item is due before the thread's current timeout.
        self._wakeup = threading.Condition(self._lock)
        # The latest time at which the thread will examine the heap.
        self._wakes_at = _AWAKE
        self._stopped = False
        # (ready at, order of arrival, item). Arrival numbers are unique, so items are never compared.
        self._heap: list[tuple[float, int, T]] = []
        self._waiting: dict[T, tuple[float, int, T]] = {}
        self._arrivals = count()
        self._thread = threading.Thread(target=self._waiting_loop, name=f"workqueue-{name}-delay", daemon=True)
        self._thread.start()

    def shut_down(self) -> None:
        """Shut down the inner queue and drop the items that still wait. Returns after the queue's thread ended.

        May be called again. Every call reaches the inner queue (in Go only the first), so that it always ends a drain.
        """
        self._inner.shut_down()
        self._stop_waiting()

    def shut_down_with_drain(self) -> None:
        """Shut down like `shut_down`, but block until the inner queue has drained. Drops the items that still wait."""
        self._stop_waiting()
        self._inner.shut_down_with_drain()

    def add_after(self, item: T, duration: float) -> None:
        """Add `item` after `duration` seconds; immediately if that is not positive. Does nothing after a shutdown.

        Raises ValueError for a NaN, which would delay all later items without end. Go's durations are integers.
        """
        if type(duration) is not float:
            require_seconds(duration, f"the delay of {item!r}")
        if duration != duration:
            raise ValueError(f"the delay of {item!r} is not a number")
        if self.shutting_down():
            return
        if self._metrics is not None:
            self._metrics.retry()
        if duration <= 0:
            self.add(item)
            return
        try:
            self._insert(item, self._clock.since(self._began) + duration)
        except TypeError:
            check_hashable(item)
            raise

    @hop("queue.insert", go="(*delayingType).AddAfter")
    def _insert(self, item: T, ready_at: float) -> None:
        with self._lock:
            if self._stopped:
                return
            waiting, heap = self._waiting, self._heap
            known = waiting.get(item)
            if known is not None and known[0] <= ready_at:
                return
            entry = (ready_at, next(self._arrivals), item)
            waiting[item] = entry
            heapq.heappush(heap, entry)
            if known is not None and len(heap) > 2 * len(waiting) + _REPLACED_AT_LEAST:
                self._drop_replaced()
            if ready_at < self._wakes_at:
                self._wakes_at = _AWAKE
                self._wakeup.notify()

    def _waiting_loop(self) -> None:
        """Add items when they become due, until shutdown. Runs in the queue's thread."""
        add, guard = self.add, self._guard
        while (ready := self._take_ready()) is not None:
            for item in ready:
                with guard:
                    add(item)

    def _take_ready(self) -> list[T] | None:
        """Block until items are due, then remove and return all of them. Returns None after a shutdown."""
        with self._lock:
            while not self._stopped:
                if ready := self._pop_ready(self._clock.since(self._began)):
                    return ready
                if self._heap:
                    self._wakes_at = self._heap[0][0]
                    # Read the clock as late as possible: a test may advance its clock at any moment.
                    remaining = max(0.0, self._wakes_at - self._clock.since(self._began))
                    self._clock.wait(self._wakeup, min(remaining, _LONGEST_WAIT))
                else:
                    self._wakes_at = _ASLEEP_FOR_GOOD
                    self._clock.wait(self._wakeup)
                self._wakes_at = _AWAKE
            return None

    @hop("queue.pop_ready", go="(*delayingType).waitingLoop")
    def _pop_ready(self, now: float) -> list[T]:
        heap, waiting = self._heap, self._waiting
        due = now + RESOLUTION
        ready: list[T] = []
        while heap and heap[0][0] <= due:
            entry = heapq.heappop(heap)
            item = entry[2]
            if waiting.get(item) is entry:
                del waiting[item]
                ready.append(item)
        if len(heap) > 2 * len(waiting) + _REPLACED_AT_LEAST:
            self._drop_replaced()
        return ready

    def _drop_replaced(self) -> None:
        """Rebuild the heap without replaced entries. The heap at least halves, so this adds O(1) to each insertion."""
        self._heap[:] = self._waiting.values()
        heapq.heapify(self._heap)

    def _stop_waiting(self) -> None:
        with self._lock:
            self._stopped = True
            self._heap.clear()
            self._waiting.clear()
            self._wakeup.notify()
        self._thread.join()

    def __repr__(self) -> str:
        return f"<delaying {len(self._waiting)} items for {self._inner!r}>"

    def _check(self) -> None:
        with self._lock:
            entries = {id(entry) for entry in self._heap}
            assert all(id(entry) in entries for entry in self._waiting.values()), self
            assert all(entry[2] == item for item, entry in self._waiting.items()), self
            assert len(self._heap) <= 2 * len(self._waiting) + _REPLACED_AT_LEAST, self
            assert not self._heap or self._wakes_at <= self._heap[0][0] or self._stopped, self
