"""Workers and producers on one queue, under a schedule that says who runs next."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from clientgo.testing import synctest
from clientgo.testing.workqueue_machine.model import Item
from clientgo.testing.workqueue_machine.session import NewQueue


def interleave(
    new_queue: NewQueue,
    schedule: synctest.Schedule | synctest.RandomSchedule | None = None,
    *,
    workers: int = 2,
    producers: int = 2,
    items: Sequence[Item] = "ab",
    rounds: int = 2,
    work: float = 0.0,
    drain_after: int | None = None,
    delay: float = 0.0,
    preempt_in: Sequence[ModuleType] = (),
) -> None:
    """Run workers and producers on one queue under `schedule` and check what must hold however they interleave.

      * no item is in two hands at once
      * what was added before the shutdown began is processed after its last add: nothing is lost
      * no worker sleeps while an item is ready
      * shut_down_with_drain returns only after a moment in which nothing was being processed, and then all threads end

    Every producer adds every item `rounds` times; every worker adds each item once more while it holds it. `work` is
    how long an item takes, in seconds of virtual time. With `drain_after` the shutdown does not wait until all is done,
    but begins after the main thread had that many turns. With `delay` the producers use `add_after`.
    """
    with synctest.bubble(schedule, preempt_in=preempt_in) as b:
        _Interleaving(b, new_queue(None), [*items] * rounds, work, delay).run(workers, producers, drain_after)


class _Interleaving:
    """The bookkeeping needs no lock: there is no preemption point between its lines."""

    def __init__(self, bubble: synctest.Bubble, queue: Any, items: Sequence[Item], work: float, delay: float) -> None:
        self.bubble = bubble
        self.queue = queue
        self.items = items
        self.work = work
        self.delay = delay
        self.closing = False
        self.version = Counter[Item]()  # how often each item changed
        self.owed = Counter[Item]()  # the version that was added in time and has to be processed
        self.processed = Counter[Item]()
        self.in_hand: set[Item] = set()
        self.times_empty = 0
        self.idle = 0

    def run(self, workers: int, producers: int, drain_after: int | None) -> None:
        crew = [threading.Thread(target=self._work, name=f"worker-{n}") for n in range(workers)]
        crew += [threading.Thread(target=self._produce, name=f"producer-{n}") for n in range(producers)]
        for thread in crew:
            thread.start()
        if drain_after is None:
            self._watch_until_quiet()
        else:
            for _ in range(drain_after):
                time.sleep(0)
        self.closing = True
        nothing_in_hand, times_empty = not self.in_hand, self.times_empty
        self.queue.shut_down_with_drain()
        assert nothing_in_hand or self.times_empty > times_empty, (
            f"shut_down_with_drain returned, but all the time an item was being processed, now {self.in_hand}"
        )
        for thread in crew:
            thread.join()
        assert self.processed >= self.owed, f"lost: owed {dict(self.owed)}, processed {dict(self.processed)}"

    def _watch_until_quiet(self) -> None:
        for _ in range(100):
            self.bubble.wait()
            ready = self.queue.len()
            assert not (ready and self.idle), f"{self.idle} workers sleep while {ready} items are ready"
            if self.processed == self.version and not self.in_hand:
                return
            self.bubble.sleep(self.work or 1.0)
        raise AssertionError(f"lost: changed {dict(self.version)}, processed {dict(self.processed)}")

    def _produce(self) -> None:
        for item in self.items:
            if self.delay:
                self.version[item] += 1
                self.queue.add_after(item, self.delay)
            else:
                self._add(item)
            time.sleep(0)  # give way, or a producer is over before the first worker wakes

    def _add(self, item: Item) -> None:
        self.version[item] += 1
        version = self.version[item]
        self.queue.add(item)
        if not self.closing:
            self.owed[item] = max(self.owed[item], version)

    def _work(self) -> None:
        to_add_again = set(self.items)
        while True:
            self.idle += 1
            item, shutdown = self.queue.get()
            self.idle -= 1
            if shutdown:
                return
            assert item not in self.in_hand, f"{item!r} is in two hands at once"
            self.in_hand.add(item)
            version = self.version[item]
            time.sleep(self.work)
            if item in to_add_again:
                to_add_again.discard(item)
                self._add(item)
            self.processed[item] = max(self.processed[item], version)
            self.in_hand.remove(item)
            self.times_empty += not self.in_hand
            self.queue.done(item)
