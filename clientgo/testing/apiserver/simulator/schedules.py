"""Due times of CronJobs: the five fields of a schedule, matched minute by minute. Pure functions.

Mirrors the schedules of robfig/cron v3, which Kubernetes uses: either of the two day fields is enough when both are
given. The server has rejected invalid schedules before.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from clientgo.golang.duration import parse_duration
from clientgo.testing.apiserver.kinds.validation import cron

_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
# As far ahead as robfig/cron looks: a schedule like February 30 is never due.
_YEARS = 5


class Schedule:
    """A parsed schedule.

    >>> at = datetime(2026, 2, 27, 23, 59, tzinfo=UTC).timestamp()
    >>> str(datetime.fromtimestamp(Schedule("30 6 * * mon", "Etc/UTC").next(at), UTC))
    '2026-03-02 06:30:00+00:00'
    """

    def __init__(self, text: str, time_zone: str | None) -> None:
        """Parse a schedule. Raises ValueError for an invalid schedule or time zone."""
        cron.check(text)
        self._zone: tzinfo = ZoneInfo(time_zone) if time_zone else UTC
        self._every = parse_duration(text.removeprefix("@every ").strip()) if text.startswith("@every ") else 0.0
        if self._every:
            return
        fields = _DESCRIPTORS.get(text, text).split()
        self._minutes, self._hours, self._days, self._months, self._weekdays = map(cron.values, range(5), fields)
        self._any_day, self._any_weekday = _is_any(fields[2]), _is_any(fields[4])

    def next(self, after: float) -> float | None:
        """Return the first due time after `after`, or None if there is none within five years.

        Both are seconds since 1970.
        """
        if self._every:
            return int(after) + max(1.0, float(int(self._every)))
        for day in self._matching_days(after):
            for moment in self._moments(day):
                if moment > after:
                    return moment
        return None

    def _matching_days(self, after: float) -> Iterator[datetime]:
        day = datetime.fromtimestamp(after, self._zone).replace(hour=0, minute=0, second=0, microsecond=0)
        for _ in range(366 * _YEARS):
            if day.month in self._months and self._is_day(day):
                yield day
            day += timedelta(days=1)

    def _is_day(self, day: datetime) -> bool:
        by_date, by_weekday = day.day in self._days, (day.weekday() + 1) % 7 in self._weekdays
        if self._any_day or self._any_weekday:
            return by_date and by_weekday
        return by_date or by_weekday

    def _moments(self, day: datetime) -> Iterator[float]:
        for hour in sorted(self._hours):
            for minute in sorted(self._minutes):
                yield day.replace(hour=hour, minute=minute).timestamp()


def _is_any(field: str) -> bool:
    """Report whether a field is unrestricted. A star with a step is a restriction."""
    return any(part in ("*", "?", "*/1", "?/1") for part in field.split(","))
