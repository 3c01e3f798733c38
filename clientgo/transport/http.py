"""The part of Go's net/http that client-go stands on: requests, responses, round trippers and a client.

Mirrors no client-go file. A `RoundTripper` sends one `Request` and returns its `Response` with the body still unread;
`Client` adds the text of Go's url.Error to what fails. The bottom round tripper is `Transport`
(clientgo/transport/connection.py), which speaks HTTP through requests and urllib3.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import IO, Any, Protocol
from urllib.parse import unquote, urlsplit

from urllib3 import HTTPHeaderDict

from clientgo import context
from clientgo.context import Context

__all__ = [
    "Body",
    "BytesBody",
    "Client",
    "Header",
    "Request",
    "Response",
    "RoundTripper",
    "RoundTripperWrapper",
    "URLError",
    "redacted_url",
]

# Case-insensitive and multi-valued: `add`, `getlist`, `get` (joined with commas). Go: http.Header.
Header = HTTPHeaderDict


class URLError(Exception):
    """A request that got no answer: what was tried, and why it failed. Never holds a credential. Go: url.Error.

    The reason is `err` and `__cause__`: an OSError such as ConnectionRefusedError or TimeoutError, an EOFError, an
    ssl.SSLError, or the error of the context that ended the request.
    """

    def __init__(self, op: str, url: str, err: BaseException) -> None:
        self.op = op
        self.url = redacted_url(url)
        self.err = err
        super().__init__(f'{op} "{self.url}": {describe(err)}')
        self.__cause__ = err

    def timeout(self) -> bool:
        """Whether time ran out (Go: Timeout)."""
        return isinstance(self.err, (TimeoutError, context.DeadlineExceeded))


# A user and a password, also in what is no URL: a mistaken setting is shown in an error.
_PASSWORD = re.compile(r"^((?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://)?[^/?#@:]*):[^/?#]*@")


def redacted_url(url: str) -> str:
    """The URL with "***" for a password in it, as in the texts of Go's http.Client."""
    return _PASSWORD.sub(r"\1:***@", url)


def describe(err: BaseException) -> str:
    """The error's text without Python's "[Errno N]" in front."""
    if isinstance(err, OSError) and err.strerror:
        return err.strerror
    return str(err) or type(err).__name__


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

    def clone(self) -> Request:
        """A copy with headers of its own (Go: utilnet.CloneRequest)."""
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
        """What has arrived, at least one byte, after waiting for it; b"" at the end."""
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


class Client:
    """Go's http.Client: a round tripper, an overall timeout, and errors that say which request they are about."""

    def __init__(self, transport: RoundTripper, timeout: float = 0.0, max_silence: float = 0.0) -> None:
        """`timeout` in seconds limits each request, its body included; 0 means no limit.

        `max_silence` lowers the read timeout of requests that have one; 0 leaves it as it is. Beyond Go.
        """
        self.transport = transport
        self.timeout = timeout
        self.max_silence = max_silence

    def do(self, request: Request) -> Response:
        """Send and wait for the response's headers. Raises URLError; a status code is never an error here."""
        if self.max_silence > 0 and request.read_timeout is not None:
            request = replace(request, read_timeout=min(self.max_silence, request.read_timeout))
        if self.timeout <= 0:
            return self._send(request)
        ctx, cancel = context.with_timeout(request.ctx, self.timeout)
        try:
            response = self._send(replace(request, ctx=ctx))
        except BaseException:
            cancel()
            raise
        response.body = _TimedBody(response.body, cancel)
        return response

    def _send(self, request: Request) -> Response:
        try:
            response = self.transport.round_trip(_with_credentials_of_url(request))
        except URLError:
            raise
        except (Exception, TimeoutError) as err:
            cause = request.ctx.err() or err
            raise URLError(request.method.capitalize(), request.url, cause) from cause
        response.request = request
        return response

    def close_idle_connections(self) -> None:
        """Close the connections no request uses now (Go: CloseIdleConnections)."""
        transport: Any = self.transport
        while transport is not None:
            close: Callable[[], None] | None = getattr(transport, "close_idle_connections", None)
            if close is not None:
                close()
                return
            unwrap = getattr(transport, "wrapped_round_tripper", None)
            transport = unwrap() if unwrap is not None else None

    def __repr__(self) -> str:
        return f"<Client {type(self.transport).__name__}, timeout {self.timeout:g}s>"


def _with_credentials_of_url(request: Request) -> Request:
    """The request with basic authentication as user and password in its URL say, which win over the round trippers'."""
    credentials, at, _ = urlsplit(request.url).netloc.rpartition("@")
    if not at or request.headers.get("Authorization"):
        return request
    username, _, password = credentials.partition(":")
    request = request.clone()
    request.headers["Authorization"] = basic_auth(unquote(username), unquote(password))
    return request


def basic_auth(username: str, password: str) -> str:
    """The value of an Authorization header."""
    return f"Basic {b64encode(f'{username}:{password}'.encode()).decode('ascii')}"


class _TimedBody:
    """A body whose reading counts against the client's timeout."""

    def __init__(self, body: Body, cancel: Callable[[], None]) -> None:
        self._body = body
        self._cancel = cancel
        self.limit_silence = body.limit_silence
        self.abort = body.abort

    def read(self) -> bytes:
        try:
            return self._body.read()
        finally:
            self._cancel()

    def read_some(self) -> bytes:
        return self._body.read_some()

    def close(self) -> None:
        self._body.close()
        self._cancel()
