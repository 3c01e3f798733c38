"""One range of a shard selector. Mirrors k8s.io/apimachinery/pkg/sharding/types.go."""

from __future__ import annotations

from typing import NamedTuple


class ShardRangeRequirement(NamedTuple):
    """A range of hashes of a field, without its end. Go: sharding.ShardRangeRequirement.

    `start` and `end` are "0x" and 16 lower-case hexadecimal digits, or "0x10000000000000000" (2**64) as an end that
    includes every hash. Only the server's parser checks this.
    """

    key: str
    """The field path: "object.metadata.uid" or "object.metadata.namespace"."""
    start: str
    """The lowest hash in the range."""
    end: str
    """The lowest hash above the range."""
