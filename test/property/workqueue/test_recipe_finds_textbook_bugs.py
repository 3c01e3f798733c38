"""The recipe of the README finds each textbook bug, and prints it in a few lines; its table lists what it finds."""

from __future__ import annotations

import heapq
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase
from queue_bugs import (
    BUGS,
    DoneQueuesWithoutWaking,
    DrainDropsWhatIsQueued,
    DrainMissesTheLastDone,
    LimiterHasNoCeiling,
    LimiterOverflows,
    LooksWithoutTheLock,
    RetryForgetsThePriority,
    explored,
    lines_of,
    profile,
    run_recipe,
)
from simple_queue import (
    HeapPriorityQueue,
    MarksTheItemAsProcessedTooLate,
    SimpleDelayingQueue,
    SimplePriorityQueue,
    SimpleQueue,
    SimpleRateLimitingQueue,
)
from unusual_queues import (
    POLLS,
    OnASemaphore,
    OnTheStandardLibrary,
    OnTwoLocks,
    Polls,
    WithATimerPerDelay,
    WithTimeoutsInLoops,
)

from clientgo.testing import synctest
from clientgo.testing.workqueue_machine import (
    DelayingQueueMachine,
    DelayingQueueSession,
    PriorityQueueSession,
    QueueMachine,
    QueueMismatch,
    QueueRace,
    QueueSession,
    RateLimitingQueueSession,
    exponential,
    interleave,
)
from clientgo.testing.workqueue_machine.failures import Failures
from clientgo.testing.workqueue_machine.interleaving import SHAPES
from clientgo.testing.workqueue_machine.order import PriorityOrder
from clientgo.testing.workqueue_machine.shortening import shortened

README = (Path(__file__).parents[1] / "README.md").read_text()

# What a new project has: no profile is loaded. Where the variable CI is set, Hypothesis loads its own profile, which
# adds two lines to each failure: how to reproduce it.
NEW_PROJECT = {"max_examples": 100, "derandomize": True, "print_blob": False}
# Without shrinking, which takes longer than finding.
QUICK = {**NEW_PROJECT, "phases": [Phase.generate]}


@pytest.mark.takes_turns(8)
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_the_recipe_finds_the_bug_and_prints_at_most_ten_lines(bug: type[SimpleQueue]) -> None:
    failure = run_recipe(bug, BUGS[bug], **QUICK)

    assert failure is not None
    assert lines_of(failure) <= 10, failure


class DoneLocksTooLate(SimpleQueue):
    """`done` looks at the sets without the lock: an add between two of its lines and `done` both queue the item."""

    def done(self, item: str) -> None:
        self.processing.remove(item)
        again = item in self.dirty
        with self.lock:
            if again:
                self.push(item)
            self.changed.notify_all()


def test_interleavings_find_a_late_add_between_two_lines_of_done() -> None:
    failure = run_recipe(DoneLocksTooLate, "interleavings", **QUICK)

    assert failure is not None
    assert lines_of(failure) <= 10, failure


@pytest.mark.parametrize("bug", [DoneQueuesWithoutWaking, LimiterHasNoCeiling], ids=lambda bug: bug.__name__)
def test_a_script_has_the_fewest_lines_without_the_shrinking_of_hypothesis(bug: type[SimpleQueue]) -> None:
    failure = run_recipe(bug, "operations", **NEW_PROJECT)

    assert failure is not None
    assert lines_of(failure) <= 9, failure


def test_a_script_of_eight_operations_loses_one_when_another_is_simplified() -> None:
    """Without its delay the first add needs no second one that ends it."""
    with pytest.raises(QueueMismatch) as caught, PriorityQueueSession(RetryForgetsThePriority) as q:
        q.get()
        q.add_with_opts("a", after=0.25, priority=1)
        q.add("a")
        q.add("b")
        q.add_rate_limited("a")
        q.done("a")
        q.add("a")
        q.get()

    found = shortened(lambda: PriorityQueueSession(RetryForgetsThePriority), caught.value)
    assert lines_of(found) <= 10, found


def test_a_script_has_the_simplest_arguments_that_fail() -> None:
    with pytest.raises(QueueMismatch) as caught, RateLimitingQueueSession(LimiterOverflows) as q:
        q.add_after("c", 0.25)
        q.add_rate_limited("c", 1030)

    found = shortened(lambda: RateLimitingQueueSession(LimiterOverflows), caught.value, "aabbcc")
    assert [*found.operations] == [("add_rate_limited", ("a", 1025))]
    assert "q.add_rate_limited('a', times=1025)  # <- raises OverflowError" in str(found)


def test_a_script_shows_the_options_that_differ_from_their_defaults() -> None:
    with PriorityQueueSession(SimplePriorityQueue) as q:
        q.add_with_opts("a")
        q.add_with_opts("b", after=0.5, priority=0)
        q.add_with_opts("c", rate_limited=True)
        options = [line.partition("'")[2] for line in q.script]
    assert options[:3] == ["a')", "b', after=0.5, priority=0)", "c', rate_limited=True)"]


def test_a_script_leaves_out_pairs_of_operations_that_hypothesis_leaves_in() -> None:
    with pytest.raises(QueueMismatch) as caught, QueueSession(DoneQueuesWithoutWaking) as q:
        q.add("b")
        q.get()
        q.add("a")
        q.get()
        q.add("a")
        q.get()
        q.done("b")
        q.done("a")

    found = shortened(lambda: QueueSession(DoneQueuesWithoutWaking), caught.value)
    assert len(found.operations) == 5, "add, get, add, done, and a get or a drain that sleeps on"
    assert lines_of(found) == 8
    assert shortened(lambda: QueueSession(SimpleQueue), caught.value) is caught.value


def test_a_long_script_loses_most_of_its_operations_too() -> None:
    with pytest.raises(QueueMismatch) as caught, QueueSession(DoneQueuesWithoutWaking) as q:
        for _ in range(40):
            q.add("a")
        q.get()
        q.add("b")
        q.get()
        q.add("b")
        q.get()
        q.done("b")

    found = shortened(lambda: QueueSession(DoneQueuesWithoutWaking), caught.value)
    assert len(found.operations) == 5


class FailingSession:
    """Any name is an operation. The session fails at its end if the names of its operations say so."""

    def __init__(self, fails: Callable[[list[str]], bool]) -> None:
        self._fails = fails
        self._calls: list[str] = []

    def __enter__(self) -> FailingSession:
        return self

    def __exit__(self, *_: object) -> None:
        if self._fails(self._calls):
            raise QueueMismatch("", [(name, ()) for name in self._calls])

    def __getattr__(self, name: str) -> Any:
        return lambda: self._calls.append(name)


def shortened_operations(fails: Callable[[list[str]], bool], names: Iterable[str]) -> list[str]:
    def new_session() -> Any:
        return FailingSession(fails)

    failure = QueueMismatch("", [(name, ()) for name in names])
    return [name for name, _ in shortened(new_session, failure).operations]


def test_three_operations_are_left_out_together_of_a_short_script() -> None:
    def fails(names: list[str]) -> bool:
        """Fail with all or none of three operations."""
        return len({"a", "b", "c"} & {*names}) in (0, 3)

    assert shortened_operations(fails, "adbec") == []


def test_an_operation_is_moved_to_leave_out_another_one() -> None:
    def fails(names: list[str]) -> bool:
        """Fail with the last operation, as the first or as the ninth."""
        return names[:1] == ["last"] or names[8:] == ["last"]

    assert shortened_operations(fails, [*"abcdefgh", "last"]) == ["last"]


def test_delays_of_a_rate_limiting_queue_never_overflow() -> None:
    assert exponential(3) == 1.0
    assert exponential(10_000) == 8.0
    assert exponential(10_000, base=0.005, limit=1000.0) == 1000.0


def test_a_drain_may_finish_all_items_in_progress_while_others_are_ready() -> None:
    with QueueSession(SimpleQueue) as q:
        for item in "abc":
            q.add(item)
        q.get()
        q.get()
        q.drain(gets_first=False)
        names = [name for name, _ in q._operations]
        assert names == [*["add"] * 3, "get", "get", "add", "shut_down_with_drain", "done", "done"]


def test_two_operations_are_left_out_together_if_each_alone_ends_the_failure() -> None:
    class Session:
        """Fails at `c`, with both of `a` and `b` or with none."""

        def __init__(self) -> None:
            self.calls: list[str] = []

        def __enter__(self) -> Session:
            return self

        def __exit__(self, *_: object) -> None:
            if "c" in self.calls and ("a" in self.calls) == ("b" in self.calls):
                raise QueueMismatch("", [(name, ()) for name in self.calls])

        def __getattr__(self, name: str) -> Any:
            return lambda: self.calls.append(name)

    new_session: Any = Session
    failure = QueueMismatch("", [("a", ()), ("c", ()), ("b", ()), ("d", ())])
    assert shortened(new_session, failure).operations == [("c", ())]


def test_the_machine_reports_the_shortened_script() -> None:
    failure = run_recipe(DoneQueuesWithoutWaking, "operations", **QUICK, stateful_step_count=20)

    assert isinstance(failure, QueueMismatch)
    assert lines_of(failure) <= 8, failure  # without shrinking


def test_a_session_reports_a_thread_that_outlives_the_queue_and_its_line() -> None:
    class Outlives(SimpleQueue):
        def __init__(self, metrics_provider: Any = None) -> None:
            super().__init__(metrics_provider)
            threading.Thread(target=self.wait_for_ever, name="delays").start()

        def wait_for_ever(self) -> None:
            threading.Event().wait()

    with pytest.raises(QueueMismatch) as caught, QueueSession(Outlives) as q:
        q.add("a")

    assert "threads are still alive at the end of the bubble; delays waits at " in str(caught.value)
    assert "Outlives.wait_for_ever: threading.Event().wait()" in str(caught.value)
    assert "Traceback" not in str(caught.value) and caught.value.__cause__ is None


def test_a_machine_takes_other_items() -> None:
    class Unordered:
        def __repr__(self) -> str:
            return "unordered"

    class SortsItsItems(SimpleQueue):
        def push(self, item: Any) -> None:
            super().push(item)
            self.queue.sort()

    items = [Unordered(), Unordered()]
    QueueMachine.of(SimpleQueue, items=items).TestCase().runTest()
    with pytest.raises(QueueMismatch, match="'<' not supported"):
        QueueMachine.of(SortsItsItems, items=items).TestCase().runTest()


def test_the_readme_lists_every_bug() -> None:
    for bug, part in BUGS.items():
        summary = (bug.__doc__ or "").partition("\n")[0]
        assert f"| `{bug.__name__}` | {summary} | {part} |" in README


@pytest.mark.takes_turns(6)
@pytest.mark.parametrize(
    "queue", [SimpleQueue, SimpleDelayingQueue, SimpleRateLimitingQueue], ids=lambda queue: queue.__name__
)
def test_the_recipe_passes_the_queues_the_bugs_come_from(queue: type[SimpleQueue]) -> None:
    assert run_recipe(queue, "interleavings", max_examples=25, derandomize=True) is None
    assert run_recipe(queue, "operations", max_examples=25, derandomize=True) is None


@pytest.mark.takes_turns(6)
@pytest.mark.parametrize(
    "queue",
    [
        SimplePriorityQueue,
        HeapPriorityQueue,
        OnASemaphore,
        OnTwoLocks,
        OnTheStandardLibrary,
        WithATimerPerDelay,
        WithTimeoutsInLoops,
    ],
    ids=lambda queue: queue.__name__,
)
def test_the_recipe_passes_correct_queues_of_another_construction(queue: type[Any]) -> None:
    assert run_recipe(queue, "interleavings", max_examples=25, derandomize=True) is None
    assert run_recipe(queue, "operations", max_examples=25, derandomize=True) is None


# ---- queues that poll


def run_polling(queue: type[Any], part: str, polls: float = POLLS) -> None:
    with profile(**QUICK | {"max_examples": 25}):
        if part == "operations":
            DelayingQueueMachine.of(queue, polls=polls).TestCase().runTest()
        else:
            synctest.explore()(lambda schedule: interleave(queue, schedule, polls=polls))()


@pytest.mark.takes_turns(6)
@pytest.mark.parametrize("part", ["operations", "interleavings"])
def test_a_queue_that_polls_passes_with_its_interval(part: str) -> None:
    run_polling(Polls, part)
    with pytest.raises((QueueMismatch, QueueRace)):
        run_polling(Polls, part, polls=0.0)


class PollsAndDropsWhatIsProcessed(Polls):
    def take_ready(self, now: float) -> list[str]:
        return [item for item in super().take_ready(now) if item not in self.processing]


class PollsWithoutTheLock(Polls):
    def get(self) -> tuple[str | None, bool]:
        while not self.queue and not self.down:
            time.sleep(POLLS)
        first = self.queue[:1]
        with self.lock:  # another worker may have taken it since
            self.queue = [item for item in self.queue if item not in first]
            self.dirty.difference_update(first)
            self.processing.update(first)
            return (first[0], False) if first else (None, True)

    def done(self, item: str) -> None:
        with self.lock:
            self.processing.discard(item)
            if item in self.dirty:
                self.push(item)


@pytest.mark.parametrize(
    ("queue", "part", "failure"),
    [
        (PollsAndDropsWhatIsProcessed, "operations", QueueMismatch),
        (PollsWithoutTheLock, "interleavings", QueueRace),
    ],
)
def test_a_broken_queue_that_polls_is_found(queue: type[Any], part: str, failure: type[AssertionError]) -> None:
    with pytest.raises(failure) as caught:
        run_polling(queue, part)
    assert f"polls={POLLS}" in "".join([str(caught.value), *getattr(caught.value, "__notes__", ())])


def test_a_queue_that_sleeps_in_a_call_passes_with_that_time() -> None:
    class Sleeps(SimpleQueue):
        def push(self, item: str) -> None:
            time.sleep(POLLS / 2)
            super().push(item)

    with QueueSession(Sleeps, polls=POLLS) as q:
        q.with_failing_metrics("add", "a")
        assert q.over


def test_a_session_waits_for_the_poll_after_a_delay() -> None:
    """At 0.05 the delay ends between two polls of the waiting loop, and the worker sees the item a poll later."""
    with DelayingQueueSession(Polls, polls=POLLS) as q:
        q.get()
        q.add_after("a", 0.09)
        q.add("b")
        q.done("b")
        q.sleep(0.03)


# ---- shapes


BASIC = sum(not (shape.delay or shape.rate_limited or shape.priorities) for shape in SHAPES)


def shapes_of(**arguments: Any) -> list[tuple[str, ...]]:
    """Return the names of the threads that log in each run of one call."""
    runs: list[list[str]] = []

    def new_queue(_: object) -> SimpleQueue:
        runs.append([])
        return SimpleQueue()

    interleave(new_queue, log=lambda line: runs[-1].append(line), **arguments)
    return [tuple(run) for run in runs]


def test_one_worker_one_producer_and_one_item_come_first_in_every_call() -> None:
    first = shapes_of()[0]

    assert {line.split()[0] for line in first} == {"worker-0", "producer-0", "MainThread"}
    assert sum(line.startswith("producer-0 adds 'a'") for line in first) == 1


def test_shapes_grow_and_differ_in_how_they_end() -> None:
    runs = shapes_of()

    assert len(runs) == BASIC, "a queue without add_after, add_rate_limited and add_with_opts skips their shapes"
    assert any("worker-2" in line for line in runs[-1])
    assert any("calls shut_down_with_drain" in line for run in runs for line in run)
    assert any(line.endswith("calls shut_down") for run in runs for line in run)


def test_what_an_argument_fixes_is_the_same_in_all_shapes_and_all_of_them_make_one_run() -> None:
    assert all("worker-3" in "".join(run) for run in shapes_of(workers=4, drain_after=None))
    every: dict[str, Any] = {"workers": 1, "producers": 1, "items": "a", "rounds": 1, "work": 0.0, "delay": 0.0}
    assert len(shapes_of(**every, drain_after=None, shutdown="at once", preempt_in=[])) == 1


def test_a_shutdown_is_one_of_two() -> None:
    with pytest.raises(ValueError, match="'with drain' or 'at once', not 'later'"):
        interleave(SimpleQueue, shutdown="later")


def test_a_note_repeats_the_run_with_all_its_arguments() -> None:
    with pytest.raises(QueueRace) as caught:
        for number in range(100):
            interleave(LooksWithoutTheLock, synctest.RandomSchedule(number))
    (note,) = caught.value.__notes__
    text = note.removeprefix("synctest: replay with ")
    arguments = eval(f"dict({text})", {"Schedule": synctest.Schedule, **sys.modules})

    with pytest.raises(QueueRace) as again:
        interleave(LooksWithoutTheLock, **arguments)
    assert str(again.value) == str(caught.value)


def test_an_exception_in_a_shutdown_is_a_race_with_its_story() -> None:
    class RaisesInTheEnd(SimpleQueue):
        def shut_down_with_drain(self) -> None:
            super().shut_down_with_drain()
            raise LookupError("in the end")

    with pytest.raises(QueueRace) as caught:
        interleave(RaisesInTheEnd, workers=1, producers=1, items="a", rounds=1)

    assert str(caught.value).splitlines()[0] == "MainThread raises LookupError: in the end"
    assert lines_of(caught.value) <= 10
    assert isinstance(caught.value.__cause__, LookupError)


ONE_WORKER: dict[str, Any] = {"workers": 1, "producers": 1, "items": "ab", "rounds": 1, "work": 0.0, "delay": 0.0}


def test_items_and_priorities_may_be_lists() -> None:
    interleave(SimplePriorityQueue, **ONE_WORKER | {"items": ["a", "b"]}, priorities=[0, 1], preempt_in=[])


def test_priorities_are_those_of_the_argument_one_after_the_other() -> None:
    lines: list[str] = []
    interleave(SimplePriorityQueue, **ONE_WORKER, priorities=[3, -1], preempt_in=[], log=lines.append)

    adds = [line for line in lines if line.startswith("producer-0 adds")]
    assert adds[:2] == ["producer-0 adds 'a' with priority 3", "producer-0 adds 'b' with priority -1"]


def test_a_get_returns_no_item_before_one_of_a_higher_priority() -> None:
    class LowestFirst(SimplePriorityQueue):
        def rank(self, entry: Any) -> tuple[int, int]:
            return entry.priority, entry.place

    with pytest.raises(QueueRace, match="worker-0 got 'a' of priority 0, but 'b' of priority 1 was ready before"):
        interleave(LowestFirst, **ONE_WORKER | {"work": None}, priorities=[0, 1], preempt_in=[])


def test_a_second_add_comes_at_the_moment_when_the_first_ones_delay_ends() -> None:
    lines: list[str] = []
    shape = ONE_WORKER | {"delay": 0.5, "drain_after": None, "shutdown": "with drain"}
    interleave(SimplePriorityQueue, **shape, priorities=[0], pause=0.5, preempt_in=[], log=lines.append)

    assert lines[0] == "producer-0 adds 'a' with priority 0 after 0.5s"
    assert "+0.5s producer-0 adds 'b' with priority 0" in lines


def test_an_order_is_wrong_only_if_no_overlapping_call_explains_it() -> None:
    def order_of(*, is_ready_before: bool) -> None:
        order = PriorityOrder(lambda: 0.0)
        order.end_add(order.begin_add("low", 0))
        high = order.begin_add("high", 1)
        if is_ready_before:
            order.end_add(high)
        first = order.moment()
        if not is_ready_before:
            order.end_add(high)
        order.end_get("worker-0", first, "low")
        order.end_get("worker-1", order.moment(), "high")

    order_of(is_ready_before=False)
    with pytest.raises(AssertionError, match="worker-0 got 'low' of priority 0"):
        order_of(is_ready_before=True)


def test_a_delayed_add_raises_the_priority_of_a_ready_item() -> None:
    order = PriorityOrder(lambda: 0.0)
    for item, priority in [("low", 1), ("high", 0)]:
        order.end_add(order.begin_add(item, priority))
    order.end_add(order.begin_add("high", 2, delay=0.5))
    order.end_get("worker-0", order.moment(), "low")

    with pytest.raises(AssertionError, match="worker-0 got 'low' of priority 1, but 'high' of priority 2"):
        order.end_get("worker-0", order.moment(), "high")


BEGINS_TO_SHUT_DOWN: dict[str, Any] = ONE_WORKER | {"producers": 2, "items": "abc", "work": None, "priorities": [0, 1]}
BEGINS_TO_SHUT_DOWN |= {"rate_limited": False, "drain_after": 0, "shutdown": "at once", "preempt_in": []}


def test_a_shutdown_may_ignore_a_raise() -> None:
    for number in range(50):
        interleave(HeapPriorityQueue, synctest.RandomSchedule(number), **BEGINS_TO_SHUT_DOWN)


def test_a_worker_that_fails_last_is_reported_in_place_of_what_it_lost() -> None:
    class LowestFirst(HeapPriorityQueue):
        def push(self, item: str, record: Any) -> None:
            heapq.heappush(self.heap, (record.priority, record.place, item))

    problems = set[str]()
    for number in range(50):
        try:
            interleave(LowestFirst, synctest.RandomSchedule(number), **BEGINS_TO_SHUT_DOWN)
        except QueueRace as race:
            problems.add(str(race).partition(" ")[0])

    assert problems == {"worker-0"}


def test_failures_are_known_within_limits_while_calls_overlap() -> None:
    failures = Failures()
    with failures.failing("a"):
        pass
    with failures.failing("a"), failures.counting("a") as expected:
        pass
    assert [*expected()] == [1, 2]
    with failures.forgetting("a"), failures.failing("a"):
        pass
    with failures.counting("a") as expected:
        pass
    assert [*expected()] == [0, 1]


def test_a_long_script_joins_lines_without_comments() -> None:
    with pytest.raises(QueueMismatch) as caught, QueueSession(DrainDropsWhatIsQueued) as q:
        for item in "abcdefg":
            q.add(item)
        q.get()
        q.shut_down_with_drain()

    lines = [line.strip() for line in str(caught.value).splitlines()]
    assert lines[3:8] == ["q.add('a'); q.add('b'); q.add('c')", "q.add('d')", "q.add('e')", "q.add('f')", "q.add('g')"]
    assert len(lines) == 10


def test_a_deadlock_report_shows_each_threads_position_in_the_queue() -> None:
    class WaitsForEver(SimpleQueue):
        def shut_down_with_drain(self) -> None:
            threading.Event().wait()

    with pytest.raises(QueueRace) as caught:
        interleave(WaitsForEver, drain_after=0, shutdown="with drain")

    lines = str(caught.value).splitlines()
    assert lines[0] == "all threads are blocked and no timeout is pending"
    (main,) = [line for line in lines if line.startswith("MainThread waits at ")]
    assert main.endswith("WaitsForEver.shut_down_with_drain: threading.Event().wait()")
    assert len(lines) < 10


def test_a_long_story_is_cut_at_its_beginning() -> None:
    class GoesWrongLate(SimpleQueue):
        count = 0

        def take(self) -> tuple[str | None, bool]:
            self.count += 1
            assert self.count < 6, "the sixth"
            return super().take()

    with pytest.raises(QueueRace) as caught:
        interleave(GoesWrongLate, workers=3, items="abc", rounds=3)

    assert lines_of(caught.value) <= 10
    assert "lines before: log=print shows them)" in str(caught.value)


def test_a_search_that_found_a_race_goes_on_in_the_shape_that_showed_it() -> None:
    made = 0
    made_by_call: list[tuple[synctest.Schedule, int]] = []

    def new_queue(_: object) -> SimpleQueue:
        nonlocal made
        made += 1
        return LooksWithoutTheLock()

    def search(schedule: synctest.Schedule) -> None:
        before = made
        try:
            interleave(new_queue, schedule)
        finally:
            made_by_call.append((schedule, made - before))

    with profile(max_examples=100, derandomize=True), pytest.raises(QueueRace):
        synctest.explore()(search)()

    assert made_by_call[0] == (synctest.Schedule(), BASIC)
    while_shrinking = [count for schedule, count in made_by_call[20:] if schedule.picks]
    assert while_shrinking and statistics.median(while_shrinking) == 1


def test_the_story_replaces_the_tracebacks_of_the_harness_but_not_that_of_the_queue() -> None:
    class Breaks(SimpleQueue):
        def take(self) -> tuple[str | None, bool]:
            raise ZeroDivisionError("in the queue")

    for queue in (DrainMissesTheLastDone, MarksTheItemAsProcessedTooLate):
        err = run_recipe(queue, "interleavings", **QUICK)
        assert err is not None and err.__cause__ is None and err.__suppress_context__
    with pytest.raises(QueueRace) as caught:
        interleave(Breaks)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_premature_shutdown_is_reported() -> None:
    class EndsAtOnce(SimpleQueue):
        def get(self) -> tuple[str | None, bool]:
            return None, True

    with pytest.raises(QueueRace, match="worker-0 gets the shutdown before there is one"):
        interleave(EndsAtOnce)


def test_an_item_handed_out_more_often_than_added_is_reported() -> None:
    class HandsOutTwice(SimpleQueue):
        times = 0

        def done(self, item: str) -> None:
            super().done(item)
            with self.lock:
                self.times += 1
                if not self.queue and self.times < 9:
                    self.dirty.add(item)
                    self.push(item)

    with pytest.raises(QueueRace, match="'a' is handed out more often than it was added"):
        interleave(HandsOutTwice)


def test_a_failing_metric_ends_a_session_and_a_queue_that_gives_its_lock_back_passes() -> None:
    with QueueSession(SimpleQueue) as q:
        q.add("a")
        q.with_failing_metrics("add", "b")
        assert q.over


def test_a_rate_limited_item_comes_back_and_its_failures_are_counted() -> None:
    lines: list[str] = []
    interleave(
        SimpleRateLimitingQueue, workers=1, producers=1, items="a", rounds=1, rate_limited=True, log=lines.append
    )
    calls = [line.rpartition("worker-0 ")[2] for line in lines if "worker-0" in line]
    run = ["gets 'a'", "adds 'a' rate-limited", "is done with 'a'", "gets 'a'", "forgets 'a'", "is done with 'a'"]
    assert calls[: len(run)] == run

    class CountsTwice(SimpleRateLimitingQueue):
        def num_requeues(self, item: str) -> int:
            return 2 * super().num_requeues(item)

    with pytest.raises(QueueRace, match=r"num_requeues\('a'\) is 2, expected 1"):
        interleave(CountsTwice)


def test_explore_runs_as_many_cases_as_asked() -> None:
    runs = 0

    @synctest.explore(7)
    def counted(schedule: synctest.Schedule) -> None:
        nonlocal runs
        runs += 1

    counted()
    assert runs == 7


def test_explore_follows_the_profile_and_reports_one_failure() -> None:
    with profile(**QUICK), pytest.raises(QueueRace):
        explored(LooksWithoutTheLock)()
