"""Backoff per id."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clientgo.util import flowcontrol
from clientgo.utils.clock.testing import FakeClock

# Not a whole number, as a real clock's time is not: sums of such floats are inexact.
START = 1_795_233_600.123

Expired = Callable[[float, float, float], bool]


def test_backoff_doubles_up_to_the_cap_until_reset() -> None:
    """Go: TestSlowBackoff"""
    clock = FakeClock(START)
    backoff = flowcontrol.new_fake_back_off(1.0, 50.0, clock)
    for expected in (0, 1, 2, 4, 8, 16, 32, 50, 50, 50):
        clock.step(1.0)
        assert backoff.get("id") == expected
        backoff.next("id", clock.now())

    backoff.next("id", clock.now())
    backoff.reset("id")
    assert backoff.get("id") == 0.0


def at_the_cap(clock: FakeClock) -> flowcontrol.Backoff:
    backoff = flowcontrol.new_fake_back_off(1.0, 5.0, clock)
    for _ in range(6):
        clock.step(1.0)
        backoff.next("id", clock.now())
    assert backoff.get("id") == 5.0
    return backoff


def test_backoff_expires_after_twice_the_cap() -> None:
    """Go: TestBackoffReset"""
    clock = FakeClock(START)
    backoff = at_the_cap(clock)
    assert backoff.is_in_back_off_since("id", clock.now())
    last_update = clock.now()
    clock.step(11.0)
    assert not backoff.is_in_back_off_since("id", last_update)


def test_without_a_failure_there_is_no_backoff() -> None:
    clock = FakeClock(START)
    backoff = at_the_cap(clock)
    assert not backoff.is_in_back_off_since("other", clock.now())
    assert not backoff.is_in_back_off_since_update("other", clock.now())


def test_backoff_stays_at_the_cap_when_updated_in_time() -> None:
    """Go: TestBackoffHighWaterMark"""
    clock = FakeClock(START)
    backoff = at_the_cap(clock)
    clock.step(6.0)
    backoff.next("id", clock.now())
    assert backoff.get("id") == 5.0


def test_gc_drops_expired_entries_only() -> None:
    """Go: TestBackoffGC"""
    clock = FakeClock(START)
    backoff = at_the_cap(clock)
    clock.step(6.0)
    backoff.gc()
    assert backoff.get("id") == 5.0
    clock.step(6.0)
    backoff.gc()
    assert backoff.get("id") == 0.0
    assert "0 ids" in repr(backoff)


def later_than_200_seconds(event_time: float, last_update: float, max_duration: float) -> bool:
    return event_time - last_update >= 200.0


@pytest.mark.parametrize(
    ("has_expired", "kept_after", "dropped_after"), [(None, 5.0, 101.0), (later_than_200_seconds, 101.0, 501.0)]
)
def test_gc_asks_the_expiry_function(has_expired: Expired | None, kept_after: float, dropped_after: float) -> None:
    """Go: TestAlternateBackoffGC

    Go: TestAlternateBackoffGC/default GC
    Go: TestAlternateBackoffGC/GC later than 2*maxDuration
    """
    clock = FakeClock(START)
    backoff = flowcontrol.new_fake_back_off(1.0, 50.0, clock)
    backoff.has_expired_func = has_expired
    backoff.next("id", clock.now())

    clock.step(kept_after)
    backoff.gc()
    assert backoff.get("id") == 1.0

    clock.step(dropped_after)
    backoff.gc()
    assert backoff.get("id") == 0.0


def earlier_than_the_cap(event_time: float, last_update: float, max_duration: float) -> bool:
    return event_time - last_update >= 25.0


@pytest.mark.parametrize(
    ("has_expired", "live_after", "expired_after"), [(None, 5.0, 101.0), (earlier_than_the_cap, 5.0, 26.0)]
)
def test_next_asks_the_expiry_function(has_expired: Expired | None, live_after: float, expired_after: float) -> None:
    """Go: TestAlternateHasExpiredFunc

    Go: TestAlternateHasExpiredFunc/default expiration
    Go: TestAlternateHasExpiredFunc/expires faster than maxDuration
    """
    clock = FakeClock(START)
    backoff = flowcontrol.new_fake_back_off(1.0, 50.0, clock)
    backoff.has_expired_func = has_expired
    backoff.next("id", clock.now())
    assert backoff.get("id") == 1.0

    clock.step(live_after)
    backoff.next("id", clock.now())
    assert backoff.get("id") == 2.0

    clock.step(expired_after)
    backoff.next("id", clock.now())
    assert backoff.get("id") == 1.0


# (tick, in backoff, value in ticks)
TICKS = [
    (0, False, 0), (1, False, 1), (2, True, 2), (3, False, 2),
    *((tick, True, 4) for tick in (4, 5, 6)), (7, False, 4),
    *((tick, True, 8) for tick in range(8, 15)), (15, False, 8),
    *((tick, True, 10) for tick in range(16, 25)), (25, False, 10),
    *((tick, True, 10) for tick in range(26, 35)), (35, False, 10),
    (56, False, 0), (57, False, 1),
]  # fmt: skip


def test_in_backoff_since_the_last_update() -> None:
    """The backoff doubles only where next is called outside of it. Go: TestIsInBackOffSinceUpdate/#0-#37"""
    clock = FakeClock(START)
    backoff = flowcontrol.new_fake_back_off(1.0, 10.0, clock)
    for tick, in_backoff, value in TICKS:
        clock.set_time(START + tick)
        assert backoff.is_in_back_off_since_update("id", clock.now()) == in_backoff, tick
        if in_backoff:
            assert backoff.get("id") == value, tick
        else:
            backoff.next("id", clock.now())


def test_jitter_adds_a_part_of_the_last_backoff() -> None:
    """Go: TestBackoffWithJitter"""
    clock = FakeClock(START)
    backoff = flowcontrol.new_fake_back_off_with_jitter(0.1, 60.0, clock, 0.1)
    assert backoff.get("id") == 0.0

    previous, factor = 0.1, 1
    for _ in range(11):
        clock.step(0.1)
        backoff.next("id", clock.now())
        delay = backoff.get("id")
        assert delay == 60.0 or factor * previous <= delay <= factor * previous + 0.1 * previous
        previous, factor = delay, 2
    assert previous == 60.0


def test_real_clock_constructors() -> None:
    for backoff in (flowcontrol.new_back_off(1.0, 5.0), flowcontrol.new_back_off_with_jitter(1.0, 5.0, 0.5)):
        backoff.next("id", backoff.clock.now())
        assert 1.0 <= backoff.get("id") <= 1.5
        backoff.delete_entry("id")
        assert backoff.get("id") == 0.0


def test_the_first_backoff_has_jitter_too() -> None:
    clock = FakeClock(START)
    backoff = flowcontrol.new_fake_back_off_with_jitter(8.0, 60.0, clock, 0.5)
    first = []
    for id in "abcdefgh":
        backoff.next(id, clock.now())
        first.append(backoff.get(id))
    assert 8.0 <= min(first) < max(first) <= 12.0


def test_without_a_factor_there_is_no_jitter() -> None:
    backoff = flowcontrol.Backoff(1.0, 60.0, FakeClock(START))
    backoff.next("id", START)
    assert backoff.get("id") == 1.0


def test_an_expired_backoff_does_not_count_for_a_new_event() -> None:
    clock = FakeClock(START)
    backoff = at_the_cap(clock)
    clock.step(11.0)
    assert not backoff.is_in_back_off_since("id", clock.now())


def test_a_backoff_has_not_expired_at_twice_the_cap() -> None:
    clock = FakeClock(1000.0)
    backoff = at_the_cap(clock)
    clock.step(10.0)
    backoff.gc()
    assert backoff.get("id") == 5.0
