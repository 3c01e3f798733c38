"""Models of work queues in plain Python. Sessions compare a queue with them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

Item: TypeAlias = Hashable

METHODS = ("add", "get", "done", "len", "shut_down", "shut_down_with_drain", "shutting_down")
"""The methods of every queue, as in workqueue.TypedInterface."""


class _Copy(str):
    """A string that equals an item and is another object, as the keys of two events of one object are."""

    __slots__ = ()


def copied(item: Item) -> Item:
    """Return an equal item for the next call of the queue. Items that are no strings stay the same object."""
    return _Copy(item) if isinstance(item, str) else item


class _ShutDown:
    """The result of `get` in place of an item when it reports the shutdown."""

    def __repr__(self) -> str:
        return "shutdown"


SHUT_DOWN: Any = _ShutDown()


class QueueModel:
    """A model of a work queue. It only counts blocked calls, because they are interchangeable.

    `rank` orders the ready items: `get` returns the smallest rank first, and equal ranks in any order.
    """

    def __init__(self) -> None:
        self.ready: dict[Item, Any] = {}  # item: rank
        self.dirty: set[Item] = set()  # what still has to be handed out
        self.processing: set[Item] = set()
        self.blocked_gets = 0
        self.shutting_down = False
        self.draining = False
        self.now = 0.0
        self.last_due = -math.inf
        """The last moment at which a delay ended."""
        self.counts = Counter[str]()
        self._ranks = 0
        self._answers: list[Item] = []

    def add(self, item: Item) -> None:
        self._add(item, self._next_rank())

    def get(self) -> None:
        self.blocked_gets += 1

    def done(self, item: Item) -> None:
        self.counts["done"] += 1
        self.processing.remove(item)
        if item in self.dirty:
            self.ready[item] = self._next_rank()

    def shut_down(self) -> None:
        self.shutting_down = True
        self.draining = False

    def shut_down_with_drain(self) -> None:
        self.shutting_down = True
        self.draining = True

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def next_items(self) -> set[Item]:
        """Return the items that the next `get` may return."""
        best = min(self.ready.values(), default=None)
        return {item for item, rank in self.ready.items() if rank == best}

    def hand_out(self) -> None:
        """Let blocked gets return. If the order is free, use that of the queue."""
        while self.blocked_gets and (self.ready or self.shutting_down):
            self.blocked_gets -= 1
            if not self.ready:
                self.handed_out.append(SHUT_DOWN)
                continue
            free = self.next_items()
            item = next((answer for answer in self._answers if answer in free), min(free, key=repr))
            if item in self._answers:
                self._answers.remove(item)
            del self.ready[item]
            self.dirty.remove(item)
            self.processing.add(item)
            self.counts["get"] += 1
            self.handed_out.append(item)
            self.taken(item)

    def taken(self, item: Item) -> None:
        """Record that an item was taken, in models that need it."""

    def step(self, operation: Callable[[], None], answers: Sequence[Item]) -> list[Item]:
        """Do `operation`. `answers` are the items that the queue returned meanwhile. Returns the expected items."""
        self._answers = list(answers)
        self.handed_out: list[Item] = []
        operation()
        self.hand_out()
        return self.handed_out

    def _add(self, item: Item, rank: Any) -> None:
        if self.shutting_down or item in self.dirty:
            return
        self.counts["add"] += 1
        self.dirty.add(item)
        if item not in self.processing:
            self.ready[item] = rank

    def _next_rank(self) -> Any:
        self._ranks += 1
        return self._ranks


class DelayingQueueModel(QueueModel):
    """A model of a delaying queue.

    The earliest of an item's due times counts. A shutdown drops the items that are not due.
    """

    def __init__(self) -> None:
        super().__init__()
        self.waiting: dict[Item, float] = {}  # item: when it becomes ready

    def add_after(self, item: Item, delay: float) -> None:
        if self.shutting_down:
            return
        self.counts["retry"] += 1
        if delay <= 0:
            self.add(item)
            return
        ready_at = round(self.now + delay, 6)
        self.waiting[item] = min(ready_at, self.waiting.get(item, ready_at))

    def sleep(self, seconds: float) -> None:
        until = round(self.now + seconds, 6)
        for moment in sorted({ready_at for ready_at in self.waiting.values() if ready_at <= until}):
            self.now = self.last_due = moment
            self._add_waiting([item for item, ready_at in self.waiting.items() if ready_at == moment])
            self.hand_out()
        self.now = until

    def _add_waiting(self, items: list[Item]) -> None:
        rank = self._next_rank()
        for item in items:
            del self.waiting[item]
            self._add(item, rank)


class RateLimitingQueueModel(DelayingQueueModel):
    """A model of a rate limiting queue.

    The n-th failure of an item since its last `forget` delays it by `delay(n)` seconds, where n counts from 0.
    """

    def __init__(self, delay: Callable[[int], float]) -> None:
        super().__init__()
        self.delay = delay
        self.failures = Counter[Item]()

    def add_rate_limited(self, item: Item) -> None:
        delay = self.delay(self.failures[item])
        self.failures[item] += 1  # also after a shutdown
        self.add_after(item, delay)

    def forget(self, item: Item) -> None:
        self.failures[item] = 0


class PriorityQueueModel(RateLimitingQueueModel):
    """A model of a priority queue. A repeated add of a queued item keeps the higher priority and the earlier time.

    Among equal priorities the order is that of the first adds. An item goes to the end when its priority is raised or
    its delay ends. A delayed add without a priority keeps the priority of the item in progress; otherwise it is 0.
    """

    def __init__(self, delay: Callable[[int], float]) -> None:
        super().__init__(delay)
        self.priority: dict[Item, int] = {}  # of what waits, is ready, or was added while processed
        self.place: dict[Item, int] = {}  # of the same
        self.priority_in_progress: dict[Item, int] = {}

    def add(self, item: Item) -> None:
        self.improve(item, -math.inf, 0)

    def add_after(self, item: Item, delay: float, priority: int | None = None) -> None:
        if self.shutting_down:
            return
        self.counts["retry"] += 1
        if priority is None:
            priority = self.priority_in_progress.get(item, 0)
        self.improve(item, round(self.now + delay, 6) if delay > 0 else -math.inf, priority)

    def add_with_opts(self, item: Item, after: float, rate_limited: bool, priority: int | None) -> None:
        if rate_limited:
            limited = self.delay(self.failures[item])
            self.failures[item] += 1
            after = min(after, limited) if after else limited
        if rate_limited or after > 0:
            self.add_after(item, after, priority)
        else:
            self.improve(item, -math.inf, priority or 0)

    def improve(self, item: Item, ready_at: float, priority: int) -> None:
        if self.shutting_down:
            return
        if item not in self.priority or priority > self.priority[item]:
            self.priority[item] = priority
            self.place[item] = self._next_rank()
        if item in self.ready:
            self.ready[item] = self._rank(item)
        if item in self.dirty:
            return
        self.waiting[item] = min(ready_at, self.waiting.get(item, ready_at))
        if self.waiting[item] == -math.inf:
            del self.waiting[item]
            self._add(item, self._rank(item))

    def taken(self, item: Item) -> None:
        self.priority_in_progress[item] = self.priority.pop(item)

    def done(self, item: Item) -> None:
        del self.priority_in_progress[item]
        super().done(item)
        if item in self.ready:
            self.ready[item] = self._rank(item)

    def _rank(self, item: Item) -> tuple[int, int]:
        return -self.priority[item], self.place[item]

    def _add_waiting(self, items: list[Item]) -> None:
        for item in sorted(items, key=self._rank):
            del self.waiting[item]
            self.place[item] = self._next_rank()
            self._add(item, self._rank(item))
