"""klog's command line flags. Mirrors InitFlags of klog/v2/klog.go.

All of them work. Kubernetes' own components now have only -v, -vmodule and -logging-format, which is a flag of
component-base in Go; a program that calls klog.InitFlags, as the sample-controller does, has all others.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from clientgo.golang.strconv import parse_bool, parse_int, quote
from clientgo.klog.klog import set_verbosity
from clientgo.klog.output import FORMATS, SEVERITIES, configure

__all__ = ["add_flags", "init_flags"]


def init_flags(parser: argparse.ArgumentParser | None = None) -> None:
    """Add klog's flags to a program. Go: klog.InitFlags.

    With a parser it works as `add_flags`. Without one, as Go's InitFlags(nil), it removes the flags from `sys.argv`,
    since Python has no parser for the whole process; the program parses its own arguments afterwards. Exits with status
    2 for an invalid value.
    """
    if parser is not None:
        add_flags(parser)
        return
    own = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_flags(own)
    _, sys.argv[1:] = own.parse_known_args(sys.argv[1:])


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add klog's flags to a parser, each with one dash or two; they take effect when parsed."""
    group = parser.add_argument_group("logging")
    given: set[str] = set()

    def add(name: str, kind: Callable[[str], Any], default: Any, metavar: str, help: str, **more: Any) -> None:
        more.update(type=kind, default=default, metavar=metavar, help=help)
        group.add_argument(f"-{name}", f"--{name}", action=_Flag, given=given, **more)

    def add_switch(name: str, help: str, default: bool = False) -> None:
        add(name, _bool, default, "BOOL", f"{help} (default {str(default).lower()})", nargs="?", const=True)

    add("v", int, 0, "N", "log level verbosity (default 0)")
    add("vmodule", _vmodule, {}, "PATTERN=N,...", "verbosity of source files, as in reflector=4,shared_*=5")
    add("logging-format", _format, "text", "FORMAT", 'format of the lines: "text", or "json" (default "text")')
    add_switch("logtostderr", "log to standard error instead of files", default=True)
    add_switch("alsologtostderr", "log to standard error as well as files, with -logtostderr=false")
    add(
        "stderrthreshold",
        _severity,
        2,
        "SEVERITY",
        "lines of this severity or above go to standard error as well as to files: INFO, WARNING, ERROR or FATAL "
        "(default ERROR)",
    )
    add(
        "log_file",
        str,
        "",
        "PATH",
        "log to this file; here this turns -logtostderr off unless that is given too, where klog would ignore it",
    )
    add("log_dir", str, "", "DIR", "log to files in this folder, one for each severity; see -log_file")
    add("log_file_max_size", _size, 1800, "MB", "begin a log file anew beyond this size, 0 for never (default 1800)")
    add_switch("one_output", "with -log_dir, write a line to its severity's file only and not to those below as well")
    add_switch("add_dir_header", "add the folder of the source file to the header of the lines")
    add_switch("skip_headers", "leave severity, time, process and source out of the lines")
    add_switch("skip_log_headers", "leave the header out of log files")
    add("log_backtrace_at", _location, None, "FILE:LINE", "add a stack trace to what is logged there")


class _Flag(argparse.Action):
    """An argparse action that stores a value and applies it; `given` holds the names of the flags that were set."""

    def __init__(self, given: set[str], **more: Any) -> None:
        super().__init__(**more)
        self._given = given

    def __call__(self, parser: object, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        setattr(namespace, self.dest, values)
        if self.dest == "v":
            set_verbosity(values)
            return
        settings = {_SETTINGS.get(self.dest, self.dest): values}
        self._given.add(self.dest)
        if self.dest in ("log_file", "log_dir") and "logtostderr" not in self._given:
            settings["to_stderr"] = not values
        configure(**settings)


# Maps flags to the settings with other names.
_SETTINGS = {
    "logtostderr": "to_stderr",
    "alsologtostderr": "also_to_stderr",
    "stderrthreshold": "stderr_threshold",
    "log_file_max_size": "max_size_mb",
    "log_backtrace_at": "backtrace_at",
    "logging_format": "format",
}


def _format(text: str) -> str:
    if text not in FORMATS:
        raise argparse.ArgumentTypeError(f"unsupported log format {quote(text)}")
    return text


def _bool(text: str) -> bool:
    try:
        return parse_bool(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid boolean value {quote(text)}") from None


def _severity(text: str) -> int:
    if text.upper() in SEVERITIES:
        return SEVERITIES.index(text.upper())
    if text in ("0", "1", "2", "3"):
        return int(text)
    raise argparse.ArgumentTypeError(f"unknown severity {quote(text)}")


def _size(text: str) -> int:
    try:
        size = parse_int(text)
    except ValueError as err:
        raise argparse.ArgumentTypeError(str(err)) from None
    if size < 0:
        raise argparse.ArgumentTypeError(f"negative size {quote(text)}")
    return size


def _vmodule(text: str) -> dict[str, int]:
    """Parse `reflector=4,shared_*=5`, in order; omits verbosities that are not positive."""
    found: dict[str, int] = {}
    for entry in filter(None, text.split(",")):
        pattern, equals, number = entry.partition("=")
        if not equals or not pattern or not number:
            raise argparse.ArgumentTypeError("syntax error: expect comma-separated list of filename=N")
        try:
            verbosity = parse_int(number)
        except ValueError:
            raise argparse.ArgumentTypeError("syntax error: expect comma-separated list of filename=N") from None
        if verbosity < 0:
            raise argparse.ArgumentTypeError("negative value for vmodule level")
        if verbosity:
            found[pattern.removesuffix(".py").removesuffix(".go")] = verbosity
    return found


def _location(text: str) -> tuple[str, int] | None:
    if not text:
        return None
    file, colon, line = text.rpartition(":")
    if not colon or not line.isdecimal() or int(line[:9]) <= 0:
        raise argparse.ArgumentTypeError("syntax error: expect file.py:234")
    return file, int(line[:9])
