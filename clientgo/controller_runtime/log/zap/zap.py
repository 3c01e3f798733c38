"""A logger in zap's two formats: JSON for machines, columns for people. Mirrors pkg/log/zap/zap.go.

    ctrl.set_logger(zap.new(zap.use_dev_mode(True)))

zap is a Go library; this module implements the formats that controller-runtime uses. The production format is
`{"level":"info","ts":"...","logger":"...","msg":"...","key":"value"}`, from Info on, with a stack at errors. The
development format is `time<TAB>LEVEL<TAB>logger<TAB>message<TAB>{"key": "value"}`, from Debug on, with a stack at
warnings. A level n of a logger is zap's level -n: `log.v(1)` is debug.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, Any, TypeAlias

from clientgo import klog, logr
from clientgo.controller_runtime.log.zap.flags import (
    parse_encoder,
    parse_level,
    parse_stacktrace_level,
    parse_time_encoding,
)
from clientgo.controller_runtime.log.zap.kube_helpers import (
    ConsoleEncoder,
    Encoder,
    EncoderConfig,
    Entry,
    JSONEncoder,
    KubeAwareEncoder,
    TimeEncoder,
    rfc3339_time_encoder,
)
from clientgo.golang import callers
from clientgo.klog import Logger
from clientgo.klog.exceptions import stacktrace_of
from clientgo.klog.serialize import to_string
from clientgo.utils.clock import REAL_CLOCK

__all__ = [
    "EncoderConfigOption",
    "NewEncoderFunc",
    "Options",
    "Opts",
    "console_encoder",
    "encoder",
    "json_encoder",
    "level",
    "new",
    "new_raw",
    "raw_zap_opts",
    "stacktrace_level",
    "use_dev_mode",
    "use_flag_options",
    "write_to",
]

EncoderConfigOption: TypeAlias = Callable[[EncoderConfig], None]
"""A function that changes the encoding of lines. Go: zap.EncoderConfigOption."""

NewEncoderFunc: TypeAlias = Callable[..., Encoder]
"""A function that makes an encoder from EncoderConfigOptions. Go: zap.NewEncoderFunc."""

DEBUG_LEVEL, INFO_LEVEL, WARN_LEVEL, ERROR_LEVEL, PANIC_LEVEL = -1, 0, 1, 2, 4


@dataclass(kw_only=True)
class Options:
    """The options of a logger. Levels are zap's: -1 debug, 0 info, 1 warn, 2 error; -n is `v(n)`. Go: zap.Options."""

    development: bool = False
    """Write columns from debug on, with stacks at warnings; otherwise JSON from info on, with stacks at errors."""
    encoder: Encoder | None = None
    """The encoder of lines; it overrides `new_encoder`."""
    encoder_config_options: list[EncoderConfigOption] = field(default_factory=list)
    new_encoder: NewEncoderFunc | None = None
    dest_writer: IO[str] | None = None
    """The stream for lines; None selects standard error."""
    level: int | None = None
    """The lowest level that is logged."""
    stacktrace_level: int | None = None
    """The lowest level that is logged with a stack."""
    zap_opts: list[Any] = field(default_factory=list)
    """Functions that configure the sink before the first line. In Go: options of zap itself."""
    time_encoder: TimeEncoder | None = None
    """The encoder of times; None selects RFC 3339."""

    def add_defaults(self) -> None:
        """Set the missing options to their defaults."""
        if self.dest_writer is None:
            self.dest_writer = sys.stderr
        if self.new_encoder is None:
            self.new_encoder = _new_console_encoder if self.development else _new_json_encoder
        if self.level is None:
            self.level = DEBUG_LEVEL if self.development else INFO_LEVEL
        if self.stacktrace_level is None:
            self.stacktrace_level = WARN_LEVEL if self.development else ERROR_LEVEL
        if self.time_encoder is None:
            self.time_encoder = rfc3339_time_encoder
        time_encoder = self.time_encoder

        def with_time(config: EncoderConfig) -> None:
            config.time_encoder = time_encoder

        if self.encoder is None:
            self.encoder = self.new_encoder(with_time, *self.encoder_config_options)

    def bind_flags(self, fs: argparse.ArgumentParser) -> None:
        """Add the flags that set these options; pass the same object to `use_flag_options`. Go: Options.BindFlags.

        The flags are --zap-devel, --zap-encoder, --zap-log-level, --zap-stacktrace-level and --zap-time-encoding, with
        one dash or two.
        """
        group = fs.add_argument_group("zap")
        help_devel = "Development Mode defaults(encoder=consoleEncoder,logLevel=Debug,stackTraceLevel=Warn)"
        group.add_argument(
            "-zap-devel", "--zap-devel", action=_Devel, options=self, nargs="?", const="true", help=help_devel
        )
        for name, action, text in (
            ("zap-encoder", parse_encoder, "Zap log encoding (one of 'json' or 'console')"),
            (
                "zap-log-level",
                parse_level,
                "Zap Level to configure the verbosity of logging. Can be one of 'debug', 'info', 'error', 'panic' or "
                "any integer value > 0 which corresponds to custom debug levels of increasing verbosity",
            ),
            (
                "zap-stacktrace-level",
                parse_stacktrace_level,
                "Zap Level at and above which stacktraces are captured (one of 'info', 'error', 'panic').",
            ),
            (
                "zap-time-encoding",
                parse_time_encoding,
                "Zap time encoding (one of 'epoch', 'millis', 'nano', 'iso8601', 'rfc3339' or 'rfc3339nano').",
            ),
        ):
            group.add_argument(f"-{name}", f"--{name}", action=_Set, parse=action, options=self, help=text)


class _Devel(argparse.Action):
    def __init__(self, *args: Any, options: Options, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._options = options

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: Any = None) -> None:
        if values not in ("true", "false"):
            parser.error(f"argument {option_string}: invalid boolean value {values!r}")
        self._options.development = values == "true"


class _Set(argparse.Action):
    def __init__(self, *args: Any, parse: Any, options: Options, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._parse = parse
        self._options = options

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: Any = None) -> None:
        try:
            name, value = self._parse(values)
        except ValueError as err:
            parser.error(f"argument {option_string}: {err}")
        if name == "new_encoder":
            value = _new_json_encoder if value == "json" else _new_console_encoder
        setattr(self._options, name, value)


Opts: TypeAlias = Callable[[Options], None]
"""A function that changes the options. Go: zap.Opts."""


def _new_json_encoder(*opts: EncoderConfigOption) -> Encoder:
    return JSONEncoder(_config(opts))


def _new_console_encoder(*opts: EncoderConfigOption) -> Encoder:
    return ConsoleEncoder(_config(opts))


def _config(opts: Iterable[EncoderConfigOption]) -> EncoderConfig:
    config = EncoderConfig()
    for opt in opts:
        opt(config)
    return config


def use_dev_mode(enabled: bool) -> Opts:
    """Enable or disable development mode. Go: zap.UseDevMode."""

    def apply(o: Options) -> None:
        o.development = enabled

    return apply


def write_to(out: IO[str]) -> Opts:
    """Set the stream for lines. Go: zap.WriteTo."""

    def apply(o: Options) -> None:
        o.dest_writer = out

    return apply


def encoder(encoder: Encoder) -> Opts:
    """Set the encoder of lines. Go: zap.Encoder."""

    def apply(o: Options) -> None:
        o.encoder = encoder

    return apply


def json_encoder(*opts: EncoderConfigOption) -> Opts:
    """Write lines as JSON. Go: zap.JSONEncoder."""
    return encoder(_new_json_encoder(*opts))


def console_encoder(*opts: EncoderConfigOption) -> Opts:
    """Write lines as columns. Go: zap.ConsoleEncoder."""
    return encoder(_new_console_encoder(*opts))


def level(level: int) -> Opts:
    """Set the lowest level that is logged. Go: zap.Level."""

    def apply(o: Options) -> None:
        o.level = level

    return apply


def stacktrace_level(stacktrace_level: int) -> Opts:
    """Set the lowest level that is logged with a stack. Go: zap.StacktraceLevel."""

    def apply(o: Options) -> None:
        o.stacktrace_level = stacktrace_level

    return apply


def raw_zap_opts(*zap_opts: Callable[[_Sink], None]) -> Opts:
    """Add functions that configure the sink. Go: zap.RawZapOpts."""

    def apply(o: Options) -> None:
        o.zap_opts.extend(zap_opts)

    return apply


def use_flag_options(opts: Options) -> Opts:
    """Use the options that flags have set through `opts.bind_flags`. Go: zap.UseFlagOptions."""

    def apply(o: Options) -> None:
        for name, value in vars(opts).items():
            setattr(o, name, value)

    return apply


def new(*opts: Opts) -> Logger:
    """Return a logger for `ctrl.set_logger`. Go: zap.New."""
    return logr.new(new_raw(*opts))


def new_raw(*opts: Opts) -> _Sink:
    """Return the sink of `new`. Go: zap.NewRaw, which returns zap's own logger."""
    options = Options()
    for opt in opts:
        opt(options)
    options.add_defaults()
    sink = _Sink(options)
    for change in options.zap_opts:
        change(sink)
    return sink


class _Sink:
    """A sink that writes lines. Thread-safe: it writes each line at once."""

    def __init__(self, options: Options) -> None:
        assert options.encoder is not None and options.dest_writer is not None
        # As in Go, write objects by name, and in full from verbosity 10 on.
        verbose = (options.level or 0) < -9
        self._encoder: Encoder = KubeAwareEncoder(options.encoder, verbose)
        self._out = options.dest_writer
        self._level = options.level or 0
        self._stacktrace_level = ERROR_LEVEL if options.stacktrace_level is None else options.stacktrace_level
        self._lock = threading.Lock()
        self._name = ""
        self._values: dict[str, object] = {}

    def init(self, info: logr.RuntimeInfo) -> None:
        """Do nothing: lines do not contain the caller's position."""

    def enabled(self, level: int) -> bool:
        return -level >= self._level

    def info(self, level: int, msg: str, /, **pairs: object) -> None:
        self._write(-level, msg, pairs)

    def error(self, err: BaseException | None, msg: str, /, **pairs: object) -> None:
        if err is None:
            self._write(ERROR_LEVEL, msg, pairs)
        elif (failure := klog.failure_of(err)) is not None:
            found = {"error": failure.text, "at": failure.at, "cause": failure.cause}
            pairs = pairs | {key: text for key, text in found.items() if text}
            self._write(ERROR_LEVEL, msg, pairs, failure.stacktrace)
        else:
            # Go logs a stack of the calling code here, which does not explain an error of the API server.
            stack = "" if klog.is_operational(err) else stacktrace_of(err)
            self._write(ERROR_LEVEL, msg, {**pairs, "error": to_string(err)}, stack)

    def with_values(self, /, **pairs: object) -> _Sink:
        return self._with(self._name, self._values | pairs)

    def with_name(self, name: str) -> _Sink:
        return self._with(f"{self._name}.{name}" if self._name else name, self._values)

    def _with(self, name: str, values: dict[str, object]) -> _Sink:
        sink = object.__new__(_Sink)
        vars(sink).update(vars(self))
        sink._name, sink._values = name, values
        return sink

    def _write(self, level: int, msg: str, pairs: dict[str, object], stack: str | None = None) -> None:
        """Write a line with this stack, or with the caller's if it is None."""
        if level < self._level:
            return
        if level < self._stacktrace_level:
            stack = ""
        elif stack is None:
            stack = "".join(callers.format_stack()[:-3])
        now = datetime.fromtimestamp(REAL_CLOCK.now(), UTC)
        line = self._encoder.encode_entry(Entry(level, now, self._name, msg, stack.rstrip()), self._values | pairs)
        with self._lock:
            self._out.write(line)
            self._out.flush()
