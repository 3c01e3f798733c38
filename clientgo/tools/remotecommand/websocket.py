"""Commands over a WebSocket. Mirrors tools/remotecommand/websocket.go.

The module needs the extra `stream`. One thread reads the connection and distributes the messages, and one sends pings;
both end with the call. A stream stores at most 64 KiB; while it is full, the connection is not read, so memory stays
bounded and the server has to wait.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Final

from clientgo import klog, rest
from clientgo.api.core.v1 import (
    STREAM_TYPE,
    STREAM_TYPE_ERROR,
    STREAM_TYPE_RESIZE,
    STREAM_TYPE_STDERR,
    STREAM_TYPE_STDIN,
    STREAM_TYPE_STDOUT,
)
from clientgo.apimachinery.util.remotecommand import (
    STREAM_CLOSE,
    STREAM_ERR,
    STREAM_PROTOCOL_V5_NAME,
    STREAM_RESIZE,
    STREAM_STD_ERR,
    STREAM_STD_IN,
    STREAM_STD_OUT,
)
from clientgo.context import Context, background
from clientgo.golang.http import Header, Request
from clientgo.golang.pipe import ErrClosedPipe, Pipe
from clientgo.golang.stop import Signal
from clientgo.golang.time import now
from clientgo.tools.remotecommand.remotecommand import Executor, StreamOptions
from clientgo.tools.remotecommand.session import Session
from clientgo.tools.remotecommand.versions import handler_of
from clientgo.transport import websocket
from clientgo.transport.websocket.conn import BINARY, CLOSE_NORMAL_CLOSURE

__all__ = ["new_web_socket_executor", "new_web_socket_executor_for_protocols"]

PING_PERIOD: Final = 5.0
# Twelve pings may be lost.
PING_READ_DEADLINE: Final = PING_PERIOD * 12 + 1.0

_CAPACITY: Final = 64 << 10
_IDS: Final = {
    STREAM_TYPE_STDIN: STREAM_STD_IN,
    STREAM_TYPE_STDOUT: STREAM_STD_OUT,
    STREAM_TYPE_STDERR: STREAM_STD_ERR,
    STREAM_TYPE_ERROR: STREAM_ERR,
    STREAM_TYPE_RESIZE: STREAM_RESIZE,
}


class _WSStreamExecutor:
    """Runs commands over WebSocket connections, one at a time. Go: wsStreamExecutor."""

    def __init__(
        self,
        config: rest.Config,
        method: str,
        url: str,
        protocols: tuple[str, ...],
        *,
        heartbeat_period: float = PING_PERIOD,
        heartbeat_deadline: float = PING_READ_DEADLINE,
    ) -> None:
        try:
            self._transport, self._upgrader = websocket.round_tripper_for(config)
        except (ValueError, OSError) as err:
            raise ValueError(f"error creating websocket transports: {err}") from err
        self._method = method
        self._url = url
        self._protocols = protocols
        self.negotiated = ""
        self.heartbeat_period = heartbeat_period
        self.heartbeat_deadline = heartbeat_deadline

    def stream(self, options: StreamOptions) -> None:
        """Deprecated: use `stream_with_context`. Go: wsStreamExecutor.Stream."""
        self.stream_with_context(background(), options)

    def stream_with_context(self, ctx: Context, options: StreamOptions) -> None:
        """See Executor. Call it once at a time. Go: wsStreamExecutor.StreamWithContext."""
        request = Request(method=self._method, url=self._url, ctx=ctx)
        conn = websocket.negotiate(self._transport, self._upgrader, request, *self._protocols)
        self.negotiated = conn.subprotocol
        logger = klog.from_context(ctx)
        logger.v(4).info("Subprotocol negotiated", protocol=self.negotiated)
        session = Session(logger)
        creator = _WSStreamCreator(logger, conn)

        def abort() -> None:
            session.end()
            creator.close_all_stream_readers(ctx.err())
            conn.close()

        def ready() -> None:
            session.go(
                "demux", lambda: creator.read_demux_loop(session, self.heartbeat_period, self.heartbeat_deadline)
            )

        forget = ctx.add_done_callback(abort)
        try:
            handler_of(self.negotiated, options, logger).stream(creator, ready, session)
        except Exception:
            ended = ctx.err()
            if ended is not None:
                raise ended from None
            raise
        finally:
            forget()
            session.end()
            conn.close()
            creator.close_all_stream_readers(None)
            session.join()
        ended = ctx.err()
        if ended is not None:
            raise ended

    def __repr__(self) -> str:
        return f"<WebSocketExecutor {self._method} {self.negotiated!r}>"


class _WSStreamCreator:
    """The streams of one connection. Thread-safe. Go: wsStreamCreator."""

    def __init__(self, logger: klog.Logger, conn: websocket.Conn) -> None:
        self._logger = logger
        self._conn = conn
        # Guards the other attributes.
        self._lock = threading.Lock()
        self._streams: dict[int, _Stream] = {}
        self._error: Exception | None = None

    def create_stream(self, headers: Header) -> _Stream:
        """Return the stream of the type in the headers. Raises ValueError, or the connection's error."""
        kind = headers.get(STREAM_TYPE, "")
        number = _IDS.get(kind)
        if number is None:
            raise ValueError(f"unknown stream type: {kind}")
        with self._lock:
            if number in self._streams:
                raise ValueError(f"duplicate stream for type {kind}")
            if self._error is not None:
                raise self._error
            stream = self._streams[number] = _Stream(self._conn, headers, number)
        return stream

    def read_demux_loop(self, session: Session, period: float, deadline: float) -> None:
        """Distribute messages until the connection ends, and send pings meanwhile. Go: readDemuxLoop."""
        conn = self._conn
        closed = Signal()

        def received_pong(_data: bytes) -> None:
            conn.set_read_deadline(now() + deadline)

        def send_pings() -> None:
            while not closed.wait(period):
                try:
                    conn.write_ping()
                except OSError as err:
                    self._logger.v(4).info("Websocket Ping failed", err=err)
                    return

        conn.pong_handler = received_pong
        conn.set_read_deadline(now() + deadline)
        session.go("pings", send_pings)
        try:
            self._read_all()
            self.close_all_stream_readers(None)
        except Exception as err:
            self.close_all_stream_readers(err)
        finally:
            closed.set()

    def _read_all(self) -> None:
        """Distribute messages until the peer closes. Raises OSError."""
        stream: _Stream | None = None
        needs_id = True
        while True:
            try:
                piece = self._conn.read_piece()
            except websocket.CloseError as err:
                if err.code == CLOSE_NORMAL_CLOSURE:
                    return
                raise ConnectionError(f"next reader: {err}") from err
            except TimeoutError as err:
                raise TimeoutError(f"next reader: {err}") from err
            except (OSError, ValueError) as err:
                raise ConnectionError(f"next reader: {err}") from err
            if piece.kind != BINARY:
                raise ConnectionError(f"unexpected message type: {piece.kind}")
            data = piece.data
            if piece.is_first:
                needs_id = True
            if needs_id and data:
                needs_id = False
                with self._lock:
                    stream = self._streams.get(data[0])
                if stream is None:
                    self._logger.error(None, "Unknown stream, discarding message", id=data[0])
                data = data[1:]
            if needs_id and piece.is_last:
                raise ConnectionError("read stream id: unexpected EOF")
            if stream is not None and data:
                # Fails after its reader has gone; the message is discarded.
                with contextlib.suppress(ErrClosedPipe):
                    stream.incoming.write(data)

    def close_all_stream_readers(self, err: Exception | None) -> None:
        """End all streams, and let further ones fail. Go: closeAllStreamReaders."""
        with self._lock:
            self._error = self._error or err or ConnectionError("closed all streams")
            streams = list(self._streams.values())
        for stream in streams:
            stream.incoming.close_write(err)


class _Stream:
    """One stream of the connection. Go: stream."""

    def __init__(self, conn: websocket.Conn, headers: Header, number: int) -> None:
        self._conn = conn
        self._headers = headers
        self._number = number
        self.incoming = Pipe(_CAPACITY)
        # Guards the next attribute.
        self._lock = threading.Lock()
        self._closed = False

    def read(self, size: int = -1) -> bytes:
        """See Stream."""
        return self.incoming.read(size)

    def write(self, data: bytes) -> None:
        """See Stream. Sends one message."""
        if self._closed:
            raise ConnectionError(f"write on closed stream {self._number}")
        self._conn.write_message(BINARY, bytes((self._number,)) + data)

    def close(self) -> None:
        """See Stream. The peer learns of it in version 5 of the protocol. Raises ConnectionError the second time."""
        with self._lock:
            if self._closed:
                raise ConnectionError(f"Close() on already closed stream {self._number}")
            self._closed = True
        self._conn.write_message(BINARY, bytes((STREAM_CLOSE, self._number)))

    def reset(self) -> None:
        """See Stream."""
        try:
            self.close()
        except OSError as err:
            klog.v(4).info("Reset of a stream failed", id=self._number, err=err)
        self.incoming.close_write()

    def headers(self) -> Header:
        """See Stream."""
        return self._headers

    def identifier(self) -> int:
        """See Stream."""
        return self._number

    def __repr__(self) -> str:
        return f"<Stream {self._number} {self.incoming!r}>"


def new_web_socket_executor(config: rest.Config, method: str, url: str) -> Executor:
    """Return an executor over WebSockets that speaks version 5 of the protocol only, as servers from 1.30 on do.

    Older servers pass other versions on to runtimes that do not know the end of a stream. Raises ValueError, OSError
    for an invalid config. Go: NewWebSocketExecutor.
    """
    return new_web_socket_executor_for_protocols(config, method, url, STREAM_PROTOCOL_V5_NAME)


def new_web_socket_executor_for_protocols(config: rest.Config, method: str, url: str, *protocols: str) -> Executor:
    """Return an executor over WebSockets that offers these versions, the preferred one first.

    Before version 5 the command cannot learn that its standard input has ended. Raises ValueError, OSError for an
    invalid config. Go: NewWebSocketExecutorForProtocols.
    """
    return _WSStreamExecutor(config, method, url, protocols)
