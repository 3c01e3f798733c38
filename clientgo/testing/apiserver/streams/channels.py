"""Exec and attach in the messages of a WebSocket. Mirrors kubelet/pkg/cri/streaming/remotecommand/websocket.go."""

from __future__ import annotations

import contextlib
import json
import threading
from typing import Final

from clientgo.apimachinery.util.remotecommand import (
    STREAM_CLOSE,
    STREAM_ERR,
    STREAM_PROTOCOL_V1_NAME,
    STREAM_PROTOCOL_V4_NAME,
    STREAM_PROTOCOL_V5_NAME,
    STREAM_RESIZE,
    STREAM_STD_ERR,
    STREAM_STD_IN,
    STREAM_STD_OUT,
)
from clientgo.golang.pipe import ErrClosedPipe, Pipe
from clientgo.testing.apiserver.streams.channel import Channel, Options, resized
from clientgo.testing.apiserver.streams.runtime import Nowhere, Output, Streams
from clientgo.transport.websocket.conn import BINARY, CLOSE_NORMAL_CLOSURE, Conn

__all__ = ["PROTOCOLS", "WebSocketChannel"]

PROTOCOLS: Final = (STREAM_PROTOCOL_V5_NAME, STREAM_PROTOCOL_V4_NAME, STREAM_PROTOCOL_V1_NAME, "")

_CAPACITY: Final = 64 << 10
_PIECE: Final = 32 << 10
# Seconds for the client to close its side.
_LINGER: Final = 5.0


class _Writer:
    """An output of the process. Thread-safe."""

    def __init__(self, conn: Conn, number: int) -> None:
        self._conn = conn
        self._number = bytes((number,))

    def write(self, data: bytes) -> None:
        for start in range(0, len(data), _PIECE):
            self._conn.write_message(BINARY, self._number + data[start : start + _PIECE])


class WebSocketChannel(Channel):
    """The streams of one process on a connection, which it owns."""

    def __init__(self, conn: Conn, options: Options) -> None:
        self._conn = conn
        self._stdin = Pipe(_CAPACITY)
        self._closes_streams = conn.subprotocol == STREAM_PROTOCOL_V5_NAME
        self.reports_exit_codes = conn.subprotocol in (STREAM_PROTOCOL_V4_NAME, STREAM_PROTOCOL_V5_NAME)

        def writer(number: int, wanted: bool) -> Output:
            return _Writer(conn, number) if wanted else Nowhere()

        if not options.stdin:
            self._stdin.close_write()
        self.streams = Streams(
            stdin=self._stdin,
            stdout=writer(STREAM_STD_OUT, options.stdout),
            stderr=writer(STREAM_STD_ERR, options.stderr and not options.tty),
            tty=options.tty,
            end_input=self._stdin.close_read,
        )
        # An empty message on the first output tells clients that the connection works.
        first = STREAM_STD_OUT if options.stdout else STREAM_STD_ERR if options.stderr else STREAM_ERR
        conn.write_message(BINARY, bytes((first,)))
        self._reader = threading.Thread(target=self._read_all, name="apiserver-channels", daemon=True)
        self._reader.start()

    def _read_all(self) -> None:
        message = bytearray()
        try:
            while True:
                piece = self._conn.read_piece()
                message += piece.data
                if piece.is_last:
                    self._receive(bytes(message))
                    message.clear()
        except (OSError, ValueError):
            pass  # the client has gone
        finally:
            self._stdin.close_write()
            self.streams.gone.set()

    def _receive(self, message: bytes) -> None:
        number, data = message[:1], message[1:]
        if number == bytes((STREAM_STD_IN,)):
            # Fails after the process has ended, or reads no more.
            with contextlib.suppress(ErrClosedPipe):
                self._stdin.write(data)
        elif number == bytes((STREAM_RESIZE,)):
            resized(self.streams, data)
        elif number == bytes((STREAM_CLOSE,)) and self._closes_streams and data == bytes((STREAM_STD_IN,)):
            self._stdin.close_write()

    def finish(self, status: dict[str, object], text: str) -> None:
        """See Channel."""
        self._stdin.close_read()
        message = json.dumps(status).encode() if self.reports_exit_codes else text.encode()
        if message:
            self._conn.write_message(BINARY, bytes((STREAM_ERR,)) + message)
        self._conn.write_close(CLOSE_NORMAL_CLOSURE)
        self.streams.gone.wait(_LINGER)

    def close(self) -> None:
        """See Channel."""
        self._stdin.close_read()
        self._conn.close()
        self._reader.join()
