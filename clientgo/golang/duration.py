"""Durations in Go's text form, such as 1m30s. Go: package time (time.go, format.go).

The API of this library uses float seconds for durations.
"""

from __future__ import annotations

import re
from typing import Final

from clientgo.golang import utf8
from clientgo.golang.time import MAX_DURATION

_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # U+00B5, the micro sign
    "μs": 1_000,  # U+03BC, the Greek letter
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^.0-9]*)")
_MAX_INT64: Final = (1 << 63) - 1


def parse_duration(text: str) -> float:
    """Parse Go's text form into seconds. Raises ValueError with Go's text.

    >>> parse_duration("1m30s"), parse_duration("-1.5h")
    (90.0, -5400.0)
    """
    return parse_nanoseconds(text) / 1_000_000_000


def format_duration(seconds: float) -> str:
    """Format seconds in Go's text form, to the nanosecond.

    Durations above Go's maximum, including infinity, are formatted as the maximum. Raises ValueError for NaN.

    >>> format_duration(5400), format_duration(0.0015), format_duration(float("inf"))
    ('1h30m0s', '1.5ms', '2562047h47m16.854775807s')
    """
    if seconds >= MAX_DURATION:
        return format_nanoseconds(_MAX_INT64)
    if seconds <= -MAX_DURATION:
        return format_nanoseconds(-_MAX_INT64 - 1)
    numerator, denominator = seconds.as_integer_ratio()
    return format_nanoseconds(_rounded(numerator * 1_000_000_000, denominator))


def _rounded(numerator: int, denominator: int) -> int:
    """Return the integer nearest to a fraction, or the even one of two equally near."""
    whole, rest = divmod(numerator, denominator)
    if 2 * rest > denominator or (2 * rest == denominator and whole % 2):
        return whole + 1
    return whole


def parse_nanoseconds(text: str) -> int:
    """Parse a duration exactly, as nanoseconds. Go: time.ParseDuration."""
    invalid = ValueError(f"time: invalid duration {quote_time(text)}")
    negative = text.startswith("-")
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0
    if not rest:
        raise invalid
    total = 0
    while rest:
        match = _PART.match(rest)
        assert match is not None  # Every part of the pattern may be empty.
        whole, fraction, unit = match.groups(default="")
        if not whole and not fraction:
            raise invalid
        if len(whole.lstrip("0")) > 19 or int(whole.lstrip("0") or 0) > _MAX_INT64 + 1:
            raise invalid
        if not unit:
            raise ValueError(f"time: missing unit in duration {quote_time(text)}")
        if unit not in _UNITS:
            raise ValueError(f"time: unknown unit {quote_time(unit)} in duration {quote_time(text)}")
        total += int(whole.lstrip("0") or 0) * _UNITS[unit]
        if fraction:
            total += int(fraction[:30]) * _UNITS[unit] // 10 ** len(fraction[:30])
        if total > _MAX_INT64 + negative:
            raise invalid
        rest = rest[match.end() :]
    return -total if negative else total


def quote_time(text: str) -> str:
    """Return the text between quotes, with the bytes of other characters than ASCII's as \\xNN. Go: time.quote."""
    parts = ['"']
    for byte in utf8.encode(text):
        char = chr(byte)
        parts.append(f"\\{char}" if char in '"\\' else char if 0x20 <= byte < 0x80 else f"\\x{byte:02x}")
    return "".join((*parts, '"'))


def format_nanoseconds(nanoseconds: int) -> str:
    """Format a duration in nanoseconds exactly. Go: time.Duration.String."""
    if nanoseconds == 0:
        return "0s"
    sign = "-" if nanoseconds < 0 else ""
    left = abs(nanoseconds)
    for unit in ("ns", "µs", "ms"):
        if left < _UNITS[unit] * 1000:
            return f"{sign}{_decimal(left, _UNITS[unit])}{unit}"
    minutes, left = divmod(left, _UNITS["m"])
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(left, _UNITS['s'])}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{sign}{hours}h{text}" if hours else f"{sign}{text}"


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    if not rest:
        return str(whole)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}"
