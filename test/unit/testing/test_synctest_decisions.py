"""The course of a bubble: schedules and their search, timeouts, reports, and the end by an error."""

from __future__ import annotations

import _thread
import gc
import inspect
import re
import sys
import threading
import time
import weakref
from collections.abc import Callable

import pytest
from hypothesis import strategies as st
from synctesttools import steps_of

from clientgo.testing import synctest
from clientgo.testing.synctest import scheduler
from clientgo.testing.synctest.task import Timer
from clientgo.testing.synctest.timeouts import Timeouts


def spawn(target: Callable[[], object], name: str) -> threading.Thread:
    thread = threading.Thread(target=target, name=name)
    thread.start()
    return thread


# ---- how a search is tuned


def test_a_random_schedule_draws_how_often_it_preempts_from_four_rates() -> None:
    rates = set()
    for seed in range(40):
        choose = synctest.RandomSchedule(seed).chooser()
        rates.add(round(sum(choose(2, False) for _ in range(2000)) / 2000, 1))

    assert rates == {0.0, 0.1, 0.3, 0.6}


def test_schedules_of_hypothesis_switch_often_seldom_and_between() -> None:
    switches: list[int] = []

    @synctest.explore(cases=100)
    def look(schedule: synctest.Schedule) -> None:
        switches.append(len(schedule.picks))
        assert max(schedule.picks, default=0) < 100

    look()
    for low, high in ((0, 1), (2, 20), (20, 40), (40, 75)):
        assert any(low <= count <= high for count in switches)
    assert max(switches) < 80


def test_the_last_of_a_hundred_decisions_can_be_a_switch() -> None:
    last = 0

    @synctest.explore(cases=100)
    def look(schedule: synctest.Schedule) -> None:
        nonlocal last
        last = max(last, *schedule.picks, 0)

    look()
    assert last == 99


def test_a_schedule_equals_one_with_the_same_picks_only() -> None:
    assert synctest.Schedule({1: 2}) == synctest.Schedule({1: 2})
    assert synctest.Schedule({1: 2}) != synctest.Schedule({1: 3})
    assert synctest.Schedule({}) != {}
    assert synctest.Schedule({1: 2}).memory == {}


def test_explore_shrinks_one_failure_and_prints_no_schedule_again() -> None:
    @synctest.explore(cases=50)
    def fails(schedule: synctest.Schedule) -> None:
        if len(schedule.picks) > 2:
            raise KeyError(len(schedule.picks))
        if schedule.picks:
            raise ZeroDivisionError(len(schedule.picks))

    with pytest.raises((KeyError, ZeroDivisionError)) as caught:
        fails()
    assert caught.value.args == (3 if isinstance(caught.value, KeyError) else 1,)
    assert "fails(" not in "".join(getattr(caught.value, "__notes__", []))


def test_explore_prints_what_it_drew_beside_the_schedule() -> None:
    @synctest.explore(cases=50, number=st.integers())
    def fails(schedule: synctest.Schedule, number: int) -> None:
        if number > 3:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        fails()
    assert "number=4" in "".join(caught.value.__notes__)


# ---- timeouts


def test_timeouts_are_in_order_after_those_that_do_not_matter_are_forgotten() -> None:
    timeouts = Timeouts()
    timers = [Timer(lambda: None, str(number)) for number in range(60)]
    for number, timer in enumerate(timers):
        timeouts.add(number * 7 % 60, timer, 0)
    for timer in timers[::3]:
        timer.stop()

    timeouts.forget()
    came = []
    while (due := timeouts.pop_before(60)) is not None:
        came.append(due[0])

    assert len(came) == 40
    assert came == sorted(came)


def test_a_timeout_is_due_before_the_end_and_not_at_it() -> None:
    timeouts = Timeouts()
    timer = Timer(lambda: None, "late")
    timeouts.add(5, timer, 0)

    assert timeouts.pop_before(5) is None
    assert timeouts.pop_before(6) == (5, timer)
    assert timeouts.pop_before(6) is None


def test_a_timer_that_has_fired_cannot_be_stopped() -> None:
    with synctest.bubble() as b:
        timer = b.after_func(1.0, lambda: None)
        b.sleep(2.0)
        assert not timer.stop()


def test_advance_waits_until_all_others_are_blocked() -> None:
    ran: list[str] = []

    def work() -> None:
        time.sleep(1.0)
        for step in "abc":
            time.sleep(0)
            ran.append(step)

    with synctest.bubble() as b:
        thread = spawn(work, "worker")
        b.sleep(1.0)
        assert ran == ["a", "b", "c"]
        thread.join()


# ---- what a report shows


def test_stacks_show_each_living_thread_with_its_whole_stack_and_none_that_ended() -> None:
    def inner() -> None:
        time.sleep(5.0)

    def middle() -> None:
        inner()

    def outer() -> None:
        middle()

    with synctest.bubble() as b:
        spawn(lambda: None, "gone").join()
        sleeper = spawn(outer, "sleeper")
        b.wait()
        new = spawn(lambda: None, "new")
        text = b.stacks()
        for thread in (sleeper, new):
            thread.join()

    assert "'gone'" not in text
    assert "thread 'new' can run" in text
    assert "thread 'sleeper' waits for sleep" in text
    assert re.findall(r"<locals>\.(\w+): ", text) == ["outer", "middle", "inner"]
    main = text.partition("thread 'sleeper'")[0]
    assert "text = b.stacks()" in main
    assert main.count(".py:") == 1, "the caller of the bubble is the outermost frame"


def test_a_bubble_that_is_not_open_yet_can_be_printed() -> None:
    b = synctest.bubble()

    assert repr(b) == "<Bubble +0s, 1 threads alive, 0 ready, 0 steps>"
    assert f"thread {threading.current_thread().name!r} can run" in b.stacks()


def test_a_bubble_forgets_its_callers_frame_when_it_closes() -> None:
    class Local:
        pass

    def opened() -> tuple[synctest.Bubble, weakref.ref[Local]]:
        local = Local()
        b = synctest.bubble()
        with b:
            assert "opened" in b.stacks()
        return b, weakref.ref(local)

    b, kept = opened()
    gc.collect()
    assert kept() is None, b


def test_a_thread_of_a_bubble_keeps_no_interpreter_alive() -> None:
    with synctest.bubble():
        thread = spawn(lambda: None, "worker")
        assert thread.daemon
        thread.join()
        assert "run" not in vars(thread)


@pytest.mark.parametrize(
    ("name", "default"),
    [("start", 946_684_800.0), ("max_steps", 2_000_000), ("hang_timeout", 30.0), ("two_clocks", False)],
)
def test_a_bubble_that_is_made_directly_has_the_defaults_of_the_function(name: str, default: object) -> None:
    for signature in (inspect.signature(synctest.bubble), inspect.signature(synctest.Bubble)):
        assert signature.parameters[name].default == default


def test_steps_and_switches_are_counted_one_by_one() -> None:
    switches: list[str] = []
    with synctest.bubble(log=switches.append) as b:
        assert (steps_of(b), len(switches)) == (0, 0)
        lock = threading.Lock()
        lock.locked()
        assert (steps_of(b), len(switches)) == (1, 0)
        thread = spawn(lambda: None, "other")
        thread.join()
        assert len(switches) == 2


def test_lines_are_counted_as_steps_in_the_modules_named_only() -> None:
    steps = {}
    for modules in ((), (sys.modules[__name__],)):
        with synctest.bubble(preempt_in=modules) as b:
            thread = spawn(several_lines, "other")
            thread.join()
            several_lines()
            steps[bool(modules)] = steps_of(b)

    assert steps[True] - steps[False] >= 2 * 3


def several_lines() -> None:
    number = 1
    number += 1
    number += 1


def test_a_trace_function_of_a_debugger_is_there_again_after_a_bubble() -> None:
    def trace(frame: object, event: str, arg: object) -> None: ...

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with synctest.bubble(preempt_in=[sys.modules[__name__]]):
            pass
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)


# ---- how an error ends it


def test_an_aborted_run_goes_on_without_its_chooser() -> None:
    asked = 0

    def choose(candidates: int, forced: bool) -> int:
        nonlocal asked
        asked += 1
        raise ZeroDivisionError

    with synctest.bubble(choose):
        threads = [threading.Thread(target=time.sleep, args=(1.0,)) for _ in range(3)]
        with pytest.raises(ZeroDivisionError):
            for thread in threads:
                thread.start()
        for thread in threads:
            if thread.ident is None:
                thread.start()
        for thread in threads:
            thread.join()

    assert asked == 1


def test_an_error_makes_the_first_thread_ready_once() -> None:
    started = False

    def choose(candidates: int, forced: bool) -> int:
        if threading.current_thread().name == "breaks":
            raise ZeroDivisionError
        return candidates - 1 if started and forced else 0

    with synctest.bubble(choose) as b:
        other = spawn(lambda: time.sleep(5.0), "other")
        again = spawn(lambda: time.sleep(5.0), "again")
        breaks = threading.Thread(target=lambda: time.sleep(0), name="breaks")
        with pytest.raises(ZeroDivisionError):
            started = True
            breaks.start()
            breaks.join()
        assert [thread.name for thread in b.runnable].count(threading.current_thread().name) == 1
        for thread in (other, again, breaks):
            thread.join()


def test_an_error_of_the_body_unwinds_each_thread_once_and_waits_for_it() -> None:
    ended: list[str] = []

    def work(name: str) -> None:
        try:
            time.sleep(60.0)
        finally:
            ended.append(name)

    with pytest.raises(ZeroDivisionError), synctest.bubble() as b:
        threads = [spawn(lambda n=name: work(n), name) for name in "abc"]  # type: ignore[misc]
        b.wait()
        threads.append(spawn(lambda: ended.append("never"), "not begun"))
        raise ZeroDivisionError

    assert ended == ["a", "b", "c"]
    assert not any(thread.is_alive() for thread in threads)
    assert b.failures == []


def test_the_first_thread_is_the_running_one_after_another_was_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_UNWINDS", "_ENDS", "_ALL_END"):
        monkeypatch.setattr(scheduler, name, 0.05)
    held = _thread.allocate_lock()
    held.acquire()

    def blocks_for_real() -> None:
        try:
            threading.Event().wait()
        finally:
            held.acquire()

    with pytest.raises(ZeroDivisionError), synctest.bubble() as b:
        spawn(blocks_for_real, "left behind")
        b.wait()
        raise ZeroDivisionError
    running = b.runnable
    held.release()

    assert running == (threading.current_thread(),)


def test_many_threads_are_forgotten_when_their_number_has_doubled() -> None:
    with synctest.bubble() as b:
        for count in range(1, 300):
            spawn(lambda: None, "short").join()
            assert len(b._tasks) <= 66, count
        assert len(b._tasks) == len(b._by_thread)
        stop = threading.Event()
        living = [spawn(stop.wait, "living") for _ in range(200)]
        for _ in range(300):
            spawn(lambda: None, "short").join()
            assert len(b._tasks) <= 2 * (len(living) + 1) + 64
        stop.set()
        for thread in living:
            thread.join()


def raises_in(name: str) -> synctest.Chooser:
    """Return a chooser that raises once when the named thread chooses, which aborts the run."""
    raised = False

    def choose(candidates: int, forced: bool) -> int:
        nonlocal raised
        if threading.current_thread().name == name and not raised:
            raised = True
            raise ZeroDivisionError
        return 0

    return choose


def breaks() -> list[threading.Thread]:
    """Start three threads. The chooser of `raises_in("breaks")` raises when the first one chooses."""
    return [spawn(lambda: time.sleep(0), name) for name in ("breaks", "second", "third")]


def test_a_wait_for_a_lock_that_an_error_ended_takes_no_turn_from_others() -> None:
    took: list[float] = []
    with synctest.bubble(raises_in("breaks")) as b:
        lock = threading.Lock()
        holder = spawn(lambda: lock.acquire() and (time.sleep(5.0), lock.release()), "holder")
        b.wait()
        threads = breaks()
        with pytest.raises(ZeroDivisionError):
            lock.acquire()
        assert "0 waiting" in repr(lock)
        taker = spawn(lambda: lock.acquire() and (took.append(b.elapsed), lock.release()), "taker")
        for thread in (holder, taker, *threads):
            thread.join()

    assert took == [5.0]


def test_a_join_that_an_error_ended_wakes_no_later_wait() -> None:
    with synctest.bubble(raises_in("breaks")) as b:
        sleeper = spawn(lambda: time.sleep(5.0), "sleeper")
        b.wait()
        threads = breaks()
        with pytest.raises(ZeroDivisionError):
            sleeper.join()
        assert not threading.Event().wait(60.0)
        assert b.elapsed == 60.0
        for thread in (sleeper, *threads):
            thread.join()


def test_a_wait_for_idleness_that_an_error_ended_wakes_no_later_wait() -> None:
    with synctest.bubble(raises_in("breaks")) as b:
        threads = breaks()
        with pytest.raises(ZeroDivisionError):
            b.wait()
        assert not threading.Event().wait(60.0)
        assert b.elapsed == 60.0
        for thread in threads:
            thread.join()
