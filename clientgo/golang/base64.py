"""Standard base64 decoding with Go's errors. Replaces Go's encoding/base64."""

from __future__ import annotations

import base64
import re
from typing import Final

__all__ = ["decode_string"]

_WELL_FORMED: Final = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_LETTERS: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


def decode_string(text: str) -> bytes:
    """Decode a text, ignoring line breaks. O(len(text)). Go: StdEncoding.DecodeString.

    Raises ValueError with the position at which Go reports the error.

    >>> decode_string("aGVs\\nbG8=")
    b'hello'
    >>> decode_string("aGVs!G8=")
    Traceback (most recent call last):
    ValueError: illegal base64 data at input byte 4
    """
    raw = text.encode("utf-8", "surrogatepass")
    joined = raw.replace(b"\n", b"").replace(b"\r", b"")
    if _WELL_FORMED.fullmatch(joined):
        return base64.b64decode(joined)
    raise ValueError(f"illegal base64 data at input byte {_fault(raw)}")


def _fault(raw: bytes) -> int:
    """Return the position of the error: Go reads four letters at a time and reports an incomplete last group at its
    start.
    """
    positions = [(at, byte) for at, byte in enumerate(raw) if byte not in b"\r\n"]
    for number, (at, byte) in enumerate(positions):
        if byte in _LETTERS:
            continue
        if byte != ord("=") or number % 4 < 2:
            return at
        if number % 4 == 2:
            # A second padding character is required here.
            if number + 1 == len(positions):
                return len(raw)
            if positions[number + 1][1] != ord("="):
                return positions[number + 1][0] - 1
            number += 1
        return positions[number + 1][0]  # the text after the padding
    return len(raw) - len(positions) % 4
