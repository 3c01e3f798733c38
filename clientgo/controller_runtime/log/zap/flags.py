"""The values of zap's flags. Mirrors pkg/log/zap/flags.go."""

from __future__ import annotations

from clientgo.controller_runtime.log.zap.kube_helpers import TIME_ENCODERS

__all__ = ["parse_encoder", "parse_level", "parse_stacktrace_level", "parse_time_encoding"]

_LEVELS = {"debug": -1, "info": 0, "error": 2, "panic": 4}


def parse_encoder(text: str) -> tuple[str, object]:
    """Parse "json" or "console"."""
    if text.lower() not in ("json", "console"):
        raise ValueError(f'invalid encoder value "{text}"')
    return "new_encoder", text.lower()


def parse_level(text: str) -> tuple[str, object]:
    """Parse the name of a level, or a verbosity above 0."""
    level = _LEVELS.get(text.lower())
    if level is None:
        if not text.isdigit() or int(text) == 0:
            raise ValueError(f'invalid log level "{text}"')
        level = -int(text)
    return "level", level


def parse_stacktrace_level(text: str) -> tuple[str, object]:
    """Parse the name of a level."""
    if text.lower() not in ("info", "error", "panic", "warn"):
        raise ValueError(f'invalid stacktrace level "{text}"')
    return "stacktrace_level", {**_LEVELS, "warn": 1}[text.lower()]


def parse_time_encoding(text: str) -> tuple[str, object]:
    """Parse the name of a time format."""
    if text.lower() not in TIME_ENCODERS:
        raise ValueError(f'invalid time-encoding value "{text}"')
    return "time_encoder", TIME_ENCODERS[text.lower()]
