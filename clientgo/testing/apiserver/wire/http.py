"""A small HTTP/1 server: one thread per connection, keep-alive, limits, and watch sockets that move to the pump.

The standard http.server parses headers several times slower and cannot pass a connection on. Every malformed request is
answered with an error (messages.py has the rules). Slow or many clients do not block others: heads and bodies have to
arrive in time, and the number of connections is limited.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import resource
import socket
import ssl
import threading
from collections.abc import Callable

from clientgo import klog
from clientgo.testing.apiserver.wire import messages
from clientgo.testing.apiserver.wire.messages import LAST_CHUNK, REASONS, Malformed, Request, Response, chunk, head
from clientgo.utils.clock import REAL_CLOCK

__all__ = [
    "LAST_CHUNK",
    "MAX_BODY",
    "Connection",
    "HttpServer",
    "Malformed",
    "Request",
    "Response",
    "chunk",
    "head",
]

MAX_HEAD = 1 << 20
MAX_BODY = 3 * 1024 * 1024
GZIP_THRESHOLD = 128 * 1024
_RECV = 65536
_MAX_PORT = 65535
_HANDSHAKE_SECONDS = 10.0
# How long a client may take for the head of a request, from its first byte on, and for the body; and how long it may
# take to read an answer. An idle connection stays open until another client needs its place.
_HEAD_SECONDS = 32.0
_BODY_SECONDS = 60.0
_ANSWER_SECONDS = 60.0
# How long to wait for each piece, and how much to read, of a body that has been refused.
_LINGER_SECONDS = 0.5
_LINGER_BYTES = 16 * MAX_BODY
# Of a body in chunks, what is no data: Go's limit, which grows with the data.
_MAX_CHUNK_OVERHEAD = 16 * 1024
_MAX_CHUNK_LINE = 4096
_MAX_CONNECTIONS = 4096
# Without a free file descriptor there is no connection to accept until another one ends.
_FULL = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_FULL_PAUSE = 0.05


class Connection:
    """One client socket, and the bytes that were read beyond the current request."""

    def __init__(self, sock: socket.socket, server: HttpServer) -> None:
        self.sock = sock
        self.server = server
        self.buffer = bytearray()
        # The time since which the connection is idle and may be closed; None while it is in use.
        self.idle_since: float | None = None
        # Seconds that the current read may take, from its first wait on; None for no limit.
        self._patience: float | None = None
        # The deadline; None before a thread waits.
        self._deadline: float | None = None

    def __repr__(self) -> str:
        return f"<Connection {self.sock.fileno()}>"

    def shut(self) -> None:
        """Wake the threads that are blocked in the socket."""
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.shut()
        self.sock.close()
        self.server.forget(self)

    def serve(self) -> None:
        """Serve requests until the client disconnects, an error occurs, or a stream begins."""
        try:
            while self._serve_one():
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

    def _serve_one(self) -> bool:
        """Handle one request. Returns False when this thread no longer serves the connection."""
        request = self._read_head()
        if request is None:
            self.close()
            return False
        self._expect(_BODY_SECONDS)
        too_large = self._read_body(request)
        response = self.server.handler(request, too_large)
        if response.stream:
            return False
        keep = not too_large and request.keep_alive
        self._send(request, response, keep)
        if not keep:
            if too_large:
                self._let_it_be_read()
            self.close()
        return keep

    def _let_it_be_read(self) -> None:
        """Discard unread bytes, within limits.

        Closing with unread bytes resets the connection and may lose the answer.
        """
        self.sock.shutdown(socket.SHUT_WR)
        self.sock.settimeout(_LINGER_SECONDS)
        left = _LINGER_BYTES
        while left > 0 and (data := self.sock.recv(_RECV)):
            left -= len(data)

    def _send(self, request: Request, response: Response, keep: bool) -> None:
        body = response.body
        headers = dict(response.headers)
        if response.content_type:
            headers.setdefault("Content-Type", response.content_type)
        if len(body) > GZIP_THRESHOLD and "gzip" in request.headers.get("accept-encoding", ""):
            body = gzip.compress(body, 1)
            headers["Content-Encoding"] = "gzip"
            headers["Vary"] = "Accept-Encoding"
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

    def _read_head(self) -> Request | None:
        """Read the next request without its body. Returns None at the end of the connection."""
        self._expect(None)
        if not self.buffer:
            self.idle_since = REAL_CLOCK.now()
            if not self._fill():
                return None
            self.idle_since = None
        self._expect(_HEAD_SECONDS)
        # Browsers of old sent a line break after a body.
        blanks = len(self.buffer[:2]) - len(self.buffer[:2].lstrip(b"\r\n"))
        del self.buffer[:blanks]
        searched = 0
        while (found := messages.end_of_head(self.buffer, searched)) is None:
            searched = len(self.buffer)
            if searched > MAX_HEAD:
                raise Malformed(431, "headers too large")
            if not self._fill():
                if self.buffer.strip():
                    raise Malformed(400, "unexpected end of request")
                return None
        raw = bytes(self.buffer[: found[0]])
        del self.buffer[: found[1]]
        return messages.parse_head(raw, self)

    def _read_body(self, request: Request) -> bool:
        """Read the body. Returns True if it exceeds the limit: the rest stays unread and the connection must close."""
        if messages.is_chunked(request):
            self._continue(request)
            return self._read_chunks(request)
        size = messages.content_length(request)
        if size > MAX_BODY:
            return True
        if size:
            self._continue(request)
            request.body = self._take(size)
        return False

    def _continue(self, request: Request) -> None:
        expected = request.header("expect").lower()
        if expected and expected != "100-continue":
            raise Malformed(417, "unknown expectation")
        if expected and request.minor > 0:
            self.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

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

    def _read_chunks(self, request: Request) -> bool:
        parts: list[bytes] = []
        total = overhead = 0
        while True:
            line = self._line()
            size = messages.chunk_size(line)
            total += size
            overhead = max(0, overhead + len(line) + 2 - 16 - 2 * size)
            if overhead > _MAX_CHUNK_OVERHEAD:
                raise Malformed(400, "chunked encoding contains too much non-data")
            if total > MAX_BODY:
                return True
            if size == 0:
                self._skip_trailer()
                request.body = b"".join(parts)
                return False
            parts.append(self._take(size))
            if self._line():
                raise Malformed(400, "malformed chunk")

    def _skip_trailer(self) -> None:
        size = 0
        while line := self._line():
            size += len(line)
            if size > _MAX_CHUNK_OVERHEAD:
                raise Malformed(431, "trailer too large")


Handler = Callable[[Request, bool], Response]


class HttpServer:
    """Accepts connections and serves each on a thread of its own. start() binds; stop() joins every thread."""

    def __init__(self, host: str, port: int, handler: Handler, tls: Callable[[], ssl.SSLContext]) -> None:
        """Bind the port. `tls` returns the TLS context; the first TLS client causes the call."""
        self.handler = handler
        self._tls = tls
        # Guards the two sets; held for a walk over them at most.
        self._lock = threading.Lock()
        self._connections: set[Connection] = set()
        self._threads: set[threading.Thread] = set()
        self._stopped = False
        self.max_connections = min(_MAX_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] * 3 // 4)
        if not 0 <= port <= _MAX_PORT:
            # Python would leave the socket open.
            raise ValueError(f"port must be from 0 to {_MAX_PORT}, not {port}")
        self._listener = socket.create_server((host, port), family=_family(host), backlog=512)
        name = self._listener.getsockname()
        self.address: tuple[str, int] = (name[0], name[1])
        self._accepting: threading.Thread | None = None

    def __repr__(self) -> str:
        return f"<HttpServer {self.address} {len(self._connections)} connections>"

    def start(self) -> None:
        self._accepting = threading.Thread(target=self._accept, name="apiserver-accept", daemon=True)
        self._accepting.start()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError as err:
                if self._stopped:
                    return
                # A client that has gone again, or no descriptor left: the next one may have better luck.
                if err.errno in _FULL:
                    self._make_room()
                    REAL_CLOCK.sleep(_FULL_PAUSE)
                continue
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._launch(sock)

    def _launch(self, sock: socket.socket) -> None:
        if len(self._connections) >= self.max_connections and not self._make_room():
            self._refuse(sock)
            return
        connection = Connection(sock, self)
        with self._lock:
            if self._stopped:
                sock.close()
                return
            self._connections.add(connection)
        self.resume(connection, fresh=True)

    def _make_room(self) -> bool:
        """Close the connection that has been waiting for a request for longest; False when all are of use."""
        with self._lock:
            waiting = [(since, id(c), c) for c in self._connections if (since := c.idle_since) is not None]
            if not waiting:
                return False
            longest = min(waiting)[2]
            self._connections.discard(longest)
        klog.v(2).info("Closing an idle connection to make room", connections=self.max_connections)
        longest.shut()
        return True

    @staticmethod
    def _refuse(sock: socket.socket) -> None:
        """Refuse a connection when the limit is reached and every connection is in use."""
        klog.v(2).info("Refusing a connection", reason="too many connections")
        with contextlib.suppress(OSError):
            sock.setblocking(False)
            sock.send(head(503, {"Retry-After": "1", "Content-Length": "0", "Connection": "close"}))
        sock.close()

    def resume(self, connection: Connection, *, fresh: bool = False) -> None:
        """Serve the connection on a new thread: a new one, or one that comes back from a watch."""
        target = self._first if fresh else Connection.serve

        def run() -> None:
            try:
                target(connection)
            finally:
                with self._lock:
                    self._threads.discard(thread)

        thread = threading.Thread(target=run, name="apiserver-connection", daemon=True)
        with self._lock:
            if self._stopped:
                stopped = True
            else:
                stopped = False
                self._threads.add(thread)
        if stopped:
            connection.close()
            return
        try:
            thread.start()
        except RuntimeError as err:
            # The system gives no more threads; those who are served go on.
            klog.error_s(err, "Could not serve a connection")
            with self._lock:
                self._threads.discard(thread)
            connection.close()

    def _first(self, connection: Connection) -> None:
        """Plain HTTP and TLS share the port: a TLS client's first byte is 22.

        The handshake happens here, off the accepting thread.
        """
        try:
            connection.idle_since = REAL_CLOCK.now()
            connection.sock.settimeout(_HEAD_SECONDS)
            first = connection.sock.recv(1, socket.MSG_PEEK)
            connection.idle_since = None
            if first == b"\x16":
                connection.sock.settimeout(_HANDSHAKE_SECONDS)
                connection.sock = self._tls().wrap_socket(connection.sock, server_side=True)
        except (OSError, ssl.SSLError, ValueError):
            connection.close()
            return
        connection.serve()

    def forget(self, connection: Connection) -> None:
        with self._lock:
            self._connections.discard(connection)

    def stop(self) -> None:
        """Close all connections and join the threads. Idempotent."""
        with self._lock:
            self._stopped = True
            connections = list(self._connections)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        if self._accepting is not None:
            self._accepting.join()
        for connection in connections:
            connection.shut()
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join()
        with self._lock:
            leftover = list(self._connections)
        for connection in leftover:
            connection.close()


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
