"""One request and its response on an existing connection: http.client with Go's parsing of heads."""

from __future__ import annotations

import contextlib
import http.client
import os
import select
import socket
import ssl
from typing import IO, Final

from clientgo.golang.http.head import Head, read_head
from clientgo.golang.http.header import Header
from clientgo.golang.http.route import Route
from clientgo.golang.strconv import parse_int, quote

__all__ = ["Answer", "Connection"]

_NO_CONTENT: Final = 204
_NOT_MODIFIED: Final = 304


class Answer(http.client.HTTPResponse):
    """A response whose head `read_head` parses, and whose framing must be unambiguous.

    http.client allows at most 100 headers and lines of 64 KiB, treats the end of the connection as the end of the
    headers, and ignores an invalid length.
    """

    head: Head

    def __init__(
        self, sock: socket.socket, debuglevel: int = 0, method: str | None = None, url: str | None = None
    ) -> None:
        super().__init__(sock, debuglevel, method, url)
        self.method = method

    def begin(self) -> None:
        """Read the head. Raises EOFError, ErrUnexpectedEOF, ValueError, OSError."""
        self.head = head = read_head(self.fp)
        self.status = head.status
        self.reason = head.reason
        self.version = 11 if head.version >= (1, 1) else 10
        self.chunked = self.version == 11 and _is_chunked(head.headers)
        self.chunk_left = None
        self.length = None if self.chunked else _content_length(head.headers)
        if self.method == "HEAD" or head.status in (_NO_CONTENT, _NOT_MODIFIED) or head.status < 200:
            self.chunked, self.length = False, 0
        tokens = {token.strip().lower() for token in head.headers.get("Connection", "").split(",")}
        closes = "close" in tokens if self.version == 11 else "keep-alive" not in tokens
        self.will_close = closes or (not self.chunked and self.length is None)


def _is_chunked(headers: Header) -> bool:
    codings = headers.getlist("Transfer-Encoding")
    if not codings:
        return False
    if len(codings) > 1:
        raise ValueError(f"too many transfer encodings: [{' '.join(map(quote, codings))}]")
    if codings[0].lower() != "chunked":
        raise ValueError(f"unsupported transfer encoding: {quote(codings[0])}")
    return True


def _content_length(headers: Header) -> int | None:
    lengths = headers.getlist("Content-Length")
    if not lengths:
        return None
    if len(set(lengths)) > 1:
        seen = " ".join(map(quote, lengths))
        raise ValueError(f"http: message cannot contain multiple Content-Length headers; got [{seen}]")
    try:
        length = parse_int(lengths[0])
    except ValueError:
        length = -1
    if length < 0 or lengths[0].startswith("+"):
        raise ValueError(f"bad Content-Length {quote(lengths[0])}")
    return length


def _is_readable(sock: socket.socket) -> bool:
    """Report whether a read would not block."""
    if not hasattr(select, "poll"):  # Windows, whose select accepts any descriptor
        return bool(select.select([sock], [], [], 0)[0])
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


class Connection(http.client.HTTPConnection):
    """A socket along a route. It serves one request at a time; any thread may call `close`."""

    response_class = Answer
    # No automatic reconnect: the transport opens a new connection.
    auto_open = 0

    def __init__(self, sock: socket.socket, route: Route, context: ssl.SSLContext | None) -> None:
        super().__init__(route.host, route.port)
        self.sock = sock
        self.route = route
        # The TLS context at the time of its creation.
        self.context = context
        # The time at which its last response was completely read.
        self.idle_since = 0.0
        self._pid = os.getpid()

    def is_inherited(self) -> bool:
        """Report whether a parent process opened it. Both processes would write to one socket."""
        return self._pid != os.getpid()

    def has_news(self) -> bool:
        """Report whether the peer of an idle connection has closed it or sent unexpected bytes."""
        return self.sock is None or _is_readable(self.sock)

    def send_request(self, method: str, target: str, headers: Header, body: bytes | IO[bytes] | None) -> None:
        """Send the request. A body without Content-Length is sent in chunks. Blocks. Raises OSError, ValueError."""
        self.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        in_chunks = body is not None and "Content-Length" not in headers
        if in_chunks:
            self.putheader("Transfer-Encoding", "chunked")
        for name, value in headers.items():
            self.putheader(name, value)
        # A server that rejects a request may close the connection during sending; its response is still readable.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.endheaders(body, encode_chunked=in_chunks)

    def answer(self) -> Answer:
        """Wait for the head of the response. Blocks. Raises OSError, EOFError, ValueError."""
        answer = self.getresponse()
        assert isinstance(answer, Answer)
        return answer
