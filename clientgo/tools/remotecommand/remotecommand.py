"""The options of a stream, and the interface of what runs it. Mirrors tools/remotecommand/remotecommand.go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from clientgo.apimachinery.util.httpstream import Stream
from clientgo.context import Context
from clientgo.golang.http import Header
from clientgo.tools.remotecommand.resize import TerminalSizeQueue
from clientgo.tools.remotecommand.session import Session

__all__ = ["Executor", "StreamOptions"]


@dataclass(kw_only=True)
class StreamOptions:
    """The streams of a command; None for one that is not wanted. Go: remotecommand.StreamOptions."""

    stdin: Any = None
    """A binary file to read: a pipe, a terminal, a socket's file, io.BytesIO, or an object with `read(size)`."""
    stdout: Any = None
    """A binary file to write, or an object with `write(data)`. With `flush`, it is called after each piece."""
    stderr: Any = None
    """Like `stdout`. Not used with `tty`, where both arrive as standard output."""
    tty: bool = False
    """True for a command in a terminal."""
    terminal_size_queue: TerminalSizeQueue | None = None
    """The sizes of the local terminal, with `tty`."""


@runtime_checkable
class Executor(Protocol):
    """A way to run a command in a container and to connect its streams. Go: remotecommand.Executor."""

    def stream(self, options: StreamOptions, /) -> None:
        """Deprecated: use `stream_with_context`. Go: Executor.Stream."""
        ...

    def stream_with_context(self, ctx: Context, options: StreamOptions, /) -> None:
        """Connect the streams, and block until the command has ended or `ctx` is done. Go: Executor.StreamWithContext.

        Raises CodeExitError for a command that failed, the context's error, UpgradeFailureError, StatusError, OSError.
        All threads have ended when it returns, except one that is blocked in `read` of a `stdin` without a descriptor,
        or in `next` of the queue of sizes; it waits for a blocked `write` of `stdout` and `stderr`.
        """
        ...


class StreamCreator(Protocol):
    """A connection that creates streams. Go: streamCreator."""

    def create_stream(self, headers: Header, /) -> Stream: ...


class StreamProtocolHandler(Protocol):
    """One version of the protocol. Go: streamProtocolHandler."""

    def stream(self, conn: StreamCreator, ready: Callable[[], None], session: Session, /) -> None:
        """Create the streams, call `ready`, and copy until the command has ended. Raises its error."""
        ...
