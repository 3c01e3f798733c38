"""The requests and responses of a server, and the one parser of their bytes.

Replaces readRequest and transfer.go of Go's net/http. The functions are pure. A request that Go's server rejects raises
Malformed with Go's status. Examples: header names that are not tokens, values with control characters, two Host
headers, sizes with a sign or a prefix, unknown versions. server_connection.py reads the bytes from a socket.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, overload
from urllib.parse import parse_qs, unquote, urlsplit

from clientgo.utils.shortcache import short_cache

__all__ = [
    "LAST_CHUNK",
    "REASONS",
    "Malformed",
    "Request",
    "Response",
    "chunk",
    "chunk_size",
    "content_length",
    "end_of_head",
    "has_body",
    "head",
    "is_chunked",
    "parse_head",
]

REASONS = {
    100: "Continue",
    200: "OK",
    201: "Created",
    202: "Accepted",
    204: "No Content",
    301: "Moved Permanently",
    302: "Found",
    303: "See Other",
    304: "Not Modified",
    307: "Temporary Redirect",
    308: "Permanent Redirect",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    408: "Request Timeout",
    409: "Conflict",
    410: "Gone",
    411: "Length Required",
    412: "Precondition Failed",
    413: "Request Entity Too Large",
    415: "Unsupported Media Type",
    417: "Expectation Failed",
    421: "Misdirected Request",
    422: "Unprocessable Entity",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    501: "Not Implemented",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    505: "HTTP Version Not Supported",
    507: "Insufficient Storage",
}
"""The reason phrases. Go: http.StatusText."""


class Malformed(Exception):
    """Raised for bytes that are not an HTTP request; the server responds with `code` and closes the connection."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def parse_query(query: str, most: int | None = None) -> dict[str, list[str]]:
    """Return the values of a query by name. Ignores the pairs that Go ignores. Go: url.ParseQuery.

    These have a semicolon, which might be a separator, or an invalid escape. Bytes that are not valid UTF-8 become
    surrogates (see golang.utf8). Raises ValueError for more than `most` pairs.
    """
    if ";" in query or "%" in query:
        query = "&".join(pair for pair in query.split("&") if ";" not in pair and not _BAD_ESCAPE.search(pair))
    return parse_qs(query, keep_blank_values=True, max_num_fields=most, errors="surrogateescape") if query else {}


class Request:
    """One parsed request. Header names are lower-case, the values of one name joined; `path` is decoded."""

    __slots__ = ("_repeated", "connection", "headers", "method", "minor", "params", "path", "raw_query")

    def __init__(
        self,
        method: str,
        target: str,
        headers: dict[str, str],
        connection: Any = None,
        *,
        minor: int = 1,
        repeated: dict[str, list[str]] | None = None,
    ) -> None:
        """Initialize a request. `connection` reads its body. Raises Malformed for an invalid target."""
        path, query = _split_target(target)
        try:
            self.params: dict[str, list[str]] = parse_query(query, 1000) if query else {}
        except ValueError:
            raise Malformed(400, "bad request target") from None
        self.method = method
        self.path = unquote(path) if "%" in path else path
        self.raw_query = query
        self.headers = headers
        # The values of headers that came more than once.
        self._repeated = repeated or {}
        # Of HTTP/1.minor.
        self.minor = minor
        self.connection = connection

    def param(self, name: str, default: str = "") -> str:
        values = self.params.get(name)
        return values[0] if values else default

    def header(self, name: str, default: str = "") -> str:
        """Return the first value of a header, or the default. Go: Header.Get."""
        if self._repeated and name in self._repeated:
            return self._repeated[name][0]
        return self.headers.get(name, default)

    def media_type(self, default: str = "") -> str:
        """Return the media type of the body, in lower case and without its parameters."""
        return self.header("content-type", default).partition(";")[0].strip().lower()

    def header_values(self, name: str) -> list[str]:
        """Return the separate values of a header, in order."""
        known = self._repeated.get(name)
        if known is not None:
            return known
        return [self.headers[name]] if name in self.headers else []

    @property
    def keep_alive(self) -> bool:
        """Report whether the client wants to reuse the connection."""
        if "connection" not in self.headers:
            return self.minor > 0
        tokens = [token.strip().lower() for token in self.headers["connection"].split(",")]
        return "close" not in tokens and (self.minor > 0 or "keep-alive" in tokens)

    def __repr__(self) -> str:
        return f"<Request {self.method} {self.path}>"


def _split_target(target: str) -> tuple[str, str]:
    """Return path and query of a request's target, which is a path or a whole URL. Raises Malformed."""
    if target.startswith("/"):
        path, _, query = target.partition("?")
    else:
        try:
            parts = urlsplit(target)
        except ValueError:
            raise Malformed(400, "bad request target") from None
        if not parts.scheme and target != "*":
            raise Malformed(400, "bad request target")
        path, query = parts.path, parts.query
    if "%" in path and _BAD_ESCAPE.search(path):
        raise Malformed(400, "bad request target")
    return path, query


class Response:
    """A response. With `stream` it has no body, and the handler has taken over the connection."""

    __slots__ = ("body", "close", "content_type", "headers", "status", "stream")

    def __init__(
        self,
        status: int,
        body: bytes = b"",
        content_type: str = "application/json",
        headers: Mapping[str, str | Sequence[str]] | None = None,
        stream: bool = False,
        *,
        close: bool = False,
    ) -> None:
        """Initialize a response. With `close` the connection ends after it."""
        self.status = status
        self.body = body
        self.content_type = content_type
        # A name with several values goes out as several headers.
        self.headers: dict[str, str | Sequence[str]] = dict(headers or {})
        self.stream = stream
        self.close = close


# ---- writing

LAST_CHUNK = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def head(status: int, headers: Mapping[str, str | Sequence[str]]) -> bytes:
    """Return the head of a response. A line break within a value becomes a space, as in Go."""
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
    for name, given in headers.items():
        for value in (given,) if isinstance(given, str) else given:
            lines.append(f"{name}: {value}".replace("\r", " ").replace("\n", " "))
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")


# ---- reading

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_END_OF_HEAD = re.compile(rb"\n\r?\n")
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VERSION = re.compile(r"HTTP/(\d)\.(\d)", re.ASCII)
_BLANKS = " \t"
# All but the tab.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_HOST = re.compile(r"[A-Za-z0-9!$%&'()*+,\-.:;=\[\]_~]*")
# A length of 63 bits has no more.
_LENGTH_DIGITS = 18
_CHUNK_SIZE = re.compile(rb"[0-9a-fA-F]{1,16}")


def end_of_head(data: bytearray, searched: int) -> tuple[int, int] | None:
    """Return the end of a head and the start of the rest, or None if it is incomplete.

    The first `searched` bytes hold no end.
    """
    found = _END_OF_HEAD.search(data, max(0, searched - 2))
    return found.span() if found is not None else None


RequestT = TypeVar("RequestT", bound=Request)


@overload
def parse_head(raw: bytes, connection: Any = None) -> Request: ...


@overload
def parse_head(raw: bytes, connection: Any = None, *, make: type[RequestT]) -> RequestT: ...


def parse_head(raw: bytes, connection: Any = None, *, make: type[Any] = Request) -> Any:
    """Parse a request from its head without the last line break; `make` is its type. Raises Malformed."""
    lines = [line.removesuffix("\r") for line in raw.decode("utf-8", "replace").split("\n")]
    method, target, minor = _request_line(lines[0])
    values = _header_values(lines[1:])
    if len(values.get("host", ())) > 1:
        raise Malformed(400, "too many Host headers")
    if minor > 0 and "host" not in values:
        raise Malformed(400, "missing required Host header")
    if not _HOST.fullmatch(values.get("host", [""])[0]):
        raise Malformed(400, "malformed Host header")
    headers = {name: ", ".join(given) for name, given in values.items()}
    repeated = {name: given for name, given in values.items() if len(given) > 1}
    return make(method, target, headers, connection, minor=minor, repeated=repeated)


def _request_line(line: str) -> tuple[str, str, int]:
    words = line.split(" ")
    if len(words) != 3 or not words[1] or _has_control(line):
        raise Malformed(400, "malformed HTTP request line")
    if not _is_token(words[0]):
        raise Malformed(400, "invalid method")
    if words[2] == "HTTP/1.1":
        return words[0], words[1], 1
    version = _VERSION.fullmatch(words[2])
    if version is None:
        raise Malformed(400, "malformed HTTP version")
    if version[1] != "1":
        raise Malformed(505, "unsupported protocol version")
    return words[0], words[1], int(version[2])


def _header_values(lines: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    last: list[str] = []
    # The last value and its continuations in the next lines.
    folded: list[str] = []
    for line in lines:
        if line[:1] in (" ", "\t") and last:
            folded = folded or [last[-1]]
            folded.append(line.strip(_BLANKS))
            continue
        if folded:
            last[-1] = " ".join(folded)
            folded = []
        name, colon, value = line.partition(":")
        if not colon or not _is_token(name):
            raise Malformed(400, "invalid header name")
        last = found.setdefault(name.lower(), [])
        last.append(value.strip(_BLANKS))
    if folded:
        last[-1] = " ".join(folded)
    if _has_control("".join(map("".join, found.values()))):
        raise Malformed(400, "invalid header value")
    return found


# Methods and the names of headers come again and again; whether one is a token depends on nothing else.
@short_cache(maxsize=512, longest=64)
def _is_token(text: str) -> bool:
    return _TOKEN.fullmatch(text) is not None


def _has_control(text: str) -> bool:
    """Report whether a text has control characters other than tabs.

    A printable text has none, which is fast to check.
    """
    return not text.isprintable() and _CONTROL.search(text) is not None


def has_body(request: Request) -> bool:
    """Report whether a body follows the head. Raises Malformed for sizes and encodings that Go's server rejects."""
    headers = request.headers
    if "content-length" not in headers and "transfer-encoding" not in headers:
        return False
    return is_chunked(request) or content_length(request) > 0


def is_chunked(request: Request) -> bool:
    """Report whether the body is chunked. Raises Malformed for another transfer encoding; HTTP/1.0 has none."""
    codings = request.header_values("transfer-encoding")
    if not codings or request.minor == 0:
        return False
    if len(codings) > 1 or codings[0].lower() != "chunked":
        raise Malformed(501, "unsupported transfer encoding")
    return True


def content_length(request: Request) -> int:
    """Return the announced size of the body, or 0. Raises Malformed."""
    given = request.header_values("content-length")
    if not given:
        return 0
    length = given[0]
    if len(given) > 1 and any(other != length for other in given):
        raise Malformed(400, "several values of Content-Length")
    digits = length.lstrip("0")
    if not length.isascii() or not length.isdigit() or len(digits) > _LENGTH_DIGITS:
        raise Malformed(400, "bad Content-Length")
    return int(digits or "0")


def chunk_size(line: bytes) -> int:
    """Return the size in a chunk's first line. Raises Malformed for anything but a plain hexadecimal number."""
    text = line.partition(b";")[0].rstrip(b" \t")
    if not _CHUNK_SIZE.fullmatch(text) or b"\r" in line:
        raise Malformed(400, "malformed chunk")
    return int(text, 16)
