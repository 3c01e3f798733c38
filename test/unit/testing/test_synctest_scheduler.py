"""The scheduler of synctest itself: what each of its lines decides about turns, timeouts, locks and errors."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
import unittest
from collections.abc import Callable

import pytest
from hypothesis import settings
from patience import PATIENCE
from synctesttools import REAL_JOIN

from clientgo.testing import synctest
from clientgo.testing.synctest.schedule import Chooser
from clientgo.utils.clock import clock


def spawn(target: Callable[[], object], name: str) -> threading.Thread:
    thread = threading.Thread(target=target, name=name)
    thread.start()
    return thread


# ---- turns


def test_a_chooser_is_asked_with_all_that_can_run_and_whether_the_running_thread_can() -> None:
    asked: list[tuple[int, bool]] = []

    def choose(candidates: int, forced: bool) -> int:
        asked.append((candidates, forced))
        return 0

    with synctest.bubble(choose):
        threads = [threading.Thread(target=lambda: None, name=name) for name in "ab"]
        for thread in threads:
            thread.start()
        time.sleep(0)
        for thread in threads:
            thread.join()

    assert asked[0] == (2, False)
    assert {(3, False), (2, True)} <= set(asked)
    assert min(candidates for candidates, _ in asked) == 2


@pytest.mark.parametrize(("preempt", "forced", "expected"), [(0.0, False, {0}), (1.0, False, {1, 2, 3})])
def test_a_random_schedule_preempts_as_often_as_it_says(preempt: float, forced: bool, expected: set[int]) -> None:
    choose: Chooser = synctest.RandomSchedule(5, preempt=preempt).chooser()

    assert {choose(4, forced) for _ in range(300)} == expected


@pytest.mark.parametrize("preempt", [0.0, 1.0])
def test_a_random_schedule_takes_any_thread_when_the_running_one_is_blocked(preempt: float) -> None:
    choose = synctest.RandomSchedule(5, preempt=preempt).chooser()

    assert {choose(3, True) for _ in range(300)} == {0, 1, 2}


def test_a_schedule_takes_its_picks_by_their_number_and_wraps_them_around() -> None:
    choose = synctest.Schedule({1: 2, 3: 5}).chooser()

    assert [choose(3, False) for _ in range(5)] == [0, 2, 0, 2, 0]


def test_schedules_of_hypothesis_pick_the_first_three_candidates() -> None:
    picked: set[int] = set()
    lengths: set[int] = set()

    @synctest.explore(cases=50, schedule=synctest.schedules(decisions=10))
    def look(schedule: synctest.Schedule) -> None:
        picked.update(schedule.picks.values())
        lengths.update(schedule.picks)

    look()
    assert picked == {1, 2, 3}
    assert lengths == set(range(10))


# ---- timeouts and wakeups


def test_a_condition_says_whether_it_was_notified_or_its_time_was_up() -> None:
    answers: list[tuple[str, bool, float]] = []
    with synctest.bubble() as b:
        condition = threading.Condition()

        def waiter(name: str, timeout: float) -> None:
            with condition:
                answers.append((name, condition.wait(timeout), b.elapsed))

        threads = [spawn(lambda: waiter("early", 1.0), "early"), spawn(lambda: waiter("late", 5.0), "late")]
        b.sleep(2.0)
        with condition:
            condition.notify_all()
        for thread in threads:
            thread.join()

    assert answers == [("early", False, 1.0), ("late", True, 2.0)]


def test_a_waiter_whose_time_was_up_takes_no_notification_from_another() -> None:
    woken: list[str] = []
    with synctest.bubble() as b:
        condition = threading.Condition()

        def waiter(name: str, timeout: float | None) -> None:
            with condition:
                if condition.wait(timeout):
                    woken.append(name)

        threads = [spawn(lambda: waiter("gone", 1.0), "gone"), spawn(lambda: waiter("there", None), "there")]
        b.sleep(2.0)
        with condition:
            condition.notify()
        for thread in threads:
            thread.join()

    assert woken == ["there"]


def test_a_lock_waiter_whose_time_was_up_leaves_the_line() -> None:
    with synctest.bubble() as b:
        lock = threading.Lock()
        lock.acquire()
        answers: list[bool] = []
        impatient = spawn(lambda: answers.append(lock.acquire(timeout=1.0)), "impatient")
        b.sleep(2.0)
        assert "0 waiting" in repr(lock)
        impatient.join()
        patient = spawn(lambda: answers.append(lock.acquire(timeout=9.0)), "patient")
        b.wait()
        lock.release()
        patient.join()
        assert answers == [False, True]
        assert b.elapsed == 2.0


def test_a_timeout_of_an_earlier_wait_does_not_end_a_later_one() -> None:
    """Each parking has a number: the timeout of the first is pending while the thread is in the second."""
    with synctest.bubble() as b:
        first, second = threading.Event(), threading.Event()
        answers: list[tuple[bool, float]] = []

        def work() -> None:
            answers.append((first.wait(5.0), b.elapsed))
            answers.append((second.wait(100.0), b.elapsed))

        thread = spawn(work, "worker")
        b.sleep(1.0)
        first.set()
        b.sleep(10.0)
        assert thread.is_alive()
        second.set()
        thread.join()

    assert answers == [(True, 1.0), (True, 11.0)]


def test_a_join_that_timed_out_is_woken_by_no_later_end() -> None:
    with synctest.bubble() as b:
        sleeper = spawn(lambda: time.sleep(3.0), "sleeper")
        sleeper.join(1.0)
        assert (b.elapsed, sleeper.is_alive()) == (1.0, True)
        event = threading.Event()
        assert not event.wait(5.0)
        assert (b.elapsed, sleeper.is_alive()) == (6.0, False)


def test_a_try_of_a_lock_never_blocks() -> None:
    with synctest.bubble() as b:
        lock = threading.Lock()
        assert lock.acquire(blocking=False)
        assert not lock.acquire(blocking=False)
        assert b.elapsed == 0.0
        with pytest.raises(ValueError, match="timeout"):
            lock.acquire(blocking=False, timeout=1.0)
        lock.release()
        assert not lock.locked()


def test_a_reentrant_lock_is_free_after_as_many_releases_as_acquires() -> None:
    with synctest.bubble() as b:
        lock = threading.RLock()
        lock.acquire()
        lock.acquire()
        took: list[float] = []

        def take() -> None:
            with lock:
                took.append(b.elapsed)

        thread = spawn(take, "taker")
        lock.release()
        b.sleep(1.0)
        assert took == []
        lock.release()
        thread.join()
        assert took == [1.0]


def test_timers_of_threads_outside_keep_real_time_while_a_bubble_is_open() -> None:
    fired, go = threading.Event(), threading.Event()
    seen: list[float] = []

    def outside() -> None:
        go.wait(PATIENCE)
        seen.append(clock.RealClock().now())
        clock.RealClock().after_func(0.001, fired.set)
        fired.wait(PATIENCE)

    thread = spawn(outside, "outside")
    with synctest.bubble():
        go.set()
        REAL_JOIN(thread, PATIENCE)
    assert fired.is_set()
    assert seen[0] > 1_700_000_000


def test_the_clocks_source_is_the_one_of_before_after_a_bubble() -> None:
    class Frozen(clock.SystemTime):
        def now(self) -> float:
            return 42.0

    before = clock.set_time_source(Frozen())
    try:
        with synctest.bubble():
            assert clock.REAL_CLOCK.now() != 42.0
        assert clock.REAL_CLOCK.now() == 42.0
    finally:
        clock.set_time_source(before)


# ---- errors


def test_an_aborted_run_gives_the_turn_to_the_first_thread_at_once() -> None:
    order: list[str] = []

    def choose(candidates: int, forced: bool) -> int:
        if threading.current_thread().name == "b":
            raise ZeroDivisionError
        return 0

    with pytest.raises(ZeroDivisionError), synctest.bubble(choose):
        threads = [threading.Thread(target=lambda n=n: (time.sleep(0), order.append(n)), name=n) for n in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert "c" not in order


def test_a_livelock_is_reported_after_the_last_step_allowed() -> None:
    def steps(count: int) -> None:
        lock = threading.Lock()
        for _ in range(count):
            lock.locked()

    synctest.run(lambda: steps(90), max_steps=100)
    with pytest.raises(synctest.LivelockError, match="no end after 100 operations"):
        synctest.run(lambda: steps(110), max_steps=100)


@pytest.mark.parametrize("schedule", [None, synctest.Schedule(), synctest.Schedule({0: 1})])
@pytest.mark.parametrize("needed", [1, 50])
def test_a_thread_that_polls_for_another_is_no_livelock(schedule: synctest.Schedule | None, needed: int) -> None:
    def polls() -> None:
        lock, done = threading.Lock(), []

        def work() -> None:
            for _ in range(needed):
                lock.locked()
            done.append(True)

        threads = [threading.Thread(target=work, name=f"worker-{n}") for n in range(2)]
        for thread in threads:
            thread.start()
        while len(done) < 2:
            with lock:
                pass
        for thread in threads:
            thread.join()

    synctest.run(polls, schedule=schedule, max_steps=1000)


@pytest.mark.parametrize(("count", "is_livelock"), [(90, False), (110, True)])
def test_each_sleep_is_a_step(count: int, is_livelock: bool) -> None:
    def sleeps() -> None:
        for _ in range(count):
            time.sleep(1.0)

    with pytest.raises(synctest.LivelockError) if is_livelock else contextlib.nullcontext():
        synctest.run(sleeps, max_steps=100)


def test_a_turn_that_is_just_given_back_is_not_watched() -> None:
    """The last other thread has ended, and the first one is about to run: there is no thread to watch it."""
    with synctest.bubble() as b:
        assert b._watcher() is None
        held = threading.Event()
        other = spawn(held.wait, "other")
        b.wait()
        watcher = b._watcher()
        assert watcher is not None and watcher.thread is other
        held.set()


def test_a_bubble_says_how_far_it_is() -> None:
    with synctest.bubble() as b:
        sleeper = spawn(lambda: time.sleep(1), "sleeper")
        assert repr(b).startswith("<Bubble +0s, 2 threads alive, 1 ready, ")
        b.wait()
        assert repr(b._timeouts) == "<Timeouts 1>"
        sleeper.join()
        assert repr(b).startswith("<Bubble +1s, 1 threads alive, 0 ready, ")


# ---- explore


def test_explore_runs_the_test_and_passes_its_failure_on() -> None:
    @synctest.explore()
    def fails(schedule: synctest.Schedule) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()


def test_explore_runs_as_many_cases_as_asked_without_a_deadline() -> None:
    runs = 0

    @synctest.explore(cases=7)
    def counted(schedule: synctest.Schedule) -> None:
        nonlocal runs
        runs += 1

    with contextlib.suppress(unittest.SkipTest):  # which Hypothesis raises when it may run none
        counted()
    assert runs == 7


@pytest.mark.parametrize("name", ["max_examples", "deadline", "number"])
def test_explore_refuses_what_is_no_strategy_and_names_its_own_parameter(name: str) -> None:
    with pytest.raises(TypeError, match=rf"{name} needs a Hypothesis strategy.*explore\(cases=1000\)"):
        synctest.explore(**{name: 7})


def test_explore_refuses_settings_below_and_above_it_and_says_what_to_write() -> None:
    def test(schedule: synctest.Schedule) -> None: ...

    remedy = r"leave out `@settings\(max_examples=1000\)` and write `@synctest.explore\(cases=1000\)`"
    with pytest.raises(TypeError, match=remedy):
        synctest.explore()(settings(max_examples=7)(test))
    with pytest.raises(Exception, match=remedy):
        settings(max_examples=7)(synctest.explore()(lambda schedule: None))


def test_a_new_search_begins_with_an_empty_memory() -> None:
    seen: list[dict[str, bool]] = []

    @synctest.explore(cases=5)
    def search(schedule: synctest.Schedule) -> None:
        seen.append(dict(schedule.memory))
        schedule.memory["seen"] = True

    search()
    calls = len(seen)
    search()

    assert seen[1] == {"seen": True}
    assert seen[calls] == {}


def test_a_thread_that_ends_wakes_all_that_join_it() -> None:
    with synctest.bubble() as b:
        sleeper = spawn(lambda: time.sleep(2.0), "sleeper")
        ended: list[float] = []
        joiners = [spawn(lambda: (sleeper.join(), ended.append(b.elapsed)), f"joiner-{n}") for n in range(3)]
        for joiner in joiners:
            joiner.join()
    assert ended == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("function", ["explore", "schedules"])
def test_without_hypothesis_the_error_names_the_feature_that_needs_it(function: str) -> None:
    hidden = "import importlib.util as u; f = u.find_spec; u.find_spec = lambda n: n != 'hypothesis' and f(n) or None; "
    program = f"from clientgo.testing import synctest; synctest.{function}()"
    done = subprocess.run([sys.executable, "-c", hidden + program], capture_output=True, text=True, timeout=PATIENCE)

    assert f"synctest.{function} needs Hypothesis" in done.stderr
