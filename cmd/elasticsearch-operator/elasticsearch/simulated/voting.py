"""Which masters vote: Elasticsearch's own rule for changing the voting configuration, as far as it can be seen."""

from __future__ import annotations

from collections.abc import Collection


def has_quorum(config: Collection[str], live: Collection[str]) -> bool:
    """Whether more than half of those who vote are there."""
    return 2 * sum(name in live for name in config) > len(config)


def reconfigure(config: list[str], live: Collection[str], excluded: Collection[str]) -> list[str]:
    """Who votes from now on; the same as before when the change would leave no quorum.

    As many as there are masters, rounded down to an odd number, and no fewer than three once there were three: a node
    that is merely away keeps its vote. One that is excluded loses it, as soon as the others are enough.
    """
    candidates = sorted(name for name in live if name not in excluded)
    kept = [name for name in config if name not in excluded]
    odd = len(candidates) - (len(candidates) + 1) % 2
    size = max(odd, 3 if len(kept) >= 3 else 1)
    order = [
        *(name for name in kept if name in candidates),
        *(name for name in candidates if name not in kept),
        *(name for name in kept if name not in candidates),
    ]
    wanted = sorted(order[:size])
    return wanted if has_quorum(wanted, candidates) else config
