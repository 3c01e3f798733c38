"""The ranges of hashes that shards have in server-side sharding. Pure functions; no Go counterpart.

Shard i of n has the hashes from i * floor(2**64 / n) on; the last shard ends at 2**64. The hash is that of
`clientgo.apimachinery.sharding`, so an API server and a client compute the same shard for an object.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from clientgo.apimachinery import sharding
from clientgo.apimachinery.sharding import Selector, ShardRangeRequirement

__all__ = ["ShardBy", "selector_of", "shard_of_value"]

_ALL = 1 << 64


class ShardBy(StrEnum):
    """The value whose hash decides which shard an object belongs to."""

    NAME = "name"
    """Namespace and name. Only the client can compute this shard: every replica watches all objects."""
    NAMESPACE = "object.metadata.namespace"
    """The namespace. An object and the objects that it owns belong to the same shard."""
    UID = "object.metadata.uid"
    """The uid. Objects of one large namespace spread over all shards; an owned object has a shard of its own."""


def shard_of_value(value: str, shards: int) -> int:
    """Return the shard, from 0 on, of an object whose uid or namespace is `value`. O(length of the value).

    >>> shard_of_value("default", 4)
    3
    """
    return min(int(sharding.hash_field(value), 16) // (_ALL // shards), shards - 1)


def selector_of(held: Iterable[int], shards: int, by: ShardBy) -> Selector:
    """Return the selector of the objects in the shards `held`; neighbouring shards share a range.

    Raises ValueError for `ShardBy.NAME`, which no server can select by, for no shard, and for a shard out of range.

    >>> str(selector_of([0, 1], 4, ShardBy.UID))
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"
    """
    if by is ShardBy.NAME:
        raise ValueError("an API server cannot select by namespace and name")
    numbers = sorted(set(held))
    if not numbers or numbers[0] < 0 or numbers[-1] >= shards:
        raise ValueError(f"shards must be between 0 and {shards - 1}, got {numbers}")
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        start = number * (_ALL // shards)
        end = _ALL if number == shards - 1 else start + _ALL // shards
        if ranges and ranges[-1][1] == start:
            start = ranges.pop()[0]
        ranges.append((start, end))
    return sharding.new_selector(
        *(ShardRangeRequirement(by.value, f"0x{start:016x}", f"0x{end:016x}") for start, end in ranges)
    )
