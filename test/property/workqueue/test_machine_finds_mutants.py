"""The state machines find broken queues: each mutant below is caught within the machine's default budget."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from simple_queue import SimpleDelayingQueue, SimpleQueue, SimpleRateLimitingQueue

from clientgo.testing.workqueue_machine import (
    DelayingQueueMachine,
    PriorityQueueMachine,
    QueueMachine,
    QueueMismatch,
    QueueSession,
    RateLimitingQueueMachine,
    exponential,
)
from clientgo.util import workqueue

# ---- plain queues, each with one fault


class ForgetsWhatIsAddedWhileProcessing(SimpleQueue):
    def add(self, item: str) -> None:
        with self.lock:
            busy = item in self.processing
        if not busy:
            super().add(item)


class HandsOutAnItemTwice(SimpleQueue):
    def add(self, item: str) -> None:
        with self.lock:
            if self.down or item in self.dirty:
                return
            self.dirty.add(item)
            self.depth.inc()
            self.push(item)  # even if it is being processed

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.discard(item)
            self.changed.notify_all()


class QueuesDuplicates(SimpleQueue):
    def add(self, item: str) -> None:
        with self.lock:
            if self.down:
                return
            if item not in self.dirty:
                self.depth.inc()
            self.dirty.add(item)
            if item not in self.processing:
                self.push(item)

    def take(self) -> tuple[str | None, bool]:
        if self.queue:
            self.dirty.add(self.queue[0])
        return super().take()


class KeepsItemsDirtyAfterGet(SimpleQueue):
    def take(self) -> tuple[str | None, bool]:
        item, shutdown = super().take()
        if item is not None:
            self.dirty.add(item)
        return item, shutdown

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.remove(item)
            self.dirty.discard(item)
            self.changed.notify_all()


class WakesOneGetOnShutdown(SimpleQueue):
    def shut_down(self) -> None:
        with self.lock:
            self.down = True
            self.draining = False
            self.changed.notify()


class WakesNobodyWhenDoneQueuesAgain(SimpleQueue):
    def done(self, item: str) -> None:
        with self.lock:
            self.processing.remove(item)
            if item in self.dirty:
                self.queue.append(item)
            elif not self.processing:
                self.changed.notify_all()


class DrainReturnsEarly(SimpleQueue):
    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.down = True
            self.draining = True
            self.changed.notify_all()
            while self.queue and self.draining:
                self.changed.wait()


class DrainReturnsAfterTheFirstDone(SimpleQueue):
    def shut_down_with_drain(self) -> None:
        with self.lock:
            self.down = True
            self.draining = True
            self.changed.notify_all()
            if self.processing:
                self.changed.wait()


class DrainIgnoresALaterShutdown(SimpleQueue):
    def shut_down(self) -> None:
        with self.lock:
            self.down = True
            self.changed.notify_all()


class TakesItemsAfterShutdown(SimpleQueue):
    def add(self, item: str) -> None:
        with self.lock:
            down, self.down = self.down, False
        super().add(item)
        with self.lock:
            self.down = down


class DropsTheQueueOnShutdown(SimpleQueue):
    def take(self) -> tuple[str | None, bool]:
        return (None, True) if self.down else super().take()


class LastInFirstOut(SimpleQueue):
    def push(self, item: str) -> None:
        self.queue.insert(0, item)
        self.changed.notify_all()


class QueuesAgainAtTheFront(SimpleQueue):
    def done(self, item: str) -> None:
        with self.lock:
            self.processing.remove(item)
            if item in self.dirty:
                self.queue.insert(0, item)
            self.changed.notify_all()


class NeverLowersTheDepthMetric(SimpleQueue):
    def take(self) -> tuple[str | None, bool]:
        depth, self.depth = self.depth, None
        try:
            return super().take()
        finally:
            self.depth = depth


# ---- delaying queues


class LosesADelayedItemWhenAnEarlierDuplicateComes(SimpleDelayingQueue):
    def insert(self, item: str, ready_at: float) -> None:
        if ready_at < self.waiting.get(item, ready_at):
            del self.waiting[item]
        else:
            super().insert(item, ready_at)


class LaterDuplicateWins(SimpleDelayingQueue):
    def insert(self, item: str, ready_at: float) -> None:
        self.waiting[item] = ready_at


class FirstDuplicateWins(SimpleDelayingQueue):
    def insert(self, item: str, ready_at: float) -> None:
        self.waiting.setdefault(item, ready_at)


class DoesNotWakeForAnEarlierItem(SimpleDelayingQueue):
    def add_after(self, item: str, delay: float) -> None:
        if self.shutting_down():
            return
        self.retries.inc()
        if delay <= 0:
            self.add(item)
            return
        with self.lock:
            first = not self.waiting
            self.insert(item, time.monotonic() + delay)
            if first:
                self.waiting_changed.notify()


class DelayedItemsQueueUpBehindEachOther(SimpleDelayingQueue):
    def insert(self, item: str, ready_at: float) -> None:
        super().insert(item, max([ready_at, *self.waiting.values()]))


class AddCancelsTheDelayedAdd(SimpleDelayingQueue):
    def add(self, item: str) -> None:
        with self.lock:
            self.waiting.pop(item, None)
        super().add(item)


class NeverCountsRetries(SimpleDelayingQueue):
    def add_after(self, item: str, delay: float) -> None:
        retries, self.retries = self.retries, None
        super().add_after(item, delay)
        self.retries = retries


# ---- rate limiting queues


class ForgetDoesNotReset(SimpleRateLimitingQueue):
    def forget(self, item: str) -> None:
        pass


class ForgetResetsEverybody(SimpleRateLimitingQueue):
    def forget(self, item: str) -> None:
        self.failures.clear()


class DoneForgets(SimpleRateLimitingQueue):
    def done(self, item: str) -> None:
        super().done(item)
        self.forget(item)


class DelayNeverGrows(SimpleRateLimitingQueue):
    def delay(self, failures: int) -> float:
        return super().delay(0)


class DelayStartsWithTheSecondStep(SimpleRateLimitingQueue):
    def delay(self, failures: int) -> float:
        return super().delay(failures + 1)


# ---- priority queues


def priority_queue(metrics_provider: Any, base: type[workqueue.PriorityQueue[str]] = workqueue.PriorityQueue) -> Any:
    return base(
        workqueue.PriorityQueueConfig(
            name="priority",
            metrics_provider=metrics_provider,
            rate_limiter=workqueue.new_typed_item_exponential_failure_rate_limiter(0.125, 8.0),
        )
    )


class _IgnoresPriorities(workqueue.PriorityQueue[str]):
    def add_with_opts(self, opts: workqueue.AddOpts, *items: str) -> None:
        super().add_with_opts(replace(opts, priority=None), *items)


class _LowestPriorityFirst(workqueue.PriorityQueue[str]):
    def add_with_opts(self, opts: workqueue.AddOpts, *items: str) -> None:
        priority = None if opts.priority is None else -opts.priority
        super().add_with_opts(replace(opts, priority=priority), *items)


class _LongerDelayWins(workqueue.PriorityQueue[str]):
    def add_with_opts(self, opts: workqueue.AddOpts, *items: str) -> None:
        for item in items:
            if opts.rate_limited and opts.after > exponential(self.num_requeues(item)):
                self._rate_limiter.when(item)
                super().add_with_opts(replace(opts, rate_limited=False), item)
            else:
                super().add_with_opts(opts, item)


def IgnoresPriorities(metrics_provider: Any) -> Any:
    return priority_queue(metrics_provider, _IgnoresPriorities)


def LowestPriorityFirst(metrics_provider: Any) -> Any:
    return priority_queue(metrics_provider, _LowestPriorityFirst)


def LongerDelayWins(metrics_provider: Any) -> Any:
    return priority_queue(metrics_provider, _LongerDelayWins)


PLAIN = [
    ForgetsWhatIsAddedWhileProcessing,
    HandsOutAnItemTwice,
    QueuesDuplicates,
    KeepsItemsDirtyAfterGet,
    WakesOneGetOnShutdown,
    WakesNobodyWhenDoneQueuesAgain,
    DrainReturnsEarly,
    DrainReturnsAfterTheFirstDone,
    DrainIgnoresALaterShutdown,
    TakesItemsAfterShutdown,
    DropsTheQueueOnShutdown,
    LastInFirstOut,
    QueuesAgainAtTheFront,
    NeverLowersTheDepthMetric,
]
DELAYING = [
    LosesADelayedItemWhenAnEarlierDuplicateComes,
    LaterDuplicateWins,
    FirstDuplicateWins,
    DoesNotWakeForAnEarlierItem,
    DelayedItemsQueueUpBehindEachOther,
    AddCancelsTheDelayedAdd,
    NeverCountsRetries,
]
RATE_LIMITING = [
    ForgetDoesNotReset,
    ForgetResetsEverybody,
    DoneForgets,
    DelayNeverGrows,
    DelayStartsWithTheSecondStep,
]
PRIORITY = [IgnoresPriorities, LowestPriorityFirst, LongerDelayWins]
MUTANTS = [
    *((QueueMachine, mutant) for mutant in PLAIN),
    *((DelayingQueueMachine, mutant) for mutant in DELAYING),
    *((RateLimitingQueueMachine, mutant) for mutant in RATE_LIMITING),
    *((PriorityQueueMachine, mutant) for mutant in PRIORITY),
]

# The same run each time, with as many cases as a user of Hypothesis has; without shrinking, which a later test shows.
BUDGET = settings(
    settings.get_profile("default"), max_examples=100, database=None, derandomize=True, phases=[Phase.generate]
)
FEWER = settings(BUDGET, max_examples=settings.get_profile("default").max_examples)


@pytest.mark.takes_turns(6)
@pytest.mark.parametrize(("machine_type", "mutant"), MUTANTS, ids=lambda value: value.__name__)
def test_the_machine_finds_the_mutant(machine_type: type[QueueMachine], mutant: Any) -> None:
    with pytest.raises(QueueMismatch):
        run_state_machine_as_test(machine_type.of(mutant), settings=BUDGET)


@pytest.mark.takes_turns(6)
@pytest.mark.parametrize(
    ("machine_type", "queue"),
    [
        (QueueMachine, SimpleQueue),
        (DelayingQueueMachine, SimpleDelayingQueue),
        (RateLimitingQueueMachine, SimpleRateLimitingQueue),
    ],
    ids=lambda value: value.__name__,
)
def test_the_machine_accepts_the_queue_the_mutants_come_from(machine_type: type[QueueMachine], queue: Any) -> None:
    run_state_machine_as_test(machine_type.of(queue), settings=FEWER)


def test_a_failure_prints_a_minimal_script_that_fails_again() -> None:
    with pytest.raises(QueueMismatch) as caught:
        run_state_machine_as_test(
            QueueMachine.of(LastInFirstOut), settings=settings(BUDGET, phases=[Phase.generate, Phase.shrink])
        )
    text = str(caught.value)
    script = text[text.index("with QueueSession") :]
    assert len(script.splitlines()) <= 6, script

    with pytest.raises(QueueMismatch) as again:
        exec(script, {"QueueSession": QueueSession, "LastInFirstOut": LastInFirstOut})
    assert str(again.value) == text


def test_a_session_can_be_written_by_hand() -> None:
    with pytest.raises(QueueMismatch) as caught, QueueSession(ForgetsWhatIsAddedWhileProcessing) as q:
        q.add("a")
        q.get()
        q.add("a")
        q.done("a")
        q.get()
    assert str(caught.value) == (
        "q.add('a'): the depth metric is 0, expected 1\n"
        "\n"
        "with QueueSession(ForgetsWhatIsAddedWhileProcessing) as q:\n"
        "    q.add('a')\n"
        "    q.get()  # 'a'\n"
        "    q.add('a')  # <- the depth metric is 0, expected 1"
    )
