"""Reads watch events off a response in protobuf. Mirrors rest/watch/decoder.go over a length-delimited framer.

As for JSON, reading and decoding are two steps: `read_lines` cuts the frames that have arrived, `decode_line` makes one
of them an event, in the thread that uses it.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.runtime.interfaces import EventDecoder
from clientgo.apimachinery.util.net import ErrUnexpectedEOF
from clientgo.apimachinery.watch import Event, EventType
from clientgo.golang.http import Body
from clientgo.rest.watch.decoder import MAX_EVENT, Decoder

# Before each frame stands its length.
_HEAD = 4

_EVENT_TYPES = {event_type.value: event_type for event_type in EventType}


class FrameDecoder(Decoder):
    """Watch events from a body of frames; used as its base class is."""

    def __init__(self, body: Body, embedded_decoder: EventDecoder) -> None:
        super().__init__(body, embedded_decoder)
        self._decode_event = embedded_decoder.decode_event
        # The bytes that have arrived and are no whole frame yet, their number, and the number from which they are one.
        self._pieces: list[bytes] = []
        self._size = 0
        self._wanted = _HEAD

    def read_lines(self) -> list[Any]:
        """Wait for at least one frame, and return all frames that have arrived. Raises as `decode` does."""
        while True:
            # Joined only when a frame is whole: a server that sends single bytes would cost quadratic time.
            frames = self._cut(b"".join(self._pieces)) if self._size >= self._wanted else []
            if frames:
                return frames
            piece = b"" if self._ended else self._body.read_some()
            if not piece:
                break
            self._pieces.append(piece)
            self._size += len(piece)
        self._ended = True
        if self._size:
            raise ErrUnexpectedEOF
        raise EOFError("EOF")

    def _cut(self, buffer: bytes) -> list[bytes]:
        """Return the complete frames at the start of the buffer and keep the rest. Raises as `decode` does."""
        at, self._wanted = 0, _HEAD
        frames: list[bytes] = []
        while len(buffer) - at >= _HEAD:
            size = int.from_bytes(buffer[at : at + _HEAD], "big")
            if size > MAX_EVENT:
                if frames:  # They come first.
                    break
                raise self._error("object to decode was longer than maximum allowed size")
            end = at + _HEAD + size
            if end > len(buffer):
                self._wanted = end - at
                break
            frames.append(buffer[at + _HEAD : end])
            at = end
        self._pieces = [buffer[at:]]
        self._size = len(buffer) - at
        return frames

    def _undecoded_event(self, line: Any) -> Event:
        """Return the event in a frame. Raises as `decode_line` does."""
        try:
            name, obj = self._decode_event(line)
        except Exception as err:
            raise self._error(f"unable to decode watch event: {err}") from err
        event_type = _EVENT_TYPES.get(name)
        if event_type is None:
            raise self._error(f"got invalid watch event type: {name}")
        return Event(event_type, obj)
