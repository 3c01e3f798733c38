"""The connections of every HTTP server in the library: accepting, limits, keep-alive, TLS, and an orderly stop.

Replaces the conn type and the accept loop of server.go in Go's net/http. Each connection has its own thread. The
webhooks and endpoints of a manager (server.py), the embedded API server and the tour's page add only their handlers.
Their limits are the ones below: a head and a body must arrive in time, a client must read its response in time, and the
number of connections is bounded. At the bound, the connection that has been idle for the longest makes room.

The standard library's http.server parses headers several times slower, cannot hand a connection over to a stream, and
has none of these limits.
"""

from __future__ import annotations

import contextlib
import errno
import selectors
import socket
import ssl
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from clientgo import klog
from clientgo.golang.http import server_request
from clientgo.golang.http.server_request import LAST_CHUNK, REASONS, Malformed, Request, Response, chunk, head
from clientgo.utils.clock import REAL_CLOCK

__all__ = ["MAX_HEAD", "Connection", "ConnectionServer", "Handler", "RequestBodyTooLarge"]

MAX_HEAD = 1 << 20
"""The maximum size of a head in bytes. Go: http.DefaultMaxHeaderBytes."""

_RECV = 65536
# Seconds that a client may take for the TLS handshake, for a head from its first byte on, for a body, and to read a
# response. The first two are those of kube-apiserver and controller-runtime.
_HEAD_SECONDS = 32.0
_BODY_SECONDS = 60.0
_ANSWER_SECONDS = 60.0
# The rest of a refused body is discarded, so that the client reads the response: seconds for each piece and for all,
# and bytes.
_LINGER_SECONDS = 0.5
_LINGER_SECONDS_IN_ALL = 10.0
_LINGER_BYTES = 48 << 20
# In a chunked body, the bytes that are not data. Go's limit, which grows with the data.
_MAX_CHUNK_OVERHEAD = 16 * 1024
_MAX_CHUNK_LINE = 4096
_MAX_CONNECTIONS = 4096
# Without a free file descriptor, accepting has to wait until a connection ends.
_FULL = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_FULL_PAUSE = 0.05
_TLS_HANDSHAKE = b"\x16"

Handler: TypeAlias = Callable[[Any], Response]
"""Returns the response to a request. Several threads call it concurrently."""


class RequestBodyTooLarge(Exception):
    """Raised for a body above the handler's limit. Go: http.MaxBytesError."""

    def __init__(self, limit: int) -> None:
        super().__init__("http: request body too large")
        self.limit = limit


class Connection:
    """One client socket, and the bytes that were read beyond the current request.

    Only its thread uses it, except for `shut`, and for a stream that has taken it over.
    """

    def __init__(self, sock: socket.socket, peer: Any, server: ConnectionServer) -> None:
        self.sock = sock
        self.peer = peer
        """The client's address, as `accept` returns it."""
        self.server = server
        self.buffer = bytearray()
        # Time since which it waits for a request and may be closed; None while in use. Guarded by the server's lock.
        self.idle_since: float | None = None
        # Seconds that the current read may take, from its first wait on; None for no limit.
        self._patience: float | None = None
        # The deadline; None before a thread waits.
        self._deadline: float | None = None
        self._has_unread_body = False
        self._is_new = True

    def __repr__(self) -> str:
        return f"<Connection {self.sock.fileno()}>"

    def shut(self) -> None:
        """Wake the threads that are blocked in the socket."""
        with contextlib.suppress(OSError):
            # Not the method of SSLSocket: it removes the object that another thread may be using.
            socket.socket.shutdown(self.sock, socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket. Idempotent."""
        self.shut()
        self.sock.close()
        self.server.forget(self)

    def greet(self) -> bool:
        """Do the TLS handshake, or return False after closing the connection. Without TLS return at once.

        A server of both plain HTTP and TLS waits for the first byte, which tells them apart.
        """
        server = self.server
        if server.tls is None:
            return True
        try:
            if not server.begin_idle(self):
                raise ConnectionAbortedError
            self.sock.settimeout(_HEAD_SECONDS)
            if server.tls_only or self.sock.recv(1, socket.MSG_PEEK) == _TLS_HANDSHAKE:
                # In two steps, so that `shut` finds the socket that blocks.
                secure = server.tls().wrap_socket(self.sock, server_side=True, do_handshake_on_connect=False)
                self.sock = secure
                if not server.begin_idle(self):
                    raise ConnectionAbortedError
                secure.do_handshake()
            return True
        except (OSError, ssl.SSLError, ValueError):
            self.close()
            return False

    def serve(self) -> None:
        """Serve requests until the client disconnects, an error occurs, or a stream begins."""
        try:
            while self.serve_one():
                pass
        except Malformed as err:
            self._answer_malformed(err)
        except (OSError, ssl.SSLError, EOFError):
            self.close()
        except Exception as err:
            klog.error_s(err, "Connection failed")
            self.close()

    def _answer_malformed(self, err: Malformed) -> None:
        text = f"{err.code} {REASONS[err.code]}: {err}"
        headers = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(text)), "Connection": "close"}
        with contextlib.suppress(OSError):
            self.sock.sendall(head(err.code, headers) + text.encode())
        self.close()

    def serve_one(self) -> bool:
        """Handle one request. Returns False when this thread no longer serves the connection. Raises Malformed."""
        request = self._read_head()
        if request is None:
            self.close()
            return False
        self._has_unread_body = "content-length" in request.headers or "transfer-encoding" in request.headers
        response = self.server.handler(request)
        if response.stream:
            return False
        keep = request.keep_alive and not response.close and not self._is_body_left(request)
        self._send(request, response, keep)
        if not keep:
            if self._has_unread_body:
                self._discard_rest()
            self.close()
        return keep

    def _is_body_left(self, request: Request) -> bool:
        if not self._has_unread_body:
            return False
        with contextlib.suppress(Malformed):
            self._has_unread_body = server_request.has_body(request)
        return self._has_unread_body

    def _discard_rest(self) -> None:
        """Discard unread bytes, within limits.

        Closing a socket with unread bytes resets the connection and may lose the response.
        """
        self.sock.shutdown(socket.SHUT_WR)
        self.sock.settimeout(_LINGER_SECONDS)
        left, end = _LINGER_BYTES, REAL_CLOCK.now() + _LINGER_SECONDS_IN_ALL
        while left > 0 and REAL_CLOCK.now() < end and (data := self.sock.recv(_RECV)):
            left -= len(data)

    def _send(self, request: Request, response: Response, keep: bool) -> None:
        body = response.body
        headers = dict(response.headers)
        if response.content_type:
            headers.setdefault("Content-Type", response.content_type)
        if headers.get("Transfer-Encoding") == "chunked" and request.minor > 0:
            body = chunk(body) + LAST_CHUNK
        else:
            headers.pop("Transfer-Encoding", None)
            if response.status != 204:
                headers["Content-Length"] = str(len(body))
        if not keep:
            headers["Connection"] = "close"
        elif request.minor == 0:
            headers["Connection"] = "keep-alive"
        if request.method == "HEAD" or response.status == 304:
            body = b""
        self._write(head(response.status, headers), body)

    def _write(self, start: bytes, body: bytes) -> None:
        """Send a response.

        Raises TimeoutError if the client does not read. Most responses fit without a look at the clock.
        """
        sent = 0
        if not isinstance(self.sock, ssl.SSLSocket):
            with contextlib.suppress(BlockingIOError):
                sent = self.sock.sendmsg((start, body), (), socket.MSG_DONTWAIT)
        if sent < len(start) + len(body):
            rest = memoryview(body)[sent - len(start) :] if sent >= len(start) else start[sent:] + body
            self.sock.settimeout(_ANSWER_SECONDS)
            self.sock.sendall(rest)

    # ---- reading

    def _expect(self, seconds: float | None) -> None:
        """Begin to read another part. Bytes that are already here need no look at the clock."""
        self._patience, self._deadline = seconds, None

    def _fill(self) -> bool:
        """Read more bytes. Returns False at the end; raises TimeoutError if the request does not arrive in time."""
        left = self._patience
        if self._deadline is not None:
            left = self._deadline - REAL_CLOCK.now()
        elif left is not None:
            self._deadline = REAL_CLOCK.now() + left
        if left is not None and left <= 0:
            raise TimeoutError("the request did not arrive in time")
        if left is not None or self.sock.gettimeout() is not None:
            self.sock.settimeout(left)
        data = self.sock.recv(_RECV)
        if not data:
            return False
        self.buffer += data
        return True

    def _wait_for_request(self) -> bool:
        """Wait for the first bytes of a request. Returns False at the end of the connection."""
        if not self.server.begin_idle(self):
            return False
        self._expect(_HEAD_SECONDS if self._is_new else self.server.idle_seconds)
        self._is_new = False
        return bool(self.buffer) or self._fill()

    def _read_head(self) -> Request | None:
        """Read the next request without its body. Returns None at the end of the connection."""
        if not self._wait_for_request() or not self.server.end_idle(self):
            return None
        self._expect(_HEAD_SECONDS)
        # Browsers of old sent a line break after a body.
        blanks = len(self.buffer[:2]) - len(self.buffer[:2].lstrip(b"\r\n"))
        del self.buffer[:blanks]
        searched = 0
        while (found := server_request.end_of_head(self.buffer, searched)) is None:
            searched = len(self.buffer)
            if searched > MAX_HEAD:
                raise Malformed(431, "headers too large")
            if not self._fill():
                if self.buffer.strip():
                    raise Malformed(400, "unexpected end of request")
                return None
        raw = bytes(self.buffer[: found[0]])
        del self.buffer[: found[1]]
        return server_request.parse_head(raw, self, make=self.server.request_type)

    def check_body(self, request: Request) -> None:
        """Raise Malformed if the size, the encoding or the expectation of the body is one that Go's server rejects."""
        if server_request.has_body(request):
            self._expectation(request)

    def read_body(self, request: Request, limit: int) -> bytes:
        """Read the body. Blocks. Call it once for a request.

        Raises RequestBodyTooLarge above `limit` bytes, Malformed for an incomplete body and for one that Go's server
        rejects, and TimeoutError.
        """
        if not self._has_unread_body:
            return b""
        self._expect(_BODY_SECONDS)
        if server_request.is_chunked(request):
            self._continue(request)
            body = self._read_chunks(limit)
        else:
            size = server_request.content_length(request)
            if size > limit:
                raise RequestBodyTooLarge(limit)
            if size:
                self._continue(request)
            body = self._take(size)
        self._has_unread_body = False
        return body

    def _continue(self, request: Request) -> None:
        if self._expectation(request) and request.minor > 0:
            self.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

    @staticmethod
    def _expectation(request: Request) -> bool:
        """Report whether the client waits for a "100 Continue". Raises Malformed for another expectation."""
        expected = request.header("expect").lower()
        if expected and expected != "100-continue":
            raise Malformed(417, "unknown expectation")
        return bool(expected)

    def _take(self, size: int) -> bytes:
        while len(self.buffer) < size:
            if not self._fill():
                raise Malformed(400, "unexpected end of body")
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data

    def _line(self) -> bytes:
        while (end := self.buffer.find(b"\n")) < 0:
            if len(self.buffer) > _MAX_CHUNK_LINE or not self._fill():
                raise Malformed(400, "malformed chunk")
        line = bytes(self.buffer[: end + 1])
        del self.buffer[: end + 1]
        if not line.endswith(b"\r\n") or len(line) > _MAX_CHUNK_LINE:
            raise Malformed(400, "malformed chunk")
        return line[:-2]

    def _read_chunks(self, limit: int) -> bytes:
        parts: list[bytes] = []
        total = overhead = 0
        while True:
            line = self._line()
            size = server_request.chunk_size(line)
            total += size
            overhead = max(0, overhead + len(line) + 2 - 16 - 2 * size)
            if overhead > _MAX_CHUNK_OVERHEAD:
                raise Malformed(400, "chunked encoding contains too much non-data")
            if total > limit:
                raise RequestBodyTooLarge(limit)
            if size == 0:
                self._skip_trailer()
                return b"".join(parts)
            parts.append(self._take(size))
            if self._line():
                raise Malformed(400, "malformed chunk")

    def _skip_trailer(self) -> None:
        size = 0
        while line := self._line():
            size += len(line)
            if size > _MAX_CHUNK_OVERHEAD:
                raise Malformed(431, "trailer too large")


class ConnectionServer:
    """A server that accepts connections and serves each one on its own thread.

    `start` or `run` accepts; `drain` ends it after the current requests, `stop` at once. Thread-safe.
    """

    request_type: type[Request] = Request
    """The type of the handler's requests."""

    def __init__(
        self,
        listener: socket.socket,
        handler: Handler,
        name: str,
        *,
        tls: Callable[[], ssl.SSLContext] | None = None,
        tls_only: bool = True,
        idle_seconds: float | None = 90.0,
    ) -> None:
        """Initialize a server. It owns `listener`; `name` begins the names of its threads.

        `tls` returns the TLS context; the first TLS client causes the call. Without `tls_only` the port serves plain
        HTTP too. An idle connection stays open for `idle_seconds`; with None until another client needs its place.
        """
        self.handler = handler
        self.tls = tls
        self.tls_only = tls_only
        self.idle_seconds = idle_seconds
        self.max_connections = min(_MAX_CONNECTIONS, _file_limit() * 3 // 4)
        address = listener.getsockname()
        self.address: tuple[str, int] = (address[0], address[1])
        self._name = name
        self._listener = listener
        # Guards the attributes below and every connection's idle_since; held for a walk over the sets at most.
        # Notified when a connection becomes idle or ends while the server drains.
        self._changed = threading.Condition()
        self._connections: set[Connection] = set()
        self._threads: set[threading.Thread] = set()
        self._draining = False
        self._stopped = False
        self._accepting: threading.Thread | None = None
        # Of the thread that accepts.
        self._is_full = False
        self._waker, self._woken = socket.socketpair()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.address} {len(self._connections)} connections>"

    def connections(self) -> list[Connection]:
        """Return the open connections."""
        with self._changed:
            return list(self._connections)

    # ---- accepting

    def start(self) -> None:
        """Accept connections on a thread of its own. Returns at once."""
        self._accepting = threading.Thread(target=self.run, name=f"{self._name}-accept", daemon=True)
        self._accepting.start()

    def run(self) -> None:
        """Accept connections until `drain` or `stop`, then close the listener. Blocks."""
        listener = self._listener
        with listener, selectors.DefaultSelector() as selector:
            listener.setblocking(False)
            selector.register(listener, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while not self._draining:
                selector.select()
                self._accept_one()

    def _accept_one(self) -> None:
        if self._draining:
            return
        try:
            sock, peer = self._listener.accept()
        except OSError as err:
            # The client has disconnected, or there is no free descriptor: the next one may succeed.
            if err.errno in _FULL:
                self._say_full("Not accepting connections", err)
                self._make_room()
                self._woken.settimeout(_FULL_PAUSE)
                with contextlib.suppress(TimeoutError):
                    self._woken.recv(1, socket.MSG_PEEK)
            return
        sock.setblocking(True)
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._launch(sock, peer)

    def _launch(self, sock: socket.socket, peer: Any) -> None:
        if len(self._connections) >= self.max_connections and not self._make_room():
            self._say_full("Refusing connections: all that may be open are in use", None)
            self._refuse(sock)
            return
        self._is_full = False
        connection = Connection(sock, peer, self)
        with self._changed:
            if self._draining:
                sock.close()
                return
            self._connections.add(connection)
        self.resume(connection, is_new=True)

    def _make_room(self) -> bool:
        """Close the connection that has been idle for the longest. Returns False if all are in use."""
        with self._changed:
            waiting = [(since, id(c), c) for c in self._connections if (since := c.idle_since) is not None]
            if not waiting:
                return False
            longest = min(waiting)[2]
            self._connections.discard(longest)
        klog.v(2).info("Closing an idle connection to make room", connections=self.max_connections)
        longest.shut()
        return True

    def _say_full(self, message: str, err: OSError | None) -> None:
        """Log that the server is full, once until it accepts a connection again."""
        if not self._is_full:
            self._is_full = True
            klog.error_s(err, message, server=self._name, connections=len(self._connections))

    @staticmethod
    def _refuse(sock: socket.socket) -> None:
        """Refuse a connection when the limit is reached and every connection is in use."""
        klog.v(2).info("Refusing a connection", reason="too many connections")
        with contextlib.suppress(OSError):
            sock.setblocking(False)
            sock.send(head(503, {"Retry-After": "1", "Content-Length": "0", "Connection": "close"}))
        sock.close()

    def resume(self, connection: Connection, *, is_new: bool = False) -> None:
        """Serve the connection on a new thread: a new connection, or one that a stream returns."""

        def run() -> None:
            try:
                if not is_new or connection.greet():
                    connection.serve()
            finally:
                with self._changed:
                    self._threads.discard(thread)

        thread = threading.Thread(target=run, name=f"{self._name}-connection", daemon=True)
        with self._changed:
            is_stopped = self._stopped
            if not is_stopped:
                self._threads.add(thread)
        if is_stopped:
            connection.close()
            return
        try:
            thread.start()
        except RuntimeError as err:
            # The system gives no more threads; the present connections continue.
            klog.error_s(err, "Could not serve a connection")
            with self._changed:
                self._threads.discard(thread)
            connection.close()

    # ---- connections

    def begin_idle(self, connection: Connection) -> bool:
        """Mark the connection as waiting for a request. Returns False if it must end."""
        with self._changed:
            if self._draining:
                return False
            connection.idle_since = REAL_CLOCK.now()
            return True

    def end_idle(self, connection: Connection) -> bool:
        """Mark the connection as busy with a request. Returns False if it must end."""
        with self._changed:
            connection.idle_since = None
            return not self._draining

    def forget(self, connection: Connection) -> None:
        """Remove a closed connection."""
        with self._changed:
            self._connections.discard(connection)
            if self._draining:
                self._changed.notify_all()

    # ---- ending

    def _end_accepting(self) -> None:
        with self._changed:
            self._draining = True
            with contextlib.suppress(OSError):  # closed by `stop`
                self._waker.send(b"x")

    def drain(self, timeout: float | None = None) -> bool:
        """Accept no more requests, close idle connections, and wait for the current requests. Call `stop` afterwards.

        If a request still runs after `timeout` seconds, shuts all connections down and returns False.
        """
        self._end_accepting()
        deadline = None if timeout is None else REAL_CLOCK.now() + timeout
        with self._changed:
            for connection in self._connections:
                if connection.idle_since is not None:
                    connection.shut()
            while any(connection.idle_since is None for connection in self._connections):
                left = None if deadline is None else deadline - REAL_CLOCK.now()
                if left is not None and left <= 0:
                    for connection in self._connections:
                        connection.shut()
                    return False
                self._changed.wait(left)
        return True

    def stop(self) -> None:
        """Close all connections and join the threads. Blocks. Idempotent."""
        self._end_accepting()
        if self._accepting is not None:
            self._accepting.join()
        self._listener.close()
        with self._changed:
            self._stopped = True
            connections, threads = list(self._connections), list(self._threads)
        for connection in connections:
            connection.shut()
        for thread in threads:
            thread.join()
        # Those that streams have taken over have no thread.
        for connection in self.connections():
            connection.close()
        self._waker.close()
        self._woken.close()


def _file_limit() -> int:
    """Return the number of files that the process may open."""
    try:
        import resource
    except ImportError:  # Windows
        return _MAX_CONNECTIONS * 2
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
