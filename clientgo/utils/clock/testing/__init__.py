"""Fake clocks for tests. Mirrors k8s.io/utils/clock/testing."""

from clientgo.utils.clock.testing.fake_clock import (
    FakeClock,
    FakePassiveClock,
    IntervalClock,
    new_fake_clock,
    new_fake_passive_clock,
)
from clientgo.utils.clock.testing.simple_interval_clock import SimpleIntervalClock

__all__ = [
    "FakeClock",
    "FakePassiveClock",
    "IntervalClock",
    "SimpleIntervalClock",
    "new_fake_clock",
    "new_fake_passive_clock",
]
