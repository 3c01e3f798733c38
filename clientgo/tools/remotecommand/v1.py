"""Version 1 of the protocol, which cannot end the standard input. Mirrors tools/remotecommand/v1.go."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
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
from clientgo.golang.io import ErrUnexpectedEOF
from clientgo.tools.remotecommand.errorstream import raise_if_cut, read_all
from clientgo.tools.remotecommand.reader import Reader, copy
from clientgo.tools.remotecommand.remotecommand import StreamCreator, StreamOptions
from clientgo.tools.remotecommand.session import Session

__all__ = ["StreamProtocolV1"]


class StreamProtocolV1:
    """Version 1 of the streaming protocol. Go: streamProtocolV1."""

    def __init__(self, options: StreamOptions) -> None:
        self._options = options

    def stream(self, conn: StreamCreator, ready: Callable[[], None], session: Session) -> None:
        """See StreamProtocolHandler."""
        options = self._options
        made: list[Stream] = []

        def create(kind: str) -> Stream:
            made.append(conn.create_stream(Header({STREAM_TYPE: kind})))
            return made[-1]

        try:
            error = create(STREAM_TYPE_ERROR)
            stdin = create(STREAM_TYPE_STDIN) if options.stdin is not None else None
            stdout = create(STREAM_TYPE_STDOUT) if options.stdout is not None else None
            stderr = create(STREAM_TYPE_STDERR) if options.stderr is not None and not options.tty else None
            ready()
            self._copy(session, error, stdin, stdout, stderr)
        finally:
            for stream in made:
                stream.reset()

    def _copy(
        self, session: Session, error: Stream, stdin: Stream | None, stdout: Stream | None, stderr: Stream | None
    ) -> None:
        # None for a stream that has ended, otherwise the error of the command.
        results: SimpleQueue[Exception | None] = SimpleQueue()

        def watch() -> None:
            try:
                message = read_all(error).decode("utf-8", "replace")
            except ErrUnexpectedEOF as err:
                if stdout is None and stderr is None:  # Otherwise the error follows the outputs.
                    results.put(OSError(f"Error reading from error stream: {err}"))
            except (OSError, EOFError, ValueError) as err:
                results.put(OSError(f"Error reading from error stream: {err}"))
            else:
                if message:
                    results.put(RuntimeError(f"Error executing remote command: {message}"))

        def output(destination: Any, source: Stream) -> None:
            try:
                copy(destination, source)
            except Exception as err:
                session.failed(err, "Error copying")
            results.put(None)

        session.go("error", watch)
        if stdin is not None:
            reader = Reader(self._options.stdin)
            session.stop_with(reader)
            remote = stdin

            def send() -> None:
                try:
                    copy(remote, reader)
                except Exception as err:
                    session.failed(err, "Error copying")
                finally:
                    reader.close()

            session.go("stdin", send, may_stay=not reader.can_stop)
        count = 0
        for name, destination, source in (
            ("stdout", self._options.stdout, stdout),
            ("stderr", self._options.stderr, stderr),
        ):
            if source is not None:
                count += 1
                session.go(name, lambda destination=destination, source=source: output(destination, source))  # type: ignore[misc]
        completed = 0
        while True:
            failure = results.get()
            if failure is not None:
                raise failure
            completed += 1
            if completed == count:
                break
        try:
            raise_if_cut(error)
        except ErrUnexpectedEOF as err:
            raise OSError(f"Error reading from error stream: {err}") from err
