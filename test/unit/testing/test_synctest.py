"""The deterministic scheduler: what it runs in which order, what it reports, and that code around it keeps working."""

from __future__ import annotations

import contextlib
import queue
import re
import socket
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clientgo.testing import synctest
from clientgo.testing.synctest import primitives, scheduler
from clientgo.utils.clock.clock import REAL_CLOCK, RealClock

THIS_MODULE = sys.modules[__name__]


def spawn(target: Callable[[], object], name: str) -> threading.Thread:
    thread = threading.Thread(target=target, name=name)
    thread.start()
    return thread


# ---- order


def test_without_a_schedule_each_thread_runs_until_it_blocks() -> None:
    log: list[str] = []
    with synctest.bubble():

        def work(name: str) -> None:
            for _ in range(3):
                with threading.Lock():
                    log.append(name)

        threads = [threading.Thread(target=work, args=(name,), name=name) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert log == ["a", "a", "a", "b", "b", "b"]


def test_the_same_seed_gives_the_same_run_and_its_trace_replays_it() -> None:
    def scenario(schedule: synctest.Schedule | synctest.RandomSchedule) -> tuple[str, synctest.Schedule]:
        log = ""
        with synctest.bubble(schedule) as b:
            lock = threading.Lock()

            def work(name: str) -> None:
                nonlocal log
                for _ in range(5):
                    with lock:
                        log += name

            threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            trace = b.trace
        return log, trace

    runs = {seed: scenario(synctest.RandomSchedule(seed)) for seed in range(20)}
    assert len({log for log, _ in runs.values()}) > 10
    for seed, (log, trace) in runs.items():
        assert scenario(synctest.RandomSchedule(seed)) == (log, trace)
        assert scenario(trace) == (log, trace)


def test_waiters_are_woken_in_the_order_they_came() -> None:
    log: list[str] = []
    with synctest.bubble() as b:
        condition = threading.Condition()

        def waiter(name: str) -> None:
            with condition:
                condition.wait()
                log.append(name)

        threads = [threading.Thread(target=waiter, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        b.wait()
        for expected in (["a"], ["a", "b"], ["a", "b", "c"]):
            with condition:
                condition.notify()
            b.wait()
            assert log == expected


# ---- wait and virtual time


def test_wait_returns_when_all_others_are_blocked_at_the_current_time() -> None:
    log: list[str] = []
    with synctest.bubble() as b:

        def work() -> None:
            log.append("started")
            time.sleep(10)
            log.append("slept")

        thread = spawn(work, "worker")
        b.wait()
        assert (log, b.elapsed) == (["started"], 0.0)
        b.sleep(9.999)
        assert log == ["started"]
        b.advance(0.001)
        assert (log, b.elapsed) == (["started", "slept"], 10.0)
        thread.join()


def test_virtual_time_takes_no_real_time_and_is_exact() -> None:
    before = time.perf_counter()
    with synctest.bubble() as b:
        assert time.time() == synctest.DEFAULT_START
        for _ in range(1000):
            time.sleep(0.1)
        assert b.elapsed == 100.0
        assert time.monotonic_ns() == 100_000_000_000
        assert time.time_ns() == 946_684_900_000_000_000
        time.sleep(3600 * 24 * 365)
    assert time.perf_counter() - before < 10
    assert time.time() > 1_700_000_000


def test_timeouts_fire_in_order_of_their_time() -> None:
    log: list[tuple[str, float]] = []
    with synctest.bubble() as b:

        def sleeper(name: str, seconds: float) -> None:
            time.sleep(seconds)
            log.append((name, b.elapsed))

        threads = [
            threading.Thread(target=sleeper, args=args) for args in (("c", 3.0), ("a", 1.0), ("b", 2.0), ("b2", 2.0))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert log == [("a", 1.0), ("b", 2.0), ("b2", 2.0), ("c", 3.0)]


def test_every_timed_operation_times_out_virtually() -> None:
    with synctest.bubble() as b:
        held = threading.Lock()
        held.acquire()
        condition = threading.Condition()
        thread = spawn(lambda: time.sleep(100), "sleeper")

        assert not held.acquire(timeout=1.0)
        assert not threading.Event().wait(2.0)
        with condition:
            assert not condition.wait(3.0)
            assert not condition.wait_for(lambda: False, 4.0)
        assert not threading.Semaphore(0).acquire(timeout=5.0)
        thread.join(6.0)
        assert thread.is_alive()
        with pytest.raises(queue.Empty):
            queue.Queue[int]().get(timeout=7.0)
        with pytest.raises(threading.BrokenBarrierError):
            threading.Barrier(2).wait(8.0)

        assert b.elapsed == pytest.approx(36.0)
        thread.join()
        assert b.elapsed == pytest.approx(100.0)


def test_a_notified_waiter_forgets_its_timeout() -> None:
    with synctest.bubble() as b:
        event = threading.Event()
        results: list[tuple[bool, float]] = []

        def waiter() -> None:
            results.append((event.wait(5.0), b.elapsed))
            event.clear()
            results.append((event.wait(10.0), b.elapsed))

        thread = spawn(waiter, "waiter")
        b.sleep(1.0)
        event.set()
        thread.join()
    assert results == [(True, 1.0), (False, 11.0)]


def test_after_func_runs_in_its_own_thread_unless_stopped() -> None:
    log: list[tuple[str, float]] = []
    with synctest.bubble() as b:
        b.after_func(2.0, lambda: log.append((threading.current_thread().name, b.elapsed)), name="late")
        stopped = b.after_func(1.0, lambda: log.append(("never", b.elapsed)))
        assert stopped.stop()
        assert not stopped.stop()
        b.sleep(5.0)
        b.after_func(1.0, lambda: log.append(("pending at the end", b.elapsed)))
    assert log == [("late", 2.0)]


def test_real_clock_reads_virtual_time() -> None:
    log: list[tuple[str, float]] = []
    with synctest.bubble() as b:
        clock = RealClock()
        assert clock.now() == synctest.DEFAULT_START
        assert clock.after(0.5).receive() == (synctest.DEFAULT_START + 0.5, True)
        ticker = clock.new_ticker(10.0)
        for _ in range(3):
            ticker.c().receive()
            log.append(("tick", b.elapsed))
        clock.after_func(2.0, lambda: log.append(("after_func", b.elapsed)))
        clock.sleep(5.0)
        ticker.stop()
        assert clock.new_timer(1.0).stop()
        condition = threading.Condition()
        with condition:
            assert not clock.wait(condition, 100.0)
        assert b.elapsed == 135.5
    assert log == [("tick", 10.5), ("tick", 20.5), ("tick", 30.5), ("after_func", 32.5)]
    assert RealClock().now() > 1_700_000_000


@pytest.mark.parametrize("seconds", [0.1, 0.7, 1 / 3, 1e-9, 12345.678])
def test_a_loop_that_waits_for_the_rest_of_a_deadline_ends_in_time(seconds: float) -> None:
    """The deadline is a float of today's date and cannot be met exactly; the test still sees it met."""
    with synctest.bubble() as b:

        def work() -> None:
            clock, condition = RealClock(), threading.Condition()
            for _ in range(10):
                deadline = clock.now() + seconds
                with condition:
                    while (rest := deadline - clock.now()) > 0:
                        clock.wait(condition, rest)

        thread = spawn(work, "worker")
        b.sleep(10 * seconds + 1e-5)
        assert not thread.is_alive()


def test_threading_timer_runs_on_virtual_time() -> None:
    log: list[float] = []
    with synctest.bubble() as b:
        timer = threading.Timer(30.0, lambda: log.append(b.elapsed))
        timer.start()
        cancelled = threading.Timer(60.0, lambda: log.append(b.elapsed))
        cancelled.start()
        b.sleep(40.0)
        cancelled.cancel()
        timer.join()
    assert log == [30.0]


# ---- what the primitives promise


def test_mutual_exclusion_holds_under_every_schedule() -> None:
    def scenario() -> int:
        lock = threading.RLock()
        inside = 0
        total = 0

        def work() -> None:
            nonlocal inside, total
            for _ in range(4):
                with lock, lock:
                    inside += 1
                    assert inside == 1
                    time.sleep(0)
                    total += 1
                    inside -= 1

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return total

    for seed in range(50):
        assert synctest.run(scenario, synctest.RandomSchedule(seed)) == 12


def test_condition_on_an_rlock_gives_up_and_restores_the_whole_depth() -> None:
    with synctest.bubble() as b:
        condition = threading.Condition()
        done: list[bool] = []

        def waiter() -> None:
            with condition, condition:
                condition.wait()
                done.append(True)

        thread = spawn(waiter, "waiter")
        b.wait()
        with condition:
            condition.notify_all()
        thread.join()
        assert done == [True]
        with condition:  # free again
            pass


def test_misuse_is_reported_as_by_the_ordinary_primitives() -> None:
    with synctest.bubble():
        with pytest.raises(RuntimeError, match="un-acquired"):
            threading.Condition().wait()
        with pytest.raises(RuntimeError, match="un-acquired"):
            threading.Condition().notify()
        with pytest.raises(RuntimeError):
            threading.Lock().release()
        with pytest.raises(RuntimeError, match="un-acquired"):
            threading.RLock().release()
        with pytest.raises(RuntimeError, match="current thread"):
            threading.current_thread().join()
        with pytest.raises(ValueError, match="timeout"):
            threading.Lock().acquire(timeout=-2)
        thread = spawn(lambda: None, "once")
        thread.join()
        with pytest.raises(RuntimeError, match="once"):
            thread.start()


def test_standard_library_queues_and_pools_work_in_a_bubble() -> None:
    with synctest.bubble(synctest.RandomSchedule(3)) as b:
        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(lambda n: n * n, range(10))) == [n * n for n in range(10)]
        channel: queue.Queue[int] = queue.Queue(1)
        producer = spawn(lambda: [channel.put(n) for n in range(5)], "producer")
        assert [channel.get() for _ in range(5)] == list(range(5))
        producer.join()
        b.wait()


def test_isinstance_holds_on_both_sides_of_a_bubble() -> None:
    outside = threading.Condition()
    with synctest.bubble():
        inside = threading.Condition()
        assert isinstance(inside, threading.Condition)
        assert isinstance(outside, threading.Condition)
        assert isinstance(threading.Event(), threading.Event)
        assert isinstance(threading.Thread(), threading.Thread)
    assert isinstance(inside, threading.Condition)


# ---- the border of the bubble


def test_names_are_restored_afterwards_even_after_a_failure() -> None:
    names = [(owner, name, getattr(owner, name)) for owner, name, _ in primitives._REPLACEMENTS]
    with pytest.raises(ZeroDivisionError), synctest.bubble():
        assert threading.Lock is primitives.Lock
        raise ZeroDivisionError
    assert all(getattr(owner, name) is value for owner, name, value in names)


def test_objects_made_outside_work_uncontended_inside() -> None:
    lock, event, condition = threading.Lock(), threading.Event(), threading.Condition()
    with synctest.bubble():
        with lock, condition:
            condition.notify_all()
        event.set()
        assert event.wait(1.0)


def test_objects_made_inside_keep_working_afterwards() -> None:
    with synctest.bubble():
        lock, rlock, event, condition = threading.Lock(), threading.RLock(), threading.Event(), threading.Condition()
        with condition:  # and inside a later bubble
            condition.notify()
    with lock, rlock, rlock, condition:
        assert lock.locked()
        condition.notify_all()
    event.set()
    assert event.wait()
    with synctest.bubble() as b:
        thread = spawn(lambda: lock.acquire(), "other")
        b.wait()
        assert not lock.acquire(timeout=1.0)
        thread.join()
        lock.release()


def test_threads_outside_keep_the_ordinary_threading_while_a_bubble_is_open() -> None:
    go, made = threading.Event(), threading.Event()
    kinds: list[bool] = []

    def outside() -> None:
        go.wait()
        kinds.append(isinstance(threading.Lock(), primitives.Lock))
        kinds.append(time.time() < 1_700_000_000)
        inner = threading.Thread(target=lambda: kinds.append(False))
        inner.start()
        inner.join()
        made.set()

    thread = spawn(outside, "outside")
    with synctest.bubble():
        go.set()
        assert isinstance(threading.Lock(), primitives.Lock)
        made.wait()
    thread.join()
    assert kinds == [False, False, False]


def test_bubbles_do_not_nest() -> None:
    with synctest.bubble(), pytest.raises(RuntimeError, match="nested"), synctest.bubble():
        pass
    assert synctest.current() is None
    with pytest.raises(RuntimeError, match="outside"):
        synctest.wait()


def test_run_returns_the_value_and_current_is_the_bubble() -> None:
    def body() -> float:
        b = synctest.current()
        assert b is not None
        time.sleep(2)
        synctest.wait()
        return b.elapsed

    assert synctest.run(body) == 2.0


# ---- what is reported


def test_deadlock_names_every_thread_and_what_it_waits_for() -> None:
    def cross() -> None:
        first, second = threading.Lock(), threading.Lock()

        def one() -> None:
            with first:
                time.sleep(1)
                second.acquire()

        def two() -> None:
            with second:
                time.sleep(1)
                first.acquire()

        threads = [spawn(one, "one"), spawn(two, "two")]
        for thread in threads:
            thread.join()

    with pytest.raises(synctest.DeadlockError) as caught:
        synctest.run(cross)
    text = str(caught.value)
    assert "at virtual time +1s" in text
    assert "thread 'one' waits for <Lock" in text
    assert "held by 'two'" in text
    assert "second.acquire()" in text
    assert "thread 'MainThread' waits for thread 'one' to end" in text
    assert {Path(line.split(":")[0].strip()) for line in text.splitlines() if ".py:" in line} == {Path(__file__)}


def test_a_lost_wake_up_is_a_deadlock() -> None:
    """The flag is tested without the lock, so the notification can fall between the test and the wait."""

    def scenario() -> None:
        condition = threading.Condition()
        ready = False

        def consumer() -> None:
            if not ready:
                with condition:
                    condition.wait()

        def producer() -> None:
            nonlocal ready
            ready = True
            with condition:
                condition.notify()

        threads = [spawn(consumer, "consumer"), spawn(producer, "producer")]
        for thread in threads:
            thread.join()

    outcomes = []
    for seed in range(100):
        try:
            synctest.run(scenario, synctest.RandomSchedule(seed))
            outcomes.append("fine")
        except synctest.DeadlockError as err:
            assert err.__notes__[-1].startswith("synctest: replay with schedule=Schedule({")
            outcomes.append("lost")
    assert {"fine", "lost"} == set(outcomes)


def test_a_leaked_thread_is_named_and_unwound() -> None:
    unwound: list[str] = []

    def forever() -> None:
        try:
            threading.Event().wait()
        finally:
            unwound.append(threading.current_thread().name)

    with pytest.raises(synctest.LeakError, match=r"thread 'leaky' waits for (.|\n)*in .*forever: threading.Event\(\)"):
        synctest.run(lambda: spawn(forever, "leaky"))
    assert unwound == ["leaky"]
    assert not [thread for thread in threading.enumerate() if thread.name == "leaky"]


def test_threads_that_can_end_by_themselves_are_no_leak() -> None:
    log: list[str] = []
    with synctest.bubble():
        spawn(lambda: log.append("ran"), "short")
    assert log == ["ran"]


def test_an_exception_in_a_thread_is_raised_by_wait_with_its_cause() -> None:
    def broken() -> None:
        raise ZeroDivisionError("oh")

    with synctest.bubble() as b:
        spawn(broken, "broken")
        with pytest.raises(synctest.ThreadError, match="thread 'broken' ended with ZeroDivisionError: oh") as caught:
            b.wait()
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        b.failures.clear()


def test_an_exception_in_a_thread_is_raised_at_the_end_at_the_latest() -> None:
    def broken() -> None:
        raise ZeroDivisionError("oh")

    with pytest.raises(synctest.ThreadError, match="oh"):
        synctest.run(lambda: spawn(broken, "broken").join())


def test_a_deadlock_report_names_a_dead_thread() -> None:
    def scenario() -> None:
        done = threading.Event()

        def broken() -> None:
            raise ZeroDivisionError("oh")

        spawn(broken, "broken")
        done.wait()

    with pytest.raises(synctest.DeadlockError) as caught:
        synctest.run(scenario)
    assert "thread 'broken' had ended with ZeroDivisionError: oh" in caught.value.__notes__[0]


def test_the_bodys_own_exception_wins_over_what_is_left_behind() -> None:
    with pytest.raises(ZeroDivisionError), synctest.bubble():
        spawn(lambda: threading.Event().wait(), "left")
        raise ZeroDivisionError


def test_a_livelock_is_reported_in_any_thread() -> None:
    def spin() -> None:
        event = threading.Event()
        while not event.is_set():
            pass

    def ticks() -> None:
        while True:
            time.sleep(1)

    with pytest.raises(synctest.LivelockError):
        synctest.run(spin, max_steps=1000)
    with pytest.raises(synctest.LivelockError):
        synctest.run(lambda: spawn(spin, "spinner").join(), max_steps=1000)
    with pytest.raises(synctest.LivelockError):
        synctest.run(lambda: spawn(ticks, "ticker").join(), max_steps=1000)


def test_a_thread_stuck_outside_the_bubble_is_reported() -> None:
    near, far = socket.socketpair()
    with (
        near,
        far,
        pytest.raises(synctest.HangError, match="'stuck' has not come back"),
        synctest.bubble(hang_timeout=0.05),
    ):
        spawn(lambda: far.recv(1), "stuck").join()
        near.send(b"x")


def test_a_thread_that_swallows_everything_cannot_keep_the_bubble_open() -> None:
    free = False

    def stubborn() -> None:
        while not free:
            with contextlib.suppress(BaseException):
                time.sleep(1)

    b = synctest.bubble()
    with pytest.raises(synctest.LeakError), b:
        thread = spawn(stubborn, "stubborn")
    assert thread.is_alive()  # stopped where it stands
    free = True
    b._by_thread[thread].gate.release()
    thread.join()


def test_an_interrupted_bubble_waits_for_all_its_threads_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each: a limit on the test's time has been reached already, and there may be hundreds."""
    monkeypatch.setattr(scheduler, "_UNWINDS", 0.01)
    monkeypatch.setattr(scheduler, "_ALL_END", 0.5)
    outside = threading.Lock()
    outside.acquire()

    def does_not_let_go() -> None:
        try:
            time.sleep(3600.0)
        finally:
            outside.acquire()
            outside.release()

    b = synctest.bubble()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), b:
        threads = [spawn(does_not_let_go, f"thread {number}") for number in range(40)]
        b.wait()
        raise KeyboardInterrupt
    took = time.monotonic() - began

    outside.release()
    for thread in threads:
        b._by_thread[thread].gate.release()
        thread.join()

    assert took < 20.0  # half a second, and not one for each


def test_the_log_lists_every_switch() -> None:
    lines: list[str] = []
    with synctest.bubble(log=lines.append):
        spawn(lambda: time.sleep(1), "sleeper").join()
    assert [line.split("   ")[0] for line in lines] == ["+0s MainThread -> sleeper", "+1s sleeper ends -> MainThread"]
    assert re.fullmatch(rf".*   left at {re.escape(__file__)}:\d+ in test_the_log_lists_every_switch", lines[0])


# ---- searching


def racy_counter() -> None:
    """Increment a shared number without a lock. Only a thread switch between two of its lines shows the bug."""
    counter = [0]

    def increment() -> None:
        value = counter[0]
        value += 1
        counter[0] = value

    threads = [threading.Thread(target=increment) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter == [2]


def test_line_preemption_finds_unlocked_races_that_lock_operations_cannot_show() -> None:
    for seed in range(50):
        synctest.run(racy_counter, synctest.RandomSchedule(seed))
    with pytest.raises(AssertionError, match="2"):
        for seed in range(50):
            synctest.run(racy_counter, synctest.RandomSchedule(seed), preempt_in=[THIS_MODULE])
    assert sys.gettrace() is None or "pytest_cov" in sys.modules


def test_hypothesis_shrinks_a_race_to_one_preemption() -> None:
    failing: list[synctest.Schedule] = []

    @settings(database=None, max_examples=300, derandomize=True)
    @given(schedule=synctest.schedules(decisions=20))
    def check(schedule: synctest.Schedule) -> None:
        try:
            synctest.run(racy_counter, schedule, preempt_in=[THIS_MODULE])
        except AssertionError:
            failing.append(schedule)
            raise

    with pytest.raises(AssertionError):
        check()
    assert len(failing[-1].picks) == 1
    with pytest.raises(AssertionError, match="2"):
        synctest.run(racy_counter, failing[-1], preempt_in=[THIS_MODULE])


@settings(max_examples=20)
@given(data=st.data())
def test_a_chooser_may_draw_from_hypothesis_and_may_end_the_test_case(data: st.DataObject) -> None:
    def choose(candidates: int, forced: bool) -> int:
        return data.conjecture_data.draw_integer(0, candidates - 1)

    def scenario() -> None:
        lock = threading.Lock()

        def work() -> None:
            for _ in range(3):
                with lock:
                    pass

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    synctest.run(scenario, choose)


def test_an_exception_of_the_chooser_reaches_the_body() -> None:
    class EnoughError(Exception):
        pass

    def choose(candidates: int, forced: bool) -> int:
        raise EnoughError

    with pytest.raises(EnoughError), synctest.bubble(choose):
        a, b = spawn(lambda: time.sleep(1), "a"), spawn(lambda: time.sleep(1), "b")
        a.join()
        b.join()


def test_schedules_print_as_they_are_written() -> None:
    schedule = synctest.Schedule({3: 1, 17: 2})
    assert repr(schedule) == "Schedule({3: 1, 17: 2})"
    assert schedule == synctest.Schedule({3: 1, 17: 2})
    assert repr(synctest.RandomSchedule(7)) == "RandomSchedule(7)"
    assert repr(synctest.RandomSchedule(7, preempt=0.5)) == "RandomSchedule(7, preempt=0.5)"


def test_thousands_of_switches_a_second() -> None:
    switches = 4000
    before = time.perf_counter()
    with synctest.bubble() as b:
        turn = threading.Condition()
        count = 0

        def play(parity: int) -> None:
            nonlocal count
            with turn:
                while count < switches:
                    if count % 2 == parity:
                        count += 1
                        turn.notify()
                    else:
                        turn.wait()
                turn.notify()

        players = [threading.Thread(target=play, args=(n,)) for n in range(2)]
        for player in players:
            player.start()
        for player in players:
            player.join()
        assert b._switches > switches
    assert time.perf_counter() - before < 20  # about 0.1 s on an idle machine


@given(schedule=synctest.schedules())
def test_a_lock_given_to_a_thread_whose_time_is_up_is_not_lost(schedule: synctest.Schedule) -> None:
    with synctest.bubble(schedule=schedule):
        lock = threading.Lock()
        taken: list[str] = []

        def hold() -> None:
            with lock:
                time.sleep(1)

        def impatient() -> None:
            if lock.acquire(timeout=1):
                taken.append("impatient")
                lock.release()

        def patient() -> None:
            with lock:
                taken.append("patient")

        threads = [spawn(hold, "hold"), spawn(impatient, "impatient"), spawn(patient, "patient")]
        for thread in threads:
            thread.join()
    assert "patient" in taken


def test_runnable_tasks_are_listed_and_may_be_chosen():
    with synctest.bubble() as b:
        order: list[str] = []
        held = threading.Lock()
        held.acquire()
        waiting = threading.Thread(target=held.acquire, name="waiting")
        waiting.start()
        b.wait()
        threads = [threading.Thread(target=order.append, args=(name,), name=name) for name in ("one", "two", "three")]
        for thread in threads:
            thread.start()
        assert [thread.name for thread in b.runnable[1:]] == ["one", "two", "three"]
        assert b.runnable[0] is threading.current_thread()
        assert not b.switch_to(waiting) and order == []
        assert b.switch_to(threads[1])
        assert order[0] == "two"
        assert not b.switch_to(threads[1])  # it has ended
        b.wait()
        assert sorted(order) == ["one", "three", "two"]
        held.release()
        for thread in (waiting, *threads):
            thread.join()


def test_the_time_of_day_can_be_put_ahead_and_no_waiting_ends_for_it():
    with synctest.bubble(two_clocks=True) as bubble:
        began, wall = REAL_CLOCK.now(), time.time()
        bubble.move_wall_clock(3600.0)
        assert time.time() - wall == 3600.0 and REAL_CLOCK.since(began) == 0.0 and time.monotonic() == bubble.elapsed
        REAL_CLOCK.sleep(2.0)
        assert REAL_CLOCK.since(began) == 2.0 and float(REAL_CLOCK.now()) - float(began) == 3602.0
    with synctest.bubble() as bubble, pytest.raises(RuntimeError, match="one clock alone"):
        bubble.move_wall_clock(1.0)
