"""Connections of Go's net package: a byte stream that one thread reads while another writes, and any thread closes.

Replaces net.Conn for streams over an upgraded HTTP connection. Python's sockets share one timeout for both directions,
an `ssl` object allows one call at a time, and closing a descriptor while another thread waits for it is unsafe.
`SocketConn` has none of these limits.
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
from collections.abc import Iterator
from typing import Any, Final, Protocol

from clientgo.golang.time import now

__all__ = ["Conn", "ErrClosed", "Outbox", "SocketConn", "join_host_port"]

_READ_SIZE: Final = 64 << 10
_WRITE_SIZE: Final = 64 << 10


class ErrClosed(ConnectionError):
    """Raised by operations on a closed connection. Go: net.ErrClosed."""

    def __init__(self) -> None:
        super().__init__("use of closed network connection")


class Conn(Protocol):
    """A stream of bytes in both directions. One thread may read while another one writes. Go: net.Conn."""

    def read(self, size: int = _READ_SIZE, /) -> bytes:
        """Wait for at least one byte and return at most `size` bytes; b"" at the end. Raises OSError."""
        ...

    def write(self, data: bytes | bytearray | memoryview, /) -> None:
        """Send all of `data`. Blocks while the peer does not read. Raises OSError."""
        ...

    def close(self) -> None:
        """Close the connection and wake the threads that are blocked in it. Does not block. Idempotent."""
        ...

    def local_addr(self) -> Any:
        """Return the address of this end."""
        ...

    def remote_addr(self) -> Any:
        """Return the address of the peer."""
        ...


class SocketConn:
    """A `Conn` over a connected socket, plain or TLS. It owns the socket. Go: net.TCPConn, tls.Conn."""

    def __init__(self, sock: socket.socket, unread: bytes = b"") -> None:
        """Initialize a connection. `unread` are bytes that were read from the socket already."""
        self._sock = sock
        self._unread = unread
        self._local, self._remote = sock.getsockname(), _peer(sock)
        # Held for calls of an `ssl` object, which do not block here.
        self._tls_lock: Any = threading.Lock() if isinstance(sock, ssl.SSLSocket) else contextlib.nullcontext()
        # Guards _users and _closed. The last user of a closed connection closes the descriptor.
        self._lock = threading.Lock()
        self._users = 0
        self._closed = False
        # Points in time; None for no limit.
        self._read_deadline: float | None = None
        self._write_deadline: float | None = None
        sock.setblocking(False)

    def read(self, size: int = _READ_SIZE) -> bytes:
        """See Conn. Raises TimeoutError after the deadline, ErrClosed after `close`."""
        if self._unread:
            data, self._unread = self._unread[:size], self._unread[size:]
            return data
        with self._in_use():
            while True:
                try:
                    with self._tls_lock:
                        return self._sock.recv(size)
                except (BlockingIOError, ssl.SSLWantReadError):
                    self._wait(False, self._read_deadline, "read")
                except ssl.SSLWantWriteError:
                    self._wait(True, self._read_deadline, "read")
                except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
                    return b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """See Conn. Raises TimeoutError after the deadline, ErrClosed after `close`. Threads take turns outside."""
        rest = memoryview(data)
        with self._in_use():
            while rest:
                try:
                    with self._tls_lock:
                        sent = self._sock.send(rest[:_WRITE_SIZE])
                except (BlockingIOError, ssl.SSLWantWriteError):
                    self._wait(True, self._write_deadline, "write")
                except ssl.SSLWantReadError:
                    self._wait(False, self._write_deadline, "write")
                else:
                    rest = rest[sent:]

    def _wait(self, for_room: bool, deadline: float | None, what: str) -> None:
        """Wait until the socket is ready. Raises TimeoutError, and ErrClosed after `close`."""
        left = None if deadline is None else deadline - now()
        if left is not None and left <= 0:
            raise TimeoutError(f"{what}: i/o timeout")
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(self._sock, select.POLLOUT if for_room else select.POLLIN)
            poll.poll(None if left is None else left * 1000)
        else:  # Windows, whose select accepts any descriptor
            readers, writers = ([], [self._sock]) if for_room else ([self._sock], [])
            select.select(readers, writers, [], left)
        if self._closed:
            raise ErrClosed

    @contextlib.contextmanager
    def _in_use(self) -> Iterator[None]:
        """Keep the descriptor open, and turn errors of a closed connection into ErrClosed."""
        with self._lock:
            if self._closed:
                raise ErrClosed
            self._users += 1
        try:
            yield
            if self._closed:
                raise ErrClosed
        except OSError:
            if self._closed:
                raise ErrClosed from None
            raise
        finally:
            with self._lock:
                self._users -= 1
                is_last = self._closed and not self._users
            if is_last:
                self._sock.close()

    def close_write(self) -> None:
        """Send the end of the stream; reading continues. Does nothing on TLS. Go: TCPConn.CloseWrite."""
        if not isinstance(self._sock, ssl.SSLSocket):
            with contextlib.suppress(OSError, ErrClosed), self._in_use():
                self._sock.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """See Conn."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            is_last = not self._users
        with contextlib.suppress(OSError):
            # Not the method of SSLSocket: it removes the object that another thread may be using.
            socket.socket.shutdown(self._sock, socket.SHUT_RDWR)
        if is_last:
            self._sock.close()

    @property
    def is_closed(self) -> bool:
        """Report whether `close` was called."""
        return self._closed

    def local_addr(self) -> Any:
        """See Conn."""
        return self._local

    def remote_addr(self) -> Any:
        """See Conn."""
        return self._remote

    def set_read_deadline(self, when: float | None) -> None:
        """Let reads that begin to wait fail with TimeoutError at this time (golang.time.now); None for never."""
        self._read_deadline = when

    def set_write_deadline(self, when: float | None) -> None:
        """Let writes that begin to wait fail with TimeoutError at this time (golang.time.now); None for never."""
        self._write_deadline = when

    def __repr__(self) -> str:
        return f"<SocketConn {self._remote}{' closed' if self._closed else ''}>"


class Outbox:
    """Bytes on their way into a connection, in the order in which they were added. Thread-safe.

    A writer waits until its bytes are sent. A reader that replies does not wait for a writer whose peer does not read:
    the writer sends the reply later, and so reading goes on. Above `limit` bytes the reader waits too.

    A frame that depends on the earlier ones is encoded and added under `lock`.
    """

    def __init__(self, conn: Conn, limit: int = 1 << 20) -> None:
        self._conn = conn
        self._limit = limit
        # Guards _pending. Never held while anything blocks.
        self.lock = threading.RLock()
        self._pending: list[bytes] = []
        # Numbers of bytes, since the start. A later byte that is lost is no error of a writer whose bytes are sent.
        self._added = self._taken = self._sent = 0
        # Held by the thread that sends.
        self._sending = threading.Lock()
        self._error: Exception | None = None

    def add(self, data: bytes) -> int:
        """Add bytes and return where they end, for `flush`. Raises the error of an earlier `flush`."""
        if self._error is not None:
            raise self._error
        with self.lock:
            self._pending.append(data)
            self._added += len(data)
            return self._added

    def flush(self, end: int | None = None, *, wait: bool = True) -> None:
        """Send all bytes. Without `wait` return at once if another thread is sending.

        Raises OSError if the bytes up to `end`, by default all, could not be sent.
        """
        end = self._added if end is None else end
        while self._pending and self._error is None:
            if not self._sending.acquire(blocking=wait or self._added - self._taken > self._limit):
                return
            try:
                with self.lock:
                    pending, self._pending, self._taken = self._pending, [], self._added
                self._conn.write(data := b"".join(pending))
                self._sent += len(data)
            except Exception as err:
                self._error = err
            finally:
                self._sending.release()
        if wait:
            with self._sending:  # the thread that took this one's bytes has sent them
                pass
        if self._error is not None and self._sent < end:
            raise self._error

    def finish(self, timeout: float) -> None:
        """Send all bytes before a close. Waits at most `timeout` seconds for another thread that is sending."""
        if self._sending.acquire(timeout=timeout):
            self._sending.release()
            with contextlib.suppress(OSError):
                self.flush(wait=False)

    def __repr__(self) -> str:
        return f"<Outbox {len(self._pending)} pending>"


def _peer(sock: socket.socket) -> Any:
    try:
        return sock.getpeername()
    except OSError:  # the peer has gone already
        return None


def join_host_port(host: str, port: int | str) -> str:
    """Return "host:port", with brackets around an IPv6 address. Go: net.JoinHostPort.

    >>> join_host_port("::1", 80)
    '[::1]:80'
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
