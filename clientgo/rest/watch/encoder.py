"""Writes watch events as a server does. Mirrors rest/watch/encoder.go; tests use it."""

from __future__ import annotations

from typing import IO

from clientgo.apimachinery.runtime.interfaces import Encoder as ObjectEncoder
from clientgo.apimachinery.watch import Event


class Encoder:
    """Watch events as JSON lines into a binary file. Belongs to one thread."""

    def __init__(self, encoder: IO[bytes], embedded_encoder: ObjectEncoder) -> None:
        self._out = encoder
        self._embedded_encoder = embedded_encoder

    def encode(self, event: Event) -> None:
        """Write one event. Raises OSError."""
        obj = self._embedded_encoder.encode(event.object).rstrip(b"\n")
        self._out.write(b'{"type":"%s","object":%s}\n' % (str(event.type).encode(), obj))


def new_encoder(encoder: IO[bytes], embedded_encoder: ObjectEncoder) -> Encoder:
    """Return an encoder of events. Go: NewEncoder."""
    return Encoder(encoder, embedded_encoder)
