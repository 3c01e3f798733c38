"""Handling of the Warning headers in responses.

Mirrors rest/warnings.go (and ParseWarningHeaders of util/net/http.go).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TextIO, runtime_checkable

from clientgo import context, klog
from clientgo.context import Context
from clientgo.golang.http import Header


@runtime_checkable
class WarningHandler(Protocol):
    """A handler of warning headers."""

    def handle_warning_header(self, code: int, agent: str, text: str, /) -> None:
        """Handle a warning. Called in the request's thread for each warning of its response."""
        ...


@runtime_checkable
class WarningHandlerWithContext(Protocol):
    """A handler of warning headers that receives the request's context."""

    def handle_warning_header_with_context(self, ctx: Context, code: int, agent: str, text: str, /) -> None:
        """Handle a warning. Called in the request's thread for each warning of its response."""
        ...


class _WarningLoggerNopContext:
    """An adapter from WarningHandler to WarningHandlerWithContext."""

    def __init__(self, handler: WarningHandler) -> None:
        self._handler = handler

    def handle_warning_header_with_context(self, ctx: Context, code: int, agent: str, text: str) -> None:
        self._handler.handle_warning_header(code, agent, text)


class NoWarnings:
    """A handler that ignores warnings."""

    def handle_warning_header(self, code: int, agent: str, text: str) -> None: ...

    def handle_warning_header_with_context(self, ctx: Context, code: int, agent: str, text: str) -> None: ...


class WarningLogger:
    """A handler that logs warnings of code 299, the only code that Kubernetes sends."""

    def handle_warning_header(self, code: int, agent: str, text: str) -> None:
        self.handle_warning_header_with_context(context.background(), code, agent, text)

    def handle_warning_header_with_context(self, ctx: Context, code: int, agent: str, text: str) -> None:
        if code == 299 and text:
            klog.from_context(ctx).info("Warning: " + text)


# The default handler of clients. Replaced atomically, so that readers need no lock.
_default_warning_handler: WarningHandlerWithContext | None = WarningLogger()


def set_default_warning_handler(handler: WarningHandler | None) -> None:
    """Set the handler of clients that have none; by default warnings are logged. Go: SetDefaultWarningHandler."""
    set_default_warning_handler_with_context(None if handler is None else _WarningLoggerNopContext(handler))


def set_default_warning_handler_with_context(handler: WarningHandlerWithContext | None) -> None:
    """Set the default handler that receives the request's context. Go: SetDefaultWarningHandlerWithContext."""
    global _default_warning_handler
    _default_warning_handler = handler


@dataclass(frozen=True, kw_only=True)
class WarningWriterOptions:
    """Options of a warning writer."""

    deduplicate: bool = False
    """Write each text once. The writer stores every text, which matters in a long-running process."""
    color: bool = False


def new_warning_writer(out: TextIO, opts: WarningWriterOptions | None = None) -> _WarningWriter:
    """Return a handler that writes warnings to a text stream. Go: NewWarningWriter."""
    return _WarningWriter(out, opts or WarningWriterOptions())


class _WarningWriter:
    def __init__(self, out: TextIO, opts: WarningWriterOptions) -> None:
        self._out = out
        self._opts = opts
        # Guards the next two, and keeps lines whole.
        self._lock = threading.Lock()
        self._count = 0
        self._written: set[str] = set()

    def handle_warning_header(self, code: int, agent: str, text: str) -> None:
        if code != 299 or not text:
            return
        with self._lock:
            if self._opts.deduplicate:
                if text in self._written:
                    return
                self._written.add(text)
            self._count += 1
            label = "\x1b[33;1mWarning:\x1b[0m" if self._opts.color else "Warning:"
            self._out.write(f"{label} {text}\n")

    def warning_count(self) -> int:
        """Return the number of written warnings. Go: WarningCount."""
        with self._lock:
            return self._count


class WarningHeader(NamedTuple):
    """One warning of a Warning header. Go: utilnet.WarningHeader."""

    code: int
    agent: str
    text: str


def handle_warnings(ctx: Context, headers: Header, handler: WarningHandlerWithContext | None) -> list[WarningHeader]:
    """Pass the response's warnings to the handler, or to the default one, and return them."""
    values = headers.getlist("Warning")
    if not values:
        return []
    warnings = parse_warning_headers(_bounded(values))
    handler = handler or _default_warning_handler
    if handler is not None:
        for warning in warnings:
            handler.handle_warning_header_with_context(ctx, warning.code, warning.agent, warning.text)
    return warnings


# The maximum number of characters in a response's warnings, which a server of Kubernetes limits to 4096.
_MAX_WARNINGS = 64 * 1024


def _bounded(values: Iterable[str]) -> Iterator[str]:
    """Yield the values up to the maximum size: each becomes a line of log, for each request."""
    size = 0
    for value in values:
        size += len(value)
        if size > _MAX_WARNINGS:
            return
        yield value


# A code of three digits, an agent without whitespace, a quoted text with escapes, an optional quoted date; then the
# next warning.
_WARNING = r'(?s)(?P<code>[0-9]{3}) (?P<agent>[^ ]+) "(?P<text>(?:[^"\\]|\\.)*)"\s*(?:"[^"]*"\s*)?(?:,\s*|$)'


def parse_warning_headers(headers: Iterable[str]) -> list[WarningHeader]:
    """Return the warnings in the header's values; ignores a value from the first malformed warning on.

    Go: utilnet.ParseWarningHeaders.
    """
    warnings = []
    for header in headers:
        rest = _utf8(header).strip()
        while (match := re.match(_WARNING, rest)) is not None:
            text = _decoded(re.sub(r"\\(.)", r"\1", match["text"], flags=re.DOTALL))
            if not (_is_clean(match["agent"]) and _is_clean(text)):
                break
            warnings.append(WarningHeader(int(match["code"]), match["agent"], text))
            rest = rest[match.end() :]
    return warnings


def _utf8(value: str) -> str:
    """Decode the value as UTF-8: http.client converts each byte to a character."""
    try:
        return value.encode("latin-1").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value


def _decoded(text: str) -> str:
    """Return the text without the RFC 2047 encoding that old senders use."""
    if "=?" not in text:
        return text
    # ~ imported here, since few servers need it, and none of Kubernetes' own
    from email.errors import HeaderParseError
    from email.header import decode_header, make_header

    try:
        return str(make_header(decode_header(text)))
    except (HeaderParseError, UnicodeError, LookupError):
        return text


def _is_clean(text: str) -> bool:
    """Report whether the text has neither control characters nor invalid UTF-8."""
    return re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", text) is None
