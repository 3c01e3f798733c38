"""metav1.Time: a moment with the JSON form of whole seconds.

Mirrors k8s.io/apimachinery/pkg/apis/meta/v1/time.go. Fields of API objects read as plain aware `datetime`s and accept
them; a Time is such a datetime with Go's methods, and with the nanoseconds a datetime has no room for. Go's zero time is
None in fields; here it is year 1 of UTC, for which `is_zero` holds. CBOR and protobuf are not ported.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final, Self

from clientgo.apimachinery.runtime.timestamps import format_time
from clientgo.golang.strconv import quote
from clientgo.utils.clock import RealClock

RFC3339: Final = "2006-01-02T15:04:05Z07:00"
"""Go's name for the format."""

_ZERO: Final = datetime(1, 1, 1, tzinfo=UTC)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Time(datetime):
    """A moment in UTC, to the nanosecond. Immutable; compares as the datetime it is. Go: metav1.Time."""

    # Nanoseconds beyond the datetime's microseconds, 0 to 999.
    nanosecond: int = 0

    LAYOUT = RFC3339

    @classmethod
    def of(cls, moment: datetime, nanosecond: int = 0) -> Self:
        """The same moment as a Time. Raises ValueError when `moment` has no time zone."""
        if moment.tzinfo is None:
            raise ValueError(f"a time needs a time zone, got {moment!r}")
        utc = moment.astimezone(UTC)
        new = cls(utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond, tzinfo=UTC)
        new.nanosecond = nanosecond or getattr(moment, "nanosecond", 0)
        return new

    @classmethod
    def unmarshal_json(cls, b: str | bytes) -> Self:
        """Read the JSON form; null is the zero time. Raises ValueError with Go's text. Go: Time.UnmarshalJSON."""
        value = json.loads(b)
        if value is None:
            return cls.of(_ZERO)
        return cls._parse(_require_string(value))

    @classmethod
    def unmarshal_query_parameter(cls, str: str) -> Self:
        """Read a query parameter; "" and "null" are the zero time. Go: Time.UnmarshalQueryParameter."""
        return cls.of(_ZERO) if str in ("", "null") else cls._parse(str)

    @classmethod
    def _parse(cls, text: str) -> Self:
        moment, nanosecond = parse(text, cls.LAYOUT)
        return cls.of(moment, nanosecond)

    def marshal_json(self) -> str:
        """The JSON form. Go: Time.MarshalJSON."""
        return "null" if self.is_zero() else f'"{self._format()}"'

    def marshal_query_parameter(self) -> str:
        """The form of a query parameter, "" for the zero time. Go: Time.MarshalQueryParameter."""
        return "" if self.is_zero() else self._format()

    def to_unstructured(self) -> str | None:
        """The value an unstructured object holds. Go: Time.ToUnstructured."""
        return None if self.is_zero() else self._format()

    def _format(self) -> str:
        return format_time(self)

    def is_zero(self) -> bool:
        """Whether this is Go's zero time. Go: Time.IsZero."""
        return datetime.__eq__(self, _ZERO)

    def before(self, u: datetime | None) -> bool:
        """Whether this is earlier; False when `u` is None. Go: Time.Before."""
        return u is not None and self.unix_nano() < unix_nano(u)

    def equal(self, u: datetime | None) -> bool:
        """Whether both are one moment. Go: Time.Equal."""
        return u is not None and self.unix_nano() == unix_nano(u)

    def unix_nano(self) -> int:
        """Nanoseconds since 1970. Go: time.Time.UnixNano."""
        return unix_nano(self)

    def rfc3339_copy(self) -> Self:
        """The moment without what the JSON form leaves out. Go: Time.Rfc3339Copy."""
        return type(self).of(self.replace(microsecond=0))

    def deep_copy(self) -> Self:
        """Itself: it cannot change. Go: Time.DeepCopy."""
        return self

    @staticmethod
    def openapi_schema_type() -> list[str]:
        """Go: Time.OpenAPISchemaType."""
        return ["string"]

    @staticmethod
    def openapi_schema_format() -> str:
        """Go: Time.OpenAPISchemaFormat."""
        return "date-time"


def new_time(time: datetime) -> Time:
    """A datetime with a time zone as a Time. Go: metav1.NewTime."""
    return Time.of(time)


def date(year: int, month: int, day: int, hour: int, min: int, sec: int, nsec: int, loc: tzinfo) -> Time:
    """A moment by its parts. Go: metav1.Date."""
    return Time.of(datetime(year, month, day, hour, min, sec, nsec // 1000, tzinfo=loc), nsec % 1000)


def now() -> Time:
    """The moment the process' real clock shows (tests may replace its time source). Go: metav1.Now."""
    return from_clock(RealClock().now())


def unix(sec: int, nsec: int) -> Time:
    """So many seconds and nanoseconds since 1970. Go: metav1.Unix."""
    return Time.of(*unix_parts(sec, nsec))


def from_clock(seconds: float) -> Time:
    """The moment a clock's `now()` means: seconds since 1970, to the microsecond."""
    return Time.of(_EPOCH + timedelta(seconds=seconds))


def unix_parts(sec: int, nsec: int) -> tuple[datetime, int]:
    """A moment as a datetime and the nanoseconds that do not fit in."""
    micros, nanosecond = divmod(sec * 1_000_000_000 + nsec, 1000)
    return _EPOCH + timedelta(microseconds=micros), nanosecond


def unix_nano(moment: datetime) -> int:
    """Nanoseconds since 1970."""
    since = moment - _EPOCH
    micros = (since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds
    return micros * 1000 + int(getattr(moment, "nanosecond", 0))


def _require_string(value: Any) -> str:
    if isinstance(value, str):
        return value
    kind = {bool: "bool", int: "number", float: "number", list: "array", dict: "object"}[type(value)]
    raise ValueError(f"json: cannot unmarshal {kind} into Go value of type string")


# What Go's parser reads one after the other: its own name for the element, the pattern, and the range of its number.
_ELEMENTS: Final = (
    ("2006", re.compile(r"[0-9]{4}"), "year", 0, 9999),
    ("-", re.compile(r"-"), "", 0, 0),
    ("01", re.compile(r"[0-9]{2}"), "month", 1, 12),
    ("-", re.compile(r"-"), "", 0, 0),
    ("02", re.compile(r"[0-9]{2}"), "day", 1, 31),
    ("T", re.compile(r"T"), "", 0, 0),
    ("15", re.compile(r"[0-9]{2}"), "hour", 0, 23),
    (":", re.compile(r":"), "", 0, 0),
    ("04", re.compile(r"[0-9]{2}"), "minute", 0, 59),
    (":", re.compile(r":"), "", 0, 0),
    ("05", re.compile(r"[0-9]{2}"), "second", 0, 59),
)
_FRACTION: Final = re.compile(r"[.,]([0-9]+)")
_SIX_DIGITS: Final = re.compile(r"\.([0-9]{6})")
_ZONE: Final = re.compile(r"Z|([+-])([0-9]{2}):([0-9]{2})")


def parse(text: str, layout: str) -> tuple[datetime, int]:
    """Read RFC3339, or RFC3339_MICRO which wants exactly six fractional digits: the moment and its nanoseconds.

    Raises ValueError with the text Go's time.Parse gives.
    """
    rest = text
    numbers: list[int] = []

    def fail(element: str) -> ValueError:
        return ValueError(
            f"parsing time {quote(text)} as {quote(layout)}: cannot parse {quote(rest)} as {quote(element)}"
        )

    def out_of_range(what: str) -> ValueError:
        return ValueError(f"parsing time {quote(text)}: {what} out of range")

    for element, pattern, what, low, high in _ELEMENTS:
        match = pattern.match(rest)
        if match is None:
            raise fail(element)
        if what:
            number = int(match.group())
            if not low <= number <= high:
                raise out_of_range(what)
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
    if zone.end() < len(rest):
        raise ValueError(f"parsing time {quote(text)}: extra text: {quote(rest[zone.end() :])}")
    nanos = int(digits[:9].ljust(9, "0"))
    try:
        moment = datetime(*numbers, nanos // 1000, tzinfo=UTC)  # type: ignore[misc, arg-type]
    except ValueError:
        raise out_of_range("day") from None
    return moment - _offset(zone), nanos % 1000


def _offset(zone: re.Match[str]) -> timedelta:
    sign, hours, minutes = zone.groups()
    if sign is None:
        return timedelta(0)
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return offset if sign == "+" else -offset
