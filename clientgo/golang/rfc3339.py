"""The parsing of RFC 3339 times with the errors of Go's time.Parse."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from clientgo.golang.duration import quote_time

__all__ = ["RFC3339", "RFC3339_MICRO", "parse"]

RFC3339: Final = "2006-01-02T15:04:05Z07:00"
"""The layout's name in Go."""
RFC3339_MICRO: Final = "2006-01-02T15:04:05.000000Z07:00"
"""The layout of metav1.MicroTime."""

# The elements that Go's parser reads in order: its name for the element, the pattern, and the number's range.
_ELEMENTS: Final = (
    ("2006", re.compile(r"[0-9]{4}"), "year", 0, 9999),
    ("-", re.compile(r"-"), "", 0, 0),
    ("01", re.compile(r"[0-9]{2}"), "month", 1, 12),
    ("-", re.compile(r"-"), "", 0, 0),
    ("02", re.compile(r"[0-9]{2}"), "day", 0, 99),  # Go checks it after everything else.
    ("T", re.compile(r"T"), "", 0, 0),
    ("15", re.compile(r"[0-9]{1,2}"), "hour", 0, 23),
    (":", re.compile(r":"), "", 0, 0),
    ("04", re.compile(r"[0-9]{2}"), "minute", 0, 59),
    (":", re.compile(r":"), "", 0, 0),
    ("05", re.compile(r"[0-9]{2}"), "second", 0, 59),
)
_FRACTION: Final = re.compile(r"[.,]([0-9]+)")
_SIX_DIGITS: Final = re.compile(r"[.,]([0-9]{6})")
_ZONE: Final = re.compile(r"Z|([+-])([0-9]{2}):([0-9]{2})")


def parse(text: str, layout: str) -> tuple[datetime, int]:
    """Parse RFC3339 or RFC3339_MICRO (exactly six fractional digits); return the time and its nanoseconds.

    Raises ValueError with the text of Go's time.Parse.
    """
    rest = text
    numbers: list[int] = []

    def fail(element: str) -> ValueError:
        read = f"parsing time {quote_time(text)} as {quote_time(layout)}"
        return ValueError(f"{read}: cannot parse {quote_time(rest)} as {quote_time(element)}")

    def out_of_range(unit: str) -> ValueError:
        return ValueError(f"parsing time {quote_time(text)}: {unit} out of range")

    for element, pattern, unit, low, high in _ELEMENTS:
        match = pattern.match(rest)
        if match is None:
            raise fail(element)
        if unit:
            number = int(match.group())
            if not low <= number <= high:
                raise out_of_range(unit)
            numbers.append(number)
        rest = rest[match.end() :]
    wants_six = layout != RFC3339
    fraction = (_SIX_DIGITS if wants_six else _FRACTION).match(rest)
    if fraction is None and wants_six:
        raise fail(".000000")
    digits = fraction.group(1) if fraction else ""
    rest = rest[fraction.end() :] if fraction else rest
    zone = _ZONE.match(rest)
    if zone is None:
        raise fail("Z07:00")
    if zone[1] and int(zone[2]) > 24:
        raise out_of_range("time zone offset hour")
    if zone[1] and int(zone[3]) > 60:
        raise out_of_range("time zone offset minute")
    if zone.end() < len(rest):
        raise ValueError(f"parsing time {quote_time(text)}: extra text: {quote_time(rest[zone.end() :])}")
    nanos = int(digits[:9].ljust(9, "0"))
    try:
        moment = datetime(*numbers, nanos // 1000, tzinfo=UTC)  # type: ignore[misc, arg-type]
    except ValueError:
        raise out_of_range("day" if numbers[0] else "year") from None
    try:
        return moment - _offset(zone), nanos % 1000
    except OverflowError:  # In UTC, a datetime has a year from 1 to 9999.
        raise out_of_range("year") from None


def _offset(zone: re.Match[str]) -> timedelta:
    sign, hours, minutes = zone.groups()
    if sign is None:
        return timedelta(0)
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return offset if sign == "+" else -offset
