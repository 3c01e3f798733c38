"""Sets of ints. Mirrors apimachinery/pkg/util/sets/int.go.

Deprecated as in Go: `sets.Set[int]` does the same. This type adds the method `list`.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

from clientgo.apimachinery.util.sets.set import Set

__all__ = ["Int", "int_key_set", "new_int"]


class Int(Set[int]):
    """A set of ints. Go: sets.Int."""

    __slots__ = ()

    def list(self) -> builtins.list[int]:
        """Return the items in order. Go: Int.List."""
        return sorted(self)


def new_int(*items: int) -> Int:
    """Return a set of the items. Go: sets.NewInt."""
    return Int(items)


def int_key_set(the_map: Mapping[int, Any]) -> Int:
    """Return the keys of a mapping. Go: sets.IntKeySet."""
    return Int(the_map)
