"""Strings that are not valid UTF-8, which Go allows and Python's str does not. Mirrors unicode/utf8.

Go keeps the bytes of a protobuf string unchanged, for example of a termination message that was cut within a character.
Python's convention for such text is `surrogateescape` (PEP 383): each byte that is not part of valid UTF-8 becomes one
of U+DC80 to U+DCFF. The escaped string compares, hashes and copies like any other str, and `encode` returns the
original bytes. It cannot be written as UTF-8: `to_valid` returns the text that Go writes to JSON and logs.
"""

from __future__ import annotations

import re
from typing import Final

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# Surrogates that do not represent a byte.
_NOT_A_BYTE: Final = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_REPLACEMENT: Final = "\ufffd"


def decode(data: bytes) -> str:
    """Decode UTF-8; a byte that is not part of valid UTF-8 becomes a surrogate, from which `encode` restores it.

    >>> decode(b"caf\\xc3\\xa9 caf\\xc3")
    'café caf\\udcc3'
    """
    return data.decode("utf-8", "surrogateescape")


def decode_valid(data: bytes) -> str:
    """Decode UTF-8; each byte that is not part of valid UTF-8 becomes U+FFFD, as in Go's encoding/json.

    >>> decode_valid(b"\\xe2\\x82")
    '\ufffd\ufffd'
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        return to_valid(decode(data))


def encode(text: str) -> bytes:
    """Encode as UTF-8; a surrogate from `decode` becomes its byte again, any other lone surrogate U+FFFD.

    >>> encode("caf\\udcc3")
    b'caf\\xc3'
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _NOT_A_BYTE.sub(_REPLACEMENT, _with_pairs_joined(text)).encode("utf-8", "surrogateescape")


def to_valid(text: str) -> str:
    """Replace each lone surrogate by U+FFFD: one for each invalid byte, as Go's encoding/json does. O(1) for ASCII.

    >>> to_valid("caf\\udcc3")
    'caf\ufffd'
    """
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return _SURROGATE.sub(_REPLACEMENT, _with_pairs_joined(text))


def has_escaped_bytes(value: object) -> bool:
    """Report whether any string in a JSON value holds bytes that are not valid UTF-8. O(size)."""
    if isinstance(value, str):
        return not value.isascii() and _SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(has_escaped_bytes(key) or has_escaped_bytes(item) for key, item in value.items())
    return isinstance(value, list) and any(map(has_escaped_bytes, value))


def _with_pairs_joined(text: str) -> str:
    """Return the text with each surrogate pair replaced by its character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
