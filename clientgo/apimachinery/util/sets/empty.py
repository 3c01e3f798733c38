"""The value of Go's map-based sets. Mirrors apimachinery/pkg/util/sets/empty.go."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Empty"]


class Empty(NamedTuple):
    """A value without content. Unused, since Python's sets need no value. Go: sets.Empty."""
