"""The schedules of CronJobs: five fields, or one of the names that begin with @.

Mirrors the parser of robfig/cron v3, including its error texts. Pure functions.
"""

from __future__ import annotations

from clientgo.golang.strconv import atoi_clipped

_MAX_INT = (1 << 63) - 1
# Minute, hour, day of the month, month, day of the week.
_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_NAMES: tuple[dict[str, int], ...] = (
    {},
    {},
    {},
    {name: i for i, name in enumerate(_MONTHS, 1)},
    {name: i for i, name in enumerate(_DAYS)},
)
_DESCRIPTORS = {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}


def check(schedule: str) -> None:
    """Raise ValueError if a CronJob's schedule is invalid."""
    if schedule.startswith("@"):
        if schedule not in _DESCRIPTORS and not schedule.startswith("@every "):
            raise ValueError(f"unrecognized descriptor: {schedule}")
        return
    fields = schedule.split()
    if len(fields) != 5:
        raise ValueError(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    for text, (low, high), names in zip(fields, _BOUNDS, _NAMES):
        for part in text.split(","):
            _range(part, low, high, names)


def values(position: int, text: str) -> set[int]:
    """Return the numbers that one field of a schedule matches. Position 0 is the minute. Raises ValueError.

    >>> sorted(values(1, "8-18/5,23"))
    [8, 13, 18, 23]
    """
    (low, high), names = _BOUNDS[position], _NAMES[position]
    return {number for part in text.split(",") for number in _range(part, low, high, names)}


def _range(text: str, low: int, high: int, names: dict[str, int]) -> range:
    span, slash, step = text.partition("/")
    if "/" in step:
        raise ValueError(f"too many slashes: {text}")
    first, dash, last = span.partition("-")
    if "-" in last:
        raise ValueError(f"too many hyphens: {text}")
    if first in ("*", "?"):
        start, end = low, high
    else:
        start = _number(first, names)
        end = _number(last, names) if dash else start
    every = 1
    if slash:
        every = _number(step, {})
        if not dash:
            end = high
        if every == 0:
            raise ValueError(f"step of range should be a positive number: {text}")
    if start < low:
        raise ValueError(f"beginning of range ({start}) below minimum ({low}): {text}")
    if end > high:
        raise ValueError(f"end of range ({end}) above maximum ({high}): {text}")
    if start > end:
        raise ValueError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    return range(start, end + 1, every)


def _number(text: str, names: dict[str, int]) -> int:
    known = names.get(text.lower())
    if known is not None:
        return known
    if not text.isascii() or not text.isdigit():
        raise ValueError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    number = atoi_clipped(text)
    if number == _MAX_INT:
        raise ValueError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": value out of range')
    return number
