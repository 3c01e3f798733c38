"""Frames are written and read, also in buffers that are too small."""

from __future__ import annotations

import io

import pytest

from clientgo.apimachinery.util import framer
from clientgo.golang.io import ErrShortBuffer, ErrUnexpectedEOF

FRAMES = b"\0\0\0\4\1\2\3\4" + b"\0\0\0\3\5\6\7" + b"\0\0\0\0" + b"\0\0\0\1\x08"


class Trickle(io.RawIOBase):
    """A stream that returns one byte per read."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def read(self, size: int = -1) -> bytes:
        return self._data.read(1)


def read(reader: framer.FrameReader, size: int) -> tuple[bytes, bool]:
    """Return the bytes of a read into a buffer of that size, and whether the frame has ended."""
    buffer = bytearray(size)
    try:
        return bytes(buffer[: reader.readinto(buffer)]), True
    except ErrShortBuffer as err:
        return bytes(buffer[: err.n]), False


@pytest.mark.parametrize("stream", [io.BytesIO, Trickle])
def test_frames_with_their_length_are_read_in_buffers_of_any_size(stream: type) -> None:
    """Go: TestRead, TestReadLarge."""
    small = framer.new_length_delimited_frame_reader(stream(FRAMES))
    large = framer.new_length_delimited_frame_reader(stream(FRAMES))

    assert [read(small, size) for size in (1, 1, 2, 3, 3, 3)] == [
        *((b"\1", False), (b"\2", False), (b"\3\4", True), (b"\5\6\7", True), (b"", True), (b"\x08", True)),
    ]
    assert [read(large, 40)[0] for _ in range(4)] == [b"\1\2\3\4", b"\5\6\7", b"", b"\x08"]
    for reader in (small, large):
        with pytest.raises(EOFError, match="^EOF$"):
            read(reader, 3)


@pytest.mark.parametrize("data", [b"\0\0", b"\0\0\0\4\1\2"])
def test_a_stream_that_ends_in_a_frame_is_an_error(data: bytes) -> None:
    """Go: TestReadInvalidFrame."""
    reader = framer.new_length_delimited_frame_reader(io.BytesIO(data))

    with pytest.raises(ErrUnexpectedEOF):
        read(reader, 3)
    with pytest.raises(EOFError):
        read(reader, 3)


def test_a_streams_timeout_comes_through() -> None:
    """Go: TestReadClientTimeout."""

    class Silent(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise TimeoutError("timed out")

    with pytest.raises(TimeoutError):
        read(framer.new_length_delimited_frame_reader(Silent()), 1)


def test_what_is_written_can_be_read() -> None:
    stream = io.BytesIO()
    writer = framer.new_length_delimited_frame_writer(stream)

    assert [writer.write(b"abc"), writer.write(b"")] == [3, 0]

    reader = framer.new_length_delimited_frame_reader(io.BytesIO(stream.getvalue()))
    assert [read(reader, 9)[0] for _ in range(2)] == [b"abc", b""]
    reader.close()


@pytest.mark.parametrize("stream", [io.BytesIO, Trickle])
@pytest.mark.parametrize(
    ("text", "frames"),
    [
        ('{"test":true}\n1\n["a"]', ['{"test":true}', "1", '["a"]']),
        (
            '  {"a":"}\\"{"}{"b":[{}]} "x\\\\"null\ttrue 1.5e3',
            ['{"a":"}\\"{"}', '{"b":[{}]}', '"x\\\\"', "null", "true", "1.5e3"],
        ),
        ('"é"[]12', ['"é"', "[]", "12"]),
    ],
)
def test_json_values_are_frames(stream: type, text: str, frames: list[str]) -> None:
    """Go: TestJSONFrameReader."""
    reader = framer.new_json_framed_reader(stream(text.encode()))

    assert [read(reader, 99) for _ in frames] == [(frame.encode(), True) for frame in frames]
    with pytest.raises(EOFError, match="^EOF$"):
        read(reader, 99)


def test_a_json_frame_is_read_on_after_a_short_buffer() -> None:
    """Go: TestJSONFrameReaderShortBuffer, TestJSONFrameReaderShortBufferNoUnderlyingArrayReuse."""
    reader = framer.new_json_framed_reader(io.BytesIO(b'{"test":1} ["a"]'))

    assert [read(reader, 4) for _ in range(5)] == [
        *((b'{"te', False), (b'st":', False), (b"1}", True), (b'["a"', False), (b"]", True)),
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{]", ValueError),
        ("nope", ValueError),
        ("}", ValueError),
        ('{"a":', ErrUnexpectedEOF),
        ('"\\', ErrUnexpectedEOF),
    ],
)
def test_what_is_no_json_is_an_error(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        read(framer.new_json_framed_reader(io.BytesIO(text.encode())), 9)
