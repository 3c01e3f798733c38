"""Rate limiters for clients: a token bucket, and fakes for tests. Mirrors util/flowcontrol/throttle.go.

Difference from Go: a limiter with an injected clock uses it for `wait` too; Go uses the real time.
"""

from __future__ import annotations

import threading
from typing import Protocol, cast

from clientgo import context
from clientgo.util.flowcontrol.rate import Limiter
from clientgo.utils.clock import REAL_CLOCK, PassiveClock, WithDelayedExecution

__all__ = [
    "Clock",
    "PassiveRateLimiter",
    "RateLimiter",
    "new_fake_always_rate_limiter",
    "new_fake_never_rate_limiter",
    "new_token_bucket_passive_rate_limiter",
    "new_token_bucket_passive_rate_limiter_with_clock",
    "new_token_bucket_rate_limiter",
    "new_token_bucket_rate_limiter_with_clock",
]


class PassiveRateLimiter(Protocol):
    """A rate limiter without waiting. Go: flowcontrol.PassiveRateLimiter."""

    def try_accept(self) -> bool:
        """Take a token if one is available. Never blocks."""
        ...

    def stop(self) -> None:
        """Stop the limiter. A token bucket has nothing to stop."""
        ...

    def qps(self) -> float:
        """Return the average number of calls per second that the limiter permits."""
        ...


class RateLimiter(PassiveRateLimiter, Protocol):
    """A rate limiter that can wait for a token. Go: flowcontrol.RateLimiter."""

    def accept(self) -> None:
        """Wait for a token and take it. The wait cannot be cancelled: prefer `wait`."""
        ...

    def wait(self, ctx: context.Context, /) -> None:
        """Wait for a token and take it. Raises an error if `ctx` is done first, or its deadline would pass first."""
        ...


class Clock(PassiveClock, Protocol):
    """The methods of a clock that a limiter needs. Go: flowcontrol.Clock."""

    def sleep(self, d: float, /) -> None:
        """Block for `d` seconds."""
        ...


class _TokenBucketPassiveRateLimiter:
    def __init__(self, qps: float, burst: int, clock: PassiveClock) -> None:
        # A clock without timers supports everything except waiting, which then uses real time.
        waits = hasattr(clock, "wait")
        self._limiter = Limiter(qps, burst, cast(WithDelayedExecution, clock) if waits else REAL_CLOCK)
        self._qps = qps
        self._clock = clock

    def stop(self) -> None:
        pass

    def qps(self) -> float:
        return self._qps

    def burst(self) -> int:
        """Return the burst size. Not in Go."""
        return self._limiter.burst()

    def try_accept(self) -> bool:
        return self._limiter.allow_n(self._clock.now(), 1)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._limiter!r}>"


class _TokenBucketRateLimiter(_TokenBucketPassiveRateLimiter):
    def __init__(self, qps: float, burst: int, clock: Clock) -> None:
        super().__init__(qps, burst, clock)
        self._sleep = clock.sleep

    def accept(self) -> None:
        now = self._clock.now()
        delay = self._limiter.reserve_n(now, 1).delay_from(now)
        if delay > 0:
            self._sleep(delay)  # 292 years if there will never be a token, as in Go

    def wait(self, ctx: context.Context) -> None:
        self._limiter.wait(ctx)


def new_token_bucket_rate_limiter(qps: float, burst: int) -> RateLimiter:
    """Return a limiter for `burst` calls at once and `qps` per second on average. The bucket starts full.

    Go: flowcontrol.NewTokenBucketRateLimiter.
    """
    return new_token_bucket_rate_limiter_with_clock(qps, burst, REAL_CLOCK)


def new_token_bucket_passive_rate_limiter(qps: float, burst: int) -> PassiveRateLimiter:
    """Return a limiter without `accept` and `wait`. Go: flowcontrol.NewTokenBucketPassiveRateLimiter."""
    return new_token_bucket_passive_rate_limiter_with_clock(qps, burst, REAL_CLOCK)


def new_token_bucket_rate_limiter_with_clock(qps: float, burst: int, c: Clock) -> RateLimiter:
    """Return a limiter, as `new_token_bucket_rate_limiter` does, with the given clock.

    Go: flowcontrol.NewTokenBucketRateLimiterWithClock.
    """
    return _TokenBucketRateLimiter(qps, burst, c)


def new_token_bucket_passive_rate_limiter_with_clock(qps: float, burst: int, c: PassiveClock) -> PassiveRateLimiter:
    """Return a passive limiter, as `new_token_bucket_passive_rate_limiter` does, with the given clock."""
    return _TokenBucketPassiveRateLimiter(qps, burst, c)


class _FakeAlwaysRateLimiter:
    def try_accept(self) -> bool:
        return True

    def stop(self) -> None:
        pass

    def accept(self) -> None:
        pass

    def qps(self) -> float:
        return 1.0

    def wait(self, ctx: context.Context) -> None:
        pass


def new_fake_always_rate_limiter() -> RateLimiter:
    """Return a limiter that permits every call. Go: flowcontrol.NewFakeAlwaysRateLimiter."""
    return _FakeAlwaysRateLimiter()


class _FakeNeverRateLimiter:
    def __init__(self) -> None:
        self._stopped = threading.Event()

    def try_accept(self) -> bool:
        return False

    def stop(self) -> None:
        self._stopped.set()

    def accept(self) -> None:
        self._stopped.wait()

    def qps(self) -> float:
        return 1.0

    def wait(self, ctx: context.Context) -> None:
        raise RuntimeError("can not be accept")


def new_fake_never_rate_limiter() -> RateLimiter:
    """Return a limiter that permits no call: `accept` blocks until `stop`, `wait` raises an error.

    Go: flowcontrol.NewFakeNeverRateLimiter.
    """
    return _FakeNeverRateLimiter()
