"""Kubernetes' logging: klog's line format, verbosity and contextual loggers, on top of the standard `logging`.

Mirrors what client-go uses of k8s.io/klog/v2. A line: `I0515 20:48:26.044091  106657 controller.py:84] "msg" k="v"`
with the process id and the Python file and line of the caller.

Everything goes to the logger named "clientgo". As long as the program has configured no logging, lines go to stderr in
klog's format, as a Go program's do. Once the root logger has a handler, that handler gets the records instead;
`KlogFormatter` gives it klog's format. `v(n)` is the logging level 20 - n, so `logging.DEBUG` shows verbosity 10.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

from clientgo.apimachinery.util.strconv import quote

if TYPE_CHECKING:
    from clientgo.context import Context

__all__ = [
    "EXIT_FLUSH_TIMEOUT",
    "KMetadata",
    "KlogFormatter",
    "Logger",
    "ObjectRef",
    "Verbose",
    "add_flags",
    "background",
    "error",
    "error_s",
    "errorf",
    "fatal",
    "fatalf",
    "flush",
    "flush_and_exit",
    "format_message",
    "from_context",
    "info",
    "info_s",
    "infof",
    "install",
    "kobj",
    "kobj_slice",
    "kref",
    "logger_with_name",
    "logger_with_values",
    "new_context",
    "set_verbosity",
    "todo",
    "v",
    "verbosity",
    "warning",
    "warningf",
]

EXIT_FLUSH_TIMEOUT = 10.0
"""Seconds; what programs pass to `flush_and_exit`, as in Go."""

_LOGGER = logging.getLogger("clientgo")
_MAX_VERBOSITY = logging.INFO - 1


def _level(n: int) -> int:
    """The logging level of verbosity n. All verbosities above 18 share level 1, for 0 means "unset" to logging."""
    return logging.INFO - min(max(n, 0), _MAX_VERBOSITY)


# --- formatting -----------------------------------------------------------------------------------------------------


def format_message(msg: str, pairs: Mapping[str, object], err: BaseException | None = None) -> str:
    """`"msg" err="..." key="value"`: the message always quoted, the error first, a space before every pair."""
    parts = [quote(msg)]
    if err is not None:
        parts.append(_format_pair("err", err))
    for key, value in pairs.items():
        parts.append(_format_pair(key, value))
    return "".join(parts)


def _format_pair(key: str, value: object) -> str:
    if isinstance(value, str):
        return f" {key}{_format_string(str(value))}"
    # Exactly these: a class of its own that derives from one, as a NamedTuple does, says with __str__ how it looks.
    if value is None or type(value) in (bool, int, float, dict, list, tuple):
        return f" {key}={_format_json(value)}"
    if isinstance(value, bytes | bytearray):
        return f" {key}={quote(bytes(value).decode('utf-8', 'backslashreplace'))}"
    return f" {key}{_format_string(_to_string(value))}"


def _to_string(value: object) -> str:
    # A value that cannot be printed must not keep the rest of the line from being logged.
    try:
        return str(value)
    except Exception as err:
        return f"<panic: {err}>"


def _format_string(text: str) -> str:
    """`="text"`; a text of several lines is shown as it is, each line behind a tab, between `=<` and ` >`."""
    if "\n" not in text:
        return "=" + quote(text)
    lines = text.removesuffix("\n").split("\n")
    body = "".join(f"\t{line}\n" for line in lines)
    return f"=<\n{body} >"


def _format_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_to_string)
    except (TypeError, ValueError) as err:
        return quote(f"<internal error: {err}>")


class KlogFormatter(logging.Formatter):
    """Formats any log record as klog does. Thread-safe.

    Records of severity WARNING, ERROR and CRITICAL get the letters W, E and F, everything below I.
    """

    def __init__(self, skip_headers: bool = False) -> None:
        super().__init__()
        self._skip_headers = skip_headers
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
        source = f"{record.filename}:{record.lineno}"
        return f"{_letter(record.levelno)}{moment}.{micros:06d} {record.process or 0:7d} {source}] "


def _letter(level: int) -> str:
    if level < logging.WARNING:
        return "I"
    if level < logging.ERROR:
        return "W"
    return "E" if level < logging.CRITICAL else "F"


class _DefaultHandler(logging.StreamHandler[Any]):
    """Writes to whatever sys.stderr is now, and only while the program has configured no logging of its own."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.setFormatter(KlogFormatter())

    @property
    def stream(self) -> Any:
        return sys.stderr

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers and self.stream is not None:
            super().emit(record)


_default_handler = _DefaultHandler()
_LOGGER.addHandler(_default_handler)
_LOGGER.setLevel(logging.INFO)


def _emit(level: int, message: str, depth: int) -> None:
    """Hand one finished line to `logging`, as coming from the function `depth` frames above the caller of this one."""
    frame = sys._getframe(depth + 2)
    code = frame.f_code
    record = _LOGGER.makeRecord(_LOGGER.name, level, code.co_filename, frame.f_lineno, message, (), None, code.co_name)
    _LOGGER.handle(record)


# --- verbosity and set-up -------------------------------------------------------------------------------------------


def set_verbosity(n: int) -> None:
    """Show `v(m)` for every m up to n (klog's flag -v). The same as setting the level of the logger "clientgo"."""
    _LOGGER.setLevel(_level(n))


def verbosity() -> int:
    """The greatest n for which `v(n)` is shown; -1 when even `info` is not."""
    return max(logging.INFO - _LOGGER.getEffectiveLevel(), -1)


def install(path: str | os.PathLike[str] | None = None, skip_headers: bool = False) -> logging.Handler:
    """Make lines of the logger "clientgo" go to stderr, or to a file, in klog's format, whatever else is configured.

    Returns the handler, so that it can be removed from `logging.getLogger("clientgo")`.
    """
    handler: logging.Handler = logging.StreamHandler() if path is None else logging.FileHandler(path)
    handler.setFormatter(KlogFormatter(skip_headers))
    _LOGGER.removeHandler(_default_handler)
    _LOGGER.addHandler(handler)
    _LOGGER.propagate = False
    return handler


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add klog's flags to a parser (Go: klog.InitFlags), each with one dash or two; they take effect when parsed.

    -v N, -logtostderr, -log_file PATH, -skip_headers.
    """
    group = parser.add_argument_group("logging")
    group.add_argument(
        "-v", "--v", action=_VerbosityAction, type=int, default=0, metavar="N", help="log level verbosity (default 0)"
    )
    group.add_argument(
        "-logtostderr",
        "--logtostderr",
        type=_parse_bool,
        nargs="?",
        const=True,
        default=True,
        help="log to standard error unless -log_file is given; accepted because every Kubernetes program has it",
    )
    group.add_argument(
        "-log_file", "--log_file", action=_LogFileAction, default=None, metavar="PATH", help="log to this file"
    )
    group.add_argument(
        "-skip_headers",
        "--skip_headers",
        action=_SkipHeadersAction,
        nargs=0,
        default=False,
        help="leave severity, time, process and source out of the log lines",
    )


def _parse_bool(text: str) -> bool:
    if text.lower() in ("1", "t", "true"):
        return True
    if text.lower() in ("0", "f", "false"):
        return False
    raise argparse.ArgumentTypeError(f"invalid boolean value {text!r}")


class _VerbosityAction(argparse.Action):
    def __call__(self, parser: object, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        set_verbosity(values)
        setattr(namespace, self.dest, values)


class _LogFileAction(argparse.Action):
    def __call__(self, parser: object, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        install(values, getattr(namespace, "skip_headers", False))
        setattr(namespace, self.dest, values)


class _SkipHeadersAction(argparse.Action):
    def __call__(self, parser: object, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        for handler in _LOGGER.handlers:
            handler.setFormatter(KlogFormatter(skip_headers=True))
        setattr(namespace, self.dest, True)


def flush() -> None:
    """Write out what the handlers still hold."""
    for logger in (_LOGGER, logging.getLogger()):
        for handler in logger.handlers:
            handler.flush()


def flush_and_exit(timeout: float, code: int) -> NoReturn:
    """Flush for at most `timeout` seconds and end the process with `code`, from any thread (Go: klog.FlushAndExit).

    Nothing else of the program runs any more: no `finally`, no `atexit`.
    """
    flusher = threading.Thread(target=flush, name="klog-flush", daemon=True)
    flusher.start()
    flusher.join(timeout)
    os._exit(code)


# --- structured and contextual loggers ------------------------------------------------------------------------------


class Logger:
    """A logger with a verbosity, a name and key/value pairs of its own (Go: klog.Logger, that is logr.Logger).

    Immutable and thread-safe: `v`, `with_values`, `with_name` and `with_call_depth` return new loggers. Of pairs with
    the same key the later one counts.
    """

    __slots__ = ("_depth", "_pairs", "_v")

    def __init__(self, pairs: Mapping[str, object] | None = None, v: int = 0, depth: int = 0) -> None:
        self._pairs = dict(pairs or {})
        self._v = v
        self._depth = depth

    def enabled(self) -> bool:
        """Whether `info` writes anything at this verbosity."""
        return _LOGGER.isEnabledFor(_level(self._v))

    def info(self, msg: str, /, **pairs: object) -> None:
        """Log a message with its pairs, if this logger's verbosity is shown."""
        level = _level(self._v)
        if _LOGGER.isEnabledFor(level):
            _emit(level, format_message(msg, self._merge(pairs)), self._depth)

    def error(self, err: BaseException | None, msg: str, /, **pairs: object) -> None:
        """Log an error, whatever the verbosity."""
        if _LOGGER.isEnabledFor(logging.ERROR):
            _emit(logging.ERROR, format_message(msg, self._merge(pairs), err), self._depth)

    def v(self, n: int) -> Logger:
        """A logger that is shown from verbosity n on, above this one's."""
        return Logger(self._pairs, self._v + max(n, 0), self._depth)

    def get_v(self) -> int:
        """This logger's verbosity."""
        return self._v

    def with_values(self, /, **pairs: object) -> Logger:
        """A logger that adds these pairs to every line."""
        return Logger(self._merge(pairs), self._v, self._depth)

    def with_name(self, name: str) -> Logger:
        """A logger whose lines start with `logger="name"`; names of names are joined with dots."""
        rest = dict(self._pairs)
        above = rest.pop("logger", None)
        full_name = name if above is None else f"{above}.{name}"
        return Logger({"logger": full_name, **rest}, self._v, self._depth)

    def with_call_depth(self, depth: int) -> Logger:
        """A logger for helpers: the file and line are those of the caller `depth` frames further up."""
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


def background() -> Logger:
    """The logger without name and pairs (Go: klog.Background)."""
    return _BACKGROUND


def todo() -> Logger:
    """As `background`, for places that should get a logger but do not yet (Go: klog.TODO)."""
    return _BACKGROUND


def new_context(ctx: Context, logger: Logger) -> Context:
    """A context that carries `logger` (Go: klog.NewContext)."""
    from clientgo import context  # context may log through this module one day: no import at the top

    return context.with_value(ctx, _LoggerKey, logger)


def from_context(ctx: Context) -> Logger:
    """The logger the context carries, otherwise `background()` (Go: klog.FromContext)."""
    return cast(Logger | None, ctx.value(_LoggerKey)) or _BACKGROUND


def logger_with_values(logger: Logger, /, **pairs: object) -> Logger:
    """`logger.with_values` (Go: klog.LoggerWithValues)."""
    return logger.with_values(**pairs)


def logger_with_name(logger: Logger, name: str) -> Logger:
    """`logger.with_name` (Go: klog.LoggerWithName)."""
    return logger.with_name(name)


# --- plain functions ------------------------------------------------------------------------------------------------


class Verbose:
    """What `v(n)` returns: logs if n is within the verbosity. Cheap when it is not."""

    __slots__ = ("_level",)

    def __init__(self, n: int) -> None:
        self._level = _level(n)

    def enabled(self) -> bool:
        """Whether these lines are shown: ask before computing anything expensive."""
        return _LOGGER.isEnabledFor(self._level)

    def info(self, msg: str, /, **pairs: object) -> None:
        """Log a structured line: `"msg" key="value"` (Go: V(n).InfoS)."""
        if _LOGGER.isEnabledFor(self._level):
            _emit(self._level, format_message(msg, pairs), 0)

    info_s = info

    def infof(self, text: str, *args: object) -> None:
        """Log free text, with args filled in by `%` (Go: V(n).Infof)."""
        if _LOGGER.isEnabledFor(self._level):
            _emit(self._level, text % args if args else text, 0)

    def __bool__(self) -> bool:
        return self.enabled()

    def __repr__(self) -> str:
        return f"<Verbose {'on' if self.enabled() else 'off'}>"


_VERBOSES = tuple(Verbose(n) for n in range(_MAX_VERBOSITY + 1))


def v(n: int) -> Verbose:
    """Log from verbosity n on: `klog.v(4).info("Got it", key=key)`."""
    return _VERBOSES[n] if 0 <= n <= _MAX_VERBOSITY else Verbose(n)


def info(*args: object) -> None:
    """Log free text: the arguments, as Go's fmt.Sprint joins them (Go: klog.Info)."""
    if _LOGGER.isEnabledFor(logging.INFO):
        _emit(logging.INFO, _sprint(args), 0)


def infof(text: str, *args: object) -> None:
    """Log free text, with args filled in by `%` (Go: klog.Infof)."""
    if _LOGGER.isEnabledFor(logging.INFO):
        _emit(logging.INFO, text % args if args else text, 0)


def info_s(msg: str, /, **pairs: object) -> None:
    """Log a structured line: `"msg" key="value"` (Go: klog.InfoS)."""
    if _LOGGER.isEnabledFor(logging.INFO):
        _emit(logging.INFO, format_message(msg, pairs), 0)


def warning(*args: object) -> None:
    """As `info`, as a warning (Go: klog.Warning)."""
    _emit(logging.WARNING, _sprint(args), 0)


def warningf(text: str, *args: object) -> None:
    """As `infof`, as a warning (Go: klog.Warningf)."""
    _emit(logging.WARNING, text % args if args else text, 0)


def error(*args: object) -> None:
    """As `info`, as an error (Go: klog.Error)."""
    _emit(logging.ERROR, _sprint(args), 0)


def errorf(text: str, *args: object) -> None:
    """As `infof`, as an error (Go: klog.Errorf)."""
    _emit(logging.ERROR, text % args if args else text, 0)


def error_s(err: BaseException | None, msg: str, /, **pairs: object) -> None:
    """Log an error in structured form: `"msg" err="..." key="value"` (Go: klog.ErrorS)."""
    _emit(logging.ERROR, format_message(msg, pairs, err), 0)


def fatal(*args: object) -> NoReturn:
    """Log and end the process with code 255 (Go: klog.Fatal, which also dumps the stacks)."""
    _emit(logging.CRITICAL, _sprint(args), 0)
    flush_and_exit(EXIT_FLUSH_TIMEOUT, 255)


def fatalf(text: str, *args: object) -> NoReturn:
    """As `infof`, then end the process with code 255 (Go: klog.Fatalf)."""
    _emit(logging.CRITICAL, text % args if args else text, 0)
    flush_and_exit(EXIT_FLUSH_TIMEOUT, 255)


def _sprint(args: Sequence[object]) -> str:
    """Go's fmt.Sprint: a space between two arguments when neither is a string."""
    if len(args) == 1:
        return str(args[0])
    parts: list[str] = []
    for before, arg in zip((None, *args), args):
        if parts and not isinstance(before, str) and not isinstance(arg, str):
            parts.append(" ")
        parts.append(str(arg))
    return "".join(parts)


# --- references to objects ------------------------------------------------------------------------------------------


class KMetadata(Protocol):
    """What `kobj` needs of an object (Go: klog.KMetadata)."""

    def get_name(self) -> str:
        """The object's name."""
        ...

    def get_namespace(self) -> str:
        """The object's namespace, "" if it has none."""
        ...


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """An object in a log line: prints as "namespace/name", or "name" without a namespace (Go: klog.ObjectRef)."""

    name: str = ""
    namespace: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def kobj(obj: KMetadata | None) -> ObjectRef:
    """The reference of an object; an empty one for None (Go: klog.KObj)."""
    return ObjectRef() if obj is None else ObjectRef(obj.get_name(), obj.get_namespace())


def kref(namespace: str, name: str) -> ObjectRef:
    """The reference made of namespace and name (Go: klog.KRef)."""
    return ObjectRef(name, namespace)


class _ObjectRefs:
    """Refers to the objects only when it is really printed."""

    __slots__ = ("_objects",)

    def __init__(self, objects: Iterable[KMetadata | None] | None) -> None:
        self._objects = objects

    def __str__(self) -> str:
        refs = ("<nil>" if obj is None else str(kobj(obj)) for obj in self._objects or ())
        return f"[{' '.join(refs)}]"


def kobj_slice(objects: Iterable[KMetadata | None] | None) -> object:
    """The references of several objects, printed as "[ns/a ns/b]" (Go: klog.KObjSlice)."""
    return _ObjectRefs(objects)
