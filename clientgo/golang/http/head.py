"""The head of an HTTP/1.x response: status line and headers.

Replaces ReadResponse and textproto.Reader of Go's standard library. http.client's parser limits the number of headers
to 100, and loses the response to a completed write above that; this one limits bytes, as Go's does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from clientgo.golang.http.header import Header
from clientgo.golang.io import ErrUnexpectedEOF
from clientgo.golang.strconv import quote

__all__ = ["MAX_HEAD_BYTES", "Head", "read_head"]

# Go's default of Transport.MaxResponseHeaderBytes.
MAX_HEAD_BYTES: Final = 10 << 20

_SWITCHING_PROTOCOLS: Final = 101

_VERSION: Final = re.compile(r"HTTP/(\d)\.(\d)")
_STATUS_CODE: Final = re.compile(r"[0-9]{3}")
# Go accepts spaces in names, since some servers put one before the colon.
_NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z ]+")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class _Lines(Protocol):
    def readline(self, limit: int = -1, /) -> bytes: ...


@dataclass(frozen=True)
class Head:
    """Status line and headers. Each character of the texts is one received byte (latin-1)."""

    # (1, 1)
    version: tuple[int, int]
    status: int
    reason: str
    headers: Header


def read_head(stream: _Lines, limit: int = MAX_HEAD_BYTES) -> Head:
    """Read the head of the next final response; skips informational responses (1xx). Blocks.

    Raises EOFError if the stream ends before the first byte, ErrUnexpectedEOF if it ends within the head, ValueError
    for a malformed head and for more than `limit` bytes.
    """
    lines = _read_lines(stream, limit)
    while True:
        version, status, reason = _parse_status_line(next(lines))
        headers = _parse_headers(lines)
        if not 100 <= status < 200 or status == _SWITCHING_PROTOCOLS:
            return Head(version, status, reason, headers)


def _read_lines(stream: _Lines, limit: int) -> Iterator[str]:
    """Yield the lines without their line ends."""
    left = limit
    while True:
        line = stream.readline(left + 1)
        if not line:
            raise EOFError("EOF") if left == limit else ErrUnexpectedEOF()
        left -= len(line)
        if left < 0:
            raise ValueError(f"net/http: server response headers exceeded {limit} bytes; aborted")
        if not line.endswith(b"\n"):
            raise ErrUnexpectedEOF()
        yield line[:-1].removesuffix(b"\r").decode("latin-1")


def _parse_status_line(line: str) -> tuple[tuple[int, int], int, str]:
    protocol, space, status = line.partition(" ")
    if not space:
        raise _broken(f"malformed HTTP response {quote(line)}")
    code, _, reason = status.lstrip(" ").partition(" ")
    if _STATUS_CODE.fullmatch(code) is None:
        raise _broken(f"malformed HTTP status code {quote(code)}")
    version = _VERSION.fullmatch(protocol)
    if version is None:
        raise _broken(f"malformed HTTP version {quote(protocol)}")
    return (int(version[1]), int(version[2])), int(code), reason.strip()


def _parse_headers(lines: Iterator[str]) -> Header:
    headers = Header()
    name, values = "", [""]
    for line in lines:
        if line.startswith((" ", "\t")) and name:
            values.append(line.strip(" \t"))  # a value that continues on the next line
            continue
        if name:
            headers.add(name, " ".join(values))
        if not line:
            break
        name, colon, value = line.partition(":")
        if not colon or _NAME.fullmatch(name) is None or name.startswith(" ") or _CONTROL.search(value) is not None:
            raise _broken(f"malformed MIME header line: {quote(line)[1:-1]}")
        values = [value.strip(" \t")]
    return headers


def _broken(reason: str) -> ValueError:
    return ValueError(f"net/http: HTTP/1.x transport connection broken: {reason}")
