"""A token bucket. Mirrors golang.org/x/time/rate, the basis of client-go's limiters.

Times are float seconds of the limiter's clock, durations float seconds; an unlimited rate is `INF`, and an infinite
delay is Go's longest duration, `INF_DURATION`. Differences from Go: the clock can be injected, and a wait shorter than
the clock's RESOLUTION is skipped, because floats of today's date cannot distinguish it from rounding.
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

# In the sum of a time and the longest duration, a float is exact to two microseconds.
_ENDLESS = INF_DURATION - 1e-5


def every(interval: float) -> float:
    """Return the limit that allows one event per `interval` seconds. Go: rate.Every.

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
    # In the limiter's own time.
    _time_to_act: float = 0.0
    # The limit at the time of the reservation, which can change later.
    _limit: float = field(default=0.0)

    def ok(self) -> bool:
        """Report whether the limiter can supply the tokens.

        If not, `delay` is INF_DURATION and `cancel` does nothing.
        """
        return self._ok

    def delay(self) -> float:
        """Return the seconds from now until the event may happen."""
        return self._delay_from(self._limiter._elapsed())

    def delay_from(self, t: float) -> float:
        """Return the seconds from `t` until the event may happen; 0.0 for at once, INF_DURATION for never."""
        return self._delay_from(t - self._limiter._began)

    def cancel(self) -> None:
        """Cancel the event: return the tokens that later reservations do not depend on."""
        if self._ok:
            self._limiter._give_back(self, self._limiter._elapsed())

    def cancel_at(self, t: float) -> None:
        """Cancel at time `t`, as `cancel` does. Does nothing if the event was due before."""
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
    """A bucket of `burst` tokens that refills at `limit` tokens per second. Go: rate.Limiter.

    `allow` takes a token if there is one, `reserve` takes one in advance and returns the delay, `wait` waits. Each has
    a variant for several tokens. Thread-safe; only `wait` and `wait_n` block.

    Invariants (`_check` asserts them): `_tokens` is never above `_burst`, and negative by the reserved tokens that are
    not yet due; `_last_event` is the time of the latest reserved event. Every method is O(1), for any number of tokens.
    """

    def __init__(self, limit: float, burst: int, clock: WithDelayedExecution | None = None) -> None:
        """Initialize a full bucket. With a limit of 0 it never refills."""
        self._clock: WithDelayedExecution = clock or REAL_CLOCK
        # Times below are seconds since `_began`: plain floats that do not change when the wall clock is set. A caller
        # passes a time of the clock.
        self._began = self._clock.now()
        # Guards all attributes below.
        self._lock = threading.Lock()
        self._limit = limit
        self._burst = burst
        self._tokens = float(burst)
        # The time of _tokens. No earlier time is possible: the bucket was full.
        self._last = -INF
        self._last_event = -INF

    def limit(self) -> float:
        """Return the tokens per second."""
        with self._lock:
            return self._limit

    def burst(self) -> int:
        """Return the capacity of the bucket, which is also the maximum for one event."""
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
        """Take a token if one is available. Returns False otherwise."""
        return self._reserve(self._elapsed(), 1, 0.0).ok()

    def allow_n(self, t: float, n: int) -> bool:
        """Take `n` tokens if they are available at time `t`. Returns False otherwise."""
        return self._reserve(t - self._began, n, 0.0).ok()

    def reserve(self) -> Reservation:
        """Take a token, in advance if necessary; see the reservation's `delay`."""
        return self._reserve(self._elapsed(), 1, INF_DURATION)

    def reserve_n(self, t: float, n: int) -> Reservation:
        """Take `n` tokens at time `t`, in advance if necessary. Not `ok` if `n` exceeds the burst."""
        return self._reserve(t - self._began, n, INF_DURATION)

    def wait(self, ctx: context.Context) -> None:
        """Wait for a token and take it. Raises the errors of `wait_n`."""
        self.wait_n(ctx, 1)

    def wait_n(self, ctx: context.Context, n: int) -> None:
        """Wait for `n` tokens and take them.

        Raises `ctx.err()` if the context is done first, and ValueError at once if `n` exceeds the burst or the
        context's deadline would pass first.
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
        """Change the rate from now on. Earlier reservations keep their time."""
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
        """Take `n` tokens unless that needs a longer wait than `max_wait`."""
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
            # Later reservations cannot move forward any more: their tokens stay taken.
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
        """Return the time and the tokens at `t`, or at the last change if `t` is earlier. The caller holds the lock."""
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
    """Return a full bucket of `burst` tokens that refills at `limit` per second. Go: rate.NewLimiter."""
    return Limiter(limit, burst, clock)
