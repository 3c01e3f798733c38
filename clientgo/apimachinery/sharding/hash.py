"""The hash that places an object in a shard. Mirrors k8s.io/apimachinery/pkg/sharding/hash.go."""

from __future__ import annotations

from typing import Final

_OFFSET: Final = 0xCBF29CE484222325
_PRIME: Final = 0x100000001B3
_MASK: Final = (1 << 64) - 1


def hash_field(value: str) -> str:
    """Return the FNV-1a hash (64 bits) of the value as 16 lower-case hexadecimal digits, without "0x".

    The bytes are UTF-8; bytes that are not, which a protobuf string keeps as surrogates, are hashed as they are.
    Go: sharding.HashField.

    >>> hash_field("default")
    'ebada5168620c5fe'
    """
    hashed = _OFFSET
    for byte in value.encode("utf-8", "surrogateescape"):
        hashed = ((hashed ^ byte) * _PRIME) & _MASK
    return f"{hashed:016x}"
