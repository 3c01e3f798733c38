"""Workers and producers on one queue, under a schedule that says who runs next."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from clientgo.testing import synctest
from clientgo.testing.workqueue_machine.model import Item
from clientgo.testing.workqueue_machine.session import NewQueue


class QueueRace(AssertionError):
    """Threads that share the queue met something they must not; the text tells it as a story in the queue's words."""


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
    log: Callable[[str], object] | None = None,
) -> None:
    """Run workers and producers on one queue under `schedule` and check what must hold however they interleave.

      * no item is in two hands at once
      * what was added before the shutdown began is processed after its last add: nothing is lost
      * no worker sleeps while an item is ready
      * shut_down_with_drain returns only after a moment in which nothing was being processed, and then all threads end

    Every producer adds every item `rounds` times; every worker adds each item once more while it holds it. `work` is
    how long an item takes, in seconds of virtual time. With `drain_after` the shutdown does not wait until all is done,
    but begins after the main thread had that many turns. With `delay` the producers use `add_after`.

    Raises QueueRace, which tells what happened: `worker-1 gets 'b' while worker-0 holds it`. `log=print` tells it as it
    happens, of a run that succeeds too.
    """
    story = _Story(log)
    try:
        with synctest.bubble(schedule, preempt_in=preempt_in) as b:
            story.bubble = b
            _Interleaving(b, new_queue(None), story, [*items] * rounds, work, delay).run(
                workers, producers, drain_after
            )
    except AssertionError as err:
        race = QueueRace(story.ending_with(err))
        for note in getattr(err, "__notes__", ()):
            race.add_note(note)
        raise race from (err.__cause__ or err)


class _Story:
    """What the threads did, line by line; a line comes before the call it tells of, and after a `get`."""

    def __init__(self, log: Callable[[str], object] | None) -> None:
        self.bubble: synctest.Bubble | None = None
        self._log = log
        self._lines: list[str] = []
        self._ended = False
        self.waiting: list[str] = []  # who is in `get`

    def tell(self, what: str) -> None:
        if self._ended:
            return
        line = f"{threading.current_thread().name} {what}"
        elapsed = self.bubble.elapsed if self.bubble is not None else 0.0
        if elapsed:
            line = f"+{elapsed:g}s {line}"
        self._lines.append(line)
        if self._log is not None:
            self._log(line)

    def end(self) -> None:
        """What the other threads go on doing is no part of it."""
        self._ended = True

    def ending_with(self, err: AssertionError) -> str:
        """The problem, what led to it, and, of a deadlock, the stacks."""
        if isinstance(err, synctest.ThreadError) and isinstance(err.__cause__, AssertionError):
            err = err.__cause__
        problem, _, rest = str(err).partition("\n")
        waiting = [] if self._ended else [f"{name} waits in get" for name in self.waiting]
        return "\n".join([problem, "", *self._lines, *waiting, *(["", rest] if rest else [])])


class _Interleaving:
    """The bookkeeping needs no lock: there is no preemption point between its lines."""

    def __init__(
        self,
        bubble: synctest.Bubble,
        queue: Any,
        story: _Story,
        items: Sequence[Item],
        work: float,
        delay: float,
    ) -> None:
        self.bubble = bubble
        self.queue = queue
        self.story = story
        self.items = items
        self.work = work
        self.delay = delay
        self.closing = False
        self.version = Counter[Item]()  # how often each item changed
        self.owed = Counter[Item]()  # the version that was added in time and has to be processed
        self.processed = Counter[Item]()
        self.in_hand: dict[Item, str] = {}  # who holds it
        self.times_empty = 0

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
        self.story.tell("calls shut_down_with_drain")
        self.queue.shut_down_with_drain()
        self.story.tell("returns from shut_down_with_drain")
        assert nothing_in_hand or self.times_empty > times_empty, (
            f"shut_down_with_drain returned, but all the time an item was being processed, now {list(self.in_hand)}"
        )
        for thread in crew:
            thread.join()
        assert self.processed >= self.owed, f"lost: owed {dict(self.owed)}, processed {dict(self.processed)}"

    def _watch_until_quiet(self) -> None:
        for _ in range(100):
            self.bubble.wait()
            ready = self.queue.len()
            idle = len(self.story.waiting)
            assert not (ready and idle), f"{idle} workers sleep while {ready} items are ready"
            if self.processed == self.version and not self.in_hand:
                return
            self.bubble.sleep(self.work or 1.0)
        raise AssertionError(f"lost: changed {dict(self.version)}, processed {dict(self.processed)}")

    def _produce(self) -> None:
        for item in self.items:
            if self.delay:
                self.version[item] += 1
                self.story.tell(f"adds {item!r} after {self.delay:g}s")
                self.queue.add_after(item, self.delay)
            else:
                self._add(item)
            time.sleep(0)  # give way, or a producer is over before the first worker wakes

    def _add(self, item: Item) -> None:
        self.version[item] += 1
        version = self.version[item]
        self.story.tell(f"adds {item!r}")
        self.queue.add(item)
        if not self.closing:
            self.owed[item] = max(self.owed[item], version)

    def _work(self) -> None:
        me = threading.current_thread().name
        to_add_again = set(self.items)
        while True:
            self.story.waiting.append(me)
            item, shutdown = self.queue.get()
            self.story.waiting.remove(me)
            if shutdown:
                self.story.tell("gets the shutdown")
                return
            holder = self.in_hand.get(item)
            self.story.tell(f"gets {item!r}" + (f" while {holder} holds it" if holder else ""))
            if holder:
                self.story.end()
                raise AssertionError(f"{item!r} is in two hands at once")
            self.in_hand[item] = me
            version = self.version[item]
            time.sleep(self.work)
            if item in to_add_again:
                to_add_again.discard(item)
                self._add(item)
            self.processed[item] = max(self.processed[item], version)
            del self.in_hand[item]
            self.times_empty += not self.in_hand
            self.story.tell(f"is done with {item!r}")
            self.queue.done(item)
