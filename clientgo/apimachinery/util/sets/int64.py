"""Sets of 64-bit ints. Mirrors apimachinery/pkg/util/sets/int64.go.

Deprecated as in Go: `sets.Set[int]` does the same. This type adds the method `list`.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

from clientgo.apimachinery.util.sets.set import Set

__all__ = ["Int64", "int64_key_set", "new_int64"]


class Int64(Set[int]):
    """A set of 64-bit ints. Go: sets.Int64."""

    __slots__ = ()

    def list(self) -> builtins.list[int]:
        """Return the items in order. Go: Int64.List."""
        return sorted(self)


def new_int64(*items: int) -> Int64:
    """Return a set of the items. Go: sets.NewInt64."""
    return Int64(items)


def int64_key_set(the_map: Mapping[int, Any]) -> Int64:
    """Return the keys of a mapping. Go: sets.Int64KeySet."""
    return Int64(the_map)
