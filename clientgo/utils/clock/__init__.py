"""Clocks that can be replaced in tests. Mirrors k8s.io/utils/clock."""

from clientgo.utils.clock.clock import (
    REAL_CLOCK,
    RESOLUTION,
    Clock,
    PassiveClock,
    RealClock,
    SystemTime,
    Ticker,
    Timer,
    TimeSource,
    WithDelayedExecution,
    WithTicker,
    WithTickerAndDelayedExecution,
    WithWatchdog,
    set_time_source,
)

__all__ = [
    "REAL_CLOCK",
    "RESOLUTION",
    "Clock",
    "PassiveClock",
    "RealClock",
    "SystemTime",
    "Ticker",
    "TimeSource",
    "Timer",
    "WithDelayedExecution",
    "WithTicker",
    "WithTickerAndDelayedExecution",
    "WithWatchdog",
    "set_time_source",
]
