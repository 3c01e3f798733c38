"""An in-memory pipe of bytes between two threads, with a bound. Replaces io.Pipe of Go.

Go's pipe has no buffer: a write blocks until a read takes its bytes. This one stores up to `capacity` bytes, since a
switch of threads for each message is expensive in Python.
"""

from __future__ import annotations

import threading
from collections import deque

__all__ = ["ErrClosedPipe", "Pipe"]


class ErrClosedPipe(ConnectionError):
    """Raised by a write to a pipe whose reader has gone. Go: io.ErrClosedPipe."""

    def __init__(self) -> None:
        super().__init__("io: read/write on closed pipe")


class Pipe:
    """A bounded queue of bytes. Thread-safe; reads block while it is empty, writes while it is full. Go: io.Pipe.

    Invariants: at most `capacity` bytes wait, apart from the last write that began below the limit.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        # Guards the other attributes. Notified at each change that can let a thread continue.
        self._changed = threading.Condition()
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._ended = False
        self._error: BaseException | None = None
        self._abandoned = False

    def read(self, size: int = -1) -> bytes:
        """Wait for at least one byte and return at most `size` bytes (-1: one write's); b"" at the end.

        Raises the error that the writer gave.
        """
        with self._changed:
            while not self._chunks and not self._ended and not self._abandoned:
                self._changed.wait()
            if not self._chunks:
                if self._error is not None and not self._abandoned:
                    raise self._error
                return b""
            chunk = self._chunks.popleft()
            if 0 <= size < len(chunk):
                self._chunks.appendleft(chunk[size:])
                chunk = chunk[:size]
            self._size -= len(chunk)
            self._changed.notify_all()
            return chunk

    def write(self, data: bytes) -> None:
        """Add bytes. Blocks while the pipe is full. Raises ErrClosedPipe after `close_read` and `close_write`."""
        if not data:
            return
        with self._changed:
            while self._size >= self._capacity and not self._ended and not self._abandoned:
                self._changed.wait()
            if self._ended or self._abandoned:
                raise ErrClosedPipe
            self._chunks.append(data)
            self._size += len(data)
            self._changed.notify_all()

    def close_write(self, err: BaseException | None = None) -> None:
        """End the stream after the bytes that wait. A reader then gets `err`, or b"". The first call counts."""
        with self._changed:
            if not self._ended:
                self._ended, self._error = True, err
            self._changed.notify_all()

    def close_read(self) -> None:
        """Discard the bytes that wait, and let writes fail. Reads return b""."""
        with self._changed:
            self._abandoned = True
            self._chunks.clear()
            self._size = 0
            self._changed.notify_all()

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<Pipe {self._size}/{self._capacity} bytes{', ended' if self._ended else ''}>"
