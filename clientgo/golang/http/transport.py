"""The bottom round tripper: HTTP/1.1 on connections that any thread can abort. Replaces Go's http.Transport.

It has the settings of client-go's transport/cache.go. Any thread can abort a request by shutting down its socket, also
during the connect, so that cancelling a context or stopping a watch takes milliseconds. TCP keep-alive detects dead
peers. Go's rules select the proxy, including SOCKS5. A read request whose pooled connection is dead is retried on
another one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

from clientgo.golang.http import proxy as httpproxy
from clientgo.golang.http.failures import as_builtin, is_lost
from clientgo.golang.http.header import Header, encoded
from clientgo.golang.http.message import Request, Response
from clientgo.golang.http.pool import Pool
from clientgo.golang.http.redirect import MAX_REQUESTS, redirected
from clientgo.golang.http.route import Route, host_header, route_to
from clientgo.utils.clock.clock import REAL_CLOCK, Clock

if TYPE_CHECKING:
    import socket
    import ssl

    from clientgo.golang.http.connection import Answer, Connection
    from clientgo.golang.http.exchange import Exchange

__all__ = ["CONNECT_TIMEOUT", "Transport"]

# Go's dialer times out after 30 s, its TLS handshake after 10 s; here one limit covers both.
CONNECT_TIMEOUT: Final = 30.0

# The unread rest of a body up to this size is skipped, so that the connection can be reused.
_MAX_BODY_SLURP_SIZE: Final = 2 << 10


class Transport:
    """A sender of requests. Thread-safe; a request blocks the calling thread. Go: http.Transport.

    It keeps a connection for the next request if a response was read to its end. The proxy comes from `proxy`, a
    function from URL to proxy URL or None, or from the environment at the transport's creation. It may be http, https
    or socks5.
    """

    def __init__(
        self,
        *,
        ssl_context: Callable[[], ssl.SSLContext | None] = lambda: None,
        server_name: str = "",
        proxy: Callable[[str], str | None] | None = None,
        dial: Callable[[str, int], socket.socket] | None = None,
        on_connect: Callable[[socket.socket], object] | None = None,
        disable_compression: bool = False,
        connect_timeout: float = CONNECT_TIMEOUT,
        clock: Clock = REAL_CLOCK,
    ) -> None:
        """Initialize a transport. It calls `ssl_context` before each request; new connections use the current result.

        It calls `on_connect` with each new connection. `connect_timeout` limits each step of a new connection in
        seconds.
        """
        self._ssl_context = ssl_context
        self._server_name = server_name
        self._proxy = proxy if proxy is not None else httpproxy.from_environment().proxy_func()
        self._dial = dial
        self._on_connect = on_connect
        self._disable_compression = disable_compression
        self._connect_timeout = connect_timeout
        self._pool = Pool(clock)
        # Guards the next attribute.
        self._lock = threading.Lock()
        self._current_context: ssl.SSLContext | None = None

    def round_trip(self, request: Request) -> Response:
        """See RoundTripper. Follows redirects; never sends credentials to another server."""
        for _ in range(MAX_REQUESTS):
            response = self._send(request)
            following = redirected(request, response)
            if following is None:
                return response
            request = following
            _let_go(response)
        raise ValueError(f"stopped after {MAX_REQUESTS} redirects")

    def _send(self, request: Request) -> Response:
        # Imported here and in _connect, not above, since it slows the start of programs (test/bench/start).
        from clientgo.golang.http.body import ResponseBody
        from clientgo.golang.http.exchange import Exchange

        ended = request.ctx.err()
        if ended is not None:
            raise ended
        url = urlsplit(request.url)
        route = route_to(url, self._proxy(request.url))
        headers = self._headers(request, url, route)
        exchange = Exchange(request)
        forget = request.ctx.add_done_callback(exchange.abort)
        try:
            connection, answer = self._exchange(exchange, route, _target(url, route), headers)
        except BaseException as err:
            forget()
            exchange.finish()
            if isinstance(err, Exception):
                raise exchange.failure(err) from None
            raise

        def release(keep: bool) -> None:
            forget()
            exchange.finish()
            if keep and not exchange.is_aborted and self._is_current(connection):
                self._pool.put(connection)
            else:
                connection.close()

        body = ResponseBody(answer, exchange, release)
        return Response(status_code=answer.status, reason=answer.reason, headers=answer.head.headers, body=body)

    def _exchange(self, exchange: Exchange, route: Route, target: str, headers: Header) -> tuple[Connection, Answer]:
        """Send the request on a pooled connection or a new one, and wait for the head of its response."""
        request = exchange.request
        silence = _shorter(request.header_timeout, request.read_timeout)
        context = self._context(route)
        while True:
            kept = self._pool.take(route, context)
            connection = kept if kept is not None else self._connect(exchange, route, context, silence)
            try:
                exchange.attach(connection.sock, silence)
                connection.send_request(request.method, target, headers, request.body)
                answer = connection.answer()
                exchange.set_timeout(request.read_timeout)
                return connection, answer
            except BaseException as err:
                connection.close()
                if not isinstance(err, Exception):
                    raise
                failure = as_builtin(err)
                if kept is None or exchange.is_aborted or not is_lost(failure) or not _is_replayable(request):
                    raise failure from None

    def _connect(
        self, exchange: Exchange, route: Route, context: ssl.SSLContext | None, silence: float | None
    ) -> Connection:
        from clientgo.golang.http.connection import Connection
        from clientgo.golang.http.dial import Dialer

        dialer = Dialer(self._dial, self._server_name)
        sock = dialer.connect(exchange, route, context, _shorter(self._connect_timeout, silence))
        if self._on_connect is not None:
            self._on_connect(sock)
        return Connection(sock, route, context)

    def _context(self, route: Route) -> ssl.SSLContext | None:
        """Return the current TLS context for the route. A new context closes the idle connections of the old one."""
        if not route.is_encrypted:
            return None
        context = self._ssl_context()
        with self._lock:
            previous, self._current_context = self._current_context, context
        if context is not previous:
            self._pool.close_idle()
        return context

    def _is_current(self, connection: Connection) -> bool:
        return not connection.route.is_encrypted or connection.context is self._current_context

    def _headers(self, request: Request, url: SplitResult, route: Route) -> Header:
        """Return the headers to send. Raises ValueError."""
        headers = encoded(request.headers)
        if "Host" not in headers:
            headers["Host"] = host_header(url)
        if isinstance(request.body, bytes):
            headers["Content-Length"] = str(len(request.body))
        elif request.body is None and request.method in ("POST", "PUT", "PATCH"):
            headers["Content-Length"] = "0"
        if "Accept-Encoding" not in headers:
            headers["Accept-Encoding"] = "identity" if self._disable_compression else "gzip"
        if route.is_forwarded and route.proxy is not None:
            headers.update(route.proxy.authorization())
        return headers

    def close_idle_connections(self) -> None:
        """Close the idle connections; requests in progress continue."""
        self._pool.close_idle()

    def __repr__(self) -> str:
        return f"<Transport server_name={self._server_name!r}, {self._pool!r}>"


def _target(url: SplitResult, route: Route) -> str:
    """Return the target of the request line: a path, or for a forwarding proxy the URL without its user."""
    target = url.path or "/"
    if url.query:
        target = f"{target}?{url.query}"
    return f"{url.scheme}://{host_header(url)}{target}" if route.is_forwarded else target


def _let_go(response: Response) -> None:
    try:
        length = response.headers.get("Content-Length", "")
        if length.isdecimal() and int(length) <= _MAX_BODY_SLURP_SIZE:
            response.body.read()
    except (OSError, EOFError, ValueError):
        pass  # another connection then
    finally:
        response.close()


def _is_replayable(request: Request) -> bool:
    """Report whether the request may be sent twice. Go: Request.isReplayable.

    A server closes idle connections, and only the next request detects that. A retry is not allowed if the lost request
    could have changed something.
    """
    if request.body is not None and not isinstance(request.body, bytes):
        return False
    reads = request.method in ("GET", "HEAD", "OPTIONS", "TRACE")
    return reads or any(name in request.headers for name in ("Idempotency-Key", "X-Idempotency-Key"))


def _shorter(one: float | None, other: float | None) -> float | None:
    """Return the shorter one of two timeouts."""
    return min((each for each in (one, other) if each is not None), default=None)
