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
        """Return the current second in RFC 3339."""
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
        """Return the seconds since a time in an object, or 0 for a missing or unreadable time."""
        if not text:
            return 0.0
        try:
            moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            return 0.0
        return self.clock.now() - moment.timestamp()
