"""A work queue whose items wait as long as a rate limiter says. Mirrors util/workqueue/rate_limiting_queue.go."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from clientgo.util.workqueue.default_rate_limiters import RateLimiter, TypedRateLimiter
from clientgo.util.workqueue.delaying_queue import (
    DelayingInterface,
    TypedDelayingInterface,
    TypedDelayingQueueConfig,
    new_typed_delaying_queue_with_config,
)
from clientgo.util.workqueue.metrics import MetricsProvider
from clientgo.util.workqueue.queue import QueueContents, QueueStatistics
from clientgo.utils.clock import WithTicker

__all__ = [
    "RateLimitingInterface",
    "RateLimitingQueueConfig",
    "TypedRateLimitingInterface",
    "TypedRateLimitingQueueConfig",
    "new_named_rate_limiting_queue",
    "new_rate_limiting_queue",
    "new_rate_limiting_queue_with_config",
    "new_rate_limiting_queue_with_delaying_interface",
    "new_typed_rate_limiting_queue",
    "new_typed_rate_limiting_queue_with_config",
]

T = TypeVar("T", bound=Hashable)


class TypedRateLimitingInterface(TypedDelayingInterface[T], Protocol[T]):
    """A queue that decides by itself how much later an item is added. Go: workqueue.TypedRateLimitingInterface."""

    def add_rate_limited(self, item: T) -> None:
        """Add `item` when the rate limiter says so, counting one more failure."""
        ...

    def forget(self, item: T) -> None:
        """`item` succeeded or was given up: its next failure counts as the first. `done` is still due."""
        ...

    def num_requeues(self, item: T) -> int:
        """How many times `item` has failed."""
        ...


RateLimitingInterface: TypeAlias = TypedRateLimitingInterface[Any]
"""Deprecated: use TypedRateLimitingInterface."""


@dataclass(kw_only=True)
class TypedRateLimitingQueueConfig(Generic[T]):
    """What can be chosen about a rate limiting queue. Go: workqueue.TypedRateLimitingQueueConfig."""

    name: str = ""
    """A queue without a name reports no metrics."""
    metrics_provider: MetricsProvider | None = None
    """Used instead of the one given to `set_provider`."""
    clock: WithTicker | None = None
    """The real clock when None."""
    delaying_queue: TypedDelayingInterface[T] | None = None
    """The queue that does the waiting; one made from the fields above when None."""


RateLimitingQueueConfig: TypeAlias = TypedRateLimitingQueueConfig[Any]
"""Deprecated: use TypedRateLimitingQueueConfig."""


def new_rate_limiting_queue(rate_limiter: RateLimiter) -> RateLimitingInterface:
    """Deprecated: use new_typed_rate_limiting_queue."""
    return new_rate_limiting_queue_with_config(rate_limiter, RateLimitingQueueConfig())


def new_typed_rate_limiting_queue(rate_limiter: TypedRateLimiter[T]) -> TypedRateLimitingInterface[T]:
    """A rate limiting queue without name and metrics. Go: workqueue.NewTypedRateLimitingQueue.

    Call `forget` for every item at last, or its failures are remembered for ever.
    """
    return new_typed_rate_limiting_queue_with_config(rate_limiter, TypedRateLimitingQueueConfig())


def new_rate_limiting_queue_with_config(
    rate_limiter: RateLimiter, config: RateLimitingQueueConfig
) -> RateLimitingInterface:
    """Deprecated: use new_typed_rate_limiting_queue_with_config."""
    return new_typed_rate_limiting_queue_with_config(rate_limiter, config)


def new_typed_rate_limiting_queue_with_config(
    rate_limiter: TypedRateLimiter[T], config: TypedRateLimitingQueueConfig[T]
) -> TypedRateLimitingInterface[T]:
    """A rate limiting queue as `config` says. Go: workqueue.NewTypedRateLimitingQueueWithConfig.

    Call `forget` for every item at last, or its failures are remembered for ever.
    """
    delaying_queue = config.delaying_queue
    if delaying_queue is None:
        delaying_queue = new_typed_delaying_queue_with_config(
            TypedDelayingQueueConfig(name=config.name, metrics_provider=config.metrics_provider, clock=config.clock)
        )
    return _RateLimitingType(delaying_queue, rate_limiter)


def new_named_rate_limiting_queue(rate_limiter: RateLimiter, name: str) -> RateLimitingInterface:
    """Deprecated: use new_rate_limiting_queue_with_config."""
    return new_rate_limiting_queue_with_config(rate_limiter, RateLimitingQueueConfig(name=name))


def new_rate_limiting_queue_with_delaying_interface(
    di: DelayingInterface, rate_limiter: RateLimiter
) -> RateLimitingInterface:
    """Deprecated: use new_rate_limiting_queue_with_config."""
    return new_rate_limiting_queue_with_config(rate_limiter, RateLimitingQueueConfig(delaying_queue=di))


class _RateLimitingType(Generic[T]):
    """A delaying queue and a rate limiter side by side; has no lock of its own."""

    def __init__(self, delaying_queue: TypedDelayingInterface[T], rate_limiter: TypedRateLimiter[T]) -> None:
        self._delaying_queue = delaying_queue
        # As in _DelayingType: what Go embeds becomes this object's own attribute.
        self.add = delaying_queue.add
        self.len = delaying_queue.len
        self.get = delaying_queue.get
        self.done = delaying_queue.done
        self.shut_down = delaying_queue.shut_down
        self.shut_down_with_drain = delaying_queue.shut_down_with_drain
        self.shutting_down = delaying_queue.shutting_down
        self.add_after = delaying_queue.add_after

        self._rate_limiter = rate_limiter
        self.forget = rate_limiter.forget
        self.num_requeues = rate_limiter.num_requeues

    def add_rate_limited(self, item: T) -> None:
        """Add `item` when the rate limiter says so, counting one more failure. Never blocks."""
        self.add_after(item, self._rate_limiter.when(item))

    def statistics(self) -> QueueStatistics:
        """How much the delaying queue holds. O(1); see Typed.statistics. Beyond Go."""
        delaying: Any = self._delaying_queue
        statistics: QueueStatistics = delaying.statistics()
        return statistics

    def contents(self) -> QueueContents[T]:
        """What the delaying queue holds, and whose failures are remembered; see Typed.contents. Beyond Go."""
        delaying: Any = self._delaying_queue
        failures = getattr(self._rate_limiter, "failures", dict)
        return replace(delaying.contents(), failures=failures())

    def __repr__(self) -> str:
        return f"<{self._rate_limiter!r} before {self._delaying_queue!r}>"
