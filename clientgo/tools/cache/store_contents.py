"""What a store tells of itself to those who look at it from outside. Beyond Go."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
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

    counts: Mapping[str, Mapping[str, int]]
    """For each index and value how many keys there are: more than in `indices` if only some were asked for."""

    @classmethod
    def of(
        cls,
        items: Mapping[str, Any],
        indices: Mapping[str, Mapping[str, Collection[str]]],
        resource_version: str,
        most: int,
    ) -> StoreContents:
        """At most so many objects, values of each index and keys under each value. O(that).

        Each is copied in one go, so others may change them meanwhile.
        """
        tables = {name: list(itertools.islice(index.items(), most)) for name, index in list(indices.items())}
        return cls(
            dict(items) if len(items) <= most else dict(itertools.islice(items.items(), most)),
            {
                name: {value: tuple(itertools.islice(keys, most)) for value, keys in table}
                for name, table in tables.items()
            },
            resource_version,
            {name: {value: len(keys) for value, keys in table} for name, table in tables.items()},
        )
