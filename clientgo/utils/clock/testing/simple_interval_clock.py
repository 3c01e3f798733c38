"""A passive clock that moves on whenever it is read. Mirrors k8s.io/utils/clock/testing/simple_interval_clock.go."""

from __future__ import annotations

__all__ = ["SimpleIntervalClock"]


class SimpleIntervalClock:
    """Moves on by `duration` seconds whenever it is asked for the time. Go: testing.SimpleIntervalClock."""

    def __init__(self, time: float = 0.0, duration: float = 0.0) -> None:
        self.time = time
        self.duration = duration

    def now(self) -> float:
        """Advance by `duration` and return the new time. Go: SimpleIntervalClock.Now."""
        self.time += self.duration
        return self.time

    def since(self, ts: float) -> float:
        """Return the seconds from `ts` until the last time returned. Go: SimpleIntervalClock.Since."""
        return self.time - ts
