"""A work queue that delays items by a rate limiter. Mirrors util/workqueue/rate_limiting_queue.go."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from clientgo.golang.functions import require_methods
from clientgo.hops import hop
from clientgo.util.workqueue.beyond.inspection import InspectableRateLimitingQueue
from clientgo.util.workqueue.beyond.long_delays import LongDelays, is_long
from clientgo.util.workqueue.default_rate_limiters import RateLimiter, TypedRateLimiter
from clientgo.util.workqueue.delaying_queue import (
    DelayingInterface,
    TypedDelayingInterface,
    TypedDelayingQueueConfig,
    new_typed_delaying_queue_with_config,
)
from clientgo.util.workqueue.metrics import MetricsProvider
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
    """A queue that can add an item after a delay from a rate limiter. Go: workqueue.TypedRateLimitingInterface."""

    def add_rate_limited(self, item: T, /) -> None:
        """Add `item` after the rate limiter's delay, and count one more failure."""
        ...

    def forget(self, item: T, /) -> None:
        """Reset the failures of `item`, because it succeeded or is not retried. The caller must still call `done`."""
        ...

    def num_requeues(self, item: T, /) -> int:
        """Return the number of failures of `item` since the last `forget`."""
        ...


RateLimitingInterface: TypeAlias = TypedRateLimitingInterface[Any]
"""Deprecated: use TypedRateLimitingInterface."""


@dataclass(kw_only=True)
class TypedRateLimitingQueueConfig(Generic[T]):
    """Options of a rate limiting queue. Go: workqueue.TypedRateLimitingQueueConfig."""

    name: str = ""
    """A queue without a name reports no metrics."""
    metrics_provider: MetricsProvider | None = None
    """Replaces the provider passed to `set_provider`."""
    clock: WithTicker | None = None
    """The queue's clock; None selects the real clock."""
    delaying_queue: TypedDelayingInterface[T] | None = None
    """The queue that delays items; None creates one from the options above."""


RateLimitingQueueConfig: TypeAlias = TypedRateLimitingQueueConfig[Any]
"""Deprecated: use TypedRateLimitingQueueConfig."""


def new_rate_limiting_queue(rate_limiter: RateLimiter) -> RateLimitingInterface:
    """Deprecated: use new_typed_rate_limiting_queue."""
    return new_rate_limiting_queue_with_config(rate_limiter, RateLimitingQueueConfig())


def new_typed_rate_limiting_queue(rate_limiter: TypedRateLimiter[T]) -> TypedRateLimitingInterface[T]:
    """Return a rate limiting queue without a name and without metrics. Go: workqueue.NewTypedRateLimitingQueue.

    Call `forget` for every item eventually: the rate limiter stores its failures until then.
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
    """Return a rate limiting queue with the options in `config`. Go: workqueue.NewTypedRateLimitingQueueWithConfig.

    Call `forget` for every item eventually: the rate limiter stores its failures until then.
    """
    require_methods(rate_limiter, "rate_limiter", "when", "forget", "num_requeues")
    delaying_queue = config.delaying_queue
    if delaying_queue is None:
        delaying_queue = new_typed_delaying_queue_with_config(
            TypedDelayingQueueConfig(name=config.name, metrics_provider=config.metrics_provider, clock=config.clock)
        )
    return _RateLimitingType(delaying_queue, rate_limiter, config.name)


def new_named_rate_limiting_queue(rate_limiter: RateLimiter, name: str) -> RateLimitingInterface:
    """Deprecated: use new_rate_limiting_queue_with_config."""
    return new_rate_limiting_queue_with_config(rate_limiter, RateLimitingQueueConfig(name=name))


def new_rate_limiting_queue_with_delaying_interface(
    di: DelayingInterface, rate_limiter: RateLimiter
) -> RateLimitingInterface:
    """Deprecated: use new_rate_limiting_queue_with_config."""
    return new_rate_limiting_queue_with_config(rate_limiter, RateLimitingQueueConfig(delaying_queue=di))


class _RateLimitingType(InspectableRateLimitingQueue[T]):
    """A delaying queue with a rate limiter. It has no lock of its own."""

    @hop("queue.new_rate_limiting", go="NewTypedRateLimitingQueueWithConfig")
    def __init__(
        self, delaying_queue: TypedDelayingInterface[T], rate_limiter: TypedRateLimiter[T], name: str
    ) -> None:
        self._delaying_queue = delaying_queue
        # As in _DelayingType: the methods that Go embeds become attributes of this object.
        self.add = delaying_queue.add
        self.len = delaying_queue.len
        self.get = delaying_queue.get
        self.done = delaying_queue.done
        self.shut_down = delaying_queue.shut_down
        self.shut_down_with_drain = delaying_queue.shut_down_with_drain
        self.shutting_down = delaying_queue.shutting_down
        self.add_after = delaying_queue.add_after

        self._name = name
        self._rate_limiter = rate_limiter
        self._long_delays = LongDelays(name, rate_limiter)
        self.forget = rate_limiter.forget
        self.num_requeues = rate_limiter.num_requeues

    def add_rate_limited(self, item: T) -> None:
        """Add `item` after the rate limiter's delay, and count one more failure. Never blocks."""
        delay = self._rate_limiter.when(item)
        if is_long(delay, self._rate_limiter):
            self._long_delays.report(item, delay)
        self.add_after(item, delay)

    def __repr__(self) -> str:
        return f"<{self._rate_limiter!r} before {self._delaying_queue!r}>"
