"""Loggers with a name and key/value pairs, and their transport in contexts. Mirrors klog/v2/contextual.go and klogr.go.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import cast

from clientgo.context import Context, with_value
from clientgo.klog.output import LOGGER, emit, level_of, module_shows
from clientgo.klog.serialize import as_pairs, format_message

__all__ = [
    "LOGGER_KEY",
    "Logger",
    "background",
    "from_context",
    "logger_with_name",
    "logger_with_values",
    "new_context",
    "todo",
]


class Logger:
    """A logger with a verbosity, a name and key/value pairs. Go: klog.Logger, an alias of logr.Logger.

    Pass pairs by name, or as in Go: `logger.info("Synced", "foo", key)`. No method raises, for any arguments.

    Immutable and thread-safe: `v`, `with_values`, `with_name` and `with_call_depth` return new loggers. A later pair
    replaces an earlier one with the same key.
    """

    __slots__ = ("_depth", "_pairs", "_v")

    def __init__(self, pairs: Mapping[str, object] | None = None, v: int = 0, depth: int = 0) -> None:
        self._pairs = dict(pairs or {})
        self._v = v
        self._depth = depth

    def enabled(self) -> bool:
        """Report whether `info` logs at this verbosity."""
        return LOGGER.isEnabledFor(level_of(self._v)) or module_shows(self._v, self._depth)

    def info(self, msg: str, /, *keys_and_values: object, **pairs: object) -> None:
        """Log a message with pairs, if this logger's verbosity is enabled."""
        level = level_of(self._v)
        if LOGGER.isEnabledFor(level) or module_shows(self._v, self._depth):
            emit(level, format_message(msg, self._merge(as_pairs(keys_and_values, pairs))), self._depth)

    def error(self, err: BaseException | None, msg: str, /, *keys_and_values: object, **pairs: object) -> None:
        """Log an error at any verbosity."""
        if LOGGER.isEnabledFor(logging.ERROR):
            text = format_message(msg, self._merge(as_pairs(keys_and_values, pairs)), err)
            emit(logging.ERROR, text, self._depth)

    def v(self, n: int) -> Logger:
        """Return a logger whose verbosity is `n` higher than this one's."""
        return Logger(self._pairs, self._v + max(n, 0), self._depth)

    def get_v(self) -> int:
        """Return this logger's verbosity."""
        return self._v

    def with_values(self, /, *keys_and_values: object, **pairs: object) -> Logger:
        """Return a logger that adds these pairs to every line."""
        return Logger(self._merge(as_pairs(keys_and_values, pairs)), self._v, self._depth)

    def with_name(self, name: str) -> Logger:
        """Return a logger whose lines start with `logger="name"`; names of names are joined with dots."""
        rest = dict(self._pairs)
        above = rest.pop("logger", None)
        full_name = name if above is None else f"{above}.{name}"
        return Logger({"logger": full_name, **rest}, self._v, self._depth)

    def with_call_depth(self, depth: int) -> Logger:
        """Return a logger for helpers, which logs the position of the caller `depth` frames further up."""
        return Logger(self._pairs, self._v, self._depth + depth)

    def _merge(self, pairs: Mapping[str, object]) -> dict[str, object]:
        if not self._pairs:
            return dict(pairs)
        kept = {key: value for key, value in self._pairs.items() if key not in pairs}
        return {**kept, **pairs}

    def __repr__(self) -> str:
        return f"<Logger v={self._v} {self._pairs}>"


_BACKGROUND = Logger()


class _LoggerKey:
    """The context key of the logger."""


LOGGER_KEY = _LoggerKey
"""The key with which `from_context` gets the logger. A context may create its logger when asked for this key."""


def background() -> Logger:
    """Return the logger without a name and pairs. Go: klog.Background."""
    return _BACKGROUND


def todo() -> Logger:
    """Return the background logger, for code that does not receive a logger yet. Go: klog.TODO."""
    return _BACKGROUND


def new_context(ctx: Context, logger: Logger) -> Context:
    """Return a context that carries `logger`. Go: klog.NewContext."""
    return with_value(ctx, _LoggerKey, logger)


def from_context(ctx: Context) -> Logger:
    """Return the context's logger, or `background()`. Go: klog.FromContext."""
    return cast(Logger | None, ctx.value(_LoggerKey)) or _BACKGROUND


def logger_with_values(logger: Logger, /, *keys_and_values: object, **pairs: object) -> Logger:
    """Return a logger with additional pairs. Go: klog.LoggerWithValues."""
    return logger.with_values(*keys_and_values, **pairs)


def logger_with_name(logger: Logger, name: str) -> Logger:
    """Return a logger with an additional name. Go: klog.LoggerWithName."""
    return logger.with_name(name)
