"""Shard selectors: choose objects by ranges of a hash of their uid or namespace (k8s.io/apimachinery/pkg/sharding).

A list or watch with `ListOptions.shard_selector` returns one shard of a collection, if the API server has the feature
gate ShardedListAndWatch:

    >>> half = ShardRangeRequirement("object.metadata.uid", "0x0000000000000000", "0x8000000000000000")
    >>> str(new_selector(half))
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"

The parser of such texts is a part of the API server, as in Go: `clientgo.testing.apiserver.kinds.shard_selector`.
"""

from clientgo.apimachinery.sharding.accessor import resolve_field_value
from clientgo.apimachinery.sharding.hash import hash_field
from clientgo.apimachinery.sharding.selector import Selector, everything, hex_less, new_selector
from clientgo.apimachinery.sharding.types import ShardRangeRequirement

__all__ = [
    "Selector",
    "ShardRangeRequirement",
    "everything",
    "hash_field",
    "hex_less",
    "new_selector",
    "resolve_field_value",
]
