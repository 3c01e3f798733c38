"""metav1.MicroTime: a time whose JSON form has microseconds.

Mirrors k8s.io/apimachinery/pkg/apis/meta/v1/micro_time.go; time.py explains its relation to datetime.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Final

from clientgo.apimachinery.apis.meta.v1.time import Time, unix_parts
from clientgo.apimachinery.apis.meta.v1.time import now as _now
from clientgo.apimachinery.runtime.timestamps import format_micro_time

RFC3339_MICRO: Final = "2006-01-02T15:04:05.000000Z07:00"
"""Exactly six fractional digits. Go: metav1.RFC3339Micro."""


class MicroTime(Time):
    """A time in UTC, written with microseconds. Go: metav1.MicroTime."""

    LAYOUT = RFC3339_MICRO

    def _format(self) -> str:
        return format_micro_time(self)

    def before_time(self, u: datetime | None) -> bool:
        """Report whether this time is earlier. Go: MicroTime.BeforeTime."""
        return self.before(u)

    def equal_time(self, u: datetime | None) -> bool:
        """Report whether both times are the same. Go: MicroTime.EqualTime."""
        return self.equal(u)


def new_micro_time(time: datetime) -> MicroTime:
    """Convert a datetime with a time zone. Go: metav1.NewMicroTime."""
    return MicroTime.of(time)


def date_micro(year: int, month: int, day: int, hour: int, min: int, sec: int, nsec: int, loc: tzinfo) -> MicroTime:
    """Return the time with these parts. Go: metav1.DateMicro."""
    return MicroTime.of(datetime(year, month, day, hour, min, sec, nsec // 1000, tzinfo=loc), nsec % 1000)


def now_micro() -> MicroTime:
    """Return the time of the process' real clock. Go: metav1.NowMicro."""
    return MicroTime.of(_now())


def unix_micro(sec: int, nsec: int) -> MicroTime:
    """Return the time this number of seconds and nanoseconds after 1970. Go: metav1.UnixMicro."""
    return MicroTime.of(*unix_parts(sec, nsec))
