"""The shared timer thread of the real clock, and the fake clock's waiters, under arbitrary thread interleavings."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invariants import check_invariants

from clientgo.testing import synctest
from clientgo.utils import clock
from clientgo.utils.clock import REAL_CLOCK, SystemTime
from clientgo.utils.clock.testing import FakeClock, fake_clock


def run_all(*bodies: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body, name=f"body {number}") for number, body in enumerate(bodies)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


SECONDS = st.sampled_from([0.0, 0.5, 1.0, 2.0])
PLANS = st.lists(
    st.tuples(SECONDS, st.sampled_from(["leave", "stop", "reset", "stop twice"]), SECONDS, SECONDS),
    min_size=1,
    max_size=4,
)


@given(plans=PLANS, schedule=synctest.schedules())
def test_each_timer_fires_once_at_its_time_or_was_stopped(plans, schedule):
    """This holds for all other timers on the same thread, which ends with the last timer."""

    def scenario() -> None:
        source = SystemTime()
        previous = clock.set_time_source(source)
        start = REAL_CLOCK.now()

        def use_timer(first: float, action: str, pause: float, second: float) -> None:
            timer = REAL_CLOCK.new_timer(first)
            due: float | None = first
            if action != "leave":
                REAL_CLOCK.sleep(pause)
            if action == "reset":
                # No thread has received yet, so the timer counts as active even after it has fired, as in Go.
                assert timer.reset(second)
                due = pause + second
            elif action.startswith("stop"):
                assert timer.stop()
                assert action == "stop" or not timer.stop()
                due = None
            fired_at = None
            try:
                at, _ = timer.c().receive(timeout=10.0)
                fired_at = at
            except TimeoutError:
                pass
            if due is None:
                assert fired_at is None
            else:
                assert fired_at is not None
                assert fired_at - start == pytest.approx(due, abs=1e-3)
                assert not timer.stop()
            check_invariants(source)

        try:
            run_all(*(lambda plan=plan: use_timer(*plan) for plan in plans))
            synctest.wait()
            assert repr(source) == "<SystemTime 0 timers, thread not running>"
        finally:
            clock.set_time_source(previous)

    synctest.run(scenario, schedule=schedule, preempt_in=[clock.clock])


@given(period=st.sampled_from([0.5, 1.0]), busy=SECONDS, schedule=synctest.schedules())
def test_a_ticker_keeps_its_rhythm_and_stops(period, busy, schedule):
    def scenario() -> None:
        previous = clock.set_time_source(SystemTime())
        start = REAL_CLOCK.now()

        def use_ticker() -> None:
            ticker = REAL_CLOCK.new_ticker(period)
            for _ in range(3):
                at, _ = ticker.c().receive()
                assert at is not None
                beats = (at - start) / period
                assert beats == pytest.approx(round(beats), abs=1e-3)
                REAL_CLOCK.sleep(busy)
            ticker.stop()
            ticker.c().try_receive()
            with pytest.raises(TimeoutError):
                ticker.c().receive(timeout=5.0)

        try:
            run_all(use_ticker, use_ticker)
        finally:
            clock.set_time_source(previous)

    synctest.run(scenario, schedule=schedule)


@given(
    timeouts=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    steps=st.lists(st.integers(1, 3), max_size=3),
    notify=st.booleans(),
    schedule=synctest.schedules(),
)
def test_waiting_on_a_fake_clock_ends_by_a_step_or_a_notification(timeouts, steps, notify, schedule):
    """`wait` returns False only after the clock has moved by the timeout, and every waiter wakes up."""

    def scenario() -> None:
        fake = FakeClock(1000.0)
        cond = threading.Condition()
        ended: list[bool] = []

        def wait(timeout: int) -> None:
            with cond:
                deadline = fake.now() + timeout
                result = fake.wait(cond, timeout)
                ended.append(result)
                assert result or fake.now() >= deadline

        def step() -> None:
            for seconds in steps:
                fake.step(seconds)

        def wake() -> None:
            if notify:
                with cond:
                    cond.notify_all()

        waiters = [threading.Thread(target=wait, args=(timeout,), name=f"waiter {timeout}") for timeout in timeouts]
        others = [threading.Thread(target=step, name="stepper"), threading.Thread(target=wake, name="notifier")]
        for thread in waiters + others:
            thread.start()
        for thread in others:
            thread.join()
        synctest.wait()
        fake.step(10.0)  # for waiters that came after the last step and the notification
        for thread in waiters:
            thread.join()
        assert len(ended) == len(timeouts)
        assert not fake.has_waiters()

    synctest.run(scenario, schedule=schedule, preempt_in=[fake_clock])
