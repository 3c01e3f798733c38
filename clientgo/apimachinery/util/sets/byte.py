"""Sets of bytes, each an int. Mirrors apimachinery/pkg/util/sets/byte.go.

Deprecated as in Go: `sets.Set[int]` does the same. This type adds the method `list`.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

from clientgo.apimachinery.util.sets.set import Set

__all__ = ["Byte", "byte_key_set", "new_byte"]


class Byte(Set[int]):
    """A set of bytes, each an int. Go: sets.Byte."""

    __slots__ = ()

    def list(self) -> builtins.list[int]:
        """Return the items in order. Go: Byte.List."""
        return sorted(self)


def new_byte(*items: int) -> Byte:
    """Return a set of the items. Go: sets.NewByte."""
    return Byte(items)


def byte_key_set(the_map: Mapping[int, Any]) -> Byte:
    """Return the keys of a mapping. Go: sets.ByteKeySet."""
    return Byte(the_map)
