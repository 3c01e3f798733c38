"""Assignment of objects to shards, and of shards to replicas. Pure functions. Not in Go.

Every replica computes the assignment itself. Equal member lists give equal results, so no coordinator is needed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from clientgo.golang import utf8

__all__ = ["assign", "shard_of"]


def shard_of(namespace: str, name: str, shards: int) -> int:
    """Return the shard of an object, from 0. The result is the same in every process and every version of Python. O(1).

    >>> shard_of("default", "web", 4) == shard_of("default", "web", 4)
    True
    """
    return _weight(f"{namespace}/{name}") % shards


def assign(shards: int, members: Iterable[str]) -> dict[int, str]:
    """Return the member for each shard; empty without members. O(shards x members).

    The numbers of shards differ by at most one. When a member joins or leaves, few other shards move: each shard goes
    to the member with the highest weight for it (rendezvous hashing) that has room.

    >>> sorted(Counter(assign(5, ["a", "b"]).values()).values())
    [2, 3]
    """
    names = sorted(set(members))
    if not names:
        return {}
    share, left_over = divmod(shards, len(names))
    pairs = [(_weight(f"{name}/{shard}"), shard, name) for shard in range(shards) for name in names]
    assigned: dict[int, str] = {}
    sizes: Counter[str] = Counter()
    for _, shard, name in sorted(pairs, reverse=True):
        if shard in assigned or sizes[name] > share or (sizes[name] == share and left_over == 0):
            continue
        # A replica with more than the equal share takes one of the remaining shards.
        left_over -= sizes[name] == share
        sizes[name] += 1
        assigned[shard] = name
    return assigned


def _weight(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(utf8.encode(text), digest_size=8).digest(), "big")
