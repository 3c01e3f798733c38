"""Go's time.Time: the wall clock's time together with a reading of the monotonic clock.

Replaces the part of Go's time package around `time.Now`. Elsewhere in this library a time is any float of seconds since
1970; a time from a real clock is a `Time`, a float that also has the monotonic reading.

Difference from Go: the subtrahend of a time may be a time or a duration, since both are floats. Time minus duration is
a plain float and thus wall time only; `time + -duration` keeps the monotonic reading.
"""

from __future__ import annotations

import time
from typing import Final

__all__ = ["MAX_DURATION", "Time", "now"]

MAX_DURATION: Final = (2**63 - 1) / 1e9
"""Go's longest Duration in seconds (292 years), which means "never". Go: math.MaxInt64 nanoseconds."""


class Time(float):
    """Seconds since 1970 on the wall clock, with the monotonic clock's reading of the same moment. Go: time.Time.

    Two Times are compared and subtracted by their monotonic readings, so a change of the wall clock affects no duration
    and no deadline. With a plain float, such as the expiry of a certificate, the wall clock's time is used. `==` and
    `hash` are those of float, as Go's `==` does not compare instants.

    Immutable by convention. `monotonic` is in seconds and is valid only in this process.

    >>> before = Time.of(1000.0, monotonic=50.0)
    >>> after = Time.of(4603.0, monotonic=53.0)  # meanwhile the wall clock was set an hour ahead
    >>> after - before, before + 5.0 < after, after - 4600.0
    (3.0, False, 3.0)
    """

    __slots__ = ("monotonic",)

    monotonic: float

    @classmethod
    def of(cls, wall: float, monotonic: float) -> Time:
        """Return the time with these two readings."""
        instant = cls(wall)
        instant.monotonic = monotonic
        return instant

    def __add__(self, seconds: float) -> Time:
        """Return the time this number of seconds later. Go: Time.Add."""
        instant = Time(float.__add__(self, seconds))
        instant.monotonic = self.monotonic + seconds
        return instant

    __radd__ = __add__

    def __sub__(self, other: float) -> float:
        """Return the seconds since another time, or the wall time this number of seconds earlier. Go: Time.Sub."""
        if isinstance(other, Time):
            return self.monotonic - other.monotonic
        return float.__sub__(self, other)

    def __lt__(self, other: float) -> bool:
        if isinstance(other, Time):
            return self.monotonic < other.monotonic
        return float.__lt__(self, other)

    def __le__(self, other: float) -> bool:
        if isinstance(other, Time):
            return self.monotonic <= other.monotonic
        return float.__le__(self, other)

    def __gt__(self, other: float) -> bool:
        if isinstance(other, Time):
            return self.monotonic > other.monotonic
        return float.__gt__(self, other)

    def __ge__(self, other: float) -> bool:
        if isinstance(other, Time):
            return self.monotonic >= other.monotonic
        return float.__ge__(self, other)


def require_seconds(value: float, name: str) -> float:
    """Return `value` if it is a number. Raises TypeError for another type, such as a text or a timedelta.

    `name` is the argument in the error. The API of this library has float seconds where Go has a Duration.
    """
    if isinstance(value, (float, int)):
        return value
    from numbers import Real  # imported here, for the few numbers of other packages

    if isinstance(value, Real):
        return value
    raise TypeError(f"{name} is a number of seconds; got {value!r}")


def now() -> Time:
    """Return the current time of the wall clock and the monotonic clock. Go: time.Now."""
    instant = Time(time.time())
    instant.monotonic = time.monotonic()
    return instant
