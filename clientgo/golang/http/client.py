"""Go's http.Client: a round tripper, an overall timeout, and errors with the request's method and URL."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlsplit

from clientgo import context
from clientgo.golang.callers import error_text
from clientgo.golang.http.message import Body, Request, Response, RoundTripper, redacted_url
from clientgo.klog.exceptions import cause_text, operational_error

__all__ = ["Client", "URLError", "basic_auth", "describe"]


@operational_error
class URLError(Exception):
    """Raised for a request without a response: the method, the URL and the cause, without any credentials.

    The cause is `err` and `__cause__`: an OSError such as ConnectionRefusedError or TimeoutError, an EOFError, an
    ssl.SSLError, or the error of the context that ended the request. Go: url.Error.
    """

    def __init__(self, op: str, url: str, err: BaseException) -> None:
        self.op = op
        self.url = redacted_url(url)
        self.err = err
        super().__init__(f'{op} "{self.url}": {describe(err)}')
        self.__cause__ = err

    def timeout(self) -> bool:
        """Report whether the error is a timeout. Go: Timeout."""
        return isinstance(self.err, (TimeoutError, context.DeadlineExceeded))


def describe(err: BaseException) -> str:
    """Return the error's text without Python's prefix "[Errno N]"."""
    if isinstance(err, OSError) and err.strerror:
        return err.strerror
    return cause_text(err) if isinstance(err, KeyError) else error_text(err)  # of a KeyError the text is only the key


class Client:
    """A client with a round tripper, an overall timeout, and errors with the request's method and URL.

    Go: http.Client.
    """

    def __init__(self, transport: RoundTripper, timeout: float = 0.0, max_silence: float = 0.0) -> None:
        """Initialize a client. `timeout` limits each request, including its body, in seconds; 0 is unlimited.

        `max_silence` lowers the read timeout of requests that have one; 0 does not change it. Not in Go.
        """
        self.transport = transport
        self.timeout = timeout
        self.max_silence = max_silence

    def do(self, request: Request) -> Response:
        """Send the request and wait for the response's headers. Raises URLError; a status code is never an error here.
        """
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
        """Close the idle connections. Go: CloseIdleConnections."""
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
    """Return the request with basic authentication from its URL, which overrides the round trippers' credentials."""
    credentials, at, _ = urlsplit(request.url).netloc.rpartition("@")
    if not at or request.headers.get("Authorization"):
        return request
    username, _, password = credentials.partition(":")
    request = request.clone()
    request.headers["Authorization"] = basic_auth(unquote(username), unquote(password))
    return request


def basic_auth(username: str, password: str) -> str:
    """Return the value of an Authorization header."""
    return f"Basic {b64encode(f'{username}:{password}'.encode()).decode('ascii')}"


class _TimedBody:
    """A body whose reads count toward the client's timeout."""

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
