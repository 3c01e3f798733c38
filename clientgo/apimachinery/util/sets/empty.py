"""The value of Go's map-based sets. Mirrors apimachinery/pkg/util/sets/empty.go."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Empty"]


class Empty(NamedTuple):
    """A value without content. Go: sets.Empty. Nothing here uses it; Python's sets need no value."""
