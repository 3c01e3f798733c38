"""metav1.Time: a time whose JSON form has whole seconds.

Mirrors k8s.io/apimachinery/pkg/apis/meta/v1/time.go. Fields of API objects return and accept plain aware `datetime`s; a
Time is a datetime with Go's methods and with the nanoseconds that a datetime lacks. Go's zero time is None in fields;
here it is year 1 in UTC, for which `is_zero` returns True. CBOR and protobuf are not ported.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final, Self

from clientgo.apimachinery.runtime.timestamps import format_time
from clientgo.utils.clock import RealClock

RFC3339: Final = "2006-01-02T15:04:05Z07:00"
"""The layout's name in Go."""

_ZERO: Final = datetime(1, 1, 1, tzinfo=UTC)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Time(datetime):
    """A time in UTC, to the nanosecond. Immutable; compares as a datetime. Go: metav1.Time."""

    # Nanoseconds in addition to the datetime's microseconds, 0 to 999.
    nanosecond: int = 0

    LAYOUT = RFC3339

    @classmethod
    def of(cls, moment: datetime, nanosecond: int = 0) -> Self:
        """Convert a datetime. Raises ValueError if it has no time zone."""
        if moment.tzinfo is None:
            raise ValueError(f"a time needs a time zone, got {moment!r}")
        utc = moment.astimezone(UTC)
        new = cls(utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond, tzinfo=UTC)
        new.nanosecond = nanosecond or getattr(moment, "nanosecond", 0)
        return new

    @classmethod
    def unmarshal_json(cls, b: str | bytes) -> Self:
        """Parse the JSON form; null is the zero time. Raises ValueError with Go's text. Go: Time.UnmarshalJSON."""
        value = json.loads(b)
        if value is None:
            return cls.of(_ZERO)
        return cls._parse(_require_string(value))

    @classmethod
    def unmarshal_query_parameter(cls, str: str) -> Self:
        """Parse a query parameter; "" and "null" are the zero time. Go: Time.UnmarshalQueryParameter."""
        return cls.of(_ZERO) if str in ("", "null") else cls._parse(str)

    @classmethod
    def _parse(cls, text: str) -> Self:
        from clientgo.golang.rfc3339 import parse  # Here: few programs parse a Time.

        moment, nanosecond = parse(text, cls.LAYOUT)
        return cls.of(moment, nanosecond)

    def marshal_json(self) -> str:
        """Return the JSON form. Go: Time.MarshalJSON."""
        return "null" if self.is_zero() else f'"{self._format()}"'

    def marshal_query_parameter(self) -> str:
        """Return the form for a query parameter, or "" for the zero time. Go: Time.MarshalQueryParameter."""
        return "" if self.is_zero() else self._format()

    def to_unstructured(self) -> str | None:
        """Return the value for an unstructured object. Go: Time.ToUnstructured."""
        return None if self.is_zero() else self._format()

    def _format(self) -> str:
        return format_time(self)

    def is_zero(self) -> bool:
        """Report whether this is Go's zero time. Go: Time.IsZero."""
        return datetime.__eq__(self, _ZERO)

    def before(self, u: datetime | None) -> bool:
        """Report whether this time is earlier; False if `u` is None. Go: Time.Before."""
        return u is not None and self.unix_nano() < unix_nano(u)

    def equal(self, u: datetime | None) -> bool:
        """Report whether both times are the same. Go: Time.Equal."""
        return u is not None and self.unix_nano() == unix_nano(u)

    def unix_nano(self) -> int:
        """Return the nanoseconds since 1970. Go: time.Time.UnixNano."""
        return unix_nano(self)

    def rfc3339_copy(self) -> Self:
        """Return the time without the fraction of a second, which the JSON form omits. Go: Time.Rfc3339Copy."""
        return type(self).of(self.replace(microsecond=0))

    def deep_copy(self) -> Self:
        """Return this time, which is immutable. Go: Time.DeepCopy."""
        return self

    @staticmethod
    def openapi_schema_type() -> list[str]:
        """Return the OpenAPI types of a time. Go: Time.OpenAPISchemaType."""
        return ["string"]

    @staticmethod
    def openapi_schema_format() -> str:
        """Return the OpenAPI format of a time. Go: Time.OpenAPISchemaFormat."""
        return "date-time"


def new_time(time: datetime) -> Time:
    """Convert a datetime with a time zone. Go: metav1.NewTime."""
    return Time.of(time)


def date(year: int, month: int, day: int, hour: int, min: int, sec: int, nsec: int, loc: tzinfo) -> Time:
    """Return the time with these parts. Go: metav1.Date."""
    return Time.of(datetime(year, month, day, hour, min, sec, nsec // 1000, tzinfo=loc), nsec % 1000)


def now() -> Time:
    """Return the time of the process' real clock; tests may replace its source. Go: metav1.Now."""
    return from_clock(RealClock().now())


def unix(sec: int, nsec: int) -> Time:
    """Return the time this number of seconds and nanoseconds after 1970. Go: metav1.Unix."""
    return Time.of(*unix_parts(sec, nsec))


def from_clock(seconds: float) -> Time:
    """Convert the result of a clock's `now()`: seconds since 1970, to the microsecond."""
    return Time.of(_EPOCH + timedelta(seconds=seconds))


def unix_parts(sec: int, nsec: int) -> tuple[datetime, int]:
    """Return the time as a datetime and the nanoseconds below its resolution."""
    micros, nanosecond = divmod(sec * 1_000_000_000 + nsec, 1000)
    return _EPOCH + timedelta(microseconds=micros), nanosecond


def unix_nano(moment: datetime) -> int:
    """Return the nanoseconds since 1970."""
    since = moment - _EPOCH
    micros = (since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds
    return micros * 1000 + int(getattr(moment, "nanosecond", 0))


def _require_string(value: Any) -> str:
    if isinstance(value, str):
        return value
    kind = {bool: "bool", int: "number", float: "number", list: "array", dict: "object"}[type(value)]
    raise ValueError(f"json: cannot unmarshal {kind} into Go value of type string")
