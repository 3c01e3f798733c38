"""Fake clocks move only when told, and then everything that is due happens."""

from __future__ import annotations

import threading

import pytest
from invariants import check_invariants
from threadtools import eventually, in_thread

from clientgo.testing import synctest
from clientgo.utils.clock import WithTickerAndDelayedExecution
from clientgo.utils.clock.testing import (
    FakeClock,
    IntervalClock,
    SimpleIntervalClock,
    new_fake_clock,
    new_fake_passive_clock,
)

NOW = 1_700_000_000.25


def ready(channel) -> bool:
    return channel.try_receive()[2]


@pytest.mark.parametrize("make", [new_fake_passive_clock, new_fake_clock])
def test_set_time(make):
    clock = make(0.0)
    clock.set_time(NOW)
    assert (clock.now(), clock.since(NOW)) == (NOW, 0)
    clock.set_time(NOW + 3600)
    assert (clock.now(), clock.since(NOW)) == (NOW + 3600, 3600)


def test_steps_add_up_exactly():
    clock = FakeClock(NOW)
    for _ in range(10):
        clock.step(0.1)
    assert clock.now() == NOW + 1


def test_sleep_moves_the_clock():
    clock = FakeClock(NOW)
    clock.sleep(3600)
    assert clock.now() == NOW + 3600


def test_after():
    clock = FakeClock(NOW)
    assert not clock.has_waiters()
    one, one_and, two = clock.after(1), clock.after(1.001), clock.after(2)
    assert clock.has_waiters()
    clock.step(0.999)
    assert not ready(one)
    clock.step(0.001)
    assert ready(one)
    assert not ready(one_and)
    clock.step(0.001)
    assert not ready(one)
    assert ready(one_and)
    assert not ready(two)


def test_after_func_runs_in_the_stepping_thread_and_may_use_the_clock():
    clock = FakeClock(NOW)
    calls: list[float] = []
    clock.after_func(1, lambda: calls.append(clock.now()))
    stopped = clock.after_func(2, lambda: calls.append(-1))
    clock.step(0.999)
    assert calls == []
    clock.step(0.001)
    assert calls == [NOW + 1]
    stopped.stop()
    clock.step(2)
    assert calls == [NOW + 1]


def test_ticks_do_not_pile_up():
    clock = FakeClock(NOW)
    channel = clock.tick(1)
    assert channel is not None
    clock.step(0.999)
    assert not ready(channel)
    clock.step(0.001)
    assert ready(channel)
    for _ in range(4):
        clock.step(1)
    assert ready(channel)
    assert not ready(channel)
    check_invariants(clock)


def test_tick_of_nothing_is_none():
    assert FakeClock().tick(0) is None
    assert FakeClock().tick(-1) is None


def test_stop():
    clock = FakeClock(NOW)
    timer = clock.new_timer(1)
    assert timer.stop()
    assert not clock.has_waiters()
    assert not timer.stop()


def test_stop_after_firing_leaves_the_value():
    clock = FakeClock()
    timer = clock.new_timer(1)
    clock.step(1)
    assert not timer.stop()
    assert timer.c().try_receive() == (1.0, True, True)
    assert not timer.reset(1)
    assert not ready(timer.c())
    clock.step(1)
    assert timer.c().try_receive() == (2.0, True, True)


@pytest.mark.parametrize("state", ["active", "expired", "stopped"])
def test_reset(state):
    clock = FakeClock()
    timer = clock.new_timer(1)
    if state == "expired":
        clock.step(1)
        assert ready(timer.c())
    elif state == "stopped":
        timer.stop()
    start = clock.now()
    assert timer.reset(1) is (state == "active")
    assert clock.has_waiters()
    clock.step(0.5)
    assert not ready(timer.c())
    clock.step(0.5)
    assert timer.c().try_receive() == (start + 1, True, True)


def test_a_negative_timer_fires_at_the_next_step_even_of_nothing():
    clock = FakeClock(NOW)
    timer = clock.new_timer(-1)
    assert clock.has_waiters()
    clock.step(0)
    assert timer.c().try_receive() == (NOW, True, True)


def test_waiters_are_counted():
    clock = FakeClock()
    clock.new_timer(1)
    clock.after(2)
    ticker = clock.new_ticker(3)
    assert clock.waiters() == 3
    clock.step(1)
    assert clock.waiters() == 2
    clock.step(1)
    clock.step(1)
    assert ready(ticker.c())
    ticker.stop()
    assert clock.waiters() == 1


@pytest.mark.parametrize("notify", [True, False])
def test_wait(notify):
    clock = FakeClock(NOW)
    cond = threading.Condition()

    def wait() -> bool:
        with cond:
            return clock.wait(cond, 1.0)

    waiting = in_thread(wait)
    eventually(clock.has_waiters)
    clock.step(0.999)
    assert waiting.running()
    if notify:
        with cond:
            cond.notify()
    else:
        clock.step(0.001)
    assert waiting.result() is notify
    assert not clock.has_waiters()


def test_wait_without_time_left_and_without_limit():
    with synctest.bubble() as bubble:
        clock = FakeClock(NOW)
        cond = threading.Condition()
        with cond:
            assert not clock.wait(cond, 0)
            assert not clock.wait(cond, -5)
            assert not clock.wait(cond, 3e-7)

        def wait() -> bool:
            with cond:
                return clock.wait(cond)

        waiting = in_thread(wait)
        bubble.wait()
        clock.step(1e9)
        bubble.wait()
        assert waiting.running()
        assert not clock.has_waiters()
        with cond:
            cond.notify()
        assert waiting.result() is True


def test_an_interval_clock_only_has_the_time():
    clock = IntervalClock(10.0, 2.0)
    assert (clock.now(), clock.now(), clock.since(13.0)) == (12.0, 14.0, 1.0)
    refused = [
        lambda: clock.after(1),
        lambda: clock.new_timer(1),
        lambda: clock.after_func(1, lambda: None),
        lambda: clock.tick(1),
        lambda: clock.new_ticker(1),
        lambda: clock.sleep(1),
        lambda: clock.wait(threading.Condition()),
    ]
    for call in refused:
        with pytest.raises(NotImplementedError, match="IntervalClock doesn't implement"):
            call()


@pytest.mark.parametrize("duration", [0.01, 0.0, -0.01])
def test_simple_interval_clock(duration):
    clock = SimpleIntervalClock(NOW, duration)
    assert clock.since(NOW - duration) == pytest.approx(duration)
    assert clock.now() == NOW + duration


def test_fake_clock_is_a_full_clock():
    assert isinstance(FakeClock(), WithTickerAndDelayedExecution)
