"""Sequences of CBOR items (RFC 8742), one item a frame. Mirrors runtime/serializer/cbor/framer.go.

Differs: a reader returns whole frames, all that have arrived, so there is no short buffer. clientgo.rest.watch reads
them. Like Go's framer it has the default limits of Go's library: 32 levels, 131,072 elements or pairs.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from clientgo.apimachinery.runtime.serializer.cbor.internal import modes
from clientgo.golang.io import ErrUnexpectedEOF

__all__ = ["MAX_FRAME", "FrameReader", "Source", "new_framer"]

MAX_FRAME: Final = 16 * 1024 * 1024
"""The maximum size of a frame in bytes. Go: the default of streaming.NewDecoder."""


class Source(Protocol):
    """A stream of bytes."""

    def read_some(self) -> bytes:
        """Wait for bytes and return them; b"" at the end."""
        ...


class FrameReader:
    """The items of a stream. One thread reads it. Memory is bounded by the largest frame, and time by the bytes."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._buffer = bytearray()
        self._scanner = modes.Scanner(0, modes.FRAME)
        self._ended = False
        self._error: Exception | None = None

    def read_frames(self) -> list[bytes]:
        """Wait for at least one item, and return all items that have arrived.

        Raises EOFError at the end, ErrUnexpectedEOF within an item, and ValueError for what is no CBOR or exceeds a
        limit; items before it are returned first.
        """
        while True:
            frames = self._cut()
            if frames:
                return frames
            if self._error is not None:
                raise self._error
            piece = b"" if self._ended else self.source.read_some()
            if not piece:
                break
            self._buffer += piece
        self._ended = True
        if self._buffer:
            raise ErrUnexpectedEOF
        raise EOFError("EOF")

    def _cut(self) -> list[bytes]:
        """Remove the complete items from the buffer. Keeps the error of what follows them."""
        buffer, frames, start = self._buffer, [], 0
        try:
            while self._error is None and self._scanner.scan(buffer):
                end = self._scanner.at
                frames.append(bytes(buffer[start:end]))
                start = end
                self._scanner = modes.Scanner(end, modes.FRAME)
        except ValueError as err:
            self._error = err
        if start:
            del buffer[:start]
            self._scanner.at -= start
        if len(buffer) > MAX_FRAME and self._error is None:
            self._error = ValueError("object to decode was longer than maximum allowed size")
        return frames


class _Framer:
    def new_frame_reader(self, reader: Any) -> FrameReader:
        return FrameReader(reader)

    def new_frame_writer(self, writer: Any) -> Any:
        return writer


_FRAMER: Final = _Framer()


def new_framer() -> _Framer:
    """Return the framer of CBOR sequences; implements runtime.Framer. Go: NewFramer."""
    return _FRAMER
