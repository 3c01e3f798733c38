"""Times of CBOR as RFC 3339 texts with nanoseconds. Has no Go file: Go's decoder has time.Time.

Go reads a tagged time and writes it again, which changes its form: no trailing zeros, "Z" for "+00:00".
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Final

from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.errors import InvalidCBORError
from clientgo.golang.rfc3339 import RFC3339, parse

__all__ = ["unix_time_text", "with_go_form"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NANOS: Final = 1_000_000_000
# The seconds of the years 0 and 10,000.
_FIRST, _END = -62167219200, 253402300800
_NO_TEXT: Final = (
    "cbor: decoded time cannot be represented in RFC3339 format with sub-second precision: Time.MarshalText: "
)
_LEAP_YEARS_OF_400: Final = 12622780800
_SECONDS = len("2006-01-02T15:04:05")


def with_go_form(text: str) -> tuple[str | None, InvalidCBORError | None]:
    """Return an RFC 3339 text in Go's form, or the error."""
    # datetime has no year 0; the year 2000 has the same days.
    is_year_zero = text.startswith("0000-")
    try:
        parse(f"2000{text[4:]}" if is_year_zero else text, RFC3339)
    except (ValueError, OverflowError) as err:
        reason = str(err).replace('"2000-', '"0000-', 1) if is_year_zero else str(err)
        return None, InvalidCBORError(f"cbor: cannot set {text} for time.Time: {reason}")
    zone = "Z" if text.endswith("Z") else text[-len("+07:00") :]
    seconds, fraction = text[:_SECONDS], text[_SECONDS : -len(zone)][1:10].rstrip("0")
    minutes = 0 if zone == "Z" else 60 * int(zone[1:3]) + int(zone[4:])
    if minutes >= 24 * 60:
        return None, InvalidCBORError(f"{_NO_TEXT}timezone hour outside of range [0,23]")
    offset = f"{zone[0]}{minutes // 60:02}:{minutes % 60:02}" if minutes else "Z"
    return f"{seconds}{f'.{fraction}' if fraction else ''}{offset}", None


def unix_time_text(seconds: float) -> tuple[str | None, InvalidCBORError | None]:
    """Return the text of a time in seconds since 1970, or the error. A float has the precision of a float64."""
    if not _FIRST - 1 <= seconds < _END + 1:
        return None, _year_out_of_range()
    fraction, whole = math.modf(seconds)
    at, nanos = divmod(int(whole) * _NANOS + int(fraction * 1e9), _NANOS)
    if not _FIRST <= at < _END:
        return None, _year_out_of_range()
    before_year_one = at < _FIRST + 366 * 86400
    moment = _EPOCH + timedelta(seconds=at + (_LEAP_YEARS_OF_400 if before_year_one else 0))
    year = moment.year - 400 if before_year_one else moment.year
    text = f"{year:04}-{moment:%m-%dT%H:%M:%S}"
    shown = f"{nanos:09}".rstrip("0")
    return f"{text}{f'.{shown}' if shown else ''}Z", None


def _year_out_of_range() -> InvalidCBORError:
    return InvalidCBORError(f"{_NO_TEXT}year outside of range [0,9999]")
