"""Loggers that write somewhere else than klog: github.com/go-logr/logr as far as controller-runtime uses it.

In Go klog.Logger is logr.Logger: a front for whatever LogSink stands behind it. Here klog.Logger writes to klog by
itself, and `new` makes one that hands its lines to a sink. Both are klog.Logger, so that `klog.from_context` finds
either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from clientgo import klog
from clientgo.klog.serialize import as_pairs

__all__ = ["LogSink", "Logger", "RuntimeInfo", "discard", "new"]

Logger = klog.Logger
"""What callers log with. Go: logr.Logger."""


@dataclass(frozen=True)
class RuntimeInfo:
    """What a sink is told when it gets its logger. Go: logr.RuntimeInfo."""

    call_depth: int = 1
    """How many frames lie between the sink's methods and the caller who logs."""


class LogSink(Protocol):
    """Where log lines end up. Go: logr.LogSink. All methods may be called by any thread, and must not block long."""

    def init(self, info: RuntimeInfo) -> None:
        """Called once, before anything else."""
        ...

    def enabled(self, level: int) -> bool:
        """Whether lines of that verbosity are shown."""
        ...

    def info(self, level: int, msg: str, /, **pairs: object) -> None:
        """Write a line. Only called when `enabled(level)`."""
        ...

    def error(self, err: BaseException | None, msg: str, /, **pairs: object) -> None:
        """Write an error."""
        ...

    def with_values(self, /, **pairs: object) -> LogSink:
        """A sink that adds the pairs to every line."""
        ...

    def with_name(self, name: str) -> LogSink:
        """A sink whose lines carry the name, joined to the one it had."""
        ...


class _SinkLogger(klog.Logger):
    """A logger in front of a sink."""

    __slots__ = ("_sink",)

    def __init__(self, sink: LogSink, v: int = 0) -> None:
        super().__init__(v=v)
        self._sink = sink

    def enabled(self) -> bool:
        return self._sink.enabled(self.get_v())

    def info(self, msg: str, /, *keys_and_values: object, **pairs: object) -> None:
        level = self.get_v()
        if self._sink.enabled(level):
            self._sink.info(level, msg, **as_pairs(keys_and_values, pairs))

    def error(self, err: BaseException | None, msg: str, /, *keys_and_values: object, **pairs: object) -> None:
        self._sink.error(err, msg, **as_pairs(keys_and_values, pairs))

    def v(self, n: int) -> Logger:
        return _SinkLogger(self._sink, self.get_v() + max(n, 0))

    def with_values(self, /, *keys_and_values: object, **pairs: object) -> Logger:
        return _SinkLogger(self._sink.with_values(**as_pairs(keys_and_values, pairs)), self.get_v())

    def with_name(self, name: str) -> Logger:
        return _SinkLogger(self._sink.with_name(name), self.get_v())

    def with_call_depth(self, depth: int) -> Logger:
        return self

    def __repr__(self) -> str:
        return f"<Logger v={self.get_v()} to {self._sink!r}>"


def new(sink: LogSink) -> Logger:
    """A logger that hands its lines to `sink`. Go: logr.New."""
    sink.init(RuntimeInfo())
    return _SinkLogger(sink)


class _DiscardSink:
    def init(self, info: RuntimeInfo) -> None:
        pass

    def enabled(self, level: int) -> bool:
        return False

    def info(self, level: int, msg: str, /, **pairs: object) -> None:
        pass

    def error(self, err: BaseException | None, msg: str, /, **pairs: object) -> None:
        pass

    def with_values(self, /, **pairs: object) -> LogSink:
        return self

    def with_name(self, name: str) -> LogSink:
        return self

    def __repr__(self) -> str:
        return "nothing"


_DISCARD = _SinkLogger(_DiscardSink())


def discard() -> Logger:
    """A logger that writes nothing. Go: logr.Discard."""
    return _DISCARD
