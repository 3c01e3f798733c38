"""Sets of strings. Mirrors apimachinery/pkg/util/sets/string.go.

Deprecated as in Go: `sets.Set[str]` does the same. This type adds the method `list`.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

from clientgo.apimachinery.util.sets.set import Set

__all__ = ["String", "new_string", "string_key_set"]


class String(Set[str]):
    """A set of strings. Go: sets.String."""

    __slots__ = ()

    def list(self) -> builtins.list[str]:
        """Return the items in order. Go: String.List."""
        return sorted(self)


def new_string(*items: str) -> String:
    """Return a set of the items. Go: sets.NewString."""
    return String(items)


def string_key_set(the_map: Mapping[str, Any]) -> String:
    """Return the keys of a mapping. Go: sets.StringKeySet."""
    return String(the_map)
