"""The types of Go's net/http that client-go uses: requests, responses and round trippers.

A `RoundTripper` sends one `Request` and returns its `Response` with an unread body.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import IO, Protocol

from clientgo import context
from clientgo.context import Context
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

# Matches user and password also in a text that is not a URL: an error may show a mistaken setting. A password may even
# contain "/", "?" or "#" that should be escaped, unless it begins like a port.
_PASSWORD = re.compile(r"^((?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://)?[^/?#@:\[]*):(?:[^/?#]*|(?![0-9]*[/?#]).*)@", re.DOTALL)


def redacted_url(url: str) -> str:
    """Return the URL with "***" instead of its password, as in the texts of Go's http.Client."""
    return _PASSWORD.sub(r"\1:***@", url)


@dataclass(frozen=True, kw_only=True)
class ClientTrace:
    """Callbacks for the progress of a request, called in the sending thread. Go: httptrace.ClientTrace."""

    # Receives the host and the duration of its lookup in seconds, also after a failure.
    dns_done: Callable[[str, float], None]


@dataclass(kw_only=True, repr=False)
class Request:
    """An HTTP request. Round trippers change a `clone` of it, since a retry sends the original again."""

    method: str
    url: str
    headers: Header = field(default_factory=Header)
    # bytes, a binary file that is read once, or None.
    body: bytes | IO[bytes] | None = None
    # Ends the request and the reading of its response when it is done.
    ctx: Context = field(default_factory=context.background)
    # Seconds without data after which the connection counts as dead; None waits without limit.
    read_timeout: float | None = None
    # A shorter limit for the time before the response's headers.
    header_timeout: float | None = None
    trace: ClientTrace | None = None

    def clone(self) -> Request:
        """Return a copy with separate headers. Go: utilnet.CloneRequest."""
        return replace(self, headers=self.headers.copy())

    def __repr__(self) -> str:
        # Neither headers nor body, which may contain credentials.
        return f"<Request {self.method} {redacted_url(self.url)}>"


class Body(Protocol):
    """The body of a response. One thread reads it once; any thread may call `close` and `abort`."""

    def read(self) -> bytes:
        """Return the rest of the body. Blocks."""
        ...

    def read_some(self) -> bytes:
        """Wait for at least one byte and return the bytes that have arrived; b"" at the end."""
        ...

    def limit_silence(self, seconds: float, /) -> None:
        """Raise TimeoutError in reads after this number of seconds without data, unless a shorter limit is set."""
        ...

    def abort(self) -> None:
        """Abort: a blocked read ends at once, and later reads fail. Does not wait for it."""
        ...

    def close(self) -> None:
        """Release the connection; it serves another request only if the body was read to its end."""
        ...


class BytesBody:
    """A body in memory, for round trippers that create responses themselves, for example in tests."""

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
    """The status, headers and unread body of a response."""

    status_code: int
    # The server's reason phrase.
    reason: str = ""
    headers: Header = field(default_factory=Header)
    body: Body = field(default_factory=lambda: BytesBody(b""))
    # The request of this response; set by the client.
    request: Request | None = None

    def close(self) -> None:
        """Release the connection."""
        self.body.close()


class RoundTripper(Protocol):
    """A function that sends a request and returns the response with any status. Thread-safe. Go: http.RoundTripper.

    Raises OSError, EOFError or the context's error if there is no response.
    """

    def round_trip(self, request: Request, /) -> Response: ...


class RoundTripperWrapper(RoundTripper, Protocol):
    """A round tripper that wraps another one. Go: utilnet.RoundTripperWrapper."""

    def wrapped_round_tripper(self) -> RoundTripper: ...
