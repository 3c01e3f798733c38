"""Shard selectors of lists and watches as predicates on stored objects.

Mirrors the shard's part of apiserver's storage/selection_predicate.go.
"""

from __future__ import annotations

from collections.abc import Callable

from clientgo.apimachinery import sharding
from clientgo.testing.apiserver.kinds import shard_selector
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.utils.shortcache import short_cache


def parse_shard(text: str) -> sharding.Selector:
    """Return the shard selector of a query. Raises ApiError 500 for a malformed one, as the real server."""
    try:
        return shard_selector.parse(text)
    except ValueError as err:
        raise errors.internal_text(f"invalid shard selector: {err}") from None


def shard_predicate(selector: sharding.Selector) -> Callable[[Json], bool]:
    """Return a predicate on stored objects."""
    ranges = [(int(each.start, 16), int(each.end, 16)) for each in selector.requirements()]
    by_namespace = selector.requirements()[0].key == "object.metadata.namespace"

    def matches(obj: Json) -> bool:
        metadata = obj["metadata"]
        if by_namespace:
            hashed = _hash_of_namespace(metadata.get("namespace") or "")
        else:
            hashed = int(sharding.hash_field(metadata.get("uid") or ""), 16)
        return any(start <= hashed < end for start, end in ranges)

    return matches


@short_cache(maxsize=1024)
def _hash_of_namespace(namespace: str) -> int:
    return int(sharding.hash_field(namespace), 16)
