"""Log lines in JSON, as Kubernetes' components write them with --logging-format=json.

Mirrors component-base/logs/json/json.go. Differences: a warning has `"severity":"warning"`, where Go writes it like
information; an error that points at a bug has the keys `at`, `cause` and `stacktrace` of the text format; a pair with a
name that the line has already gets an underscore, where Go writes the name twice.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Mapping

from clientgo.golang import utf8
from clientgo.klog.k8s_references import ObjectRef
from clientgo.klog.serialize import Line, to_string

__all__ = ["JSONFormatter"]


class JSONFormatter(logging.Formatter):
    """A formatter that writes any log record as one line of JSON. Thread-safe.

    The keys: `ts` in milliseconds since 1970, `logger` of a named logger, `caller`, `msg`, `v` of a line without an
    error, the line's pairs, `err`. A line that klog formatted from several arguments, or a record of another logger,
    is its text in `msg`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without its newline. Never raises for the values of klog's lines."""
        line = record.msg if isinstance(record.msg, Line) else None
        pairs = dict(line.pairs) if line is not None else {}
        fields: dict[str, object] = {"ts": round(record.created * 1000, 3)}
        if "logger" in pairs:
            fields["logger"] = pairs.pop("logger")
        fields["caller"] = _caller(record)
        fields["msg"] = line.message if line is not None else record.getMessage()
        if record.levelno < logging.WARNING:
            fields["v"] = max(logging.INFO - record.levelno, 0)
        elif record.levelno < logging.ERROR:
            fields.update(v=0, severity="warning")
        for key, value in pairs.items():
            fields[f"{key}_" if key in fields or key in _ERROR_KEYS else key] = value
        if line is not None:
            fields.update(line.facts)
        if record.exc_info and record.exc_info[0] is not None:
            fields["stacktrace"] = self.formatException(record.exc_info)
        return _dump(fields)


# The keys of an error, which follow the pairs.
_ERROR_KEYS = ("at", "cause", "err", "stacktrace")


def _caller(record: logging.LogRecord) -> str:
    """Return the last folder and the name of the source file, with the line."""
    folder = os.path.basename(os.path.dirname(record.pathname))
    return f"{folder}/{record.filename}:{record.lineno}" if folder else f"{record.filename}:{record.lineno}"


# They end a line, or control a terminal, where JSON lets them through.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029]")


def _dump(fields: Mapping[str, object]) -> str:
    """Return JSON that any parser reads: values that JSON does not have become texts."""
    try:
        text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"), default=_value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        # A value has keys that are no texts, contains itself, or is not a number: it becomes a text.
        plain = {key: _plain(value) for key, value in fields.items()}
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", utf8.to_valid(text))


def _plain(value: object) -> object:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return to_string(value)
    return value


def _value(value: object) -> object:
    if isinstance(value, ObjectRef):
        return {"name": value.name, **({"namespace": value.namespace} if value.namespace else {})}
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "backslashreplace")
    return to_string(value)
