"""The server side of net/http for a manager's endpoints and webhooks: handlers, a multiplexer and a server.

A handler is an object with `serve_http(resp, req)`, or such a function. The connections, their threads and their limits
are those of server_connection.py. The limits include controller-runtime's: 1 MiB of headers, 32 seconds to receive
them, 90 seconds of idle time. Differences from Go: the server sends the response when the handler has returned. An
exception of the handler becomes a 500 whose text only appears in the log.
"""

from __future__ import annotations

import copy
import os
import posixpath
import socket
import ssl
import threading
import urllib.parse
from collections.abc import Callable
from typing import Protocol, TypeAlias, cast

from clientgo import klog
from clientgo.context import Context, background
from clientgo.golang import utf8
from clientgo.golang.http import server_request
from clientgo.golang.http.header import Header
from clientgo.golang.http.server_connection import ConnectionServer, RequestBodyTooLarge
from clientgo.golang.stop import is_crash
from clientgo.klog.exceptions import is_operational, location_of, operational_error

__all__ = [
    "AddressError",
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
_MAX_PORT = 65535


@operational_error
class ListenError(OSError):
    """Raised for an address that the system rejects: "listen tcp :8081: bind: address already in use".

    Go: net.OpError.
    """

    def __str__(self) -> str:
        return str(self.strerror)


@operational_error
class AddressError(ValueError):
    """Raised for an address that is none: "listen tcp: address 8081: missing port in address". Go: net.AddrError."""


class Request:
    """A request as a handler receives it. Go: http.Request."""

    def __init__(
        self,
        method: str = "GET",
        target: str = "/",
        headers: Header | None = None,
        read: Callable[[int], bytes] | None = None,
        ctx: Context | None = None,
        remote_addr: str = "",
    ) -> None:
        """Initialize a request. `target` is the path and query of the request line; `read` reads the body."""
        path, _, self.raw_query = target.partition("?")
        self.method = method
        self.path = urllib.parse.unquote(path)
        """The decoded path. Go: req.URL.Path."""
        self.headers = headers if headers is not None else Header()
        self.remote_addr = remote_addr
        self._read = read
        self._ctx = ctx if ctx is not None else background()

    def context(self) -> Context:
        """Return the server's context. Go: Context."""
        return self._ctx

    def query(self) -> dict[str, list[str]]:
        """Return the values of the query by name; a name without a value has the value "". Go: req.URL.Query."""
        return server_request.parse_query(self.raw_query)

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
        changed = copy.copy(self)
        changed.path = path
        return changed


class _Received(Request):
    """A request on a connection."""

    def __init__(self, received: server_request.Request, ctx: Context) -> None:
        names = received.headers
        headers = Header((_canonical(name), value) for name in names for value in received.header_values(name))
        host, port = received.connection.peer[:2]
        super().__init__(received.method, "", headers, None, ctx, f"{host}:{port}")
        self.path, self.raw_query = received.path, received.raw_query
        self._received = received

    def read_body(self, limit: int) -> bytes:
        received = self._received
        try:
            return cast("bytes", received.connection.read_body(received, limit))
        except server_request.Malformed as err:
            raise ConnectionResetError(str(err)) from None


def _canonical(name: str) -> str:
    """Return the spelling that Go gives a header's name: "Content-Type"."""
    return "-".join(word.capitalize() for word in name.split("-"))


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
        self.body += utf8.encode(data) if isinstance(data, str) else data


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

    Raises ListenError if the system rejects the address, AddressError if it is malformed.
    """
    host, separator, port = address.rpartition(":")
    if not separator:
        raise AddressError(f"listen tcp: address {address}: missing port in address")
    if not (port.isascii() and port.isdigit()):
        raise AddressError(f"listen tcp: address {address}: unknown port")
    # Python converts no longer texts.
    if len(port.lstrip("0")) > len(str(_MAX_PORT)) or int(port) > _MAX_PORT:
        raise AddressError(f"listen tcp: address {port}: invalid port")
    if not _is_name(host):
        raise listen_error(OSError(), address)
    try:
        return _listen(host.removeprefix("[").removesuffix("]"), int(port))
    except OSError as err:
        raise listen_error(err, address) from None


def _is_name(host: str) -> bool:
    """Report whether Python can look the host up. For others it raises several errors, and leaves a socket open."""
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return "\0" not in host


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
        self._handler = to_handler(handler)
        self._ctx = ctx if ctx is not None else background()
        # Guards the next two attributes.
        self._lock = threading.Lock()
        self._connections: ConnectionServer | None = None
        self._ended = False
        # Set when `shutdown` has waited for the current requests.
        self._is_drained = threading.Event()

    def listen_and_serve(self) -> None:
        """Listen at `addr` and serve. Blocks until `shutdown`. Raises OSError."""
        self.serve(listen(self.addr or ":80"))

    def serve(self, listener: socket.socket) -> None:
        """Serve until `shutdown`; closes the listener. Blocks until the connections' threads have ended."""
        tls = self._tls
        with self._lock:
            if self._ended:
                listener.close()
                return
            context = None if tls is None else lambda: tls
            connections = self._connections = ConnectionServer(listener, self._respond, self._name, tls=context)
        try:
            connections.run()
            self._is_drained.wait()
        finally:
            connections.stop()

    def shutdown(self, timeout: float | None = None) -> None:
        """Accept no more requests, and wait for the current ones.

        After `timeout` seconds it closes their connections and raises TimeoutError. Idempotent.
        """
        with self._lock:
            self._ended = True
            connections = self._connections
        if connections is None:
            return
        try:
            if not connections.drain(timeout):
                raise TimeoutError("context deadline exceeded")
        finally:
            self._is_drained.set()

    def _respond(self, received: server_request.Request) -> server_request.Response:
        received.connection.check_body(received)
        resp = ResponseWriter()
        try:
            self._handler(resp, _Received(received, self._ctx))
        except BaseException as err:
            if not is_crash(err):
                raise
            # The text of a network error alone does not show which request of the handler failed.
            at = {"at": location_of(err)} if is_operational(err) else {}
            klog.from_context(self._ctx).error(err, "http: panic serving", **at, path=received.path)
            resp = ResponseWriter()
            error(resp, "internal server error", 500)
        resp.write_header(200)
        return server_request.Response(resp.status, bytes(resp.body), _TEXT if resp.body else "", resp.header())
