"""Sequences of CBOR items are cut into frames."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

pytest.importorskip("cbor2")

from clientgo.apimachinery.runtime.serializer import cbor
from clientgo.apimachinery.runtime.serializer.cbor import direct
from clientgo.golang.io import ErrUnexpectedEOF


class Pieces:
    """A stream of pieces, which then ends or fails."""

    def __init__(self, pieces: Iterable[bytes], failure: Exception | None = None) -> None:
        self._pieces = iter(pieces)
        self._failure = failure

    def read_some(self) -> bytes:
        piece = next(self._pieces, b"")
        if not piece and self._failure is not None:
            raise self._failure
        return piece


def frames_of(*pieces: bytes) -> list[bytes]:
    reader = cbor.new_framer().new_frame_reader(Pieces(pieces))
    frames: list[bytes] = []
    with pytest.raises(EOFError):
        while True:
            frames += reader.read_frames()
    return frames


def test_each_item_is_a_frame_however_the_bytes_arrive() -> None:
    """Go: TestFrameReaderRead"""
    items = [direct.marshal({"n": n, "text": "x" * 50 * n}) for n in range(5)] + [b"\x00", b"\x9f\xff"]
    stream = b"".join(items)
    assert frames_of(stream) == items
    assert frames_of(*(stream[at : at + 1] for at in range(len(stream)))) == items
    assert frames_of(*(stream[at : at + 7] for at in range(0, len(stream), 7))) == items
    assert frames_of() == []


def test_an_incomplete_item_is_an_unexpected_end() -> None:
    reader = cbor.FrameReader(Pieces([b"\x00\x82\x01"]))
    assert reader.read_frames() == [b"\x00"]
    for _ in range(2):
        with pytest.raises(ErrUnexpectedEOF):
            reader.read_frames()


def test_the_error_of_the_stream_is_raised() -> None:
    """Go: TestFrameReaderReadError"""
    failure = OSError("broken")
    reader = cbor.FrameReader(Pieces([b"\x00"], failure))
    assert reader.read_frames() == [b"\x00"]
    with pytest.raises(OSError) as caught:
        reader.read_frames()
    assert caught.value is failure


def test_malformed_bytes_end_the_stream_after_the_items_before_them() -> None:
    reader = cbor.FrameReader(Pieces([b"\x01\x02\xff\x03", b"\x04"]))
    assert reader.read_frames() == [b"\x01", b"\x02"]
    for _ in range(2):
        with pytest.raises(ValueError, match='cbor: unexpected "break" code'):
            reader.read_frames()


def test_the_limits_are_those_of_gos_framer() -> None:
    assert frames_of(b"\x81" * 31 + b"\x80") == [b"\x81" * 31 + b"\x80"]
    for stream, message in (
        (b"\x81" * 32 + b"\x80", "cbor: exceeded max nested level 32"),
        (b"\x9a\x00\x02\x00\x01", "cbor: exceeded max number of elements 131072 for CBOR array"),
        (b"\xba\x00\x02\x00\x01", "cbor: exceeded max number of key-value pairs 131072 for CBOR map"),
    ):
        with pytest.raises(ValueError, match=message):
            cbor.FrameReader(Pieces([stream])).read_frames()


def test_a_frame_that_never_ends_is_not_kept() -> None:
    def endless() -> Iterable[bytes]:
        yield b"\x5f"
        while True:
            yield b"\x59\xff\xff" + b"x" * 65535

    reader = cbor.FrameReader(Pieces(endless()))
    with pytest.raises(ValueError, match="longer than maximum allowed size"):
        reader.read_frames()


def test_a_stream_of_single_bytes_takes_linear_time() -> None:
    """Quadratic time would be hours."""
    item = direct.marshal([0] * 100_000)
    assert frames_of(*(item[at : at + 1] for at in range(len(item)))) == [item]


def test_a_writer_is_the_stream_itself() -> None:
    stream = object()
    assert cbor.new_framer().new_frame_writer(stream) is stream
