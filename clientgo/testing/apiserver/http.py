"""A small HTTP/1.1 server: one thread per connection, keep-alive, limits, and watch sockets that move to the pump.

The standard http.server parses headers several times slower than this needs and cannot give a connection away. Every
malformed request ends in a 4xx answer.
"""

from __future__ import annotations

import contextlib
import gzip
import socket
import ssl
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from clientgo import klog

MAX_HEAD = 1 << 20
MAX_BODY = 3 * 1024 * 1024
GZIP_THRESHOLD = 128 * 1024
_RECV = 65536
_HANDSHAKE_SECONDS = 10.0
# How long a client may pause within a request, and how long it may take to read an answer. A connection between two
# requests may rest as long as it likes.
_PAUSE_SECONDS = 32.0
_ANSWER_SECONDS = 60.0
# How long to wait for each piece, and how much to read, of a body that has been refused.
_LINGER_SECONDS = 0.5
_LINGER_BYTES = 16 * MAX_BODY

_REASONS = {
    200: "OK",
    201: "Created",
    202: "Accepted",
    304: "Not Modified",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    409: "Conflict",
    410: "Gone",
    413: "Request Entity Too Large",
    415: "Unsupported Media Type",
    422: "Unprocessable Entity",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}


class Malformed(Exception):
    """The bytes are no HTTP request; the connection is answered with `code` and closed."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class Request:
    """One parsed request. Header names are lower-case; `path` is decoded."""

    __slots__ = ("body", "connection", "headers", "method", "params", "path", "raw_query", "user", "warnings")

    def __init__(self, method: str, target: str, headers: dict[str, str], connection: Connection) -> None:
        try:
            parts = urlsplit(target)
            self.params: dict[str, list[str]] = (
                parse_qs(parts.query, keep_blank_values=True, max_num_fields=1000) if parts.query else {}
            )
        except ValueError:
            raise Malformed(400, "bad request target") from None
        self.method = method
        self.path = unquote(parts.path) if "%" in parts.path else parts.path
        self.raw_query = parts.query
        self.headers = headers
        self.body = b""
        self.connection = connection
        self.user: Any = None
        # What the answer warns of, whatever else it says.
        self.warnings: list[str] = []

    def param(self, name: str, default: str = "") -> str:
        values = self.params.get(name)
        return values[0] if values else default

    def header(self, name: str, default: str = "") -> str:
        return self.headers.get(name, default)

    def __repr__(self) -> str:
        return f"<Request {self.method} {self.path}>"


class Response:
    """What goes back. `stream` instead of a body means that the connection belongs to the pump from now on."""

    __slots__ = ("body", "content_type", "headers", "status", "stream")

    def __init__(
        self,
        status: int,
        body: bytes = b"",
        content_type: str = "application/json",
        headers: dict[str, str] | None = None,
        stream: bool = False,
    ) -> None:
        self.status = status
        self.body = body
        self.content_type = content_type
        self.headers = headers or {}
        self.stream = stream


LAST_CHUNK = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")


class Connection:
    """One client socket with what was read too much."""

    def __init__(self, sock: socket.socket, server: HttpServer) -> None:
        self.sock = sock
        self.server = server
        self.buffer = bytearray()
        # Whether a part of a request has been read.
        self.in_request = False

    def __repr__(self) -> str:
        return f"<Connection {self.sock.fileno()}>"

    def shut(self) -> None:
        """Wake whoever is blocked in the socket."""
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.shut()
        self.sock.close()
        self.server.forget(self)

    def serve(self) -> None:
        """Requests one after the other until the client goes, an error, or a stream."""
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
        text = f"{err.code} {_REASONS[err.code]}: {err}"
        headers = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(text)), "Connection": "close"}
        with contextlib.suppress(OSError):
            self.sock.sendall(head(err.code, headers) + text.encode())
        self.close()

    def _serve_one(self) -> bool:
        """Handle one request; False when this thread is done with the connection."""
        self.in_request = bool(self.buffer)
        request = self._read_head()
        if request is None:
            self.close()
            return False
        too_large = self._read_body(request)
        response = self.server.handler(request, too_large)
        if response.stream:
            return False
        keep = not too_large and request.headers.get("connection", "").lower() != "close"
        self._send(request, response, keep)
        if not keep:
            if too_large:
                self._let_it_be_read()
            self.close()
        return keep

    def _let_it_be_read(self) -> None:
        """Closing with unread bytes would reset the connection, and the client might lose the answer."""
        self.sock.shutdown(socket.SHUT_WR)
        self.sock.settimeout(_LINGER_SECONDS)
        left = _LINGER_BYTES
        while left > 0 and (data := self.sock.recv(_RECV)):
            left -= len(data)

    def _send(self, request: Request, response: Response, keep: bool) -> None:
        body = response.body
        headers = dict(response.headers)
        if body or (response.content_type and response.status != 304):
            headers.setdefault("Content-Type", response.content_type)
        if len(body) > GZIP_THRESHOLD and "gzip" in request.headers.get("accept-encoding", ""):
            body = gzip.compress(body, 1)
            headers["Content-Encoding"] = "gzip"
            headers["Vary"] = "Accept-Encoding"
        if "Transfer-Encoding" not in headers:
            headers["Content-Length"] = str(len(body))
        if not keep:
            headers["Connection"] = "close"
        if request.method == "HEAD" or response.status == 304:
            body = b""
        self.sock.settimeout(_ANSWER_SECONDS)
        self.sock.sendall(head(response.status, headers) + body)

    # ---- reading

    def _fill(self) -> bool:
        """Read some more; False at the end. Raises TimeoutError when the client stops in the middle of a request."""
        self.sock.settimeout(_PAUSE_SECONDS if self.in_request else None)
        data = self.sock.recv(_RECV)
        if not data:
            return False
        self.buffer += data
        self.in_request = True
        return True

    def _read_head(self) -> Request | None:
        searched = 0
        while (end := self.buffer.find(b"\r\n\r\n", max(0, searched - 3))) < 0:
            searched = len(self.buffer)
            if searched > MAX_HEAD:
                raise Malformed(431, "headers too large")
            if not self._fill():
                if self.buffer.strip():
                    raise Malformed(400, "unexpected end of request")
                return None
        raw = bytes(self.buffer[:end]).decode("latin-1")
        del self.buffer[: end + 4]
        lines = raw.lstrip("\r\n").split("\r\n")
        words = lines[0].split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1.") or not words[0].isalpha():
            raise Malformed(400, "malformed HTTP request line")
        headers: dict[str, str] = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon or not name or name != name.strip() or "\x00" in value:
                raise Malformed(400, "malformed header")
            name = name.lower()
            value = value.strip()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        return Request(words[0], words[1], headers, self)

    def _read_body(self, request: Request) -> bool:
        """Read the body; True when it is over the limit (the rest stays unread and the connection must close)."""
        headers = request.headers
        coding = headers.get("transfer-encoding", "").lower()
        length = headers.get("content-length")
        if coding and coding != "identity":
            if coding != "chunked":
                raise Malformed(501, "unsupported transfer encoding")
            self._continue(headers)
            return self._read_chunks(request)
        if length is None:
            return False
        if not length.isascii() or not length.isdigit():
            raise Malformed(400, "bad Content-Length")
        size = int(length)
        if size > MAX_BODY:
            return True
        if size:
            self._continue(headers)
        request.body = self._take(size)
        return False

    def _continue(self, headers: dict[str, str]) -> None:
        if headers.get("expect", "").lower() == "100-continue":
            self.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _take(self, size: int) -> bytes:
        while len(self.buffer) < size:
            if not self._fill():
                raise Malformed(400, "unexpected end of body")
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data

    def _line(self) -> bytes:
        while (end := self.buffer.find(b"\r\n")) < 0:
            if len(self.buffer) > 4096 or not self._fill():
                raise Malformed(400, "malformed chunk")
        line = bytes(self.buffer[:end])
        del self.buffer[: end + 2]
        return line

    def _read_chunks(self, request: Request) -> bool:
        parts: list[bytes] = []
        total = 0
        while True:
            text = self._line().partition(b";")[0].strip()
            try:
                size = int(text, 16)
            except ValueError:
                raise Malformed(400, "malformed chunk") from None
            if size < 0:
                raise Malformed(400, "malformed chunk")
            total += size
            if total > MAX_BODY:
                return True
            if size == 0:
                while self._line():
                    pass
                request.body = b"".join(parts)
                return False
            parts.append(self._take(size))
            if self._line():
                raise Malformed(400, "malformed chunk")


Handler = Callable[[Request, bool], Response]


class HttpServer:
    """Accepts connections and serves each on a thread of its own. start() binds; stop() joins every thread."""

    def __init__(self, host: str, port: int, handler: Handler, tls: Callable[[], ssl.SSLContext]) -> None:
        """`tls` is asked for a context when the first client speaks TLS."""
        self.handler = handler
        self._tls = tls
        # Guards the two sets; held for set operations only.
        self._lock = threading.Lock()
        self._connections: set[Connection] = set()
        self._threads: set[threading.Thread] = set()
        self._stopped = False
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
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._launch(sock)

    def _launch(self, sock: socket.socket) -> None:
        connection = Connection(sock, self)
        with self._lock:
            if self._stopped:
                sock.close()
                return
            self._connections.add(connection)
        self.resume(connection, fresh=True)

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
        else:
            thread.start()

    def _first(self, connection: Connection) -> None:
        """Plain HTTP and TLS share the port: a TLS client's first byte is 22.

        The handshake happens here, off the accepting thread.
        """
        try:
            first = connection.sock.recv(1, socket.MSG_PEEK)
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
        """Close everything and wait for the threads. Idempotent."""
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
