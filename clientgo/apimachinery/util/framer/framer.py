"""Frames in a byte stream: length-delimited, or one JSON value each. Mirrors util/framer/framer.go.

The client's own watches read several frames at once, with clientgo.rest.watch.
"""

from __future__ import annotations

import re
from typing import IO, Final, Protocol

from clientgo.apimachinery.util.json import scan_at_any_depth
from clientgo.golang import utf8
from clientgo.golang.io import ErrShortBuffer, ErrUnexpectedEOF

__all__ = [
    "FrameReader",
    "FrameWriter",
    "new_json_framed_reader",
    "new_length_delimited_frame_reader",
    "new_length_delimited_frame_writer",
]

_HEADER_SIZE: Final = 4
_PIECE_SIZE: Final = 16 * 1024
_BLANKS: Final = b" \t\r\n"
_STRUCTURE: Final = re.compile(rb'["\[\]{}]')
_END_OF_STRING: Final = re.compile(rb'["\\]')
_END_OF_SCALAR: Final = re.compile(rb'[ \t\r\n,:"\[\]{}]')


class FrameReader(Protocol):
    """A reader of frames, for use by one thread. Go: io.ReadCloser."""

    def readinto(self, buffer: bytearray | memoryview, /) -> int:
        """Read a frame into the buffer and return its length. Blocks.

        Raises ErrShortBuffer if the frame does not fit; the next call continues it. Raises EOFError at the end of the
        stream, ErrUnexpectedEOF within a frame, ValueError for an invalid frame.
        """
        ...

    def close(self) -> None:
        """Close the stream."""
        ...


class FrameWriter(Protocol):
    """A writer of frames. Go: io.Writer."""

    def write(self, data: bytes, /) -> int:
        """Write a frame and return its length, without the delimiter. Blocks."""
        ...


def new_length_delimited_frame_writer(w: IO[bytes]) -> FrameWriter:
    """Return a writer that precedes each frame by its length in four bytes.

    Go: framer.NewLengthDelimitedFrameWriter.
    """
    return _LengthDelimitedFrameWriter(w)


class _LengthDelimitedFrameWriter:
    def __init__(self, w: IO[bytes]) -> None:
        self._w = w

    def write(self, data: bytes, /) -> int:
        self._w.write(len(data).to_bytes(_HEADER_SIZE, "big"))
        self._w.write(data)
        return len(data)


def new_length_delimited_frame_reader(r: IO[bytes]) -> FrameReader:
    """Return a reader of length-delimited frames. Go: framer.NewLengthDelimitedFrameReader."""
    return _LengthDelimitedFrameReader(r)


class _LengthDelimitedFrameReader:
    def __init__(self, r: IO[bytes]) -> None:
        self._r = r
        # The number of unread bytes of the current frame.
        self._remaining = 0

    def readinto(self, buffer: bytearray | memoryview, /) -> int:
        if not self._remaining:
            self._remaining = int.from_bytes(self._read_full(_HEADER_SIZE), "big")
        size = min(self._remaining, len(buffer))
        data = self._read_full(size)
        buffer[:size] = data
        self._remaining -= size
        if self._remaining:
            raise ErrShortBuffer(size)
        return size

    def _read_full(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self._r.read(size - len(data))
            if not piece:
                self._remaining = 0
                raise ErrUnexpectedEOF if data else EOFError("EOF")
            data += piece
        return data

    def close(self) -> None:
        self._r.close()


def new_json_framed_reader(r: IO[bytes]) -> FrameReader:
    """Return a reader of JSON values, with or without whitespace between them. Go: framer.NewJSONFramedReader."""
    return _JSONFrameReader(r)


class _JSONFrameReader:
    def __init__(self, r: IO[bytes]) -> None:
        self._r = r
        # Received bytes that belong to no frame yet, and the rest of the current frame.
        self._arrived = bytearray()
        self._remaining = b""

    def readinto(self, buffer: bytearray | memoryview, /) -> int:
        frame = self._remaining or self._next_frame()
        size = min(len(frame), len(buffer))
        buffer[:size] = frame[:size]
        self._remaining = frame[size:]
        if self._remaining:
            raise ErrShortBuffer(size)
        return size

    def close(self) -> None:
        self._r.close()

    def _next_frame(self) -> bytes:
        self._arrived = self._arrived.lstrip(_BLANKS)
        while not self._arrived:
            if not self._receive():
                raise EOFError("EOF")
            self._arrived = self._arrived.lstrip(_BLANKS)
        end = self._end_of_nested() if self._arrived[0] in b'{["' else self._end_of_scalar()
        frame = bytes(self._arrived[:end])
        text = utf8.decode_valid(frame)
        try:
            _, length = scan_at_any_depth(text, 0)
        except (StopIteration, ValueError):
            length = -1
        if length != len(text):
            raise ValueError(f"invalid JSON: {text[:64]!r}")
        del self._arrived[:end]
        return frame

    def _receive(self) -> bool:
        """Wait for bytes. Returns False at the end of the stream."""
        # Returns what has arrived on a socket, instead of waiting until the buffer is full.
        read = getattr(self._r, "read1", self._r.read)
        piece: bytes = read(_PIECE_SIZE)
        self._arrived += piece
        return bool(piece)

    def _end_of_nested(self) -> int:
        """Return the position after the object, list or string at the start of the bytes."""
        at = depth = 0
        in_string = False
        while True:
            found = (_END_OF_STRING if in_string else _STRUCTURE).search(self._arrived, at)
            if found is None:
                at = max(at, len(self._arrived))
                if not self._receive():
                    raise ErrUnexpectedEOF
                continue
            char, at = found[0], found.end()
            if char == b"\\":
                at += 1
                continue
            if char == b'"':
                in_string = not in_string
            else:
                depth += 1 if char in b"[{" else -1
            if not in_string and depth <= 0:
                return at

    def _end_of_scalar(self) -> int:
        """Return the position after the number or word at the start of the bytes, at least one."""
        at = 1
        while (found := _END_OF_SCALAR.search(self._arrived, at)) is None:
            at = len(self._arrived)
            if not self._receive():
                return at
        return found.start()
