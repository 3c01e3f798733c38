"""The records that `statistics()`, `contents()` and `parts()` of queues, stores, handlers and informers return."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clientgo.tools.cache.index import Indexer
    from clientgo.tools.cache.notifications import Notification
    from clientgo.utils.clock import WithTickerAndDelayedExecution


@dataclass(frozen=True, slots=True)
class FIFOStatistics:
    """How full a FIFO, DeltaFIFO or RealFIFO is. Beyond Go."""

    items: int
    """How much can be popped: objects, or in a RealFIFO single deltas."""

    deltas: int
    """How many changes that are; in a FIFO as many as items."""

    initial_left: int
    """How much of the first batch is still to process."""

    closed: bool
    """Whether it is closed; what is left can still be popped."""


@dataclass(frozen=True, slots=True)
class FIFOContents:
    """What a DeltaFIFO or RealFIFO holds, for inspection. Beyond Go."""

    deltas: tuple[tuple[str, tuple[Any, ...]], ...]
    """Each key in the order in which they will be popped, with its deltas; in a RealFIFO with one.

    A delta that is about no single object has the key ""."""

    initial_left: int
    """How much of the first batch is still to process."""

    synced: bool
    """Whether the first batch is through."""

    length: int
    """How many keys there are, in a RealFIFO deltas: more than in `deltas` if only the first were asked for."""


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


@dataclass(frozen=True, slots=True)
class HandlerStatistics:
    """How a handler keeps up with its informer. Beyond Go."""

    handler: str
    """What the handler is called in logs."""

    pending: int
    """How many notifications it has not been told of yet, or is being told of now."""

    oldest_age: float
    """For how many seconds the first of them has waited; 0 with none. Of a handler that hangs, how long it hangs."""

    failed: int
    """How many times it raised."""

    merged: int
    """How many notifications it was spared since others say the same; see Overflow.MERGE."""

    closed: bool
    """Whether it was removed, or the informer has stopped."""


@dataclass(frozen=True, slots=True)
class HandlerContents:
    """What waits for a handler, for inspection. Beyond Go."""

    handler: str
    """What the handler is called in logs."""

    pending: tuple[Notification, ...]
    """What is in the buffer. Go: pendingNotifications."""

    taken: tuple[Notification, ...]
    """What the handler's thread has taken out of the buffer and not delivered yet."""

    delivering: Notification | None
    """What the handler is being told just now."""

    closed: bool
    """Whether it was removed, or the informer has stopped."""


@dataclass(frozen=True, slots=True)
class InformerParts:
    """What a shared informer is made of, for inspection: each part has a `contents`. Beyond Go."""

    kind: str
    indexer: Indexer
    fifo: Any
    """None before the informer has started, as is the reflector."""
    reflector: Any
    handlers: tuple[Any, ...]
    clock: WithTickerAndDelayedExecution
