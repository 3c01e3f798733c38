"""The voting configuration: the observable part of Elasticsearch's rule for changing it."""

from __future__ import annotations

from collections.abc import Collection


def has_quorum(config: Collection[str], live: Collection[str]) -> bool:
    """Report whether more than half of the voters are present."""
    return 2 * sum(name in live for name in config) > len(config)


def reconfigure(config: list[str], live: Collection[str], excluded: Collection[str]) -> list[str]:
    """Return the new voters; the old ones if the change would leave no quorum.

    Their number is that of the masters, rounded down to an odd number, but at least three once there were three: an
    absent node keeps its vote. An excluded node loses it as soon as enough others vote.
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
