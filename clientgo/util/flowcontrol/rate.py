"""A token bucket. Mirrors golang.org/x/time/rate, which client-go's limiters stand on.

Times are float seconds of the limiter's clock, durations float seconds; an unlimited rate is `INF`, and a delay without
end is Go's longest duration, `INF_DURATION`. Differs from Go: the clock can be injected, and a wait shorter than the
clock's RESOLUTION is none, because a float of today's date cannot tell it from rounding.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field

from clientgo import context
from clientgo.golang.time import MAX_DURATION
from clientgo.utils.clock import REAL_CLOCK, RESOLUTION, WithDelayedExecution

__all__ = ["INF", "INF_DURATION", "Limiter", "Reservation", "every", "new_limiter"]

INF = math.inf
"""The limit that permits all events. Go: rate.Inf."""

INF_DURATION = MAX_DURATION
"""The delay of an event that can never happen. Go: rate.InfDuration."""

# The longest duration and a time added up, a float is exact to two microseconds.
_ENDLESS = INF_DURATION - 1e-5


def every(interval: float) -> float:
    """The limit that allows one event per `interval` seconds. Go: rate.Every.

    >>> every(0.5), every(0)
    (2.0, inf)
    """
    return 1 / interval if interval > 0 else INF


def _duration_from_tokens(limit: float, tokens: float) -> float:
    """Return the seconds in which `tokens` accumulate.

    >>> _duration_from_tokens(2.0, 5.0), _duration_from_tokens(0.0, 5.0) == INF_DURATION
    (2.5, True)
    """
    return min(tokens / limit, INF_DURATION) if limit > 0 else INF_DURATION


def _tokens_from_duration(limit: float, seconds: float) -> float:
    """Return the number of tokens that accumulate in `seconds`."""
    return seconds * limit if limit > 0 else 0.0


@dataclass(slots=True, repr=False)
class Reservation:
    """Tokens taken in advance, for an event that may happen later. Go: rate.Reservation."""

    _limiter: Limiter
    _ok: bool
    _tokens: int = 0
    # By the limiter's own time.
    _time_to_act: float = 0.0
    # The limit at the time of the reservation; it can change later.
    _limit: float = field(default=0.0)

    def ok(self) -> bool:
        """Report whether the limiter can supply the tokens.

        If not, `delay` is INF_DURATION and `cancel` does nothing.
        """
        return self._ok

    def delay(self) -> float:
        """Seconds from now until the event may happen."""
        return self._delay_from(self._limiter._elapsed())

    def delay_from(self, t: float) -> float:
        """Seconds from `t` until the event may happen; 0.0 when it may happen at once, INF_DURATION when never."""
        return self._delay_from(t - self._limiter._began)

    def cancel(self) -> None:
        """The event will not happen: give back the tokens as far as later reservations allow."""
        if self._ok:
            self._limiter._give_back(self, self._limiter._elapsed())

    def cancel_at(self, t: float) -> None:
        """`cancel`, as of time `t`. Does nothing when the event was due before."""
        if self._ok:
            self._limiter._give_back(self, t - self._limiter._began)

    def _delay_from(self, t: float) -> float:
        if not self._ok:
            return INF_DURATION
        delay = max(0.0, self._time_to_act - t)
        return delay if delay < _ENDLESS else INF_DURATION

    def __repr__(self) -> str:
        if not self._ok:
            return "<Reservation impossible>"
        return f"<Reservation of {self._tokens} at {self._limiter._began + self._time_to_act}>"


class Limiter:
    """A bucket of `burst` tokens that refills at `limit` tokens a second. Go: rate.Limiter.

    `allow` takes a token or refuses, `reserve` takes one from the future and says how long to wait, `wait` waits.
    Each has a variant for several tokens at once. Thread-safe; only `wait` and `wait_n` block.

    Invariants (`_check` asserts them): `_tokens` is never above `_burst`, and below zero by what is reserved and not
    yet due; `_last_event` is the time of the latest event reserved. Every method is O(1), however many tokens it takes.
    """

    def __init__(self, limit: float, burst: int, clock: WithDelayedExecution | None = None) -> None:
        """A full bucket. A limit of 0 hands out what is in the bucket and nothing more."""
        self._clock: WithDelayedExecution = clock or REAL_CLOCK
        # Times below are seconds since `_began`: plain floats that do not change when the wall clock is set. A time
        # that the
        # caller passes is a time of the clock.
        self._began = self._clock.now()
        # Guards everything below.
        self._lock = threading.Lock()
        self._limit = limit
        self._burst = burst
        self._tokens = float(burst)
        # When _tokens was true. Nothing can have happened before: the bucket was full.
        self._last = -INF
        self._last_event = -INF

    def limit(self) -> float:
        """Tokens a second."""
        with self._lock:
            return self._limit

    def burst(self) -> int:
        """Return the capacity of the bucket, which is the largest number of tokens for one event."""
        with self._lock:
            return self._burst

    def tokens(self) -> float:
        """Return the number of tokens available now; negative if some are reserved in advance."""
        return self.tokens_at(self._clock.now())

    def tokens_at(self, t: float) -> float:
        """Return the number of tokens available at time `t`."""
        with self._lock:
            return self._advance(t - self._began)[1]

    def allow(self) -> bool:
        """Take a token if there is one now."""
        return self._reserve(self._elapsed(), 1, 0.0).ok()

    def allow_n(self, t: float, n: int) -> bool:
        """Take `n` tokens if there are so many at time `t`, otherwise none."""
        return self._reserve(t - self._began, n, 0.0).ok()

    def reserve(self) -> Reservation:
        """Take a token, from the future if need be; see the reservation's `delay`."""
        return self._reserve(self._elapsed(), 1, INF_DURATION)

    def reserve_n(self, t: float, n: int) -> Reservation:
        """Take `n` tokens at time `t`, from the future if need be. Not `ok` when `n` is above the burst."""
        return self._reserve(t - self._began, n, INF_DURATION)

    def wait(self, ctx: context.Context) -> None:
        """Block until there is a token and take it. Raises as `wait_n`."""
        self.wait_n(ctx, 1)

    def wait_n(self, ctx: context.Context, n: int) -> None:
        """Block until there are `n` tokens and take them.

        Raises `ctx.err()` when the context is done first, and ValueError at once when `n` is above the burst or the
        context's deadline would pass before.
        """
        with self._lock:
            burst, limit = self._burst, self._limit
        if n > burst and limit != INF:
            raise ValueError(f"rate: Wait(n={n}) exceeds limiter's burst {burst}")
        if (err := ctx.err()) is not None:
            raise err
        now = self._clock.now()
        deadline = ctx.deadline()
        max_wait = INF_DURATION if deadline is None else deadline - now
        reservation = self._reserve(now - self._began, n, max_wait)
        if not reservation.ok():
            raise ValueError(f"rate: Wait(n={n}) would exceed context deadline")
        delay = reservation.delay_from(now)
        if delay == 0.0 or context.sleep(ctx, delay, self._clock):
            return
        reservation.cancel()
        err = ctx.err()
        assert err is not None, "sleep ended early although the context is not done"
        raise err

    def set_limit(self, limit: float) -> None:
        """Change the rate from now on. Reservations made before keep their time."""
        self.set_limit_at(self._clock.now(), limit)

    def set_limit_at(self, t: float, limit: float) -> None:
        """Change the rate from time `t` on."""
        with self._lock:
            self._last, self._tokens = self._advance(t - self._began)
            self._limit = limit

    def set_burst(self, burst: int) -> None:
        """Change the size of the bucket from now on."""
        self.set_burst_at(self._clock.now(), burst)

    def set_burst_at(self, t: float, burst: int) -> None:
        """Change the size of the bucket from time `t` on."""
        with self._lock:
            self._last, tokens = self._advance(t - self._began)
            self._tokens = min(tokens, float(burst))
            self._burst = burst

    def _elapsed(self) -> float:
        return self._clock.since(self._began)

    def _reserve(self, t: float, n: int, max_wait: float) -> Reservation:
        """Take `n` tokens unless that means waiting longer than `max_wait`."""
        with self._lock:
            if self._limit == INF:
                return Reservation(self, True, n, t)
            t, tokens = self._advance(t)
            tokens -= n
            delay = 0.0
            if tokens < 0:
                delay = _duration_from_tokens(self._limit, -tokens)
                if delay <= RESOLUTION:
                    delay = 0.0
            if n > self._burst or delay > max_wait:
                return Reservation(self, False)
            self._last = t
            self._tokens = tokens
            self._last_event = t + delay
            return Reservation(self, True, n, self._last_event, self._limit)

    def _give_back(self, reservation: Reservation, t: float) -> None:
        with self._lock:
            if self._limit == INF or reservation._tokens == 0 or reservation._time_to_act < t - RESOLUTION:
                return
            # What was reserved after this cannot move forward any more: those tokens stay taken.
            later = self._last_event - reservation._time_to_act
            restored = reservation._tokens - _tokens_from_duration(reservation._limit, later)
            if restored <= 0:
                return
            t, tokens = self._advance(t)
            self._last = t
            self._tokens = min(tokens + restored, float(self._burst))
            if reservation._time_to_act == self._last_event:
                previous = reservation._time_to_act - _duration_from_tokens(reservation._limit, reservation._tokens)
                if previous >= t:
                    self._last_event = previous

    def _advance(self, t: float) -> tuple[float, float]:
        """The time and the tokens at `t`, or at the last change when `t` lies before it. The lock is held."""
        burst = float(self._burst)
        if self._limit == INF:
            return t, burst
        elapsed = max(0.0, t - self._last)
        return t, min(self._tokens + _tokens_from_duration(self._limit, elapsed), burst)

    def __repr__(self) -> str:
        return f"<Limiter {self._limit:g}/s, burst {self._burst}, {self._tokens:g} tokens>"

    def _check(self) -> None:
        with self._lock:
            assert self._tokens <= self._burst, self


def new_limiter(limit: float, burst: int, clock: WithDelayedExecution | None = None) -> Limiter:
    """A full bucket of `burst` tokens that refills at `limit` a second. Go: rate.NewLimiter."""
    return Limiter(limit, burst, clock)
