"""Reading the caller's standard input so that the end of the command ends the read.

Mirrors tools/remotecommand/reader.go.
Go's goroutine stays blocked in the read. Here a thread waits for the descriptor of a pipe, a terminal or a socket
together with a second one, which wakes it. An object without a descriptor is read directly.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import threading
from typing import Any, Final

__all__ = ["Reader", "copy"]

SIZE: Final = 32 << 10


class Reader:
    """A reader of a binary file of the caller. One thread reads, any thread stops it. Go: readerWrapper."""

    def __init__(self, source: Any) -> None:
        """Initialize a reader. Raises TypeError for a text file."""
        if isinstance(source, io.TextIOBase):
            raise TypeError("stdin must be a binary file, for example sys.stdin.buffer")
        self._source = source
        # Not for io.BytesIO and the like, which have no descriptor.
        self._descriptor: int | None = None
        with contextlib.suppress(OSError, AttributeError, TypeError, ValueError):
            self._descriptor = int(source.fileno())
        # Guards the two ends of the pipe, which `close` closes.
        self._lock = threading.Lock()
        self._wake: tuple[int, int] | None = None
        self.stopped = False
        if self._descriptor is not None and hasattr(select, "poll"):
            self._wake = os.pipe()

    @property
    def can_stop(self) -> bool:
        """Report whether `stop` ends a blocked read."""
        return self._wake is not None

    def read(self, size: int = SIZE) -> bytes:
        """Wait for bytes and return them; b"" at the end and after `stop`."""
        wake = self._wake
        if wake is not None and self._descriptor is not None:
            poll = select.poll()
            poll.register(self._descriptor, select.POLLIN)
            poll.register(wake[0], select.POLLIN)
            poll.poll()
        if self.stopped:
            return b""
        read = getattr(self._source, "read1", None) or self._source.read
        data = read(size)
        if isinstance(data, str):
            raise TypeError("stdin must be a binary file")
        return data or b""

    def stop(self) -> None:
        """Let `read` return b"" from now on."""
        self.stopped = True
        with self._lock:
            if self._wake is not None:
                os.write(self._wake[1], b"x")

    def close(self) -> None:
        """Release the pipe that wakes the reader. The reading thread calls it at its end."""
        with self._lock:
            wake, self._wake = self._wake, None
        if wake is not None:
            os.close(wake[0])
            os.close(wake[1])


def copy(destination: Any, source: Any) -> None:
    """Copy until the end of `source`, and flush the destination after each piece. Go: io.Copy."""
    flush = getattr(destination, "flush", None)
    while data := source.read(SIZE):
        destination.write(data)
        if flush is not None:
            flush()
