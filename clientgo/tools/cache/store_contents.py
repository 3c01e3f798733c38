"""What a store tells of itself to those who look at it from outside. Beyond Go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StoreStatistics:
    """How much a store holds."""

    objects: int
    indexes: Mapping[str, int]
    """For each index, how many values it knows."""

    resource_version: str
    """The version it has reached; "" when it has none."""


@dataclass(frozen=True, slots=True)
class StoreContents:
    """What a store holds, for inspection."""

    items: Mapping[str, Any]
    """The objects by key."""

    indices: Mapping[str, Mapping[str, tuple[str, ...]]]
    """For each index its table: the keys under each value."""

    resource_version: str
    """The version it has reached; "" when it has none."""
