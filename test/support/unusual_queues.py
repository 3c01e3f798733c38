"""Correct work queues of unusual construction. The recipe of test/property/README.md must pass all of them."""

from __future__ import annotations

import collections
import queue
import threading
import time
from typing import Any

from simple_queue import SimpleDelayingQueue, SimpleQueue


class OnASemaphore:
    """A deque, and a semaphore with a permit for each queued item and one that stands for the shutdown."""

    def __init__(self, metrics_provider: Any = None) -> None:
        self.permits = threading.Semaphore(0)
        self.lock = threading.Lock()
        self.idle = threading.Condition(self.lock)
        self.queue: collections.deque[str] = collections.deque()
        self.dirty: set[str] = set()
        self.processing: set[str] = set()
        self.down = False
        self.draining = False

    def add(self, item: str) -> None:
        with self.lock:
            if self.down or item in self.dirty:
                return
            self.dirty.add(item)
            if item in self.processing:
                return
            self.queue.append(item)
        self.permits.release()

    def get(self) -> tuple[str | None, bool]:
        self.permits.acquire()
        with self.lock:
            if not self.queue:
                self.permits.release()  # for the next worker
                return None, True
            item = self.queue.popleft()
            self.dirty.remove(item)
            self.processing.add(item)
            return item, False

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.remove(item)
            if item in self.dirty:
                self.queue.append(item)
                self.permits.release()
            if not self.processing:
                self.idle.notify_all()

    def len(self) -> int:
        with self.lock:
            return len(self.queue)

    def shutting_down(self) -> bool:
        with self.lock:
            return self.down

    def end(self, draining: bool) -> None:
        if not self.down:
            self.permits.release()
        self.down = True
        self.draining = draining
        self.idle.notify_all()

    def shut_down(self) -> None:
        with self.lock:
            self.end(draining=False)

    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.end(draining=True)
            while self.processing and self.draining:
                self.idle.wait()


class OnTwoLocks(OnASemaphore):
    """One lock for the list and one for the states. A worker sleeps with the first, and takes an item with both."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.some = threading.Condition()

    def push(self, item: str) -> None:
        with self.some:
            self.queue.append(item)
            self.some.notify()

    def add(self, item: str) -> None:
        with self.lock:
            if self.down or item in self.dirty:
                return
            self.dirty.add(item)
            if item not in self.processing:
                self.push(item)

    def get(self) -> tuple[str | None, bool]:
        while True:
            with self.some:
                while not self.queue and not self.down:
                    self.some.wait()
            with self.lock, self.some:
                if self.queue:
                    item = self.queue.popleft()
                    self.dirty.remove(item)
                    self.processing.add(item)
                    return item, False
                if self.down:
                    return None, True

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.remove(item)
            if item in self.dirty:
                self.push(item)
            if not self.processing:
                self.idle.notify_all()

    def end(self, draining: bool) -> None:
        with self.some:
            self.down = True
            self.some.notify_all()
        self.draining = draining
        self.idle.notify_all()


_END: Any = object()


class OnTheStandardLibrary(OnASemaphore):
    """The items are in a queue.Queue. Its last element ends each worker that takes it, and is put back."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.items: queue.Queue[str] = queue.Queue()
        self.count = 0

    def push(self, item: str) -> None:
        self.count += 1
        self.items.put(item)

    def add(self, item: str) -> None:
        with self.lock:
            if self.down or item in self.dirty:
                return
            self.dirty.add(item)
            if item not in self.processing:
                self.push(item)

    def get(self) -> tuple[str | None, bool]:
        while True:
            item = self.items.get()
            with self.lock:
                if item is not _END:
                    self.count -= 1
                    self.dirty.remove(item)
                    self.processing.add(item)
                    return item, False
                self.items.put(_END)  # behind what `done` has queued since
                if not self.count:
                    return None, True

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.remove(item)
            if item in self.dirty:
                self.push(item)
            if not self.processing:
                self.idle.notify_all()

    def len(self) -> int:
        with self.lock:
            return self.count

    def end(self, draining: bool) -> None:
        if not self.down:
            self.items.put(_END)
        self.down = True
        self.draining = draining
        self.idle.notify_all()


class WithATimerPerDelay(SimpleQueue):
    """Each delayed item has a timer, which an earlier delay replaces and the shutdown cancels."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.timers: dict[str, tuple[float, threading.Timer]] = {}

    def add_after(self, item: str, delay: float) -> None:
        with self.lock:
            if self.down:
                return
            if self.retries:
                self.retries.inc()
            if delay > 0:
                ready_at = time.monotonic() + delay
                if item in self.timers:
                    if self.timers[item][0] <= ready_at:
                        return
                    self.timers[item][1].cancel()
                timer = threading.Timer(delay, self.fire, (item,))
                self.timers[item] = ready_at, timer
                timer.start()
                return
        self.add(item)

    def fire(self, item: str) -> None:
        with self.lock:
            if item in self.timers and self.timers[item][1] is threading.current_thread():
                del self.timers[item]
        self.add(item)

    def cancel(self) -> None:
        with self.lock:
            self.down = True
            for _, timer in self.timers.values():
                timer.cancel()

    def shut_down(self) -> None:
        self.cancel()
        super().shut_down()

    def shut_down_with_drain(self) -> None:
        self.cancel()
        super().shut_down_with_drain()


class WithTimeoutsInLoops(SimpleDelayingQueue):
    """Each wait ends after a while, and its loop looks again."""

    def get(self) -> tuple[str | None, bool]:
        with self.lock:
            while not self.queue and not self.down:
                self.changed.wait(0.4)
            return self.take()


POLLS = 0.05
"""Seconds between two polls of the next queue."""


class Polls(SimpleDelayingQueue):
    """A queue in which each thread that waits sleeps a little and looks again."""

    def get(self) -> tuple[str | None, bool]:
        while True:
            with self.lock:
                if self.queue or self.down:
                    return self.take()
            time.sleep(POLLS)

    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.down = True
            self.draining = True
        while True:
            with self.lock:
                if not self.processing or not self.draining:
                    return
            time.sleep(POLLS)

    def loop(self) -> None:
        while not self.shutting_down():
            for item in self.take_ready(time.monotonic()):
                self.add(item)
            time.sleep(POLLS)
