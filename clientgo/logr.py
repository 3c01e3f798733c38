"""Loggers with other destinations than klog. Mirrors the parts of github.com/go-logr/logr that controller-runtime uses.

In Go klog.Logger is logr.Logger, a front for any LogSink. Here klog.Logger writes to klog directly, and `new` returns
one that passes its lines to a sink. Both are klog.Logger, so that `klog.from_context` works with both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from clientgo import klog
from clientgo.klog.serialize import as_pairs

__all__ = ["LogSink", "Logger", "RuntimeInfo", "discard", "new"]

Logger = klog.Logger
"""The logger type. Go: logr.Logger."""


@dataclass(frozen=True)
class RuntimeInfo:
    """The information that a sink receives from its logger. Go: logr.RuntimeInfo."""

    call_depth: int = 1
    """The number of frames between the sink's methods and the logging caller."""


class LogSink(Protocol):
    """A destination of log lines. Any thread may call the methods, which must not block for long. Go: logr.LogSink."""

    def init(self, info: RuntimeInfo, /) -> None:
        """Initialize the sink. Called once, before any other method."""
        ...

    def enabled(self, level: int, /) -> bool:
        """Report whether lines of this verbosity are logged."""
        ...

    def info(self, level: int, msg: str, /, **pairs: object) -> None:
        """Write a line. Called only if `enabled(level)`."""
        ...

    def error(self, err: BaseException | None, msg: str, /, **pairs: object) -> None:
        """Write an error."""
        ...

    def with_values(self, /, **pairs: object) -> LogSink:
        """Return a sink that adds the pairs to every line."""
        ...

    def with_name(self, name: str, /) -> LogSink:
        """Return a sink that adds the name to its lines, joined to the existing one."""
        ...


class _SinkLogger(klog.Logger):
    """A logger that writes to a sink."""

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
    """Return a logger that writes to `sink`. Go: logr.New."""
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
    """Return a logger that writes nothing. Go: logr.Discard."""
    return _DISCARD
