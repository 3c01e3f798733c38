"""A stream of bytes inside the messages of a WebSocket. Mirrors tools/portforward/tunneling_connection.go."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from clientgo.transport import websocket
from clientgo.transport.websocket.conn import BINARY, CLOSE_NORMAL_CLOSURE

__all__ = ["TunnelingConnection", "new_tunneling_connection"]


class TunnelingConnection:
    """A `golang.net.Conn` over a WebSocket. One thread reads, others may write. Go: portforward.TunnelingConnection."""

    def __init__(self, conn: websocket.Conn) -> None:
        self._conn = conn
        # The rest of a message. Of the reader.
        self._rest = b""
        # Guards the next attribute.
        self._lock = threading.Lock()
        self._closed = False

    def read(self, size: int = 64 << 10) -> bytes:
        """Wait for at least one byte and return at most `size` bytes; b"" after a normal close. Go: Read.

        Raises CloseError, TimeoutError, OSError, and ValueError for a message that is not binary.
        """
        while not self._rest:
            try:
                piece = self._conn.read_piece()
            except websocket.CloseError as err:
                if err.code == CLOSE_NORMAL_CLOSURE:
                    return b""
                raise
            if piece.kind != BINARY:
                raise ValueError("invalid message type received")
            self._rest = piece.data
        data, self._rest = self._rest[:size], self._rest[size:]
        return data

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send the data as one message. Blocks while the peer does not read. Go: Write."""
        self._conn.write_message(BINARY, bytes(data))

    def close(self) -> None:
        """Notify the peer, and close the WebSocket. Idempotent. Go: Close."""
        with self._lock:
            is_first, self._closed = not self._closed, True
        if is_first:
            with contextlib.suppress(OSError):
                self._conn.write_close(CLOSE_NORMAL_CLOSURE)
            self._conn.close()

    def local_addr(self) -> Any:
        """Return the address of this end. Go: LocalAddr."""
        return self._conn.local_addr()

    def remote_addr(self) -> Any:
        """Return the address of the peer. Go: RemoteAddr."""
        return self._conn.remote_addr()

    def set_deadline(self, t: float | None) -> None:
        """Set both deadlines. Go: SetDeadline."""
        self.set_read_deadline(t)
        self.set_write_deadline(t)

    def set_read_deadline(self, t: float | None) -> None:
        """Let reads fail with TimeoutError at this time (golang.time.now); None for never. Go: SetReadDeadline."""
        self._conn.set_read_deadline(t)

    def set_write_deadline(self, t: float | None) -> None:
        """Let writes in progress fail with TimeoutError at this time (golang.time.now). Go: SetWriteDeadline.

        Each write sets a deadline of its own, 60 seconds later.
        """
        self._conn.set_write_deadline(t)

    def __repr__(self) -> str:
        return f"<TunnelingConnection {self._conn!r}>"


def new_tunneling_connection(name: str, conn: websocket.Conn) -> TunnelingConnection:
    """Return a stream of bytes over `conn`, which it owns. `name` is for Go's log lines of each read, which are absent.

    Go: NewTunnelingConnection.
    """
    return TunnelingConnection(conn)
