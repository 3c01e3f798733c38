"""Logging functions and verbosity. Mirrors the functions of klog/v2/klog.go.

Functions behave as in Go: the `f` forms accept Go's verbs, the plain ones join as fmt.Sprint, `ln` as fmt.Sprintln, and
the `s` forms accept pairs by name, or alternating keys and values. No function raises, for any arguments.

Difference from Go: `v(n).info(msg)` with only a message, or with pairs by name, writes the structured form `"msg"
k="v"`, as a contextual logger's `info` does.
"""

from __future__ import annotations

import logging
from typing import NoReturn

from clientgo.golang.fmt import go_value, sprint, sprintf
from clientgo.klog.exceptions import readable
from clientgo.klog.exit import EXIT_FLUSH_TIMEOUT, flush_and_exit
from clientgo.klog.output import LOGGER, MAX_VERBOSITY, SETTINGS, emit, level_of, module_shows
from clientgo.klog.serialize import as_pairs, format_message

__all__ = [
    "Verbose",
    "error",
    "error_s",
    "errorf",
    "errorln",
    "exit",
    "exitf",
    "fatal",
    "fatalf",
    "fatalln",
    "info",
    "info_s",
    "infof",
    "infoln",
    "set_verbosity",
    "v",
    "verbosity",
    "warning",
    "warningf",
    "warningln",
]


def set_verbosity(n: int) -> None:
    """Enable `v(m)` for every m up to n (klog's flag -v), by setting the level of the logger "clientgo"."""
    LOGGER.setLevel(level_of(n))


def verbosity() -> int:
    """Return the greatest n for which `v(n)` is enabled, or -1 if even `info` is disabled."""
    return max(logging.INFO - LOGGER.getEffectiveLevel(), -1)


class Verbose:
    """The result of `v(n)`: logs if n is within the verbosity, and is cheap otherwise. Go: klog.Verbose."""

    __slots__ = ("_always", "_level")

    def __init__(self, n: int, always: bool = False) -> None:
        self._level = level_of(n)
        # Enabled although the verbosity is lower, since -vmodule names the caller's file.
        self._always = always

    def enabled(self) -> bool:
        """Report whether lines are logged, so that the caller can skip expensive arguments."""
        return self._always or LOGGER.isEnabledFor(self._level)

    def info(self, msg: object, /, *args: object, **pairs: object) -> None:
        """Log a structured line, `"msg" key="value"`, or free text if there are further arguments. Go: Verbose.Info."""
        if self._always or LOGGER.isEnabledFor(self._level):
            emit(self._level, sprint((msg, *readable(args))) if args else format_message(msg, pairs), 0)

    def info_s(self, msg: str, /, *keys_and_values: object, **pairs: object) -> None:
        """Log a structured line: `"msg" key="value"`. Go: Verbose.InfoS."""
        if self._always or LOGGER.isEnabledFor(self._level):
            emit(self._level, format_message(msg, as_pairs(keys_and_values, pairs)), 0)

    def infof(self, text: str, *args: object) -> None:
        """Log free text, formatted with Go's verbs. Go: Verbose.Infof."""
        if self._always or LOGGER.isEnabledFor(self._level):
            emit(self._level, sprintf(text, *readable(args)), 0)

    def infoln(self, *args: object) -> None:
        """Log free text: the arguments, separated by spaces. Go: Verbose.Infoln."""
        if self._always or LOGGER.isEnabledFor(self._level):
            emit(self._level, _sprintln(readable(args)), 0)

    def error_s(self, err: BaseException | None, msg: str, /, *keys_and_values: object, **pairs: object) -> None:
        """Log an error in structured form, if the verbosity is enabled. Go: Verbose.ErrorS."""
        if self._always or LOGGER.isEnabledFor(self._level):
            emit(logging.ERROR, format_message(msg, as_pairs(keys_and_values, pairs), err), 0)

    def __bool__(self) -> bool:
        return self.enabled()

    def __repr__(self) -> str:
        return f"<Verbose {'on' if self.enabled() else 'off'}>"


_VERBOSES = tuple(Verbose(n) for n in range(MAX_VERBOSITY + 1))


def v(n: int) -> Verbose:
    """Return a logger for verbosity n: `klog.v(4).info("Got it", key=key)`."""
    if SETTINGS.vmodule and module_shows(n, 0):
        return Verbose(n, always=True)
    return _VERBOSES[n] if 0 <= n <= MAX_VERBOSITY else Verbose(n)


def info(*args: object) -> None:
    """Log free text: the arguments, joined as by Go's fmt.Sprint. Go: klog.Info."""
    if LOGGER.isEnabledFor(logging.INFO):
        emit(logging.INFO, sprint(readable(args)), 0)


def infof(text: str, *args: object) -> None:
    """Log free text, formatted with Go's verbs. Go: klog.Infof."""
    if LOGGER.isEnabledFor(logging.INFO):
        emit(logging.INFO, sprintf(text, *readable(args)), 0)


def infoln(*args: object) -> None:
    """Log free text: the arguments, separated by spaces. Go: klog.Infoln."""
    if LOGGER.isEnabledFor(logging.INFO):
        emit(logging.INFO, _sprintln(readable(args)), 0)


def info_s(msg: str, /, *keys_and_values: object, **pairs: object) -> None:
    """Log a structured line: `"msg" key="value"`. Go: klog.InfoS."""
    if LOGGER.isEnabledFor(logging.INFO):
        emit(logging.INFO, format_message(msg, as_pairs(keys_and_values, pairs)), 0)


def warning(*args: object) -> None:
    """Log like `info`, at warning severity. Go: klog.Warning."""
    emit(logging.WARNING, sprint(readable(args)), 0)


def warningf(text: str, *args: object) -> None:
    """Log like `infof`, at warning severity. Go: klog.Warningf."""
    emit(logging.WARNING, sprintf(text, *readable(args)), 0)


def warningln(*args: object) -> None:
    """Log like `infoln`, at warning severity. Go: klog.Warningln."""
    emit(logging.WARNING, _sprintln(readable(args)), 0)


def error(*args: object) -> None:
    """Log like `info`, at error severity. Go: klog.Error."""
    emit(logging.ERROR, sprint(readable(args)), 0)


def errorf(text: str, *args: object) -> None:
    """Log like `infof`, at error severity. Go: klog.Errorf."""
    emit(logging.ERROR, sprintf(text, *readable(args)), 0)


def errorln(*args: object) -> None:
    """Log like `infoln`, at error severity. Go: klog.Errorln."""
    emit(logging.ERROR, _sprintln(readable(args)), 0)


def error_s(err: BaseException | None, msg: str, /, *keys_and_values: object, **pairs: object) -> None:
    """Log an error in structured form: `"msg" err="..." key="value"`. Go: klog.ErrorS."""
    emit(logging.ERROR, format_message(msg, as_pairs(keys_and_values, pairs), err), 0)


def fatal(*args: object) -> NoReturn:
    """Log and exit with status 255. Go: klog.Fatal, which also prints the stacks."""
    emit(logging.CRITICAL, sprint(readable(args)), 0)
    flush_and_exit(EXIT_FLUSH_TIMEOUT, 255)


def fatalf(text: str, *args: object) -> NoReturn:
    """Log like `infof`, then exit with status 255. Go: klog.Fatalf."""
    emit(logging.CRITICAL, sprintf(text, *readable(args)), 0)
    flush_and_exit(EXIT_FLUSH_TIMEOUT, 255)


def fatalln(*args: object) -> NoReturn:
    """Log like `infoln`, then exit with status 255. Go: klog.Fatalln."""
    emit(logging.CRITICAL, _sprintln(readable(args)), 0)
    flush_and_exit(EXIT_FLUSH_TIMEOUT, 255)


def exit(*args: object) -> NoReturn:
    """Log at fatal severity and exit with status 1. Go: klog.Exit."""
    emit(logging.CRITICAL, sprint(readable(args)), 0)
    flush_and_exit(EXIT_FLUSH_TIMEOUT, 1)


def exitf(text: str, *args: object) -> NoReturn:
    """Log like `infof`, then exit with status 1. Go: klog.Exitf."""
    emit(logging.CRITICAL, sprintf(text, *readable(args)), 0)
    flush_and_exit(EXIT_FLUSH_TIMEOUT, 1)


def _sprintln(args: tuple[object, ...]) -> str:
    return " ".join(map(go_value, args))
