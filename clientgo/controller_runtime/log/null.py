"""The sink that writes nothing. Mirrors pkg/log/null.go."""

from __future__ import annotations

from clientgo.logr import LogSink, RuntimeInfo

__all__ = ["NullLogSink"]


class NullLogSink:
    """A LogSink that does nothing: `logr.new(NullLogSink())`. Go: log.NullLogSink."""

    def init(self, info: RuntimeInfo) -> None:
        """Do nothing."""

    def enabled(self, level: int) -> bool:
        """Return False."""
        return False

    def info(self, level: int, msg: str, /, **pairs: object) -> None:
        """Do nothing."""

    def error(self, err: BaseException | None, msg: str, /, **pairs: object) -> None:
        """Do nothing."""

    def with_values(self, /, **pairs: object) -> LogSink:
        """Return this sink."""
        return self

    def with_name(self, name: str) -> LogSink:
        """Return this sink."""
        return self
