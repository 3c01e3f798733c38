"""Version 2 of the protocol, which ends the standard input. Mirrors tools/remotecommand/v2.go."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from clientgo.api.core.v1 import (
    STREAM_TYPE,
    STREAM_TYPE_ERROR,
    STREAM_TYPE_STDERR,
    STREAM_TYPE_STDIN,
    STREAM_TYPE_STDOUT,
)
from clientgo.apimachinery.util.httpstream import Stream
from clientgo.golang.http import Header
from clientgo.tools.remotecommand.errorstream import ErrorStreamDecoder, watch_error_stream
from clientgo.tools.remotecommand.reader import Reader, copy
from clientgo.tools.remotecommand.remotecommand import StreamCreator, StreamOptions
from clientgo.tools.remotecommand.session import Session

__all__ = ["ErrorDecoderV2", "StreamProtocolV2"]


class StreamProtocolV2:
    """Version 2 of the streaming protocol. Go: streamProtocolV2."""

    def __init__(self, options: StreamOptions) -> None:
        self._options = options
        self._error: Stream | None = None
        self._stdin: Stream | None = None
        self._stdout: Stream | None = None
        self._stderr: Stream | None = None

    def _create_streams(self, conn: StreamCreator) -> None:
        options = self._options
        self._error = conn.create_stream(Header({STREAM_TYPE: STREAM_TYPE_ERROR}))
        if options.stdin is not None:
            self._stdin = conn.create_stream(Header({STREAM_TYPE: STREAM_TYPE_STDIN}))
        if options.stdout is not None:
            self._stdout = conn.create_stream(Header({STREAM_TYPE: STREAM_TYPE_STDOUT}))
        if options.stderr is not None and not options.tty:
            self._stderr = conn.create_stream(Header({STREAM_TYPE: STREAM_TYPE_STDERR}))

    def _decoder(self) -> ErrorStreamDecoder:
        return ErrorDecoderV2()

    def _handle_resizes(self, session: Session) -> None:
        """Send the sizes of the terminal. This version has no stream for them."""

    def stream(self, conn: StreamCreator, ready: Callable[[], None], session: Session) -> None:
        """See StreamProtocolHandler."""
        self._create_streams(conn)
        ready()
        assert self._error is not None
        error = watch_error_stream(session, self._error, self._decoder())
        self._handle_resizes(session)
        self._copy_stdin(session)
        outputs = [
            session.go(name, lambda args=(name, destination, source): _output(session, *args))  # type: ignore[misc]
            for name, destination, source in (
                ("stdout", self._options.stdout, self._stdout),
                ("stderr", self._options.stderr, self._stderr),
            )
            if source is not None
        ]
        for thread in outputs:
            thread.join()
        failure = error()
        if failure is not None:
            raise failure

    def _copy_stdin(self, session: Session) -> None:
        remote = self._stdin
        if remote is None:
            return
        reader = Reader(self._options.stdin)
        session.stop_with(reader)
        # Guards the next variable.
        lock = threading.Lock()
        closed = False

        def close_once() -> None:
            nonlocal closed
            with lock:
                is_first, closed = not closed, True
            if is_first:
                remote.close()

        def send() -> None:
            # The command waits for the end of its input, so it is sent as soon as the local one has ended.
            try:
                copy(remote, reader)
                close_once()
            except Exception as err:
                session.failed(err, "Copying stdin failed")
            finally:
                reader.close()

        def watch() -> None:
            # The server closes the stream when the command no longer reads; nothing else arrives on it.
            try:
                while remote.read():
                    pass
                reader.stop()
                close_once()
            except Exception as err:
                session.failed(err, "Waiting for server to close stdin failed")

        session.go("stdin", send, may_stay=not reader.can_stop)
        session.go("stdin-end", watch)


def _output(session: Session, name: str, destination: Any, source: Stream) -> None:
    try:
        copy(destination, source)
    except Exception as err:
        session.failed(err, f"Copying {name} failed")
        # The rest is read, since a full stream would block the other ones.
        _discard(source)


def _discard(source: Stream) -> None:
    try:
        while source.read():
            pass
    except (OSError, EOFError, ValueError):
        return  # the connection has failed, which the error stream reports


class ErrorDecoderV2:
    """A decoder of texts. Go: errorDecoderV2."""

    def decode(self, message: bytes) -> Exception | None:
        return RuntimeError(f"error executing remote command: {message.decode('utf-8', 'replace')}")
