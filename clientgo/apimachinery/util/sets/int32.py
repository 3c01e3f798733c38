"""Sets of 32-bit ints. Mirrors apimachinery/pkg/util/sets/int32.go.

Deprecated as in Go: `sets.Set[int]` does the same. This type adds the method `list`.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

from clientgo.apimachinery.util.sets.set import Set

__all__ = ["Int32", "int32_key_set", "new_int32"]


class Int32(Set[int]):
    """A set of 32-bit ints. Go: sets.Int32."""

    __slots__ = ()

    def list(self) -> builtins.list[int]:
        """Return the items in order. Go: Int32.List."""
        return sorted(self)


def new_int32(*items: int) -> Int32:
    """Return a set of the items. Go: sets.NewInt32."""
    return Int32(items)


def int32_key_set(the_map: Mapping[int, Any]) -> Int32:
    """Return the keys of a mapping. Go: sets.Int32KeySet."""
    return Int32(the_map)
