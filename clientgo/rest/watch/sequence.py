"""Reads watch events off a response in CBOR. Mirrors rest/watch/decoder.go over the framer of CBOR sequences."""

from __future__ import annotations

from typing import Any, Protocol

from clientgo.apimachinery.runtime.interfaces import EventDecoder
from clientgo.golang.http import Body
from clientgo.rest.watch.frames import FrameDecoder

__all__ = ["Frames", "SequenceDecoder"]


class Frames(Protocol):
    """The frames of a body; see serializer.cbor.FrameReader."""

    def read_frames(self) -> list[bytes]: ...


class SequenceDecoder(FrameDecoder):
    """Watch events from a body of self-delimiting items; used as its base class is."""

    def __init__(self, body: Body, frames: Frames, embedded_decoder: EventDecoder) -> None:
        super().__init__(body, embedded_decoder)
        self._frames = frames

    def read_lines(self) -> list[Any]:
        """Wait for at least one frame, and return all frames that have arrived. Raises as `decode` does."""
        try:
            return list(self._frames.read_frames())
        except ValueError as err:
            raise self._error(str(err)) from err
