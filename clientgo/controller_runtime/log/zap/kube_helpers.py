"""The encoders of log lines. Mirrors pkg/log/zap/kube_helpers.go, and the encoders of zap itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol, TypeAlias

from clientgo.apimachinery.runtime import Object, ResourceObject
from clientgo.apimachinery.types import NamespacedName
from clientgo.golang import utf8
from clientgo.golang.strconv import escape_unprintable
from clientgo.klog.serialize import to_string

__all__ = [
    "TIME_ENCODERS",
    "ConsoleEncoder",
    "Encoder",
    "EncoderConfig",
    "Entry",
    "JSONEncoder",
    "KubeAwareEncoder",
    "TimeEncoder",
    "rfc3339_time_encoder",
]

TimeEncoder: TypeAlias = Callable[[datetime], "str | float | int"]
"""A function that encodes a time."""


def rfc3339_time_encoder(moment: datetime) -> str:
    """Return the time as 2006-01-02T15:04:05Z."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


TIME_ENCODERS: dict[str, TimeEncoder] = {
    "epoch": lambda moment: moment.timestamp(),
    "millis": lambda moment: moment.timestamp() * 1e3,
    "nano": lambda moment: round(moment.timestamp() * 1e9),
    "iso8601": lambda moment: f"{moment.strftime('%Y-%m-%dT%H:%M:%S')}.{moment.microsecond // 1000:03d}Z",
    "rfc3339": rfc3339_time_encoder,
    "rfc3339nano": lambda moment: f"{moment.strftime('%Y-%m-%dT%H:%M:%S.%f').rstrip('0').rstrip('.')}Z",
}
"""The time encoders by the values of the flag --zap-time-encoding."""

_LEVELS = {-1: "debug", 0: "info", 1: "warn", 2: "error", 3: "dpanic", 4: "panic", 5: "fatal"}


@dataclass(kw_only=True)
class EncoderConfig:
    """The names of the standard fields, and the encoding of times. Go: zapcore.EncoderConfig."""

    time_key: str = "ts"
    level_key: str = "level"
    name_key: str = "logger"
    message_key: str = "msg"
    stacktrace_key: str = "stacktrace"
    time_encoder: TimeEncoder = rfc3339_time_encoder


class Entry(NamedTuple):
    """The content of a log line. Go: zapcore.Entry."""

    level: int
    time: datetime
    logger_name: str
    message: str
    stack: str


class Encoder(Protocol):
    """An encoder of log lines. Thread-safe. Go: zapcore.Encoder."""

    def clone(self) -> Encoder:
        """Return a copy that shares no mutable state."""
        ...

    def encode_entry(self, entry: Entry, fields: Mapping[str, object], /) -> str:
        """Return the line, including the newline."""
        ...


def _to_json(fields: object) -> str:
    return utf8.to_valid(json.dumps(fields, ensure_ascii=False, separators=(",", ":"), default=to_string))


def _level_name(level: int) -> str:
    return _LEVELS.get(level, f"Level({level})")


class JSONEncoder:
    """An encoder that writes one JSON object per line."""

    def __init__(self, config: EncoderConfig | None = None) -> None:
        self._config = config or EncoderConfig()

    def clone(self) -> Encoder:
        """Return this encoder, which is immutable."""
        return self

    def encode_entry(self, entry: Entry, fields: Mapping[str, object], /) -> str:
        """Return level, time, name, message, fields and stack as one JSON line."""
        config = self._config
        line: dict[str, object] = {config.level_key: _level_name(entry.level)}
        line[config.time_key] = config.time_encoder(entry.time)
        if entry.logger_name:
            line[config.name_key] = entry.logger_name
        line[config.message_key] = entry.message
        line |= fields
        if entry.stack:
            line[config.stacktrace_key] = entry.stack
        return _to_json({key: value for key, value in line.items() if key}) + "\n"


class ConsoleEncoder:
    """An encoder that writes columns, with the fields as JSON in the last one.

    Unlike zap's, it escapes unprintable characters in all columns.
    """

    def __init__(self, config: EncoderConfig | None = None) -> None:
        self._config = config or EncoderConfig()

    def clone(self) -> Encoder:
        """Return this encoder, which is immutable."""
        return self

    def encode_entry(self, entry: Entry, fields: Mapping[str, object], /) -> str:
        """Return time, level, name, message and fields separated by tabs; the stack follows on its own lines."""
        columns = [str(self._config.time_encoder(entry.time)), _level_name(entry.level).upper()]
        if entry.logger_name:
            columns.append(entry.logger_name)
        columns.append(entry.message)
        if fields:
            columns.append(json.dumps(dict(fields), ensure_ascii=False, default=to_string))
        line = "\t".join(columns) + "\n"
        return escape_unprintable(utf8.to_valid(f"{line}{entry.stack}\n" if entry.stack else line))


class KubeAwareEncoder:
    """An encoder that writes Kubernetes objects by name, or in full if `verbose`. Go: zap.KubeAwareEncoder."""

    def __init__(self, encoder: Encoder, verbose: bool = False) -> None:
        self.encoder = encoder
        self.verbose = verbose

    def clone(self) -> Encoder:
        """Return an encoder of the inner encoder's clone."""
        return KubeAwareEncoder(self.encoder.clone(), self.verbose)

    def encode_entry(self, entry: Entry, fields: Mapping[str, object], /) -> str:
        """Return the inner encoder's line."""
        return self.encoder.encode_entry(entry, {key: self._shown(value) for key, value in fields.items()})

    def _shown(self, value: object) -> object:
        if isinstance(value, NamespacedName):
            return value.marshal_log()
        if isinstance(value, Object):
            return value.to_dict() if self.verbose else _reference(value)
        return value


def _reference(obj: Object) -> dict[str, str]:
    api_version, kind = obj.group_version_kind().to_api_version_and_kind()
    shown = {"apiVersion": api_version, "kind": kind}
    if isinstance(obj, ResourceObject):
        shown |= {"namespace": obj.get_namespace(), "name": obj.get_name()}
    return {key: value for key, value in shown.items() if value or key == "name"}
