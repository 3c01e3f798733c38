"""The real clock: timers and tickers on one shared thread that ends with them."""

from __future__ import annotations

import sys
import threading
from types import FrameType

import pytest
from invariants import check_invariants
from patience import PATIENCE
from threadtools import eventually, in_thread

from clientgo import context
from clientgo.utils import clock
from clientgo.utils.clock import REAL_CLOCK, RealClock, SystemTime


def clock_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "clock-timers"]


def test_now_moves_on_and_since_measures_it():
    before = REAL_CLOCK.now()
    REAL_CLOCK.sleep(0.001)
    assert REAL_CLOCK.since(before) >= 0.001


def test_a_timer_fires_once_and_its_thread_ends():
    timer = REAL_CLOCK.new_timer(0.001)
    at, ok = timer.c().receive(30)
    assert ok
    assert at <= REAL_CLOCK.now()
    assert not timer.stop()
    eventually(lambda: not clock_threads())


def test_a_duration_that_is_not_positive_fires_at_once_without_a_thread():
    assert REAL_CLOCK.new_timer(-1).c().try_receive()[2]
    assert not clock_threads()


def test_stop_and_reset_report_whether_the_timer_was_active():
    timer = REAL_CLOCK.new_timer(3600)
    assert timer.reset(3600)
    assert timer.stop()
    assert not timer.stop()
    assert not timer.reset(3600)
    assert timer.stop()
    eventually(lambda: not clock_threads())


def test_stop_discards_an_unreceived_value():
    timer = REAL_CLOCK.new_timer(0)
    assert timer.stop()
    assert not timer.c().try_receive()[2]
    timer.reset(0)
    timer.reset(3600)
    assert not timer.c().try_receive()[2]
    timer.stop()


@pytest.mark.parametrize("function", ["start", "wait"])
def test_an_interrupt_while_the_thread_starts_leaves_the_timers_usable(function):
    source = SystemTime("interrupted-timers")
    fired = threading.Event()

    def interrupt(frame: FrameType, event: str, arg: object) -> None:
        if frame.f_code.co_name == function:
            sys.settrace(None)
            raise KeyboardInterrupt

    sys.settrace(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            source.call_at(source.now(), fired.set)
    finally:
        sys.settrace(None)
    check_invariants(source)
    assert not fired.is_set()

    source.call_at(source.now(), fired.set)
    assert fired.wait(PATIENCE)
    eventually(lambda: "not running" in repr(source))


def test_many_timers_share_one_thread():
    timers = [REAL_CLOCK.new_timer(3600 + i) for i in range(200)]
    assert len(clock_threads()) == 1
    for timer in timers:
        assert timer.stop()
    eventually(lambda: not clock_threads())


def test_timers_fire_in_the_order_of_their_times():
    for _ in range(1000):
        began = REAL_CLOCK.now()
        late, early = REAL_CLOCK.new_timer(0.02), REAL_CLOCK.new_timer(0.01)
        if REAL_CLOCK.since(began) < 0.005:  # On a busy machine a pause between the two may change their order.
            break
    second, _ = late.c().receive(30)
    first, _ = early.c().receive(30)
    assert first < second


def test_after_func_runs_in_its_own_thread():
    done = threading.Event()
    names: list[str] = []

    def work() -> None:
        names.append(threading.current_thread().name)
        done.set()

    REAL_CLOCK.after_func(0.001, work)
    stopped = REAL_CLOCK.after_func(3600, work)
    assert done.wait(PATIENCE)
    assert names == ["clock-after-func"]
    assert stopped.stop()


def test_a_ticker_ticks_until_stopped():
    ticker = REAL_CLOCK.new_ticker(0.001)
    ticks = [ticker.c().receive(30)[0] for _ in range(3)]
    assert ticks == sorted(ticks)
    ticker.stop()
    eventually(lambda: not clock_threads())


def test_intervals_must_be_positive():
    assert REAL_CLOCK.tick(0) is None
    with pytest.raises(ValueError, match="non-positive interval"):
        REAL_CLOCK.new_ticker(0)


def test_wait_ends_with_the_time_or_a_notification():
    cond = threading.Condition()
    with cond:
        assert not REAL_CLOCK.wait(cond, 0.001)
        assert not REAL_CLOCK.wait(cond, -1)
        threading.Thread(target=lambda: [cond.acquire(), cond.notify(), cond.release()], daemon=True).start()
        assert REAL_CLOCK.wait(cond)


def test_real_clocks_are_equal():
    assert RealClock() == REAL_CLOCK
    assert len({RealClock(), REAL_CLOCK}) == 1
    assert isinstance(REAL_CLOCK, clock.WithTickerAndDelayedExecution)


def test_another_time_source_stands_under_every_real_clock():
    class Frozen(SystemTime):
        def now(self) -> float:
            return 42.0

    previous = clock.set_time_source(Frozen())
    try:
        assert REAL_CLOCK.now() == 42.0
        assert RealClock().since(40.0) == 2.0
    finally:
        clock.set_time_source(previous)


def test_cancelled_calls_do_not_pile_up():
    source = SystemTime()
    keep = source.call_at(source.now() + 3600, lambda: None)
    cancels = [source.call_at(source.now() + 3600 + i, lambda: None) for i in range(500)]
    for cancel in cancels:
        assert cancel()
        assert not cancel()
        check_invariants(source)
    assert "1 timers, thread running" in repr(source)
    assert keep()
    eventually(lambda: "0 timers, thread not running" in repr(source))


def test_a_wait_may_be_longer_than_the_platform_can_wait():
    """A server may ask for any, and the one thread of all timers must survive it."""
    ctx, cancel = context.with_cancel(context.background())
    sleeping = in_thread(lambda: context.sleep(ctx, 1e11))
    endless = REAL_CLOCK.new_timer(1e11)
    soon = REAL_CLOCK.new_timer(0.001)
    assert soon.c().receive(30)[1]
    assert sleeping.running()
    cancel()
    assert sleeping.result() is False
    assert endless.stop()
    eventually(lambda: not clock_threads())
