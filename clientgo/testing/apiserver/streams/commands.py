"""Exec and attach, whatever the connection is. Mirrors kubelet/pkg/cri/streaming/remotecommand: exec.go, attach.go,
httpstream.go.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any, Final

from clientgo.api.core.v1 import (
    STREAM_TYPE,
    STREAM_TYPE_ERROR,
    STREAM_TYPE_RESIZE,
    STREAM_TYPE_STDERR,
    STREAM_TYPE_STDIN,
    STREAM_TYPE_STDOUT,
)
from clientgo.apimachinery.util.httpstream import Stream
from clientgo.apimachinery.util.httpstream.spdy.connection import discard_input
from clientgo.apimachinery.util.remotecommand import (
    DEFAULT_STREAM_CREATION_TIMEOUT,
    EXIT_CODE_CAUSE_TYPE,
    NON_ZERO_EXIT_CODE_REASON,
    STREAM_PROTOCOL_V1_NAME,
    STREAM_PROTOCOL_V2_NAME,
    STREAM_PROTOCOL_V3_NAME,
    STREAM_PROTOCOL_V4_NAME,
    STREAM_PROTOCOL_V5_NAME,
)
from clientgo.golang.stop import Signal
from clientgo.testing.apiserver.streams import upgrade
from clientgo.testing.apiserver.streams.channel import Channel, Options, resized
from clientgo.testing.apiserver.streams.runtime import NoSuchContainer, Nowhere, Streams
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.http import Request, Response

__all__ = ["run"]

# The versions over SPDY, the preferred one first.
_PROTOCOLS: Final = (
    STREAM_PROTOCOL_V5_NAME,
    STREAM_PROTOCOL_V4_NAME,
    STREAM_PROTOCOL_V3_NAME,
    STREAM_PROTOCOL_V2_NAME,
    STREAM_PROTOCOL_V1_NAME,
)
_WITH_EXIT_CODES: Final = (STREAM_PROTOCOL_V5_NAME, STREAM_PROTOCOL_V4_NAME)
_WITHOUT_RESIZE: Final = (STREAM_PROTOCOL_V2_NAME, STREAM_PROTOCOL_V1_NAME)
_KINDS: Final = (STREAM_TYPE_ERROR, STREAM_TYPE_STDIN, STREAM_TYPE_STDOUT, STREAM_TYPE_STDERR, STREAM_TYPE_RESIZE)
# Seconds for the client to close its side.
_LINGER: Final = 5.0


class _SpdyChannel(Channel):
    """The streams of one process on a SPDY connection."""

    def __init__(self, request: Request, options: Options) -> None:
        # Guards the next two attributes; notified when a stream has come, and at the end of the connection.
        self._changed = threading.Condition()
        self._streams: dict[str, Stream] = {}
        # Set after the reply to the latest stream, and so after the replies to all.
        self._reply_sent = Signal()
        self._conn, protocol = upgrade.spdy_connection(request, _PROTOCOLS, self._accept)
        self.reports_exit_codes = protocol in _WITH_EXIT_CODES
        self._resizer: threading.Thread | None = None
        wanted = [STREAM_TYPE_ERROR]
        wanted += [STREAM_TYPE_STDIN] if options.stdin else []
        wanted += [STREAM_TYPE_STDOUT] if options.stdout else []
        wanted += [STREAM_TYPE_STDERR] if options.stderr else []
        wanted += [STREAM_TYPE_RESIZE] if options.tty and protocol not in _WITHOUT_RESIZE else []
        self._conn.close_chan().add_done_callback(self._wake)
        try:
            self._await(wanted)
        except BaseException:
            self._conn.close()
            self._conn.join()
            raise
        found: dict[str, Any] = dict(self._streams)
        self._error = found[STREAM_TYPE_ERROR]
        self._outputs = [found[kind] for kind in (STREAM_TYPE_STDOUT, STREAM_TYPE_STDERR) if kind in found]
        self._stdin: Stream | None = found.get(STREAM_TYPE_STDIN)
        self.streams = Streams(
            stdout=found.get(STREAM_TYPE_STDOUT, Nowhere()),
            stderr=found.get(STREAM_TYPE_STDERR, Nowhere()),
            tty=options.tty,
        )
        if self._stdin is not None:
            self.streams.stdin = self._stdin
            self.streams.end_input = self._stdin.reset
        self._conn.close_chan().add_done_callback(lambda: _set(self.streams))
        if STREAM_TYPE_RESIZE in found:
            self._resizer = threading.Thread(
                target=self._read_sizes, args=(found[STREAM_TYPE_RESIZE],), name="apiserver-resize", daemon=True
            )
            self._resizer.start()

    def _accept(self, stream: Stream, reply_sent: Signal) -> None:
        kind = stream.headers().get(STREAM_TYPE, "")
        if kind not in _KINDS:
            discard_input(stream)
            return
        with self._changed:
            if kind in self._streams:
                raise ValueError(f"a second stream of type {kind}")
            self._streams[kind], self._reply_sent = stream, reply_sent
            self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _await(self, wanted: list[str]) -> None:
        """Wait for the client's streams and the replies to them. Raises TimeoutError, ConnectionError."""
        ended = self._conn.close_chan()
        with self._changed:
            complete = self._changed.wait_for(
                lambda: ended.is_set() or all(kind in self._streams for kind in wanted), DEFAULT_STREAM_CREATION_TIMEOUT
            )
            if ended.is_set():
                raise ConnectionError("the client has gone")
            if not complete:
                raise TimeoutError("timed out waiting for client to create streams")
            reply_sent = self._reply_sent
        # Clients do not expect the end of a stream before the reply to it.
        reply_sent.wait()

    def _read_sizes(self, stream: Stream) -> None:
        rest = b""
        while data := stream.read():
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                resized(self.streams, line)
            rest = rest[:1024]

    def finish(self, status: dict[str, object], text: str) -> None:
        """See Channel."""
        if self._stdin is not None:
            # The client stops to wait for it; what it still sends is discarded.
            self._stdin.reset()
        for stream in self._outputs:
            stream.close()
        message = json.dumps(status).encode() if self.reports_exit_codes else text.encode()
        if message:
            self._error.write(message)
        self._error.close()
        self.streams.gone.wait(_LINGER)

    def close(self) -> None:
        """See Channel."""
        self._conn.close()
        self._conn.join()
        if self._resizer is not None:
            self._resizer.join()


def _set(streams: Streams) -> None:
    streams.gone.set()


def run(request: Request, execute: Callable[[Streams], int]) -> Response:
    """Turn the connection into streams, call `execute` with them, and report its exit code. Blocks until the end.

    Raises ApiError, PlainError before the connection is taken over.
    """
    options = Options.of(request)
    channel: Channel
    if upgrade.is_web_socket(request):
        # Here, not above: it needs the extra `stream`.
        from clientgo.testing.apiserver.streams import channels

        channel = channels.WebSocketChannel(upgrade.web_socket(request, channels.PROTOCOLS), options)
    elif upgrade.is_spdy(request):
        try:
            channel = _SpdyChannel(request, options)
        except OSError:
            request.connection.close()
            return Response(101, stream=True)
    else:
        raise errors.bad_request("Upgrade request required")
    try:
        status, text = _result(execute, channel.streams)
        channel.finish(status, text)
    except OSError:
        pass  # the client has gone
    finally:
        channel.close()
        request.connection.close()
    return Response(101, stream=True)


def _result(execute: Callable[[Streams], int], streams: Streams) -> tuple[dict[str, object], str]:
    """Return the end of a process as a Status, and as a text that is empty for success. Go: ServeExec."""
    try:
        code = execute(streams)
    except (FileNotFoundError, NoSuchContainer) as err:
        text = f"error executing command in container: {err}"
        status = {"metadata": {}, "status": "Failure", "message": text, "reason": "InternalError", "code": 500}
        return {**status, "details": {"causes": [{"message": text}]}}, text
    if code == 0:
        return {"metadata": {}, "status": "Success"}, ""
    text = f"command terminated with non-zero exit code: error executing command, exit code {code}"
    causes = [{"reason": str(EXIT_CODE_CAUSE_TYPE), "message": str(code)}]
    reason = str(NON_ZERO_EXIT_CODE_REASON)
    return {
        "metadata": {},
        "status": "Failure",
        "message": text,
        "reason": reason,
        "details": {"causes": causes},
    }, text
