"""Compare the work queue with Python's queues, in turns in one run.

    python test/bench/workqueue/bench_queue.py [--items 300000] [--rounds 5] [--go PATH]

Compared with `queue.Queue` (which knows no duplicates and no done), and with the least that could be called a work
queue: a deque and two sets under one lock. Only the ratios mean something on a shared machine. Go's queue takes part
if there is its program, built from go/main.go.

CPU time of an operation of one thread, by the way it takes the lock (CPython 3.11, medians of 9 rounds on a busy
machine): 440 ns with `acquire(False)`, then `acquire_contended`; 550 with `with lock:`; 590 with a look at
`lock.locked()` before that; 610 with a function that yields and returns the lock to `with`. CPU time of an item with
one producer and four consumers: 1.8 us, 1.5 with one consumer, and 2.6 if a thread yields only once.

The benchmarks of Go's tests are among them. Go: BenchmarkQueue, Go: BenchmarkDelayingQueue_AddAfter,
Go: BenchmarkParallelizeUntil.
"""

from __future__ import annotations

import argparse
import math
import queue
import random
import statistics
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from clientgo import context
from clientgo.util import workqueue
from clientgo.utils.clock.testing import FakeClock

STOP = "stop"


class StdlibQueue:
    """queue.Queue with the names of a work queue."""

    def __init__(self) -> None:
        self.queue: queue.Queue[str] = queue.Queue()
        self.add = self.queue.put
        self.len = self.queue.qsize

    def get(self) -> tuple[str, bool]:
        return self.queue.get(), False

    def done(self, item: str) -> None:
        pass


class BareQueue:
    """A deque and two sets under one lock, written the obvious way. No shutdown, no metrics."""

    def __init__(self) -> None:
        self.changed = threading.Condition(threading.Lock())
        self.items: deque[str] = deque()
        self.dirty: set[str] = set()
        self.processing: set[str] = set()

    def add(self, item: str) -> None:
        with self.changed:
            if item in self.dirty:
                return
            self.dirty.add(item)
            if item not in self.processing:
                self.items.append(item)
                self.changed.notify()

    def get(self) -> tuple[str, bool]:
        with self.changed:
            while not self.items:
                self.changed.wait()
            item = self.items.popleft()
            self.processing.add(item)
            self.dirty.discard(item)
            return item, False

    def len(self) -> int:
        return len(self.items)

    def done(self, item: str) -> None:
        with self.changed:
            self.processing.discard(item)
            if item in self.dirty:
                self.items.append(item)
                self.changed.notify()


QUEUES: dict[str, Callable[[], Any]] = {
    "clientgo": workqueue.new_typed,
    "queue.Queue": StdlibQueue,
    "bare": BareQueue,
    "priority": workqueue.new_priority_queue,
}


def alone(new_queue: Callable[[], Any], keys: list[str]) -> float:
    """Add, get and finish each key in turn, in one thread."""
    q = new_queue()
    start = time.perf_counter()
    for key in keys:
        q.add(key)
        item, _ = q.get()
        q.done(item)
    seconds = time.perf_counter() - start
    end(q)
    return seconds


def all_first(new_queue: Callable[[], Any], keys: list[str]) -> float:
    """Add all keys, then get and finish them, in one thread."""
    q = new_queue()
    start = time.perf_counter()
    for key in keys:
        q.add(key)
    for _ in range(q.len()):
        item, _ = q.get()
        q.done(item)
    seconds = time.perf_counter() - start
    end(q)
    return seconds


def with_workers(new_queue: Callable[[], Any], keys: list[str], workers: int) -> float:
    """Return one thread adds, `workers` get and finish; the time until all is done."""
    q = new_queue()

    def work() -> None:
        while (item := q.get()[0]) != STOP:
            q.done(item)
        # Pass it on, so that each worker sees it.
        q.done(STOP)
        q.add(STOP)

    threads = [threading.Thread(target=work, name=f"worker-{number}") for number in range(workers)]
    for thread in threads:
        thread.start()
    start = time.perf_counter()
    for key in keys:
        q.add(key)
    q.add(STOP)
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    end(q)
    return seconds


def end(q: Any) -> None:
    if hasattr(q, "shut_down"):
        q.shut_down()


class Go:
    """Go's queue, by its program: what it does in a second, by the titles of the rows."""

    def __init__(self, path: str, items: int) -> None:
        self._command = [path, "-items", str(items), "-rounds", "1"]
        self._rates: dict[str, list[float]] = {}
        self._ours: dict[str, float] = {}

    def take_turn(self, title: str, ours: float) -> None:
        """Run all of Go's rows again after a row of ours."""
        self._ours[title] = ours
        for line in subprocess.run(self._command, capture_output=True, text=True, check=True).stdout.splitlines():
            name, _, rate = line.rpartition(" ")
            self._rates.setdefault(name.strip(), []).append(float(rate))

    def rates(self, title: str) -> list[float]:
        """Return what Go did in a second, in each turn."""
        return self._rates[title]

    def show(self) -> None:
        print(f"\n{'of Go':28}{'a second':>14}{'clientgo x':>14}")
        for title, rates in self._rates.items():
            rate = statistics.median(rates)
            ratio = f"{self._ours[title] / rate:14.2f}" if title in self._ours else ""
            print(f"{title:28}{rate:14,.0f}{ratio}", flush=True)


def compare(title: str, run: Callable[[Callable[[], Any]], float], operations: int, rounds: int, go: Go | None) -> None:
    """Measure all queues in turns and print operations a second with ratios of the medians."""
    seconds: dict[str, list[float]] = {name: [] for name in QUEUES}
    for _ in range(rounds):
        for name, new_queue in QUEUES.items():
            seconds[name].append(run(new_queue))
    rates = {name: operations / statistics.median(times) for name, times in seconds.items()}
    columns = "".join(f"{rates[name]:14,.0f}" for name in QUEUES)
    ratios = "".join(f"{rates['clientgo'] / rates[name]:14.2f}" for name in ("queue.Queue", "bare"))
    print(f"{title:28}{columns}{ratios}", flush=True)
    if go is not None:
        go.take_turn(title, rates["clientgo"])


def compare_queues(items: int, rounds: int, go: Go | None) -> None:
    distinct = [f"namespace/name-{number}" for number in range(items)]
    repeated = [f"namespace/name-{number % 100}" for number in range(items)]
    print(f"{'add+get+done a second':28}" + "".join(f"{name:>14}" for name in QUEUES) + "    x queue.Queue    x bare")
    compare("one thread, distinct keys", lambda new: alone(new, distinct), items, rounds, go)
    compare("one thread, all added first", lambda new: all_first(new, distinct), items, rounds, go)
    compare("one thread, 100 keys", lambda new: alone(new, repeated), items, rounds, go)
    for workers in (1, 4):
        for title, keys in (("distinct", distinct), ("100", repeated)):

            def run(new_queue: Callable[[], Any], keys: list[str] = keys, workers: int = workers) -> float:
                return with_workers(new_queue, keys, workers)

            compare(f"{workers} workers, {title} keys", run, items, rounds, go)
    if go is not None:
        go.show()


def waiting(items: int) -> tuple[float, float]:
    """Return the seconds to add `items` with delays, and the seconds from their due time until all are processed.

    The delays use the real clock. The due time of all items is one step of a fake clock.
    """
    rng = random.Random(1)
    additions = [(f"namespace/name-{number}", rng.uniform(0.0, 600.0)) for number in range(items)]
    real = workqueue.new_typed_delaying_queue()
    start = time.perf_counter()
    for item, delay in additions:
        real.add_after(item, 600.0 + delay)
    added = time.perf_counter() - start
    real.shut_down()

    clock = FakeClock()
    q = workqueue.new_typed_delaying_queue_with_config(workqueue.TypedDelayingQueueConfig[str](clock=clock))
    for item, delay in additions:
        q.add_after(item, delay)
    start = time.perf_counter()
    clock.step(660.0)
    for _ in range(items):
        q.get()
    fired = time.perf_counter() - start
    q.shut_down()
    return added, fired


def lateness(items: int, window: float) -> list[float]:
    """Return the sorted delays in seconds from each item's due time until a worker got it."""
    q = workqueue.new_typed_delaying_queue()
    rng = random.Random(1)
    # Late enough that all of them wait by then.
    begin = time.monotonic() + items * 20e-6
    due = {f"namespace/name-{number}": begin + rng.uniform(0.0, window) for number in range(items)}
    for item, at in due.items():
        q.add_after(item, at - time.monotonic())
    late = []
    for _ in range(items):
        item, _ = q.get()
        late.append(time.monotonic() - due[item])
        q.done(item)
    q.shut_down()
    return sorted(late)


def show_lateness(rounds: int) -> None:
    print(f"\n{'late, 100,000 items due':28}{'median ms':>14}{'90th':>14}{'99th':>14}{'CPU us each':>14}")
    items = 100_000
    for window in (1.0, 2.0, 4.0):
        runs = []
        start = time.process_time()
        for _ in range(rounds):
            late = lateness(items, window)
            runs.append([late[items * percent // 100] * 1e3 for percent in (50, 90, 99)])
        cpu = (time.process_time() - start) / rounds / items * 1e6
        columns = "".join(f"{statistics.median(column):14.2f}" for column in zip(*runs, strict=True))
        print(f"{f'within {window:g} s':28}{columns}{cpu:14.1f}", flush=True)


def show_waiting(rounds: int) -> None:
    print(f"\n{'delaying queue':28}{'add_after/s':>14}{'fire+get/s':>14}   add per item, relative to log2(n)")
    reference = 0.0
    for items in (1_000, 10_000, 100_000):
        results = [waiting(items) for _ in range(rounds)]
        add, fire = (statistics.median(result[part] for result in results) for part in (0, 1))
        per_level = add / items / math.log2(items)
        reference = reference or per_level
        print(
            f"{items:>12,} items waiting   {items / add:14,.0f}{items / fire:14,.0f}{per_level / reference:14.2f}",
            flush=True,
        )


def show_limiters(items: int, rounds: int) -> None:
    print(f"\n{'rate limiter':28}{'when/s':>14}")
    keys = [f"namespace/name-{number % 1000}" for number in range(items)]
    limiters: dict[str, Callable[[], workqueue.TypedRateLimiter[str]]] = {
        "exponential": workqueue.default_typed_item_based_rate_limiter,
        "fast, slow": lambda: workqueue.new_typed_item_fast_slow_rate_limiter(0.005, 10.0, 3),
        "default controller": workqueue.default_typed_controller_rate_limiter,
    }
    for name, new_limiter in limiters.items():
        seconds = []
        for _ in range(rounds):
            when = new_limiter().when
            start = time.perf_counter()
            for key in keys:
                when(key)
            seconds.append(time.perf_counter() - start)
        print(f"{name:28}{items / statistics.median(seconds):14,.0f}", flush=True)


def show_parallelizer(rounds: int) -> None:
    print(f"\n{'parallelize_until':28}{'pieces/s':>14}")
    for pieces, chunk in ((1000, 1), (1000, 10), (1000, 100), (999, 13)):
        seconds = []
        for _ in range(rounds):
            start = time.perf_counter()
            workqueue.parallelize_until(
                context.background(), 10, pieces, lambda piece: None, workqueue.with_chunk_size(chunk)
            )
            seconds.append(time.perf_counter() - start)
        print(f"{f'{pieces} pieces by {chunk}':28}{pieces / statistics.median(seconds):14,.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=300_000, help="how many additions each measurement makes")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured; the median counts")
    parser.add_argument("--go", metavar="PATH", help="the program built from go/main.go")
    options = parser.parse_args()
    compare_queues(options.items, options.rounds, Go(options.go, options.items) if options.go else None)
    show_waiting(options.rounds)
    show_lateness(options.rounds)
    show_limiters(options.items, options.rounds)
    show_parallelizer(options.rounds)


if __name__ == "__main__":
    main()
