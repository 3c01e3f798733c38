"""The server side of net/http for a manager's endpoints and webhooks, on the standard library's server.

A handler is an object with `serve_http(resp, req)`, or such a function. Each connection has its own thread, which ends
with it; a connection may carry several requests. Differences from Go: the server sends the response when the handler
has returned. An exception of the handler becomes a 500 whose text only appears in the log. The limits are those of
controller-runtime's servers: 1 MiB of headers, 32 seconds to receive them, 90 seconds of idle time.
"""

from __future__ import annotations

import os
import posixpath
import socket
import socketserver
import ssl
import threading
import urllib.parse
from collections.abc import Callable
from contextlib import suppress
from email.message import Message
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol, TypeAlias, cast

from clientgo import klog
from clientgo.context import Context, background
from clientgo.klog.exceptions import operational_error
from clientgo.utils.clock import REAL_CLOCK

__all__ = [
    "Handler",
    "HandlerLike",
    "ListenError",
    "Request",
    "RequestBodyTooLarge",
    "ResponseWriter",
    "ServeMux",
    "Server",
    "error",
    "listen",
    "not_found",
    "strip_prefix",
    "to_handler",
]

_TEXT = "text/plain; charset=utf-8"
_IDLE_TIMEOUT = 90.0
_MAX_PORT = 65535
_HEADER_TIMEOUT = 32.0
# Seconds between two checks of the accepting thread for a shutdown.
_POLL_SECONDS = 0.05


class RequestBodyTooLarge(Exception):
    """Raised for a body above the handler's limit. Go: http.MaxBytesError."""

    def __init__(self, limit: int) -> None:
        super().__init__("http: request body too large")
        self.limit = limit


@operational_error
class ListenError(OSError):
    """Raised for an address that the system rejects: "listen tcp :8081: bind: address already in use".

    Go: net.OpError.
    """

    def __str__(self) -> str:
        return str(self.strerror)


class Request:
    """A request as a handler receives it. Go: http.Request."""

    def __init__(
        self,
        method: str = "GET",
        target: str = "/",
        headers: Message | None = None,
        read: Callable[[int], bytes] | None = None,
        ctx: Context | None = None,
        remote_addr: str = "",
    ) -> None:
        """Initialize a request. `target` is the path and query of the request line; `read` reads the body."""
        path, _, self.raw_query = target.partition("?")
        self.method = method
        self.path = urllib.parse.unquote(path)
        """The decoded path. Go: req.URL.Path."""
        self.headers = headers if headers is not None else Message()
        self.remote_addr = remote_addr
        self._read = read
        self._ctx = ctx if ctx is not None else background()

    def context(self) -> Context:
        """Return the server's context. Go: Context."""
        return self._ctx

    def query(self) -> dict[str, list[str]]:
        """Return the values of the query by name; a name without a value has the value "". Go: req.URL.Query."""
        return urllib.parse.parse_qs(self.raw_query, keep_blank_values=True)

    def read_body(self, limit: int) -> bytes:
        """Return the body, or b"" if there is none. Blocks. Call it once.

        Raises RequestBodyTooLarge if it is longer than `limit`, OSError if the client sends less than announced.
        """
        length = self.headers.get("Content-Length")
        if self._read is None or length is None:
            return b""
        if int(length) > limit:
            raise RequestBodyTooLarge(limit)
        body = self._read(int(length))
        if len(body) < int(length):
            raise ConnectionResetError("unexpected EOF")
        return body

    def with_path(self, path: str) -> Request:
        """Return a copy of the request with another path."""
        changed = Request(self.method, "", self.headers, self._read, self._ctx, self.remote_addr)
        changed.path, changed.raw_query = path, self.raw_query
        return changed


class ResponseWriter:
    """A writer of the handler's response. Go: http.ResponseWriter."""

    def __init__(self) -> None:
        self.status = 0
        """The status code, or 0 before it is set."""
        self.body = bytearray()
        self._header: dict[str, str] = {}

    def header(self) -> dict[str, str]:
        """Return the headers, which the handler may change; use canonical names: "Content-Type"."""
        return self._header

    def write_header(self, status: int) -> None:
        """Set the status code. Later calls have no effect. The default is 200."""
        self.status = self.status or status

    def write(self, data: bytes | str) -> None:
        """Append to the body."""
        self.write_header(200)
        self.body += data.encode() if isinstance(data, str) else data


class Handler(Protocol):
    """A handler of requests. Several threads call it concurrently. Go: http.Handler."""

    def serve_http(self, resp: ResponseWriter, req: Request, /) -> None:
        """Serve one request."""
        ...


HandlerLike: TypeAlias = Handler | Callable[[ResponseWriter, Request], None]
"""A Handler, or a function in place of one."""


def to_handler(handler: HandlerLike) -> Callable[[ResponseWriter, Request], None]:
    """Return the function to call. Raises TypeError if `handler` is not a handler."""
    method = getattr(handler, "serve_http", None)
    if callable(method):
        return cast("Callable[[ResponseWriter, Request], None]", method)
    if callable(handler):
        return handler
    raise TypeError(f"a handler has a method serve_http(resp, req), or is a function: {handler!r}")


def error(resp: ResponseWriter, text: str, status: int) -> None:
    """Respond with a text and a newline. Go: http.Error."""
    resp.header().update({"Content-Type": _TEXT, "X-Content-Type-Options": "nosniff"})
    resp.write_header(status)
    resp.write(text + "\n")


def not_found(resp: ResponseWriter, req: Request) -> None:
    """Respond with 404. Go: http.NotFound."""
    error(resp, "404 page not found", 404)


def strip_prefix(prefix: str, handler: HandlerLike) -> Callable[[ResponseWriter, Request], None]:
    """Return a handler for paths below `prefix` that passes the rest of the path to `handler`. Go: http.StripPrefix."""
    function = to_handler(handler)

    def serve(resp: ResponseWriter, req: Request) -> None:
        if req.path.startswith(prefix):
            function(resp, req.with_path(req.path[len(prefix) :]))
        else:
            not_found(resp, req)

    return serve


class ServeMux:
    """A multiplexer that selects a handler by an exact path, or by the longest matching prefix with a slash.

    Go: http.ServeMux.
    """

    def __init__(self) -> None:
        self._handlers: dict[str, Callable[[ResponseWriter, Request], None]] = {}

    def handle(self, pattern: str, handler: HandlerLike) -> None:
        """Add a path, or with a slash at its end all paths below it. Raises ValueError for a duplicate or empty path.
        """
        if not pattern.startswith("/"):
            raise ValueError(f"http: invalid pattern {pattern!r}")
        if pattern in self._handlers:
            raise ValueError(f"http: multiple registrations for {pattern}")
        self._handlers[pattern] = to_handler(handler)

    def handles(self, path: str) -> bool:
        """Report whether exactly this path or pattern has a handler."""
        return path in self._handlers

    def serve_http(self, resp: ResponseWriter, req: Request) -> None:
        """Call the handler of the path, or respond with 404."""
        self._find(req.path)(resp, req)

    def _find(self, path: str) -> Callable[[ResponseWriter, Request], None]:
        if path in self._handlers:
            return self._handlers[path]
        fitting = [each for each in self._handlers if each.endswith("/") and path.startswith(each)]
        return self._handlers[max(fitting, key=len)] if fitting else not_found


def clean_path(path: str) -> str:
    """Return the shortest equivalent path, with one slash at the start. Go: path.Clean."""
    return "/" + posixpath.normpath("/" + path).lstrip("/")


def listen(address: str) -> socket.socket:
    """Return a socket that listens at "host:port", ":port" (all interfaces) or "[::1]:port". Go: net.Listen.

    Raises ListenError if the system rejects the address, ValueError if it is malformed.
    """
    host, separator, port = address.rpartition(":")
    if not separator:
        raise ValueError(f"listen tcp: address {address}: missing port in address")
    if not port.isdigit():
        raise ValueError(f"listen tcp: address {address}: unknown port")
    if int(port) > _MAX_PORT:
        raise ValueError(f"listen tcp: address {port}: invalid port")
    try:
        return _listen(host.removeprefix("[").removesuffix("]"), int(port))
    except OSError as err:
        raise listen_error(err, address) from None


def listen_error(err: OSError, address: str) -> ListenError:
    """Return the error of an address that the system rejects, with Go's text. Python's contains the address twice."""
    if err.errno is None or err.errno < 0:  # create_server passes on the negative codes of getaddrinfo
        return ListenError(err.errno, f"listen tcp: lookup {address.rpartition(':')[0]}: no such host")
    return ListenError(err.errno, f"listen tcp {address}: bind: {os.strerror(err.errno).lower()}")


def _listen(host: str, port: int) -> socket.socket:
    if host:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=128)
    if socket.has_dualstack_ipv6():
        try:
            return socket.create_server(("", port), family=socket.AF_INET6, backlog=128, dualstack_ipv6=True)
        except OSError as err:
            if err.errno not in _NO_IPV6:
                raise
    return socket.create_server(("", port), backlog=128)


_NO_IPV6 = frozenset({97, 99})  # EAFNOSUPPORT, EADDRNOTAVAIL: the kernel supports it, the machine does not


class _Connection(BaseHTTPRequestHandler):
    """The handler of one connection."""

    protocol_version = "HTTP/1.1"
    timeout = _HEADER_TIMEOUT
    server: _Listening

    def setup(self) -> None:
        super().setup()
        if isinstance(self.connection, ssl.SSLSocket):
            self.connection.do_handshake()

    def handle_one_request(self) -> None:
        if not self.server.state.set_idle(self.connection):
            self.close_connection = True
            return
        super().handle_one_request()

    def parse_request(self) -> bool:
        # Called after the request's first line has been read.
        if not self.server.state.set_active(self.connection):
            self.close_connection = True
            return False
        self.connection.settimeout(_HEADER_TIMEOUT)
        try:
            return super().parse_request() and self._is_answerable()
        finally:
            self.connection.settimeout(_IDLE_TIMEOUT)

    def _is_answerable(self) -> bool:
        """Report whether the body's length is known. Chunked requests get a 411, since clients of these servers send
        none.
        """
        length = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding") is not None or not length.isdigit():
            self.close_connection = True
            self.send_error(411)
            return False
        return True

    def __getattr__(self, name: str) -> Any:
        """Return the same function for every HTTP method: the handler decides about methods."""
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        left = [length]

        def read(count: int) -> bytes:
            data = self.rfile.read(min(count, left[0]))
            left[0] -= len(data)
            return data

        host, port = self.client_address[:2]
        request = Request(self.command, self.path, self.headers, read, self.server.state.ctx, f"{host}:{port}")
        resp = ResponseWriter()
        try:
            self.server.state.handler(resp, request)
        except (Exception, SystemExit) as err:  # SystemExit would end only the connection's thread, without a message
            klog.from_context(self.server.state.ctx).error(err, "http: panic serving", path=request.path)
            resp = ResponseWriter()
            error(resp, "internal server error", 500)
        if left[0]:
            # The unread rest of a body is not skipped: the connection ends.
            self.close_connection = True
        self._send(resp)

    def _send(self, resp: ResponseWriter) -> None:
        resp.write_header(200)
        self.send_response_only(resp.status)
        headers = resp.header()
        if resp.body:
            headers.setdefault("Content-Type", _TEXT)
        headers["Content-Length"] = str(len(resp.body))
        if self.close_connection:
            headers["Connection"] = "close"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(resp.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Do nothing: handlers log requests if needed."""


class _State:
    """The open connections of a server, and its shutdown state."""

    def __init__(self, handler: Callable[[ResponseWriter, Request], None], ctx: Context) -> None:
        self.handler = handler
        self.ctx = ctx
        # Guards the other attributes; notified when a connection has ended.
        self._changed = threading.Condition()
        self._idle: set[socket.socket] = set()
        self._active: set[socket.socket] = set()
        self._closing = False

    def set_idle(self, connection: socket.socket) -> bool:
        """Mark the connection as waiting for a request. Returns False during a shutdown."""
        with self._changed:
            self._active.discard(connection)
            if not self._closing:
                self._idle.add(connection)
            return not self._closing

    def set_active(self, connection: socket.socket) -> bool:
        """Mark the connection as busy. Returns False if it was closed before."""
        with self._changed:
            was_idle = connection in self._idle
            self._idle.discard(connection)
            if was_idle:
                self._active.add(connection)
            return was_idle

    def closed(self, connection: socket.socket) -> None:
        with self._changed:
            self._idle.discard(connection)
            self._active.discard(connection)
            self._changed.notify_all()

    def close_idle(self) -> None:
        """Accept no more requests, and wake the threads that wait for one."""
        with self._changed:
            self._closing = True
            for connection in self._idle:
                _shut(connection)
            self._idle.clear()

    def wait_for_active(self, timeout: float | None) -> bool:
        """Wait until no request is being served. Returns False after `timeout` seconds."""
        deadline = None if timeout is None else REAL_CLOCK.now() + timeout
        with self._changed:
            while self._active:
                left = None if deadline is None else deadline - REAL_CLOCK.now()
                if left is not None and left <= 0:
                    return False
                self._changed.wait(left)
        return True

    def close_active(self) -> None:
        with self._changed:
            for connection in self._active:
                _shut(connection)


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):  # it has ended already
        connection.shutdown(socket.SHUT_RDWR)


class _Listening(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A server that accepts connections on a listening socket."""

    daemon_threads = True
    # Disabled: socketserver's list contains unnamed daemon threads; `server_close` below joins ours.
    block_on_close = False

    def __init__(self, listener: socket.socket, state: _State, name: str, tls: ssl.SSLContext | None) -> None:
        super().__init__(listener.getsockname(), _Connection, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.state = state
        self._server_name = name
        self._tls = tls
        self._connection_threads: set[threading.Thread] = set()

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = self.socket.accept()
        if self._tls is not None:
            # The connection's own thread does the handshake, so that a silent client does not block others.
            connection.settimeout(_HEADER_TIMEOUT)
            connection = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(
            target=self._process, args=(request, client_address), name=f"{self._server_name}-connection", daemon=True
        )
        self._connection_threads = {each for each in self._connection_threads if each.is_alive()} | {thread}
        thread.start()

    def _process(self, request: socket.socket, client_address: Any) -> None:
        try:
            with suppress(OSError, ValueError):  # the client has gone, or does not use TLS
                self.finish_request(request, client_address)
        finally:
            self.shutdown_request(request)
            self.state.closed(request)

    def server_close(self) -> None:
        super().server_close()
        for thread in self._connection_threads:
            thread.join()


class Server:
    """A server that serves a handler on a listening socket. Go: http.Server."""

    def __init__(
        self,
        handler: HandlerLike,
        ctx: Context | None = None,
        name: str = "http",
        tls: ssl.SSLContext | None = None,
        addr: str = "",
    ) -> None:
        """Initialize a server. `ctx` is the requests' context; `addr` is the address for `listen_and_serve`."""
        self.addr = addr
        self._name = name
        self._tls = tls
        self._state = _State(to_handler(handler), ctx if ctx is not None else background())
        self._lock = threading.Lock()
        self._listening: _Listening | None = None
        self._ended = False
        self._left = threading.Event()

    def listen_and_serve(self) -> None:
        """Listen at `addr` and serve. Blocks until `shutdown`. Raises OSError."""
        self.serve(listen(self.addr or ":80"))

    def serve(self, listener: socket.socket) -> None:
        """Serve until `shutdown`; closes the listener. Blocks until the connections' threads have ended."""
        with self._lock:
            if self._ended:
                listener.close()
                return
            listening = self._listening = _Listening(listener, self._state, self._name, self._tls)
        try:
            listening.serve_forever(_POLL_SECONDS)
            self._left.wait()
        finally:
            listening.server_close()

    def shutdown(self, timeout: float | None = None) -> None:
        """Accept no more requests, and wait for the current ones.

        After `timeout` seconds it closes their connections and raises TimeoutError. Idempotent.
        """
        with self._lock:
            self._ended = True
            listening = self._listening
        if listening is None:
            return
        try:
            listening.shutdown()
            self._state.close_idle()
            if not self._state.wait_for_active(timeout):
                self._state.close_active()
                raise TimeoutError("context deadline exceeded")
        finally:
            self._left.set()
