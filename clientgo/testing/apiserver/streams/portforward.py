"""Connections to the ports of a pod, over SPDY or over SPDY in a WebSocket.

Mirrors kubelet/pkg/cri/streaming/portforward/httpstream.go. The older protocol in which each port has two channels of a
WebSocket is absent; kubectl never used it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Final, NamedTuple

from clientgo.api.core.v1 import (
    PORT_FORWARD_REQUEST_ID_HEADER,
    PORT_HEADER,
    STREAM_TYPE,
    STREAM_TYPE_DATA,
    STREAM_TYPE_ERROR,
)
from clientgo.apimachinery.util.httpstream import Stream
from clientgo.apimachinery.util.httpstream.spdy import new_server_connection_with_pings
from clientgo.apimachinery.util.httpstream.spdy.connection import discard_input
from clientgo.apimachinery.util.portforward import PORT_FORWARD_V1_NAME, WEBSOCKETS_SPDY_TUNNELING_PORT_FORWARD_V1
from clientgo.golang.net import Conn
from clientgo.golang.stop import Signal
from clientgo.testing.apiserver.streams import upgrade
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.http import Request, Response
from clientgo.utils.clock import REAL_CLOCK, PassiveClock

__all__ = ["Forwarder", "run"]

_PING_PERIOD: Final = 10.0
_SIZE: Final = 32 << 10
# Of a port, with zeros before it.
_DIGITS: Final = 20
# Pairs of streams at a time. Further ones are refused.
_MAX_PAIRS: Final = 256
# Seconds that a stream waits for the other one of its pair. Go: portforward.DefaultStreamCreationTimeout.
_PATIENCE: Final = 30.0


class _Pair(NamedTuple):
    """The streams of one client until the second one comes."""

    streams: dict[str, Stream]
    until: float
    """The clock's time at which it is no longer awaited."""


class Forwarder:
    """The pairs of streams of one connection, an error stream and a data stream for each client."""

    def __init__(self, dial: Callable[[int], Conn], *, clock: PassiveClock = REAL_CLOCK) -> None:
        self._dial = dial
        self._clock = clock
        # Guards the other attributes.
        self._lock = threading.Lock()
        # In the order in which their first streams came.
        self._pairs: dict[str, _Pair] = {}
        self._threads: set[threading.Thread] = set()

    def accept(self, stream: Stream, reply_sent: Signal) -> None:
        """Add a stream to its pair. The second one starts the forwarding. Raises ValueError to reject it.

        Resets streams that have waited too long for their second one.
        """
        headers = stream.headers()
        kind, request_id = headers.get(STREAM_TYPE, ""), headers.get(PORT_FORWARD_REQUEST_ID_HEADER, "")
        if kind not in (STREAM_TYPE_ERROR, STREAM_TYPE_DATA):
            raise ValueError(f'invalid stream type "{kind}"')
        port = headers.get(PORT_HEADER, "")
        if not (port.isascii() and port.isdecimal() and len(port) <= _DIGITS and 0 < int(port) < 1 << 16):
            raise ValueError(f'unable to parse "{port}" as a port')
        if kind == STREAM_TYPE_ERROR:
            discard_input(stream)
        self._drop_unpaired()
        with self._lock:
            pair = self._pairs.get(request_id)
            if pair is None:
                if len(self._pairs) + len(self._threads) >= _MAX_PAIRS:
                    raise ValueError("too many connections")
                self._pairs[request_id] = _Pair({kind: stream}, self._clock.now() + _PATIENCE)
                return
            if kind in pair.streams:
                raise ValueError(f"{kind} stream already exists")
            del self._pairs[request_id]
            streams = {**pair.streams, kind: stream}
            thread = threading.Thread(
                target=self._serve, args=(streams, int(port), reply_sent), name="apiserver-portforward", daemon=True
            )
            self._threads.add(thread)
            thread.start()

    def _drop_unpaired(self) -> None:
        """Reset the streams that have waited too long, so that they do not keep the places of others."""
        now = self._clock.now()
        late: list[Stream] = []
        with self._lock:
            for request_id, pair in [*self._pairs.items()]:
                if pair.until > now:
                    break
                late += self._pairs.pop(request_id).streams.values()
        for stream in late:
            stream.reset()

    def _serve(self, pair: dict[str, Stream], port: int, reply_sent: Signal) -> None:
        data, error = pair[STREAM_TYPE_DATA], pair[STREAM_TYPE_ERROR]
        # Clients do not expect the end of a stream before the reply to it.
        reply_sent.wait()
        try:
            try:
                target = self._dial(port)
            except OSError as err:
                error.write(str(err).encode())
                return
            _exchange(data, target)
        except OSError:
            pass  # the client has gone
        finally:
            for stream in (data, error):
                # Fails after the end of the connection.
                with contextlib.suppress(OSError):
                    stream.close()
            with self._lock:
                self._threads.discard(threading.current_thread())

    def join(self) -> None:
        """Wait for the threads after the end of the connection."""
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join()


def _exchange(stream: Stream, target: Conn) -> None:
    """Copy in both directions until the target has closed."""

    def send() -> None:
        try:
            while data := stream.read(_SIZE):
                target.write(data)
            close_write = getattr(target, "close_write", None)
            if close_write is not None:
                close_write()
        except OSError:
            target.close()

    thread = threading.Thread(target=send, name="apiserver-portforward-send", daemon=True)
    thread.start()
    try:
        while data := target.read(_SIZE):
            stream.write(data)
    finally:
        target.close()
        try:
            stream.close()
        finally:
            # Ends the read of the other thread: the target takes nothing more.
            stream.reset()
            thread.join()


def run(request: Request, dial: Callable[[int], Conn]) -> Response:
    """Turn the connection into streams, and connect them to ports until the client's end. Blocks.

    Raises ApiError, PlainError before the connection is taken over.
    """
    forwarder = Forwarder(dial)
    if upgrade.is_web_socket(request):
        socket = upgrade.web_socket(request, [WEBSOCKETS_SPDY_TUNNELING_PORT_FORWARD_V1])
        # Here, not above: it needs the extra `stream`.
        from clientgo.tools.portforward.tunneling_connection import TunnelingConnection

        conn = new_server_connection_with_pings(TunnelingConnection(socket), forwarder.accept, _PING_PERIOD)
    elif upgrade.is_spdy(request):
        conn, _ = upgrade.spdy_connection(request, [PORT_FORWARD_V1_NAME], forwarder.accept)
    else:
        raise errors.bad_request("Upgrade request required")
    conn.close_chan().wait()
    conn.join()
    forwarder.join()
    request.connection.close()
    return Response(101, stream=True)
