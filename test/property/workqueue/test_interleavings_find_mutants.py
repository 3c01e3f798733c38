"""Interleavings find races that luck does not: each mutant has a window of a few bytecodes between two threads.

How rarely plain threads hit those windows was measured once, not here: every mutant ran the same scenario on ordinary
threads for ten seconds, several times over. The README beside this file has the table.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from simple_queue import MarksTheItemAsProcessedTooLate, SimpleDelayingQueue, SimpleQueue

from clientgo.testing import synctest
from clientgo.testing.workqueue_machine import interleave


class MissesAShutdownBetweenLookingAndSleeping(SimpleQueue):
    def get(self) -> tuple[str | None, bool]:
        while True:
            with self.lock:
                if self.queue:
                    return self.take()
            if self.down:
                return None, True
            with self.lock:  # the shutdown may have come since
                if not self.queue:
                    self.changed.wait()


class DrainMissesTheLastDone(SimpleQueue):
    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.down = True
            self.draining = True
            self.changed.notify_all()
        while self.processing and self.draining:
            with self.lock:  # the last item may be done since
                self.changed.wait()


class DoneDecidesWithoutTheLock(SimpleQueue):
    def done(self, item: str) -> None:
        self.processing.remove(item)
        with self.lock:  # an add may have queued the item since
            if item in self.dirty:
                self.push(item)
            self.changed.notify_all()

    def take(self) -> tuple[str | None, bool]:
        if not self.queue:
            return None, True
        item = self.queue.pop(0)
        self.dirty.discard(item)
        self.processing.add(item)
        return item, False


class ClearsTheEventAfterLooking(SimpleQueue):
    """Waits on an Event instead of a Condition, the way one should not."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.event = threading.Event()

    def push(self, item: str) -> None:
        self.queue.append(item)
        self.event.set()

    def get(self) -> tuple[str | None, bool]:
        while True:
            with self.lock:
                if self.queue or self.down:
                    return self.take()
            self.event.clear()  # forgets an add that came since
            self.event.wait()

    def shut_down_with_drain(self) -> None:
        super().shut_down_with_drain()
        while self.idle_getters():
            self.event.set()

    def idle_getters(self) -> bool:
        return not self.event.is_set()


class DecidesToSleepBeforeItTakesTheLock(SimpleDelayingQueue):
    """The waiting loop computes how long it may sleep, and misses what is added until it does."""

    def loop(self) -> None:
        while not self.shutting_down():
            now = time.monotonic()
            for item in self.take_ready(now):
                self.add(item)
            with self.lock:
                rest = min((ready_at - now for ready_at in self.waiting.values()), default=1000.0)
            with self.lock:  # an item or the shutdown may have come since
                if rest > 0 and not self.down:
                    self.waiting_changed.wait(rest)


# With as few threads and additions as the race needs: the fewer, the more of the schedules hit its window.
RACY: list[tuple[Any, dict[str, Any]]] = [
    (MissesAShutdownBetweenLookingAndSleeping, {"producers": 1, "rounds": 1}),
    (DrainMissesTheLastDone, {"producers": 1, "workers": 1}),
    (DoneDecidesWithoutTheLock, {"producers": 1}),
    (MarksTheItemAsProcessedTooLate, {}),
    (ClearsTheEventAfterLooking, {}),
    (DecidesToSleepBeforeItTakesTheLock, {"delay": 0.5, "producers": 1, "rounds": 1}),
]


def find_race(new_queue: Any, **scenario: Any) -> None:
    @settings(database=None, derandomize=True, max_examples=2000, phases=[Phase.generate])
    @given(
        schedule=synctest.schedules(),
        items=st.sampled_from(("a", "ab")),
        drain_after=st.none() | st.integers(0, 15),
    )
    def search(schedule: synctest.Schedule, items: str, drain_after: int | None) -> None:
        interleave(new_queue, schedule, items=items, drain_after=drain_after, **scenario)

    search()


@pytest.mark.parametrize(("mutant", "scenario"), RACY, ids=lambda value: getattr(value, "__name__", ""))
def test_the_schedules_find_the_race(mutant: Any, scenario: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        find_race(mutant, **scenario)


@settings(max_examples=40)
@given(schedule=synctest.schedules(), drain_after=st.none() | st.integers(0, 15))
def test_the_queues_the_mutants_come_from_pass(schedule: synctest.Schedule, drain_after: int | None) -> None:
    interleave(SimpleQueue, schedule, drain_after=drain_after)
    interleave(SimpleDelayingQueue, schedule, drain_after=drain_after, delay=0.5)


def test_the_schedule_in_the_note_of_a_failure_replays_it() -> None:
    mutant = MarksTheItemAsProcessedTooLate
    for seed in range(1000):
        try:
            interleave(mutant, synctest.RandomSchedule(seed))
        except AssertionError as err:
            notes = [note for note in err.__notes__ if "replay with schedule=" in note]
            first = str(err)
            break
    arguments = eval(f"dict({notes[-1].partition('replay with ')[2]})", {"Schedule": synctest.Schedule})
    with pytest.raises(AssertionError) as again:
        interleave(mutant, **arguments)
    assert str(again.value) == first
