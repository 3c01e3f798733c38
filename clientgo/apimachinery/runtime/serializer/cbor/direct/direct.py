"""CBOR of JSON values. Mirrors runtime/serializer/cbor/direct/direct.go.

Differs: `unmarshal` returns the value, and there are no other types to fill.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.runtime.serializer.cbor.internal import modes

__all__ = ["diagnose", "marshal", "unmarshal"]


def marshal(src: Any) -> bytes:
    """Return a JSON value as CBOR, without the self-described tag. Raises ValueError, TypeError. Go: Marshal."""
    return modes.encode(src)


def unmarshal(src: bytes) -> Any:
    """Return the JSON value of one item of CBOR. Raises ValueError, and EOFError for an incomplete item.

    Go: Unmarshal.
    """
    return modes.unmarshal(src)


def diagnose(src: bytes) -> str:
    """Return well-formed CBOR as text for readers (RFC 8949, section 8). Raises as `unmarshal` does. Go: Diagnose."""
    return modes.diagnose(src)
