"""The containers of pods, as the streams use them. Implemented by the simulator; a server without it has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from clientgo.golang.stop import Signal
from clientgo.testing.apiserver.wire.jsonio import Json

if TYPE_CHECKING:
    from clientgo.golang.net import Conn

__all__ = ["Input", "LogOptions", "LogReader", "NoSuchContainer", "Output", "Runtime", "Size", "Streams"]


class NoSuchContainer(LookupError):
    """Raised for a container that does not run (yet)."""


@dataclass(frozen=True)
class Size:
    """The columns and rows of a terminal."""

    width: int
    height: int


class Input(Protocol):
    """The standard input of a process."""

    def read(self, size: int = -1, /) -> bytes:
        """Wait for bytes and return them; b"" at the end."""
        ...


class Output(Protocol):
    """The standard output of a process."""

    def write(self, data: bytes, /) -> None:
        """Send bytes. Blocks while the client does not read. Raises OSError after its end."""
        ...


class Nowhere:
    """The output of a process that nothing reads."""

    def write(self, data: bytes) -> None: ...


class Empty:
    """The input of a process that has none."""

    def read(self, size: int = -1) -> bytes:
        return b""


@dataclass(kw_only=True)
class Streams:
    """The streams of a process, and the client's terminal."""

    stdin: Input = field(default_factory=Empty)
    stdout: Output = field(default_factory=Nowhere)
    stderr: Output = field(default_factory=Nowhere)
    tty: bool = False
    # The last size; None before the first one.
    size: Size | None = None
    # Set when the client has gone; a process ends then.
    gone: Signal = field(default_factory=Signal)
    # Ends `stdin`, for a process that is killed.
    end_input: Callable[[], None] = lambda: None


@dataclass(frozen=True, kw_only=True)
class LogOptions:
    """The part of a log to show."""

    previous: bool = False
    timestamps: bool = False
    tail: int | None = None
    """Number of lines from the end; None for all."""
    since: float | None = None
    """The first point in time, in seconds since the epoch; None for all."""


class LogReader(Protocol):
    """A reader of a log, from the first requested line on."""

    def read(self) -> bytes:
        """Return the next lines without waiting; b"" if there is none."""
        ...

    def wait(self) -> bool:
        """Wait for more lines. Returns False after the end of the container, and after `close`."""
        ...

    def close(self) -> None:
        """Wake the thread in `wait`. Idempotent."""
        ...


class Runtime(Protocol):
    """The containers of the server's pods. Thread-safe. Methods raise NoSuchContainer for one that does not run."""

    def exec(self, pod: Json, container: str, command: list[str], streams: Streams, /) -> int:
        """Run a command and return its exit code. Blocks. Raises FileNotFoundError for an unknown program, OSError."""
        ...

    def attach(self, pod: Json, container: str, streams: Streams, /) -> int:
        """Connect to the main process until its end or the client's. Blocks. Returns its exit code."""
        ...

    def log(self, pod: Json, container: str, options: LogOptions, /) -> LogReader:
        """Return a reader of the log."""
        ...

    def dial(self, pod: Json, port: int, /) -> Conn:
        """Connect to a port of the pod. Raises OSError."""
        ...
