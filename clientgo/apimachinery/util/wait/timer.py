"""Timers that know their next interval, for the loops of this package. Mirrors apimachinery/pkg/util/wait/timer.go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from clientgo.golang.channel import Channel
from clientgo.utils.clock.clock import REAL_CLOCK, Clock, Ticker, WithTicker
from clientgo.utils.clock.clock import Timer as ClockTimer

__all__ = ["REAL_TIMER", "Timer"]


class Timer(Protocol):
    """Tells a loop when to go round again. Go: wait.Timer. Not for use by several threads."""

    def c(self) -> Channel[float]:
        """The channel that receives a value when the interval is over; starts the first interval. Go: Timer.C."""
        ...

    def next(self) -> None:
        """Start the next interval. Only after the value of the last one was received. Go: Timer.Next."""
        ...

    def stop(self) -> None:
        """Release the timer. Also allowed when it was never used. Go: Timer.Stop."""
        ...


class _NoopTimer:
    """Always due."""

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
    """Asks a function for every interval."""

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
    """Goes on by itself, a ticker."""

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
"""Makes timers of the real clock, for functions that want a way to make timers."""

# What the loops of this package measure with; tests put a fake clock here.
_internal_clock: WithTicker = REAL_CLOCK
