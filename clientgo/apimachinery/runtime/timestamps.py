"""The text forms of Kubernetes times: RFC 3339 in seconds (metav1.Time) and in microseconds (metav1.MicroTime).

No Go file of its own: the formats live in apis/meta/v1/time.go and micro_time.go; they stand here, below the typed
views, because a view turns them into `datetime` on every read. A time is an aware UTC `datetime`; Go's zero time is
None.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_MICRO_DIGITS = 6


def parse_time(text: str) -> datetime:
    """Read an RFC 3339 time with any number of fractional digits; the result is in UTC.

    Raises ValueError with Go's text when it is not one. Digits beyond microseconds are dropped: `datetime` has none.
    """
    return _parsed(text) or _parsed_as_go(text, "RFC3339")


def parse_micro_time(text: str) -> datetime:
    """Read the text of a metav1.MicroTime, like `parse_time`. Accepts more than Go: not only six fractional digits."""
    return _parsed(text) or _parsed_as_go(text, "RFC3339_MICRO")


def check_micro_time(text: str) -> None:
    """Raise ValueError with Go's text if Go does not read this text of a metav1.MicroTime."""
    _parsed_as_go(text, "RFC3339_MICRO")


def _parsed_as_go(text: str, layout: str) -> datetime:
    """Parse an unusual time as Go does. `layout` is a name in golang.rfc3339."""
    from clientgo.golang import rfc3339  # Here: few texts are unusual.

    return rfc3339.parse(text, getattr(rfc3339, layout))[0]


# Whether a text begins with a date and a time of day. `fromisoformat` reads more: weeks, and times without colons.
_is_usual: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}.", re.ASCII).match
_is_offset: Final = re.compile(r"[+-][0-9]{2}:[0-9]{2}", re.ASCII).fullmatch


def _parsed(text: str) -> datetime | None:
    """Return a time in its usual form; None for other texts."""
    if not _is_usual(text):
        return None
    head, rest = text[:19], text[19:]
    micros = 0
    if rest[0] in ".,":
        digits = _leading_digits(rest[1:])
        if not digits:
            return None
        micros = int(digits[:_MICRO_DIGITS].ljust(_MICRO_DIGITS, "0"))
        rest = rest[1 + len(digits) :]
    try:
        moment = datetime.fromisoformat(head) - _parse_offset(rest)
    except (ValueError, OverflowError):  # A datetime in UTC has a year from 1 to 9999.
        return None
    return moment.replace(microsecond=micros, tzinfo=UTC)


def format_time(moment: datetime) -> str:
    """Write metav1.Time's form: UTC, whole seconds, as in 2006-01-02T15:04:05Z."""
    return _in_utc(moment).isoformat(timespec="seconds") + "Z"


def format_micro_time(moment: datetime) -> str:
    """Write metav1.MicroTime's form: UTC with exactly six fractional digits."""
    return _in_utc(moment).isoformat(timespec="microseconds") + "Z"


def _in_utc(moment: datetime) -> datetime:
    """Return the time in UTC, without its time zone."""
    if moment.tzinfo is None:
        raise ValueError(f"a time needs a time zone, got {moment!r}")
    return moment.astimezone(UTC).replace(tzinfo=None)


def _leading_digits(text: str) -> str:
    for position, char in enumerate(text):
        if not ("0" <= char <= "9"):
            return text[:position]
    return text


def _parse_offset(text: str) -> timedelta:
    if text == "Z":
        return timedelta(0)
    if not _is_offset(text):
        raise ValueError(text)
    hours, minutes = int(text[1:3]), int(text[4:6])
    if hours > 24 or minutes > 60:
        raise ValueError(text)
    offset = timedelta(hours=hours, minutes=minutes)
    return offset if text[0] == "+" else -offset
