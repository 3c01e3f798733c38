"""The bottom round tripper: HTTP/1.1 on connections that another thread can break off. Stands for Go's http.Transport.

With the settings of client-go's transport/cache.go. Every request in flight can be aborted from any thread by shutting
its socket down, also while it connects, so that cancelling a context or stopping a watch takes milliseconds; dead peers
are noticed by TCP keep-alive; proxies, SOCKS5 among them, are chosen by Go's rules; and a reading request whose kept
connection turns out to be dead gets another one.
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

# Go's dialer gives up on a connection after 30 s, its TLS handshake after 10 s; one limit serves both here.
CONNECT_TIMEOUT: Final = 30.0

# Small leftovers are read, so that the connection can serve the next request.
_MAX_BODY_SLURP_SIZE: Final = 2 << 10


class Transport:
    """Sends requests to servers. Go: http.Transport. Thread-safe; a request blocks the thread that makes it.

    Connections are kept for the next request when a response was read to its end. Proxies come from `proxy`, a function
    from URL to proxy URL or None, or from the environment as it is when the transport is made. They may be http, https
    and socks5.
    """

    def __init__(
        self,
        *,
        ssl_context: Callable[[], ssl.SSLContext | None] = lambda: None,
        server_name: str = "",
        proxy: Callable[[str], str | None] | None = None,
        dial: Callable[[str, int], socket.socket] | None = None,
        disable_compression: bool = False,
        connect_timeout: float = CONNECT_TIMEOUT,
        clock: Clock = REAL_CLOCK,
    ) -> None:
        """`ssl_context` is asked before each request; when it returns another one, new connections use that.

        `connect_timeout` in seconds limits each step of making a connection.
        """
        self._ssl_context = ssl_context
        self._server_name = server_name
        self._proxy = proxy if proxy is not None else httpproxy.from_environment().proxy_func()
        self._dial = dial
        self._disable_compression = disable_compression
        self._connect_timeout = connect_timeout
        self._pool = Pool(clock)
        # Guards the next.
        self._lock = threading.Lock()
        self._current_context: ssl.SSLContext | None = None

    def round_trip(self, request: Request) -> Response:
        """See RoundTripper. Follows redirects; credentials never leave for another server."""
        for _ in range(MAX_REQUESTS):
            response = self._send(request)
            following = redirected(request, response)
            if following is None:
                return response
            request = following
            _let_go(response)
        raise ValueError(f"stopped after {MAX_REQUESTS} redirects")

    def _send(self, request: Request) -> Response:
        # Here, not above, as in _connect: what lies below is a tenth of a start, and has time until the first request.
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
            connection, answer = self._send_on_connection(exchange, route, _target(url, route), headers)
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

    def _send_on_connection(self, exchange: Exchange, route: Route, target: str, headers: Header) -> tuple[Connection, Answer]:
        """Send the request over a kept connection or a new one, and wait for the head of its response."""
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
        return Connection(sock, route, context)

    def _context(self, route: Route) -> ssl.SSLContext | None:
        """The TLS context for the route now. With a new one the connections made with another are of no use."""
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
        """Close the pooled connections; requests under way go on."""
        self._pool.close_idle()

    def __repr__(self) -> str:
        return f"<Transport server_name={self._server_name!r}, {self._pool!r}>"


def _target(url: SplitResult, route: Route) -> str:
    """Return the target of the request line: a path, or the URL without its user for a forwarding proxy."""
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
    """Whether it may go out twice. Go: Request.isReplayable.

    A server closes a connection that was idle for long; only the next request finds that out. It may not be sent again
    if it could have changed something before it got lost.
    """
    if request.body is not None and not isinstance(request.body, bytes):
        return False
    reads = request.method in ("GET", "HEAD", "OPTIONS", "TRACE")
    return reads or any(name in request.headers for name in ("Idempotency-Key", "X-Idempotency-Key"))


def _shorter(one: float | None, other: float | None) -> float | None:
    """The shorter one of two timeouts."""
    return min((each for each in (one, other) if each is not None), default=None)
