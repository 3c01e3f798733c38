"""Durations as kubectl prints ages. Mirrors apimachinery/pkg/util/duration/duration.go."""

from __future__ import annotations

__all__ = ["human_duration", "short_human_duration"]


def short_human_duration(d: float) -> str:
    """Return a duration of `d` seconds in its largest unit.

    >>> short_human_duration(59), short_human_duration(3 * 3600 + 59), short_human_duration(400 * 86400)
    ('59s', '3h', '1y')

    Go: duration.ShortHumanDuration.
    """
    total = int(d)
    if total < 0:
        return _negative(total)
    if total < 60:
        return f"{total}s"
    minutes = total // 60
    if minutes < 60:
        return f"{minutes}m"
    hours = total // 3600
    if hours < 24:
        return f"{hours}h"
    days = hours // 24
    return f"{days}d" if days < 365 else f"{days // 365}y"


def human_duration(d: float) -> str:
    """Return a duration of `d` seconds with two or three significant figures, as in kubectl's column AGE.

    >>> human_duration(119), human_duration(130), human_duration(8 * 3600), human_duration(3 * 86400 + 7200)
    ('119s', '2m10s', '8h', '3d2h')

    Go: duration.HumanDuration.
    """
    total = int(d)
    if total < 0:
        return _negative(total)
    if total < 60 * 2:
        return f"{total}s"
    minutes = total // 60
    if minutes < 10:
        return _pair(minutes, "m", total % 60, "s")
    if minutes < 60 * 3:
        return f"{minutes}m"
    hours = total // 3600
    if hours < 8:
        return _pair(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    days = hours // 24
    if days < 8:
        return _pair(days, "d", hours % 24, "h")
    if days < 365 * 2:
        return f"{days}d"
    if days < 365 * 8:
        return _pair(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _negative(total: int) -> str:
    """Return the text of a future time: 0s if the difference between two machines' clocks may explain it."""
    return "<invalid>" if total < -1 else "0s"


def _pair(big: int, big_unit: str, small: int, small_unit: str) -> str:
    return f"{big}{big_unit}{small}{small_unit}" if small else f"{big}{big_unit}"
