"""Small, correct work queues to break: the mutants of the property tests are subclasses of these.

Written for the eye, not for speed, and on purpose not from clientgo/util/workqueue: what a mutant breaks should not
move when the real queue is tuned.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from dataclasses import dataclass
from typing import Any

from clientgo.testing.workqueue_machine import exponential
from clientgo.util.workqueue import AddOpts


class SimpleQueue:
    def __init__(self, metrics_provider: Any = None) -> None:
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.queue: list[str] = []
        self.dirty: set[str] = set()
        self.processing: set[str] = set()
        self.down = False
        self.draining = False
        self.depth = metrics_provider and metrics_provider.new_depth_metric("simple")
        self.retries = metrics_provider and metrics_provider.new_retries_metric("simple")

    def add(self, item: str) -> None:
        with self.lock:
            if self.down or item in self.dirty:
                return
            self.dirty.add(item)
            if self.depth:
                self.depth.inc()
            if item not in self.processing:
                self.push(item)

    def push(self, item: str) -> None:
        self.queue.append(item)
        self.changed.notify_all()

    def get(self) -> tuple[str | None, bool]:
        with self.lock:
            while not self.queue and not self.down:
                self.changed.wait()
            return self.take()

    def take(self) -> tuple[str | None, bool]:
        if not self.queue:
            return None, True
        item = self.queue.pop(0)
        self.dirty.remove(item)
        self.processing.add(item)
        if self.depth:
            self.depth.dec()
        return item, False

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.remove(item)
            if item in self.dirty:
                self.push(item)
            self.changed.notify_all()

    def len(self) -> int:
        with self.lock:
            return len(self.queue)

    def shutting_down(self) -> bool:
        with self.lock:
            return self.down

    def shut_down(self) -> None:
        with self.lock:
            self.down = True
            self.draining = False
            self.changed.notify_all()

    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.down = True
            self.draining = True
            self.changed.notify_all()
            while self.processing and self.draining:
                self.changed.wait()


class SimpleDelayingQueue(SimpleQueue):
    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.waiting: dict[str, float] = {}
        self.waiting_changed = threading.Condition(self.lock)
        threading.Thread(target=self.loop, name="waiting loop").start()

    def add_after(self, item: str, delay: float) -> None:
        if self.shutting_down():
            return
        if self.retries:
            self.retries.inc()
        if delay <= 0:
            self.add(item)
            return
        with self.lock:
            self.insert(item, time.monotonic() + delay)
            self.waiting_changed.notify()

    def insert(self, item: str, ready_at: float) -> None:
        self.waiting[item] = min(ready_at, self.waiting.get(item, ready_at))

    def loop(self) -> None:
        while not self.shutting_down():
            now = time.monotonic()
            for item in self.take_ready(now):
                self.add(item)
            with self.lock:
                if self.down:
                    return
                rest = min((ready_at - now for ready_at in self.waiting.values()), default=10.0)
                if rest > 0:
                    self.waiting_changed.wait(rest)

    def take_ready(self, now: float) -> list[str]:
        with self.lock:
            ready = [item for item, ready_at in self.waiting.items() if ready_at <= now]
            ready.sort(key=self.waiting.__getitem__)
            for item in ready:
                del self.waiting[item]
        return ready

    def shut_down(self) -> None:
        super().shut_down()
        with self.lock:
            self.waiting_changed.notify()

    def shut_down_with_drain(self) -> None:
        super().shut_down_with_drain()
        with self.lock:
            self.waiting_changed.notify()


class SimpleRateLimitingQueue(SimpleDelayingQueue):
    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.failures: dict[str, int] = {}

    def add_rate_limited(self, item: str) -> None:
        with self.lock:
            failures = self.failures.get(item, 0)
            self.failures[item] = failures + 1
        self.add_after(item, self.delay(failures))

    def delay(self, failures: int) -> float:
        return exponential(failures)

    def forget(self, item: str) -> None:
        self.failures.pop(item, None)

    def num_requeues(self, item: str) -> int:
        return self.failures.get(item, 0)


@dataclass
class _Entry:
    priority: int
    ready_at: float  # 0.0: now
    place: int  # among equal priorities


class SimplePriorityQueue:
    """Items in the order of their priorities. One record stands for the dirty, waiting and ready items."""

    def __init__(self, metrics_provider: Any = None) -> None:
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.entries: dict[str, _Entry] = {}
        self.processing: dict[str, int] = {}  # with the priorities
        self.failures: dict[str, int] = {}
        self.down = False
        self.draining = False
        self.places = itertools.count()
        threading.Thread(target=self.loop, name="waiting loop").start()

    def add(self, item: str) -> None:
        self.add_one(item, 0.0, False, 0)

    def add_after(self, item: str, delay: float) -> None:
        self.add_one(item, delay, False, None)

    def add_rate_limited(self, item: str) -> None:
        self.add_one(item, 0.0, True, None)

    def add_with_opts(self, opts: AddOpts, *items: str) -> None:
        for item in items:
            priority = opts.priority if opts.rate_limited or opts.after > 0 else opts.priority or 0
            self.add_one(item, opts.after, opts.rate_limited, priority)

    def add_one(self, item: str, after: float, rate_limited: bool, priority: int | None) -> None:
        with self.lock:
            if rate_limited:
                failures = self.failures.get(item, 0)
                self.failures[item] = failures + 1
                after = min(after, exponential(failures)) if after else exponential(failures)
            if self.down:
                return
            if priority is None:
                priority = self.priority_of_retry(item)
            ready_at = time.monotonic() + after if after > 0 else 0.0
            entry = self.entries.get(item)
            if entry is None:
                self.entries[item] = _Entry(priority, ready_at, next(self.places))
            else:
                self.improve(entry, ready_at, priority)
            self.changed.notify_all()

    def priority_of_retry(self, item: str) -> int:
        return self.processing.get(item, 0)

    def improve(self, entry: _Entry, ready_at: float, priority: int) -> None:
        if priority > entry.priority:
            entry.priority = priority
            entry.place = next(self.places)
        entry.ready_at = min(ready_at, entry.ready_at)

    def ready(self) -> list[str]:
        """Return the ready items, the first one first."""
        now = time.monotonic()
        due = [entry for entry in self.entries.values() if 0 < entry.ready_at <= now]
        for entry in sorted(due, key=lambda entry: (entry.ready_at, -entry.priority, entry.place)):
            entry.ready_at = 0.0
            entry.place = next(self.places)
        found = [item for item, entry in self.entries.items() if not entry.ready_at and item not in self.processing]
        return sorted(found, key=lambda item: self.rank(self.entries[item]))

    def rank(self, entry: _Entry) -> tuple[int, int]:
        return -entry.priority, entry.place

    def get(self) -> tuple[str | None, bool]:
        with self.lock:
            while not (ready := self.ready()) and not self.down:
                self.changed.wait()
            if not ready:
                return None, True
            self.processing[ready[0]] = self.entries.pop(ready[0]).priority
            return ready[0], False

    def done(self, item: str) -> None:
        with self.lock:
            del self.processing[item]
            self.changed.notify_all()

    def loop(self) -> None:
        """Wake the workers at each moment when an item becomes ready."""
        with self.lock:
            while not self.down:
                now = time.monotonic()
                rests = [entry.ready_at - now for entry in self.entries.values() if entry.ready_at > now]
                self.changed.wait(min(rests, default=None))
                self.changed.notify_all()

    def forget(self, item: str) -> None:
        with self.lock:
            self.failures.pop(item, None)

    def num_requeues(self, item: str) -> int:
        with self.lock:
            return self.failures.get(item, 0)

    def len(self) -> int:
        with self.lock:
            return len(self.ready())

    def shutting_down(self) -> bool:
        with self.lock:
            return self.down

    def shut_down(self) -> None:
        with self.lock:
            self.end(draining=False)

    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.end(draining=True)
            while self.processing and self.draining:
                self.changed.wait()

    def end(self, draining: bool) -> None:
        if not self.down:
            self.ready()
            self.entries = {item: entry for item, entry in self.entries.items() if not entry.ready_at}
        self.down = True
        self.draining = draining
        self.changed.notify_all()


class MarksTheItemAsProcessedTooLate(SimpleQueue):
    """`get` marks the item as processed after it gave the lock back: another worker may get it too."""

    def get(self) -> tuple[str | None, bool]:
        item, shutdown = super().get()
        if item is not None:
            self.processing.add(item)  # another thread may have added and got it since
        return item, shutdown

    def take(self) -> tuple[str | None, bool]:
        if not self.queue:
            return None, True
        item = self.queue.pop(0)
        self.dirty.remove(item)
        return item, False

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.discard(item)
            if item in self.dirty and item not in self.queue:
                self.push(item)
            self.changed.notify_all()


@dataclass
class WaitingRecord:
    """An item of the next queue that no worker holds, or that was added while one holds it."""

    priority: int
    place: int
    ready_at: float | None = None  # None: ready, or held until `done`


class HeapPriorityQueue:
    """A priority queue on heapq that leaves replaced entries on the heap, and wakes one worker for each ready item."""

    def __init__(self, metrics_provider: Any = None) -> None:
        self.lock = threading.Lock()
        self.some = threading.Condition(self.lock)  # for workers
        self.due = threading.Condition(self.lock)  # for the loop
        self.idle = threading.Condition(self.lock)  # for drains
        self.records: dict[str, WaitingRecord] = {}
        self.heap: list[tuple[int, int, str]] = []
        self.count = 0  # ready items
        self.processing: dict[str, int] = {}
        self.failures: dict[str, int] = {}
        self.places = itertools.count()
        self.down = False
        self.draining = False
        threading.Thread(target=self.loop, name="waiting loop").start()

    def add(self, item: str) -> None:
        self.add_one(item, 0.0, 0)

    def add_after(self, item: str, delay: float) -> None:
        self.add_one(item, delay, None)

    def add_rate_limited(self, item: str) -> None:
        self.add_one(item, self.fail(item), None)

    def add_with_opts(self, opts: AddOpts, *items: str) -> None:
        for item in items:
            after = opts.after
            if opts.rate_limited:
                limited = self.fail(item)
                after = min(after, limited) if after else limited
            self.add_one(item, after, opts.priority if opts.rate_limited or after > 0 else opts.priority or 0)

    def fail(self, item: str) -> float:
        with self.lock:
            self.failures[item] = self.failures.get(item, 0) + 1
            return exponential(self.failures[item] - 1)

    def add_one(self, item: str, delay: float, priority: int | None) -> None:
        with self.lock:
            if not self.down:
                kept = self.processing.get(item, 0) if priority is None else priority
                self.put(item, time.monotonic() + delay if delay > 0 else None, kept)

    def put(self, item: str, ready_at: float | None, priority: int) -> None:
        record = self.records.get(item)
        if record is None:
            self.records[item] = WaitingRecord(priority, next(self.places), ready_at)
            self.due.notify() if ready_at is not None else self.make_ready(item)
            return
        if priority > record.priority:
            self.improve(item, record, priority)
        if record.ready_at is not None and (ready_at is None or ready_at < record.ready_at):
            record.ready_at = ready_at
            self.due.notify() if ready_at is not None else self.make_ready(item)

    def improve(self, item: str, record: WaitingRecord, priority: int) -> None:
        record.priority, record.place = priority, next(self.places)
        if record.ready_at is None and item not in self.processing:
            self.push(item, record)

    def make_ready(self, item: str) -> None:
        if item not in self.processing:
            self.count += 1
            self.push(item, self.records[item])
            self.some.notify()

    def push(self, item: str, record: WaitingRecord) -> None:
        heapq.heappush(self.heap, (-record.priority, record.place, item))

    def get(self) -> tuple[str | None, bool]:
        with self.lock:
            while not self.count and not self.down:
                self.some.wait()
            return self.take() if self.count else (None, True)

    def take(self) -> tuple[str | None, bool]:
        while True:
            _, place, item = heapq.heappop(self.heap)
            if item in self.records and self.records[item].place == place:
                self.count -= 1
                self.processing[item] = self.records.pop(item).priority
                return item, False

    def done(self, item: str) -> None:
        with self.lock:
            del self.processing[item]
            if item in self.records and self.records[item].ready_at is None:
                self.make_ready(item)
            if not self.processing:
                self.idle.notify_all()

    def loop(self) -> None:
        with self.lock:
            while not self.down:
                now = time.monotonic()
                waiting = [(each.ready_at, -each.priority, each.place, item) for item, each in self.waiting().items()]
                for ready_at, _, _, item in sorted(waiting):
                    if ready_at <= now:
                        self.end_delay(item)
                self.due.wait(min((at - now for at, *_ in waiting if at > now), default=None))

    def waiting(self) -> dict[str, Any]:
        return {item: record for item, record in self.records.items() if record.ready_at is not None}

    def end_delay(self, item: str) -> None:
        record = self.records[item]
        record.ready_at, record.place = None, next(self.places)
        self.make_ready(item)

    def forget(self, item: str) -> None:
        with self.lock:
            self.failures.pop(item, None)

    def num_requeues(self, item: str) -> int:
        with self.lock:
            return self.failures.get(item, 0)

    def len(self) -> int:
        with self.lock:
            return self.count

    def shutting_down(self) -> bool:
        with self.lock:
            return self.down

    def shut_down(self) -> None:
        with self.lock:
            self.end(draining=False)

    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.end(draining=True)
            while self.processing and self.draining:
                self.idle.wait()

    def end(self, draining: bool) -> None:
        self.down, self.draining = True, draining
        for item in self.waiting():
            del self.records[item]
        for condition in (self.some, self.due, self.idle):
            condition.notify_all()
