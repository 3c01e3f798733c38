"""Timers with their own intervals, for the loops of this package. Mirrors apimachinery/pkg/util/wait/timer.go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from clientgo.golang.channel import Channel
from clientgo.utils.clock.clock import REAL_CLOCK, Clock, Ticker, WithTicker
from clientgo.utils.clock.clock import Timer as ClockTimer

__all__ = ["REAL_TIMER", "Timer"]


class Timer(Protocol):
    """A timer for a loop. Not thread-safe. Go: wait.Timer."""

    def c(self) -> Channel[float]:
        """Return the channel that receives a value at the end of an interval; starts the first interval.

        Go: Timer.C.
        """
        ...

    def next(self) -> None:
        """Start the next interval. Call it only after receiving the value of the last one. Go: Timer.Next."""
        ...

    def stop(self) -> None:
        """Release the timer. Allowed even if it was never used. Go: Timer.Stop."""
        ...


class _NoopTimer:
    """A timer that is always due."""

    def __init__(self) -> None:
        self._closed: Channel[float] = Channel()
        self._closed.close()

    def c(self) -> Channel[float]:
        return self._closed

    def next(self) -> None:
        return None

    def stop(self) -> None:
        return None


class _VariableTimer:
    """A timer that asks a function for every interval."""

    def __init__(self, fn: Callable[[], float], clock: Clock) -> None:
        self._fn = fn
        self._clock = clock
        self._timer: ClockTimer | None = None

    def c(self) -> Channel[float]:
        if self._timer is None:
            self._timer = self._clock.new_timer(self._fn())
        return self._timer.c()

    def next(self) -> None:
        if self._timer is not None:
            self._timer.reset(self._fn())

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None


class _FixedTimer:
    """A timer with a fixed interval: a ticker."""

    def __init__(self, interval: float, clock: WithTicker) -> None:
        self._interval = interval
        self._clock = clock
        self._ticker: Ticker | None = None

    def c(self) -> Channel[float]:
        if self._ticker is None:
            self._ticker = self._clock.new_ticker(self._interval)
        return self._ticker.c()

    def next(self) -> None:
        return None

    def stop(self) -> None:
        if self._ticker is not None:
            self._ticker.stop()
            self._ticker = None


REAL_TIMER: Callable[[float], ClockTimer] = REAL_CLOCK.new_timer
"""Makes timers of the real clock."""

# The clock of this package's loops; tests replace it.
_internal_clock: WithTicker = REAL_CLOCK
