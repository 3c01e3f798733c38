"""A WebSocket connection for two threads, one that reads and any number that write.

Replaces Conn of github.com/gorilla/websocket. The frames are those of the package `websockets`, which parses and builds
them without doing input or output itself.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from websockets.exceptions import InvalidState, PayloadTooBig
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol

from clientgo.golang.net import Outbox, SocketConn
from clientgo.golang.time import now

__all__ = ["BINARY", "LOGGER", "MAX_MESSAGE", "TEXT", "CloseError", "Conn", "Piece"]

TEXT: Final = 1
BINARY: Final = 2

# The size of a message in bytes above which the connection ends. Kubernetes' servers send at most 32 KiB; gorilla has
# no limit, since its messages are streams.
MAX_MESSAGE: Final = 16 << 20

# Seconds that a write may take. Go: writeDeadline.
WRITE_DEADLINE: Final = 60.0

CLOSE_NORMAL_CLOSURE: Final = 1000
_CLOSE_ABNORMAL: Final = 1006
_NO_STATUS: Final = 1005
_NAMES: Final = {
    1000: "normal",
    1001: "going away",
    1002: "protocol error",
    1003: "unsupported data",
    1005: "no status",
    1006: "abnormal closure",
    1007: "invalid payload data",
    1008: "policy violation",
    1009: "message too big",
    1010: "mandatory extension missing",
    1011: "internal server error",
    1015: "TLS handshake error",
}

# Silent: errors reach the caller as exceptions.
LOGGER: Final = logging.Logger("clientgo.websocket", logging.CRITICAL + 1)


class CloseError(ConnectionError):
    """Raised when the peer has closed the connection, with its code. Go: websocket.CloseError."""

    def __init__(self, code: int, text: str = "") -> None:
        name = f" ({_NAMES[code]})" if code in _NAMES else ""
        super().__init__(f"websocket: close {code}{name}" + (f": {text}" if text else ""))
        self.code = code
        self.text = text


@dataclass(frozen=True)
class Piece:
    """A message or a fragment of one. `kind` is TEXT or BINARY."""

    kind: int
    data: bytes
    is_first: bool
    is_last: bool


class Conn:
    """A WebSocket connection. One thread reads, others may write, any thread closes. Go: websocket.Conn.

    It replies to pings itself while a thread reads.
    """

    def __init__(self, conn: SocketConn, protocol: Protocol, frames: Iterable[Any] = ()) -> None:
        """Initialize a connection that owns `conn`, after the handshake. `frames` arrived together with its end."""
        self._conn = conn
        self._protocol = protocol
        self._outbox = Outbox(conn)
        # Of the reader.
        self._frames: deque[Any] = deque(frames)
        self._kind = BINARY
        self._ended: Exception | None = None
        self.pong_handler: Callable[[bytes], None] = lambda _data: None
        """A function that the reading thread calls for each pong."""
        conn.set_write_deadline(None)

    @property
    def subprotocol(self) -> str:
        """The subprotocol that the handshake chose, or "". Go: Conn.Subprotocol."""
        return str(self._protocol.subprotocol or "")

    # ---- reading

    def read_piece(self) -> Piece:
        """Wait for the next message, or for a fragment of it. Raises CloseError, TimeoutError, ErrClosed, OSError."""
        while True:
            while self._frames:
                piece = self._piece(self._frames.popleft())
                if piece is not None:
                    return piece
            if self._ended is not None:
                raise self._ended
            self._receive()

    def _receive(self) -> None:
        data = self._conn.read()
        with self._outbox.lock:
            if data:
                self._protocol.receive_data(data)
            else:
                self._protocol.receive_eof()
            self._frames.extend(self._protocol.events_received())
            self._collect()
        self._outbox.flush(wait=False)
        failure = self._protocol.parser_exc
        if isinstance(failure, PayloadTooBig):
            self._ended = ValueError("websocket: read limit exceeded")
        elif failure is not None and data:
            self._ended = ValueError(f"websocket: {failure}")
        elif not data:
            self._ended = self._ended or CloseError(_CLOSE_ABNORMAL, "unexpected EOF")

    def _piece(self, frame: Frame) -> Piece | None:
        """Return the content of a frame with data. Raises CloseError for the frame of a close."""
        data = bytes(frame.data)
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY):
            self._kind = TEXT if frame.opcode is Opcode.TEXT else BINARY
            return Piece(self._kind, data, True, frame.fin)
        if frame.opcode is Opcode.CONT:
            return Piece(self._kind, data, False, frame.fin)
        if frame.opcode is Opcode.PONG:
            self.pong_handler(data)
        elif frame.opcode is Opcode.CLOSE:
            code = int.from_bytes(data[:2], "big") if len(data) >= 2 else _NO_STATUS
            self._ended = CloseError(code, data[2:].decode("utf-8", "replace"))
        return None

    # ---- writing

    def _collect(self) -> None:
        """Move the protocol's bytes to the outbox. Called with its lock held."""
        for data in self._protocol.data_to_send():
            if data:  # the empty one asks for a half-close, which `close` does
                self._outbox.add(data)

    def _send(self, build: Callable[[], None], *, wait: bool) -> None:
        with self._outbox.lock:
            try:
                build()
            except InvalidState:
                raise ConnectionError("websocket: close sent") from None
            self._collect()
        self._conn.set_write_deadline(now() + WRITE_DEADLINE)
        self._outbox.flush(wait=wait)

    def write_message(self, kind: int, data: bytes) -> None:
        """Send a message. Blocks while the peer does not read, at most 60 seconds. Thread-safe. Go: WriteMessage."""
        send = self._protocol.send_text if kind == TEXT else self._protocol.send_binary
        self._send(lambda: send(data), wait=True)

    def write_ping(self, data: bytes = b"") -> None:
        """Send a ping; a thread that is writing sends it after its message. Thread-safe. Go: WriteControl."""
        self._send(lambda: self._protocol.send_ping(data), wait=False)

    def write_close(self, code: int = CLOSE_NORMAL_CLOSURE, text: str = "") -> None:
        """Notify the peer that this end closes. Thread-safe. Go: WriteControl."""
        self._send(lambda: self._protocol.send_close(code, text), wait=False)

    # ---- the connection

    def set_read_deadline(self, when: float | None) -> None:
        """Let reads fail with TimeoutError at this time (golang.time.now). Go: SetReadDeadline."""
        self._conn.set_read_deadline(when)

    def set_write_deadline(self, when: float | None) -> None:
        """Let the current writes fail with TimeoutError at this time (golang.time.now). Go: SetWriteDeadline."""
        self._conn.set_write_deadline(when)

    def close(self) -> None:
        """Close the socket without a handshake, and wake all threads that use it. Does not block. Go: Close."""
        self._conn.close()

    def local_addr(self) -> Any:
        """Return the address of this end. Go: LocalAddr."""
        return self._conn.local_addr()

    def remote_addr(self) -> Any:
        """Return the address of the peer. Go: RemoteAddr."""
        return self._conn.remote_addr()

    def __repr__(self) -> str:
        return f"<websocket.Conn {self.subprotocol!r} {self._conn!r}>"
