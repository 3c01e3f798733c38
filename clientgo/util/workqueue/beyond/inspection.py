"""Methods that show the state of work queues: base classes of their classes, and their records. Has no Go file.

`contents`, `processing`, `state_of` and `due` take no lock (see `clientgo.snapshot`), so that a debugger can
inspect a queue that is stuck. Each part of the result is consistent, but the parts may be from different moments.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from clientgo.utils.clock import WithTicker

__all__ = [
    "InspectableDelayingQueue",
    "InspectableQueue",
    "InspectableRateLimitingQueue",
    "QueueContents",
    "QueueStatistics",
    "components_of",
    "name_of",
]

T = TypeVar("T", bound=Hashable)


class QueueStatistics(NamedTuple):
    """Numbers of items in a work queue. Beyond Go."""

    queued: int
    """Number of items ready to get."""

    processing: int
    """Number of items that workers are processing."""

    added_again: int
    """Number of items in progress that were added again; their `done` queues them."""

    shutting_down: bool

    waiting: int = 0
    """Number of items that a delaying queue will add later."""


class QueueContents(NamedTuple, Generic[T]):
    """The items in a work queue. Beyond Go."""

    order: tuple[T, ...]
    """The ready items in the order of `get`; empty if a custom Queue determines the order."""

    dirty: frozenset[T]
    """The items that `get` still has to return."""

    processing: frozenset[T]
    """The items that workers are processing."""

    waiting: tuple[tuple[float, T], ...] = ()
    """The items that a delaying queue will add, each with the seconds until then, earliest first."""

    failures: Mapping[T, int] = MappingProxyType({})
    """Number of failures of each item, as counted by a rate limiter."""

    priorities: Mapping[T, int] = MappingProxyType({})
    """Priority of each ready, waiting or processing item of a priority queue."""


class InspectableQueue(Generic[T]):
    """The inspection methods of Typed."""

    _name: str
    _lock: threading.Lock
    _queue_len: Callable[[], int]
    _dirty: set[T]
    _processing: set[T]
    _shutting_down: bool

    def name(self) -> str:
        """Return the name from the queue's config; "" without one. Beyond Go."""
        return self._name

    def statistics(self) -> QueueStatistics:
        """Return the numbers of queued and processing items. O(1). Beyond Go."""
        with self._lock:
            queued = self._queue_len()
            return QueueStatistics(queued, len(self._processing), len(self._dirty) - queued, self._shutting_down)

    def contents(self) -> QueueContents[T]:
        """Return the queued and processing items. O(n). Takes no lock. Beyond Go."""
        from clientgo.snapshot import consistent_copy

        order = consistent_copy(lambda: tuple(self._ready_items()), self._lock)
        return QueueContents(order, frozenset(self._dirty), self.processing())

    def _ready_items(self) -> Iterable[T]:
        """Return the ready items in the order of `get`; none if a custom Queue determines the order."""
        raise NotImplementedError

    def processing(self) -> frozenset[T]:
        """Return the items that workers are processing. Takes no lock. Beyond Go."""
        return frozenset(self._processing)

    def components(self) -> tuple[object, ...]:
        """Return the structures that make up the queue: only the queue itself. Beyond Go."""
        return (self,)

    def state_of(self, item: T) -> tuple[bool, bool]:
        """Report whether `item` is dirty, and whether a worker processes it. Takes no lock. Beyond Go."""
        return item in self._dirty, item in self._processing


class InspectableDelayingQueue(Generic[T]):
    """The inspection methods of the delaying queue."""

    _inner: Any
    _name: str
    _lock: threading.Lock
    _waiting: dict[T, tuple[float, int, T]]
    _clock: WithTicker
    _began: float

    def name(self) -> str:
        """Return the name from the queue's config, or the inner queue's name; "" without one. Beyond Go."""
        return self._name or name_of(self._inner)

    def statistics(self) -> QueueStatistics:
        """Return the numbers of items in the inner queue and of waiting items. O(1). Beyond Go."""
        statistics: QueueStatistics = self._inner.statistics()
        with self._lock:
            return statistics._replace(waiting=len(self._waiting))

    def contents(self) -> QueueContents[T]:
        """Return the inner queue's items and the waiting items. O(n log n). Takes no lock. Beyond Go."""
        elapsed = self._clock.since(self._began)
        waiting = sorted(list(self._waiting.values()))  # noqa: C414 - list() copies atomically while other threads add
        due = tuple((max(0.0, ready_at - elapsed), item) for ready_at, _, item in waiting)
        contents: QueueContents[T] = self._inner.contents()._replace(waiting=due)
        return contents

    def components(self) -> tuple[object, ...]:
        """Return the queue and its inner queue. Beyond Go."""
        return (self, *components_of(self._inner))

    def due(self, item: T) -> tuple[float, float] | None:
        """Return (sort key, seconds) until a waiting item is added; None if the item does not wait.

        Takes no lock. Beyond Go.
        """
        entry = self._waiting.get(item)
        return None if entry is None else (entry[0], max(0.0, entry[0] - self._clock.since(self._began)))


class InspectableRateLimitingQueue(Generic[T]):
    """The inspection methods of the rate limiting queue."""

    _delaying_queue: Any
    _name: str
    _rate_limiter: Any

    def name(self) -> str:
        """Return the name from the queue's config, or the delaying queue's name; "" without one. Beyond Go."""
        return self._name or name_of(self._delaying_queue)

    def statistics(self) -> QueueStatistics:
        """Return the delaying queue's numbers of items. O(1). Beyond Go."""
        statistics: QueueStatistics = self._delaying_queue.statistics()
        return statistics

    def contents(self) -> QueueContents[T]:
        """Return the delaying queue's items and the rate limiter's failures. Takes no lock. Beyond Go."""
        failures = getattr(self._rate_limiter, "failures", dict)
        contents: QueueContents[T] = self._delaying_queue.contents()._replace(failures=failures())
        return contents

    def components(self) -> tuple[object, ...]:
        """Return the queue, its rate limiters and its delaying queue with the inner queue. Beyond Go."""
        return (self, *components_of(self._rate_limiter), *components_of(self._delaying_queue))


def components_of(structure: Any) -> tuple[object, ...]:
    """Return the components of a queue or a rate limiter; the structure alone when it has no such method. Beyond Go."""
    components = getattr(structure, "components", None)
    found: tuple[object, ...] = (structure,) if components is None else components()
    return found


def name_of(queue: Any) -> str:
    """Return a queue's name; "" for a queue that has none or does not show it. Beyond Go."""
    name = getattr(queue, "name", "")
    found = name() if callable(name) else name
    return found if isinstance(found, str) else ""
