"""A request in progress, which any thread can abort."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from typing import Protocol

from clientgo.golang.http.message import Request

__all__ = ["Exchange", "Socket"]


class Socket(Protocol):
    """The socket methods that an exchange uses. urllib3's sockets for TLS within TLS have only these."""

    def fileno(self) -> int: ...

    def settimeout(self, value: float | None, /) -> None: ...


class Exchange:
    """The current socket of one request. Thread-safe.

    It holds a duplicate of the socket's file descriptor: shutting that down ends a blocked connect, handshake or read
    of the connection, and it remains valid when another thread closes the socket.
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        # Guards the other attributes. Held only for system calls that do not block.
        self._lock = threading.Lock()
        self._socket: Socket | None = None
        self._handle: socket.socket | None = None
        self._aborted = False

    @property
    def is_aborted(self) -> bool:
        return self._aborted

    def attach(self, sock: Socket, timeout: float | None) -> None:
        """Use this socket for the request, with a read timeout in seconds."""
        with self._lock:
            self._forget()
            sock.settimeout(timeout)
            self._socket = sock
            self._handle = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=os.dup(sock.fileno()))
            if self._aborted:
                self._shut_down()

    def set_timeout(self, seconds: float | None) -> None:
        """Set the socket's read timeout in seconds."""
        with self._lock:
            if self._socket is not None and self._socket.fileno() >= 0:
                self._socket.settimeout(seconds)

    def abort(self) -> None:
        """Abort the request at any stage. Does not block."""
        with self._lock:
            self._aborted = True
            self._shut_down()

    def finish(self) -> None:
        """Mark the request as complete; its connection may serve another one."""
        with self._lock:
            self._forget()

    def failure(self, err: Exception) -> Exception:
        """Return the error for the caller: the reason of an abort, otherwise `err`."""
        ended = self.request.ctx.err()
        if ended is not None:
            return ended
        if self._aborted:
            return ConnectionAbortedError("use of closed network connection")
        return err

    def _shut_down(self) -> None:
        if self._handle is not None:
            with contextlib.suppress(OSError):
                self._handle.shutdown(socket.SHUT_RDWR)

    def _forget(self) -> None:
        self._socket = None
        if self._handle is not None:
            self._handle.close()
            self._handle = None
