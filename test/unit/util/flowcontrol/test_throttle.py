"""Rate limiters for clients."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from clientgo import context
from clientgo.testing import synctest
from clientgo.util import flowcontrol
from clientgo.utils.clock.testing import FakeClock


@pytest.fixture
def bubble() -> Iterator[synctest.Bubble]:
    with synctest.bubble() as b:
        yield b


def test_many_threads_get_no_more_than_the_rate(bubble: synctest.Bubble) -> None:
    """Go: TestMultithreadedThrottling"""
    limiter = flowcontrol.new_token_bucket_rate_limiter(100.0, 1)
    taken: list[float] = []
    limiter.accept()

    def hammer() -> None:
        while len(taken) < 100:
            limiter.accept()
            taken.append(bubble.elapsed)

    threads = [threading.Thread(target=hammer) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert taken[99] == pytest.approx(1.0, abs=0.01)


def test_burst_is_accepted_then_refused(bubble: synctest.Bubble) -> None:
    """Go: TestBasicThrottle"""
    for limiter in (
        flowcontrol.new_token_bucket_rate_limiter(1.0, 3),
        flowcontrol.new_token_bucket_passive_rate_limiter(1.0, 3),
    ):
        assert [limiter.try_accept() for _ in range(4)] == [True, True, True, False]


def test_a_token_comes_back_after_a_period(bubble: synctest.Bubble) -> None:
    """Go: TestIncrementThrottle"""
    limiter = flowcontrol.new_token_bucket_rate_limiter(1.0, 1)
    assert [limiter.try_accept(), limiter.try_accept()] == [True, False]
    bubble.sleep(1.0)
    assert limiter.try_accept()


def test_accept_waits_for_its_token(bubble: synctest.Bubble) -> None:
    """Go: TestThrottle"""
    limiter = flowcontrol.new_token_bucket_rate_limiter(10.0, 5)
    for _ in range(16):
        limiter.accept()
    assert bubble.elapsed == pytest.approx(1.1, abs=1e-5)
    limiter.stop()
    assert limiter.qps() == 10.0


def test_always_accepting_fake() -> None:
    """Go: TestAlwaysFake"""
    limiter = flowcontrol.new_fake_always_rate_limiter()
    assert limiter.try_accept()
    limiter.accept()
    limiter.wait(context.background())
    limiter.stop()
    assert limiter.qps() == 1.0


def test_never_accepting_fake_blocks_until_stopped(bubble: synctest.Bubble) -> None:
    """Go: TestNeverFake"""
    limiter = flowcontrol.new_fake_never_rate_limiter()
    assert limiter.try_accept() is False
    assert limiter.qps() == 1.0
    with pytest.raises(RuntimeError, match="can not be accept"):
        limiter.wait(context.background())

    thread = threading.Thread(target=limiter.accept)
    thread.start()
    bubble.sleep(1.0)
    assert thread.is_alive()

    limiter.stop()
    thread.join()


def test_wait_fails_at_once_when_the_deadline_comes_before_the_token(bubble: synctest.Bubble) -> None:
    """Go: TestWait"""
    limiter = flowcontrol.new_token_bucket_rate_limiter(0.0001, 1)
    ctx, cancel = context.with_timeout(context.background(), 1.0)
    limiter.wait(ctx)
    with pytest.raises(ValueError, match="would exceed context deadline"):
        limiter.wait(ctx)
    assert bubble.elapsed == 0.0
    cancel()


class StandingClock:
    """A clock that only returns the time and sleeps."""

    def __init__(self) -> None:
        self.time = 946_684_800.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def since(self, ts: float) -> float:
        return self.time - ts

    def sleep(self, d: float) -> None:
        self.time += d
        self.slept.append(d)


def test_rounding_never_adds_up_to_a_refusal() -> None:
    """Go: TestRatePrecisionBug"""
    clock = StandingClock()
    limiter = flowcontrol.new_token_bucket_rate_limiter_with_clock(1.0 / 1.031425, 1, clock)
    for _ in range(60):
        assert limiter.try_accept()
        clock.sleep(2.0)


def test_a_token_is_there_when_its_delay_has_passed() -> None:
    """With times that floats cannot add exactly."""
    clock = StandingClock()
    clock.time += 0.1
    limiter = flowcontrol.new_token_bucket_passive_rate_limiter_with_clock(10.0, 1, clock)
    for _ in range(1000):
        assert limiter.try_accept()
        assert not limiter.try_accept()
        clock.sleep(0.1)


@pytest.mark.parametrize(
    "new", [flowcontrol.new_token_bucket_rate_limiter, flowcontrol.new_token_bucket_passive_rate_limiter]
)
def test_a_limiter_shows_its_rate_burst_and_tokens(new: Any, bubble: synctest.Bubble) -> None:
    limiter = new(5.0, 3)
    limiter.try_accept()
    assert repr(limiter) == f"<{type(limiter).__name__} <Limiter 5/s, burst 3, 2 tokens>>"


def test_accept_does_not_sleep_for_a_token_that_is_there() -> None:
    clock = StandingClock()
    limiter = flowcontrol.new_token_bucket_rate_limiter_with_clock(10.0, 1, clock)
    limiter.accept()
    assert clock.slept == []
    limiter.accept()
    assert clock.slept == [pytest.approx(0.1)]


def test_wait_uses_the_clock_that_is_passed(bubble: synctest.Bubble) -> None:
    clock = FakeClock()
    limiter = flowcontrol.new_token_bucket_rate_limiter_with_clock(1.0, 1, clock)
    limiter.accept()
    waiter = threading.Thread(target=limiter.wait, args=(context.background(),))
    waiter.start()
    bubble.sleep(60.0)
    assert waiter.is_alive()
    clock.step(1.0)
    waiter.join()


def test_a_limiter_reports_its_burst() -> None:
    limiter: Any = flowcontrol.new_token_bucket_rate_limiter(1.0, 3)
    assert limiter.burst() == 3
