"""Requests, responses and who sends them: the types of Go's net/http that client-go names.

A `RoundTripper` sends one `Request` and returns its `Response` with the body still unread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import IO, Protocol

from clientgo.golang import context
from clientgo.golang.context import Context
from clientgo.golang.http.header import Header

__all__ = [
    "Body",
    "BytesBody",
    "ClientTrace",
    "Request",
    "Response",
    "RoundTripper",
    "RoundTripperWrapper",
    "redacted_url",
]

# A user and a password, also in what is no URL: a mistaken setting is shown in an error.
_PASSWORD = re.compile(r"^((?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://)?[^/?#@:]*):[^/?#]*@")


def redacted_url(url: str) -> str:
    """The URL with "***" for a password in it, as in the texts of Go's http.Client."""
    return _PASSWORD.sub(r"\1:***@", url)


@dataclass(frozen=True, kw_only=True)
class ClientTrace:
    """Who is told how a request gets on, in the thread that sends it. Go: httptrace.ClientTrace."""

    # The host that was looked up and how long that took, in seconds, also when it was in vain.
    dns_done: Callable[[str, float], None]


@dataclass(kw_only=True, repr=False)
class Request:
    """One HTTP request. Round trippers that change it change a `clone` of it, for a retry sends the original again."""

    method: str
    url: str
    headers: Header = field(default_factory=Header)
    # bytes, a binary file to be read once, or nothing.
    body: bytes | IO[bytes] | None = None
    # Ends the request and the reading of its response when done.
    ctx: Context = field(default_factory=context.background)
    # How long the connection may stay silent, in seconds, before it counts as dead; None waits for ever.
    read_timeout: float | None = None
    # The same for the time before the answer's headers, if that shall be shorter.
    header_timeout: float | None = None
    trace: ClientTrace | None = None

    def clone(self) -> Request:
        """A copy with headers of its own. Go: utilnet.CloneRequest."""
        return replace(self, headers=self.headers.copy())

    def __repr__(self) -> str:
        # Neither headers nor body: they hold credentials.
        return f"<Request {self.method} {redacted_url(self.url)}>"


class Body(Protocol):
    """The body of a response, read once, by one thread; `close` and `abort` may come from any."""

    def read(self) -> bytes:
        """All the rest. Blocks."""
        ...

    def read_some(self) -> bytes:
        """Wait for at least one byte and return the bytes that have arrived; b"" at the end."""
        ...

    def limit_silence(self, seconds: float) -> None:
        """From now on give up with TimeoutError when nothing arrives for so long, if not sooner anyway."""
        ...

    def abort(self) -> None:
        """Break off: a read that is blocked ends at once, as do later ones. Does not wait for it."""
        ...

    def close(self) -> None:
        """Let go of the connection; it serves another request only if the body was read to its end."""
        ...


class BytesBody:
    """A body that is there already, for round trippers that answer by themselves (tests do)."""

    def __init__(self, data: bytes | Iterable[bytes]) -> None:
        self._pieces = iter([data] if isinstance(data, bytes) else data)

    def read(self) -> bytes:
        return b"".join(self._pieces)

    def read_some(self) -> bytes:
        return next((piece for piece in self._pieces if piece), b"")

    def limit_silence(self, seconds: float) -> None: ...

    def abort(self) -> None:
        self._pieces = iter(())

    def close(self) -> None: ...


@dataclass(kw_only=True)
class Response:
    """Status, headers and unread body of an answer."""

    status_code: int
    # What the server calls the status code.
    reason: str = ""
    headers: Header = field(default_factory=Header)
    body: Body = field(default_factory=lambda: BytesBody(b""))
    # Set by the client: the request this answers.
    request: Request | None = None

    def close(self) -> None:
        """Let go of the connection."""
        self.body.close()


class RoundTripper(Protocol):
    """Sends a request and returns the response, whatever its status. Thread-safe. Go: http.RoundTripper.

    Raises OSError, EOFError or the context's error when there was no response.
    """

    def round_trip(self, request: Request) -> Response: ...


class RoundTripperWrapper(RoundTripper, Protocol):
    """A round tripper on top of another one. Go: utilnet.RoundTripperWrapper."""

    def wrapped_round_tripper(self) -> RoundTripper: ...
