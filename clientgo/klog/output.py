"""The output of log lines: levels, headers, standard error and files.

Mirrors the output half of klog/v2/klog.go, on top of the standard `logging`: a line is a record of the logger
"clientgo". Until the program configures logging, or sets klog's flags about files, lines go to stderr in klog's format,
as in a Go program. Once the root logger has a handler, that handler receives the records instead; `KlogFormatter` gives
them klog's format, and `JSONFormatter` (json_lines.py) JSON.
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

from clientgo.golang import callers, utf8

if TYPE_CHECKING:
    from clientgo.klog.klog_file import LogFile

__all__ = ["LOGGER", "SETTINGS", "KlogFormatter", "Settings", "configure", "emit", "flush", "install", "level_of"]

LOGGER: Final = logging.getLogger("clientgo")
MAX_VERBOSITY: Final = logging.INFO - 1
SEVERITIES: Final = ("INFO", "WARNING", "ERROR", "FATAL")
FORMATS: Final = ("text", "json")


def level_of(n: int) -> int:
    """Return the logging level of verbosity n. All verbosities above 18 share level 1, since `logging` treats 0 as
    unset.
    """
    return logging.INFO - min(max(n, 0), MAX_VERBOSITY)


@dataclass(kw_only=True)
class Settings:
    """The values of klog's flags; only `configure` changes them."""

    to_stderr: bool = True
    """Write lines to stderr and to no file."""
    also_to_stderr: bool = False
    """Write the lines of files to stderr too."""
    stderr_threshold: int = 2
    """Write lines of this severity or above to stderr in any case: 0 is INFO, 3 FATAL."""
    log_file: str = ""
    """The file for all severities; "" selects files in `log_dir`."""
    log_dir: str = ""
    """The folder for one file per severity; "" selects the folder for temporary files."""
    one_output: bool = False
    """Write a line only to its severity's file, not to those of lower severities."""
    max_size_mb: int = 1800
    """The maximum size of a file in megabytes, above which it is replaced; 0 is unlimited."""
    add_dir_header: bool = False
    """Include the folder of the source file in the header."""
    skip_headers: bool = False
    """Write lines without headers."""
    skip_log_headers: bool = False
    """Write files without headers."""
    format: str = "text"
    """The format of the lines: "text" is klog's, "json" is one JSON object for each line."""
    vmodule: Mapping[str, int] = field(default_factory=dict)
    """The verbosity by source file: by name without ".py", or by path if the pattern has a slash."""
    backtrace_at: tuple[str, int] | None = None
    """The file and line whose log lines get a stack trace."""
    exit_code_without_reader: int | None = None
    """The exit code of a process whose log's reader has ended (`2>&1 | head`), as SIGPIPE ends Go's; None continues
    without a log. The programs below `cmd` have one."""


SETTINGS: Final = Settings()

# The verbosity of each source file by `vmodule`. A change replaces the dict, so that a thread with the old settings
# fills the old one. Two threads may compute the same entry.
_module_verbosity: dict[CodeType, int] = {}


def module_shows(n: int, depth: int) -> bool:
    """Report whether -vmodule enables verbosity n for the file `depth` frames above the caller."""
    known = _module_verbosity  # before the settings are read
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
    """Return the verbosity of the first matching pattern, or -1."""
    module_path = path.removesuffix(".py").replace(os.sep, "/")
    base = module_path.rpartition("/")[2]
    for pattern, verbosity in SETTINGS.vmodule.items():
        if "/" in pattern:
            if fnmatch.fnmatchcase(module_path, pattern) or fnmatch.fnmatchcase(module_path, f"*/{pattern}"):
                return verbosity
        elif fnmatch.fnmatchcase(base, pattern):
            return verbosity
    return -1


class KlogFormatter(logging.Formatter):
    """A formatter for any log record in klog's format. Thread-safe.

    Records of severity WARNING, ERROR and CRITICAL get the letters W, E and F, all lower ones I.
    """

    def __init__(self, skip_headers: bool = False, add_dir_header: bool = False) -> None:
        super().__init__()
        self._skip_headers = skip_headers
        self._add_dir_header = add_dir_header
        # The last formatted second and its text, in one tuple, so that threads may replace it concurrently.
        self._second: tuple[int, str] = (-1, "")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without its newline; a record's exception follows on separate lines."""
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
    """Return the index into SEVERITIES."""
    if level < logging.WARNING:
        return 0
    if level < logging.ERROR:
        return 1
    return 2 if level < logging.CRITICAL else 3


def _check_format(format: str) -> None:
    if format not in FORMATS:
        raise ValueError(f'unsupported log format: {format!r}, must be "text" or "json"')


def _new_formatter(format: str, skip_headers: bool, add_dir_header: bool = False) -> logging.Formatter:
    _check_format(format)
    if format == "text":
        return KlogFormatter(skip_headers, add_dir_header)
    from clientgo.klog.json_lines import JSONFormatter  # imported here, since most programs log text

    return JSONFormatter()


class _Handler(logging.Handler):
    """A handler that writes lines to the current sys.stderr and to files, as SETTINGS define.

    It writes nothing while the program has its own logging, unless klog's flags name a destination. A line that cannot
    be written is dropped and reported on stderr, so that logging cannot end a program, except by
    `exit_code_without_reader`.
    """

    def __init__(self) -> None:
        super().__init__()
        # Guarded by the handler's own lock, which `logging` holds while a record is emitted.
        self._files: dict[str, LogFile] = {}
        self.is_configured = False
        self.configure()

    def configure(self) -> None:
        """Apply SETTINGS. Files are opened with the next line."""
        self.setFormatter(_new_formatter(SETTINGS.format, SETTINGS.skip_headers, SETTINGS.add_dir_header))
        self._close_files()
        self._has_failed = False

    def emit(self, record: logging.LogRecord) -> None:
        if not self.is_configured and logging.getLogger().handlers:
            return
        try:
            line, severity = self.format(record) + "\n", _severity(record.levelno)
            if SETTINGS.to_stderr or SETTINGS.also_to_stderr or severity >= SETTINGS.stderr_threshold:
                self._to_stderr(line)
            if not SETTINGS.to_stderr:
                self._to_files(line, severity)
        except Exception:
            self.handleError(record)

    def _to_files(self, line: str, severity: int) -> None:
        try:
            for name in self._file_names(severity):
                self._file(name).write(line)
        except OSError as err:
            # Reported once: the lines that follow would fill stderr with the same report. Go ends the program.
            if not self._has_failed:
                self._has_failed = True
                problem = f"{type(err).__name__}: {err}"
                self._to_stderr(f"log: cannot write to the log file, and drops its lines: {problem}\n")
        else:
            self._has_failed = False

    def _to_stderr(self, line: str) -> None:
        if sys.stderr is None:
            return
        try:
            sys.stderr.write(line)
            sys.stderr.flush()
        except BrokenPipeError:
            if SETTINGS.exit_code_without_reader is not None and sys.stderr is sys.__stderr__:
                os._exit(SETTINGS.exit_code_without_reader)  # without cleaning up, as a signal ends a process
            raise

    def _file_names(self, severity: int) -> Iterable[str]:
        if SETTINGS.log_file:
            return ("INFO",)
        return SEVERITIES[severity : severity + 1] if SETTINGS.one_output else reversed(SEVERITIES[: severity + 1])

    def _file(self, name: str) -> LogFile:
        file = self._files.get(name)
        if file is None:
            settings = SETTINGS
            max_size = settings.max_size_mb * 1024 * 1024 or sys.maxsize
            from clientgo.klog.klog_file import LogFile  # imported here, since few programs log into files

            header = not settings.skip_log_headers and settings.format == "text"
            file = LogFile(name, settings.log_file, settings.log_dir, header, max_size)
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
    """Change SETTINGS by the names of its fields. A setting of the destination makes it the only one.

    Raises ValueError for an unknown format, and then changes nothing.
    """
    global _module_verbosity
    _check_format(settings.get("format", SETTINGS.format))
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


def install(
    path: str | os.PathLike[str] | None = None, skip_headers: bool = False, format: str = "text"
) -> logging.Handler:
    """Write the lines of the logger "clientgo" to stderr or to a file, in any logging configuration.

    `format` is "text" for klog's format, or "json". Returns the handler, so that it can be removed from
    `logging.getLogger("clientgo")`. Raises ValueError for another format.
    """
    formatter = _new_formatter(format, skip_headers)
    handler: logging.Handler = logging.StreamHandler() if path is None else logging.FileHandler(path)
    handler.setFormatter(formatter)
    LOGGER.removeHandler(_handler)
    LOGGER.addHandler(handler)
    LOGGER.propagate = False
    return handler


def emit(level: int, message: str, depth: int) -> None:
    """Pass a finished line to `logging`, with the position `depth` frames above the caller of this function.

    Never raises, with any handlers and filters of the program; their failures are reported on stderr. U+FFFD replaces
    bytes that are not valid UTF-8, because a handler cannot write them.
    """
    message = utf8.to_valid(message)
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
    """Flush the handlers. Never raises."""
    for logger in (LOGGER, logging.getLogger()):
        for handler in logger.handlers:
            try:
                handler.flush()
            except Exception:
                continue  # there is no output left for this error
