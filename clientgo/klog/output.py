"""From a finished line to where it goes: levels, the line's header, standard error and files.

Mirrors the output half of klog/v2/klog.go, on top of the standard `logging`: a line is a record of the logger named
"clientgo". As long as the program has configured no logging, and none of klog's flags about files, lines go to stderr
in klog's format, as a Go program's do. Once the root logger has a handler, that handler gets the records instead;
`KlogFormatter` gives it klog's format.
"""

from __future__ import annotations

import fnmatch
import logging
import os
import sys
import time
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from clientgo.golang import callers

if TYPE_CHECKING:
    from clientgo.klog.klog_file import LogFile

__all__ = ["LOGGER", "SETTINGS", "KlogFormatter", "Settings", "configure", "emit", "flush", "install", "level_of"]

LOGGER: Final = logging.getLogger("clientgo")
MAX_VERBOSITY: Final = logging.INFO - 1
SEVERITIES: Final = ("INFO", "WARNING", "ERROR", "FATAL")


def level_of(n: int) -> int:
    """The logging level of verbosity n. All verbosities above 18 share level 1, for 0 means "unset" to logging."""
    return logging.INFO - min(max(n, 0), MAX_VERBOSITY)


@dataclass(kw_only=True)
class Settings:
    """The values of klog's flags; only `configure` changes them."""

    to_stderr: bool = True
    """Lines go to stderr, and to no file."""
    also_to_stderr: bool = False
    """Lines that go to files go to stderr too."""
    stderr_threshold: int = 2
    """Lines of this severity or above go to stderr in any case: 0 is INFO, 3 FATAL."""
    log_file: str = ""
    """The file for all severities; "" selects files in `log_dir`."""
    log_dir: str = ""
    """The folder for one file a severity; the one for temporary files if empty."""
    one_output: bool = False
    """A line goes to its severity's file only, and not to those below as well."""
    max_size_mb: int = 1800
    """A file that grows beyond this is begun anew; 0 for no bound."""
    add_dir_header: bool = False
    """The header has the folder of the source file too."""
    skip_headers: bool = False
    """The lines have no header."""
    skip_log_headers: bool = False
    """The files have no header."""
    vmodule: Mapping[str, int] = field(default_factory=dict)
    """The verbosity of source files: by name without ".py", or by path where the pattern has a slash."""
    backtrace_at: tuple[str, int] | None = None
    """File and line whose log line gets a stack trace."""


SETTINGS: Final = Settings()

# How verbose each source file is by `vmodule`. Another dict after a change, so that who still goes by the old settings
# writes into the old one; two threads that fill in the same do no harm.
_module_verbosity: dict[CodeType, int] = {}


def module_shows(n: int, depth: int) -> bool:
    """Report whether -vmodule enables verbosity n for the file `depth` frames above the caller."""
    known = _module_verbosity  # before the settings are looked at
    if not SETTINGS.vmodule:
        return False
    frame = callers.caller(depth + 2)
    if frame is None:
        return False
    code = frame.f_code
    verbosity = known.get(code)
    if verbosity is None:
        verbosity = known[code] = _vmodule_of(code.co_filename)
    return n <= verbosity


def _vmodule_of(path: str) -> int:
    """The verbosity of the first pattern that fits, -1 for none."""
    whole = path.removesuffix(".py").replace(os.sep, "/")
    base = whole.rpartition("/")[2]
    for pattern, verbosity in SETTINGS.vmodule.items():
        if "/" in pattern:
            if fnmatch.fnmatchcase(whole, pattern) or fnmatch.fnmatchcase(whole, f"*/{pattern}"):
                return verbosity
        elif fnmatch.fnmatchcase(base, pattern):
            return verbosity
    return -1


class KlogFormatter(logging.Formatter):
    """Formats any log record as klog does. Thread-safe.

    Records of severity WARNING, ERROR and CRITICAL get the letters W, E and F, everything below I.
    """

    def __init__(self, skip_headers: bool = False, add_dir_header: bool = False) -> None:
        super().__init__()
        self._skip_headers = skip_headers
        self._add_dir_header = add_dir_header
        # The last second formatted, with its text: one tuple, so that threads may race for it.
        self._second: tuple[int, str] = (-1, "")

    def format(self, record: logging.LogRecord) -> str:
        """The line without its line break; a record's exception follows on lines of their own."""
        text = record.getMessage()
        if not self._skip_headers:
            text = f"{self._header(record)}{text}"
        if record.exc_info and record.exc_info[0] is not None:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        return text

    def _header(self, record: logging.LogRecord) -> str:
        second = int(record.created)
        cached, moment = self._second
        if cached != second:
            moment = time.strftime("%m%d %H:%M:%S", time.localtime(second))
            self._second = (second, moment)
        micros = int((record.created - second) * 1e6)
        folder = os.path.basename(os.path.dirname(record.pathname)) if self._add_dir_header else ""
        source = f"{folder}/{record.filename}:{record.lineno}" if folder else f"{record.filename}:{record.lineno}"
        return f"{'IWEF'[_severity(record.levelno)]}{moment}.{micros:06d} {record.process or 0:7d} {source}] "


def _severity(level: int) -> int:
    """The index into SEVERITIES."""
    if level < logging.WARNING:
        return 0
    if level < logging.ERROR:
        return 1
    return 2 if level < logging.CRITICAL else 3


class _Handler(logging.Handler):
    """Sends a line to whatever sys.stderr is now and to files, as SETTINGS say.

    Silent while the program has a logging of its own, unless klog's flags name where lines go. A line that cannot be
    written is lost, and said on stderr: logging must not end what it reports on.
    """

    def __init__(self) -> None:
        super().__init__()
        # Guarded by the handler's own lock, which `logging` holds while a record is emitted.
        self._files: dict[str, LogFile] = {}
        self.is_configured = False
        self.configure()

    def configure(self) -> None:
        """Take up SETTINGS. Files are opened with the next line."""
        self.setFormatter(KlogFormatter(SETTINGS.skip_headers, SETTINGS.add_dir_header))
        self._close_files()

    def emit(self, record: logging.LogRecord) -> None:
        if not self.is_configured and logging.getLogger().handlers:
            return
        try:
            line, severity = self.format(record) + "\n", _severity(record.levelno)
            if SETTINGS.to_stderr or SETTINGS.also_to_stderr or severity >= SETTINGS.stderr_threshold:
                self._to_stderr(line)
            if not SETTINGS.to_stderr:
                for name in self._file_names(severity):
                    self._file(name).write(line)
        except Exception:
            self.handleError(record)

    def _to_stderr(self, line: str) -> None:
        if sys.stderr is not None:
            sys.stderr.write(line)
            sys.stderr.flush()

    def _file_names(self, severity: int) -> Iterable[str]:
        if SETTINGS.log_file:
            return ("INFO",)
        return SEVERITIES[severity : severity + 1] if SETTINGS.one_output else reversed(SEVERITIES[: severity + 1])

    def _file(self, name: str) -> LogFile:
        file = self._files.get(name)
        if file is None:
            settings = SETTINGS
            max_size = settings.max_size_mb * 1024 * 1024 or sys.maxsize
            from clientgo.klog.klog_file import LogFile  # Hardly any program logs into files.

            file = LogFile(name, settings.log_file, settings.log_dir, not settings.skip_log_headers, max_size)
            self._files[name] = file
        return file

    def flush(self) -> None:
        if sys.stderr is not None:
            sys.stderr.flush()

    def close(self) -> None:
        self._close_files()
        super().close()

    def _close_files(self) -> None:
        files, self._files = self._files, {}
        for file in files.values():
            file.close()


_handler = _Handler()
LOGGER.addHandler(_handler)
LOGGER.setLevel(logging.INFO)


def configure(**settings: Any) -> None:
    """Change SETTINGS, by the names of its fields; what decides where lines go makes them go there alone."""
    global _module_verbosity
    for name, value in settings.items():
        if not hasattr(SETTINGS, name):
            raise ValueError(f"no setting of klog is called {name!r}")
        setattr(SETTINGS, name, value)
    _module_verbosity = {}
    if not SETTINGS.to_stderr:
        _handler.is_configured = True
        LOGGER.propagate = False
    _handler.acquire()
    try:
        _handler.configure()
    finally:
        _handler.release()


def install(path: str | os.PathLike[str] | None = None, skip_headers: bool = False) -> logging.Handler:
    """Make lines of the logger "clientgo" go to stderr, or to a file, in klog's format, whatever else is configured.

    Returns the handler, so that it can be removed from `logging.getLogger("clientgo")`.
    """
    handler: logging.Handler = logging.StreamHandler() if path is None else logging.FileHandler(path)
    handler.setFormatter(KlogFormatter(skip_headers))
    LOGGER.removeHandler(_handler)
    LOGGER.addHandler(handler)
    LOGGER.propagate = False
    return handler


def emit(level: int, message: str, depth: int) -> None:
    """Hand one finished line to `logging`, as coming from the function `depth` frames above the caller of this one.

    Never raises, whatever handlers and filters the program has: a failure of theirs is said on stderr.
    """
    frame = callers.caller(depth + 2)
    path, line, name = ("(unknown)", 0, "(unknown)")
    if frame is not None:
        path, line, name = frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
    if SETTINGS.backtrace_at == (os.path.basename(path), line):
        message = f"{message}\n{''.join(callers.format_stack(frame))}"
    try:
        LOGGER.handle(LOGGER.makeRecord(LOGGER.name, level, path, line, message, (), None, name))
    except Exception:
        if logging.raiseExceptions and sys.stderr is not None:
            traceback.print_exc()


def flush() -> None:
    """Write out what the handlers still hold. Never raises."""
    for logger in (LOGGER, logging.getLogger()):
        for handler in logger.handlers:
            try:
                handler.flush()
            except Exception:
                continue  # No output is left to report the error to.
