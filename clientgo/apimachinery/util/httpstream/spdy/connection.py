"""Streams over a SPDY/3.1 connection, for either end.

Mirrors apimachinery/pkg/util/httpstream/spdy/connection.go, and the parts of github.com/moby/spdystream that it needs.
Differences: one thread reads and calls the handler of new streams, in Go five workers do; a stream stores at most 1 MiB
that its reader has not taken, in Go 50 frames of any size. While a stream is full, the other streams of the connection
wait, as in Go. A client discards the data of streams that the server opens; Go stores it. A write to a stream that the
peer has reset raises ErrReset; Go sends the data. A stream knows that it ended because the connection was lost,
`was_cut`; in Go this looks like the peer's end of the stream.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Final

from clientgo import klog
from clientgo.apimachinery.util.httpstream.httpstream import NewStreamHandler, Stream, no_op_new_stream_handler
from clientgo.apimachinery.util.httpstream.spdy import framer
from clientgo.golang.http import Header
from clientgo.golang.net import Conn, ErrClosed, Outbox, SocketConn
from clientgo.golang.pipe import ErrClosedPipe, Pipe
from clientgo.golang.stop import Done, Signal
from clientgo.golang.time import now

__all__ = [
    "ErrReset",
    "ErrWriteClosedStream",
    "SpdyConnection",
    "discard_input",
    "new_client_connection",
    "new_client_connection_with_pings",
    "new_server_connection",
    "new_server_connection_with_pings",
]

CREATE_STREAM_RESPONSE_TIMEOUT: Final = 30.0
_CAPACITY: Final = 1 << 20
_PIECE: Final = 32 << 10
_MAX_STREAMS: Final = 2048
_GRACE: Final = 1.0
_LAST_ID: Final = 0x7FFFFFFF


class ErrReset(ConnectionResetError):
    """Raised for a stream that the peer has refused or reset. Go: spdystream.ErrReset."""

    def __init__(self) -> None:
        super().__init__("Stream reset")


class ErrWriteClosedStream(ConnectionError):
    """Raised by a write after `close`. Go: spdystream.ErrWriteClosedStream."""

    def __init__(self) -> None:
        super().__init__("Write on closed stream")


class _Stream:
    """One stream. One thread reads, several may write. Go: spdystream.Stream."""

    def __init__(self, connection: SpdyConnection, number: int, headers: Header) -> None:
        self._connection = connection
        self._number = number
        self._headers = headers
        self.incoming = Pipe(_CAPACITY)
        self.replied = Signal()
        # Set at most once each. This side has ended, the peer has, the peer has reset the stream, and before any reply.
        self.finished = False
        self.remote_finished = False
        self.was_reset = False
        self.was_refused = False
        # The connection ended before any reply.
        self.was_unanswered = False
        # The connection was lost before the peer had ended the stream or announced the end of the connection.
        self.was_cut = False

    def read(self, size: int = -1) -> bytes:
        """See Stream."""
        return self.incoming.read(size)

    def write(self, data: bytes) -> None:
        """See Stream. Raises ErrReset, ErrWriteClosedStream."""
        for start in range(0, len(data), _PIECE):
            if self.was_reset:
                raise ErrReset
            if self.finished:
                raise ErrWriteClosedStream
            self._connection.send(framer.Encoder.data(self._number, data[start : start + _PIECE], False))

    def close(self) -> None:
        """See Stream. Idempotent."""
        if not self.finished:
            self.finished = True
            if self.remote_finished:
                self._connection.forget(self._number)
            self._connection.send(framer.Encoder.data(self._number, b"", True))

    def reset(self) -> None:
        """See Stream. Idempotent; never raises."""
        self._connection.forget(self._number)
        self.incoming.close_read()
        if not self.finished:
            self.finished = True
            self._connection.send_quietly(framer.Encoder.reset(self._number, framer.CANCEL))

    def headers(self) -> Header:
        """See Stream."""
        return self._headers

    def identifier(self) -> int:
        """See Stream."""
        return self._number

    def __repr__(self) -> str:
        return f"<Stream {self._number}{' finished' if self.finished else ''} {self.incoming!r}>"


def discard_input(stream: Stream) -> None:
    """Discard what the peer has sent on a stream that nothing will read, and what it will send. Never raises."""
    if isinstance(stream, _Stream):
        stream.incoming.close_read()


class SpdyConnection:
    """A connection with its streams. Thread-safe. Its threads end with it; `join` waits for them."""

    def __init__(self, conn: Conn, is_server: bool, handler: NewStreamHandler, ping_period: float) -> None:
        self._conn = conn
        self._handler = handler
        self._ping_period = ping_period
        self._encoder, self._decoder = framer.Encoder(), framer.Decoder()
        self._outbox = Outbox(conn)
        # Guards the next three attributes. Never held while anything blocks.
        self._lock = threading.Lock()
        self._streams: dict[int, _Stream] = {}
        self._next_id = 2 if is_server else 1
        self._next_ping = 2 if is_server else 1
        # Of the reader: the smallest number that the peer may give to its next stream.
        self._least_id = 1 if is_server else 2
        self._idle_timeout = 0.0
        self._last_frame = now()
        self._closed = Signal()
        self._threads = [threading.Thread(target=self._read_all, name="spdy-reader", daemon=True)]
        if ping_period > 0:
            self._threads.append(threading.Thread(target=self._send_pings, name="spdy-pings", daemon=True))
        for thread in self._threads:
            thread.start()

    # ---- sending

    def send(self, data: bytes) -> None:
        """Send a frame. Blocks while the peer does not read. Raises OSError."""
        self._last_frame = now()
        self._outbox.flush(self._outbox.add(data))

    def send_quietly(self, data: bytes) -> None:
        """Send a frame, or let the thread do it that is sending. The end of the connection is no error."""
        try:
            self._outbox.add(data)
            self._outbox.flush(wait=False)
        except OSError:
            pass

    def _send_pings(self) -> None:
        while not self._closed.wait(self._ping_period):
            with self._lock:
                number = self._next_ping
                self._next_ping = number + 2 if number + 2 <= _LAST_ID else 1 + (number + 1) % 2
            self.send_quietly(self._encoder.ping(number))

    # ---- streams

    def create_stream(self, headers: Header) -> Stream:
        """See Connection. Raises TimeoutError after 30 seconds without a reply, ErrReset for a refused stream."""
        headers = headers.copy()  # the caller may change them for the next stream
        with self._outbox.lock:
            with self._lock:
                if self._closed.is_set():
                    raise ErrClosed
                number = self._next_id
                if number > _LAST_ID:
                    raise OSError("Unable to get new stream id")
                self._next_id += 2
                stream = self._streams[number] = _Stream(self, number, headers)
            end = self._outbox.add(self._encoder.syn_stream(number, headers))
        self._outbox.flush(end)
        if not stream.replied.wait(CREATE_STREAM_RESPONSE_TIMEOUT):
            stream.reset()
            raise TimeoutError("Timeout occurred")
        if stream.was_refused:
            raise ErrReset
        if stream.was_unanswered:
            raise ErrClosed
        return stream  # also if the connection has ended since the reply: its bytes have arrived

    def forget(self, number: int) -> None:
        with self._lock:
            self._streams.pop(number, None)

    def remove_streams(self, *streams: Stream) -> None:
        """See Connection."""
        for stream in streams:
            self.forget(stream.identifier())

    # ---- the connection

    def close(self) -> None:
        """See Connection. Waits at most a second for another thread that is sending. Idempotent."""
        with self._lock:
            streams = list(self._streams.values())
        for stream in streams:
            stream.reset()
        self._announce_end()
        self._end(is_lost=False)

    def _announce_end(self) -> None:
        """Notify the peer of the end, and of the last of its streams that was accepted."""
        if not self._closed.is_set():
            with contextlib.suppress(OSError):
                self._outbox.add(self._encoder.go_away(max(self._least_id - 2, 0)))
            self._outbox.finish(_GRACE)

    def _end(self, is_lost: bool) -> None:
        """End everything: readers get the bytes that have arrived, then the end.

        `is_lost` if the peer has not announced the end.
        """
        with self._lock:
            streams, self._streams = self._streams, {}
            is_first = self._closed.set()
        # All are marked before any reader notices the end.
        for stream in streams.values():
            stream.was_cut = is_lost and not stream.remote_finished
            stream.was_unanswered = not stream.replied.is_set()
        for stream in streams.values():
            stream.remote_finished = True
            stream.incoming.close_write()
            stream.replied.set()
        if is_first:
            self._conn.close()

    def join(self) -> None:
        """Wait until the threads of a closed connection have ended."""
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()

    def close_chan(self) -> Done:
        """See Connection."""
        return self._closed

    def set_idle_timeout(self, timeout: float) -> None:
        """See Connection. It counts from the next frame on."""
        self._idle_timeout = timeout

    # ---- reading

    def _read_all(self) -> None:
        is_lost = True
        try:
            while data := self._read():
                self._last_frame = now()
                for frame in self._decoder.feed(data):
                    if isinstance(frame, framer.GoAway):
                        is_lost = False
                        self._announce_end()
                        return
                    self._handle(frame)
        except (OSError, EOFError, ValueError) as err:
            if not self._closed.is_set():
                klog.v(4).info("SPDY connection failed", err=err)
        finally:
            self._end(is_lost)

    def _read(self) -> bytes:
        while True:
            if isinstance(self._conn, SocketConn):
                idle = self._idle_timeout
                self._conn.set_read_deadline(self._last_frame + idle if idle > 0 else None)
            try:
                return self._conn.read()
            except TimeoutError:
                if self._idle_timeout > 0 and now() - self._last_frame >= self._idle_timeout:
                    raise

    def _handle(self, frame: framer.Frame) -> None:
        if isinstance(frame, framer.Ping):
            if frame.number % 2 != self._next_ping % 2:
                self.send_quietly(self._encoder.ping(frame.number))
            return
        if isinstance(frame, framer.SynStream):
            self._accept(frame)
            return
        assert not isinstance(frame, framer.GoAway)
        with self._lock:
            stream = self._streams.get(frame.stream_id)
        if stream is None:
            return  # it has ended here already
        if isinstance(frame, framer.Reset):
            stream.was_reset = True
            stream.was_refused = not stream.replied.is_set()
            self.forget(frame.stream_id)
            stream.incoming.close_write()
            stream.finished = True
            stream.replied.set()
            return
        if isinstance(frame, framer.SynReply):
            stream.replied.set()
        elif frame.data:
            # Fails after its reader has gone.
            with contextlib.suppress(ErrClosedPipe):
                stream.incoming.write(frame.data)
        if frame.fin:
            self._finish(stream)

    def _finish(self, stream: _Stream) -> None:
        stream.remote_finished = True
        stream.incoming.close_write()
        if stream.finished:
            self.forget(stream.identifier())

    def _accept(self, frame: framer.SynStream) -> None:
        number = frame.stream_id
        if number < self._least_id or number % 2 != self._least_id % 2:
            self.send_quietly(self._encoder.reset(number, framer.PROTOCOL_ERROR))
            return
        self._least_id = number + 2
        stream = _Stream(self, number, frame.headers)
        with self._lock:
            if len(self._streams) >= _MAX_STREAMS:
                is_refused = True
            else:
                is_refused = False
                self._streams[number] = stream
        if is_refused:
            self.send_quietly(self._encoder.reset(number, framer.REFUSED_STREAM))
            return
        if frame.fin:
            self._finish(stream)
        if self._handler is no_op_new_stream_handler:
            discard_input(stream)
        try:
            self._handler(stream, stream.replied)
        except Exception as err:
            klog.v(4).info("SPDY stream refused", err=err)
            stream.reset()
            return
        try:
            with self._outbox.lock:
                self._outbox.add(self._encoder.syn_reply(number, Header()))
            self._outbox.flush(wait=False)
        finally:
            stream.replied.set()

    def __repr__(self) -> str:
        return f"<SPDY connection {len(self._streams)} streams{', closed' if self._closed.is_set() else ''}>"


def new_client_connection(conn: Conn) -> SpdyConnection:
    """Return the client's end of a connection, which owns `conn`. Go: NewClientConnection."""
    return new_client_connection_with_pings(conn, 0.0)


def new_client_connection_with_pings(conn: Conn, ping_period: float) -> SpdyConnection:
    """Return the client's end of a connection that sends a ping each `ping_period` seconds; 0 for never.

    Go: NewClientConnectionWithPings.
    """
    return SpdyConnection(conn, False, no_op_new_stream_handler, ping_period)


def new_server_connection(conn: Conn, new_stream_handler: NewStreamHandler) -> SpdyConnection:
    """Return the server's end of a connection. The handler runs in the reading thread and must not block.

    Go: NewServerConnection.
    """
    return new_server_connection_with_pings(conn, new_stream_handler, 0.0)


def new_server_connection_with_pings(
    conn: Conn, new_stream_handler: NewStreamHandler, ping_period: float
) -> SpdyConnection:
    """Return the server's end of a connection that sends a ping each `ping_period` seconds; 0 for never.

    Go: NewServerConnectionWithPings.
    """
    return SpdyConnection(conn, True, new_stream_handler, ping_period)
