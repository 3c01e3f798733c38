"""Small, correct work queues to break: the mutants of the property tests are subclasses of these.

Written for the eye, not for speed, and on purpose not from clientgo/util/workqueue: what a mutant breaks should not
move when the real queue is tuned.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from clientgo.testing.workqueue_machine import exponential


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
