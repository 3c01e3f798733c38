"""The records that the inspection methods of queues, stores, handlers and informers return. Has no Go file."""

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
    """Sizes of a FIFO, DeltaFIFO or RealFIFO. Beyond Go."""

    items: int
    """Number of items ready to pop: objects, or single deltas in a RealFIFO."""

    deltas: int
    """Number of queued changes; in a FIFO the number of items."""

    initial_left: int
    """Number of items of the first batch that are not processed yet."""

    closed: bool
    """True after `close`; the remaining items can still be popped."""


@dataclass(frozen=True, slots=True)
class FIFOContents:
    """The contents of a DeltaFIFO or RealFIFO. Beyond Go."""

    deltas: tuple[tuple[str, tuple[Any, ...]], ...]
    """The keys in the order in which they will be popped, each with its deltas; in a RealFIFO with one delta.

    A delta that is not about a single object has the key ""."""

    initial_left: int
    """Number of items of the first batch that are not processed yet."""

    synced: bool
    """True once the first batch is processed."""

    length: int
    """Number of keys, or of deltas in a RealFIFO. `deltas` has fewer if the caller requested only the first."""


@dataclass(frozen=True, slots=True)
class StoreStatistics:
    """Sizes of a store."""

    objects: int
    indexes: Mapping[str, int]
    """Number of values in each index."""

    resource_version: str
    """Version of the last write; "" for none."""


@dataclass(frozen=True, slots=True)
class StoreContents:
    """The contents of a store."""

    items: Mapping[str, Any]
    """The objects by key."""

    indices: Mapping[str, Mapping[str, tuple[str, ...]]]
    """The keys under each value of each index."""

    resource_version: str
    """Version of the last write; "" for none."""

    counts: Mapping[str, Mapping[str, int]]
    """Number of keys under each value of each index. `indices` has fewer if the caller requested only some."""

    @classmethod
    def of(
        cls,
        items: Mapping[str, Any],
        indices: Mapping[str, Mapping[str, Collection[str]]],
        resource_version: str,
        most: int,
    ) -> StoreContents:
        """Copy at most `most` objects, values of each index, and keys under each value. O(most).

        Each copy is one atomic operation, so other threads may write meanwhile.
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
    """The progress of a handler. Beyond Go."""

    handler: str
    """The handler's name in logs."""

    pending: int
    """Number of notifications that the handler has not returned from."""

    oldest_age: float
    """Seconds since the first pending notification was queued; 0 without one."""

    failed: int
    """Number of calls that raised."""

    merged: int
    """Number of notifications dropped because a later one includes them; see Overflow.MERGE."""

    closed: bool
    """True once the handler was removed or the informer has stopped."""


@dataclass(frozen=True, slots=True)
class HandlerContents:
    """The notifications that wait for a handler. Beyond Go."""

    handler: str
    """The handler's name in logs."""

    pending: tuple[Notification, ...]
    """The notifications in the buffer. Go: pendingNotifications."""

    taken: tuple[Notification, ...]
    """The notifications that the handler's thread has taken out of the buffer and not delivered yet."""

    delivering: Notification | None
    """The notification that the handler is handling."""

    closed: bool
    """True once the handler was removed or the informer has stopped."""


@dataclass(frozen=True, slots=True)
class InformerParts:
    """The parts of a shared informer. Each part has a method `contents`. Beyond Go."""

    kind: str
    indexer: Indexer
    fifo: Any
    """The queue; None before the informer has started."""
    reflector: Any
    """None before the informer has started."""
    handlers: tuple[Any, ...]
    clock: WithTickerAndDelayedExecution
