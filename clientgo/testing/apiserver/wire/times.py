"""The server's clock and the text forms of its times."""

from __future__ import annotations

from datetime import UTC, datetime

from clientgo.utils.clock import Clock


class Times:
    """Now, as API objects write it."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._last = (0, "")

    def __repr__(self) -> str:
        return f"<Times {self.now_text()}>"

    def now_text(self) -> str:
        """The current second in RFC 3339."""
        second = int(self.clock.now())
        known, text = self._last
        if known != second:
            text = self.text(second)
            self._last = (second, text)
        return text

    @staticmethod
    def text(seconds: float) -> str:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def since(self, text: str | None) -> float:
        """Seconds since a time in an object; 0 for none or an unreadable one."""
        if not text:
            return 0.0
        try:
            moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            return 0.0
        return self.clock.now() - moment.timestamp()


def human_duration(seconds: float) -> str:
    """As apimachinery's duration.HumanDuration: 5s, 2m10s, 3h, 2d4h, 1y2d."""
    total = int(seconds)
    if total < -1:
        return "<invalid>"
    if total < 0:
        return "0s"
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
    if hours < 24 * 8:
        return _pair(days, "d", hours % 24, "h")
    if hours < 24 * 365 * 2:
        return f"{days}d"
    years = days // 365
    if hours < 24 * 365 * 8:
        return _pair(years, "y", days % 365, "d")
    return f"{years}y"


def _pair(big: int, big_unit: str, small: int, small_unit: str) -> str:
    return f"{big}{big_unit}{small}{small_unit}" if small else f"{big}{big_unit}"
