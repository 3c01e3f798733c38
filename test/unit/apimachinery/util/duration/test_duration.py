"""Durations are printed as kubectl prints them."""

from __future__ import annotations

import pytest

from clientgo.apimachinery.util import duration

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400
SHORTLY = 0.001


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1.5, "0s"),
        (-1, "0s"),
        (0, "0s"),
        (1 - SHORTLY, "0s"),
        (2 * MINUTE - SHORTLY, "119s"),
        (2 * MINUTE, "2m"),
        (2 * MINUTE + 1, "2m1s"),
        (10 * MINUTE - SHORTLY, "9m59s"),
        (10 * MINUTE, "10m"),
        (10 * MINUTE + 1, "10m"),
        (3 * HOUR - SHORTLY, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + MINUTE, "3h1m"),
        (8 * HOUR - SHORTLY, "7h59m"),
        (8 * HOUR + 59 * MINUTE, "8h"),
        (2 * DAY - SHORTLY, "47h"),
        (2 * DAY, "2d"),
        (2 * DAY + HOUR, "2d1h"),
        (8 * DAY - SHORTLY, "7d23h"),
        (8 * DAY + 23 * HOUR, "8d"),
        (2 * YEAR - SHORTLY, "729d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + 23 * HOUR, "2y"),
        (2 * YEAR + DAY, "2y1d"),
        (8 * YEAR - SHORTLY, "7y364d"),
        (8 * YEAR, "8y"),
        (8 * YEAR + 364 * DAY, "8y"),
        (9 * YEAR, "9y"),
    ],
)
def test_a_human_duration_has_two_or_three_figures(seconds: float, text: str) -> None:
    """Go: TestHumanDuration, TestHumanDurationBoundaries."""
    assert duration.human_duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1.5, "0s"),
        (0, "0s"),
        (1 - SHORTLY, "0s"),
        (1, "1s"),
        (MINUTE - SHORTLY, "59s"),
        (MINUTE, "1m"),
        (HOUR - SHORTLY, "59m"),
        (HOUR, "1h"),
        (DAY - SHORTLY, "23h"),
        (DAY, "1d"),
        (YEAR - SHORTLY, "364d"),
        (YEAR, "1y"),
        (10 * YEAR - SHORTLY, "9y"),
        (10 * YEAR, "10y"),
    ],
)
def test_a_short_human_duration_has_its_largest_unit_alone(seconds: float, text: str) -> None:
    """Go: TestShortHumanDurationBoundaries."""
    assert duration.short_human_duration(seconds) == text
