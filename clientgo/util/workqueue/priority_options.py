"""What can be chosen about a priority queue and what is added to it, and what its metrics are told.

Mirrors AddOpts and Opts of controller-runtime's pkg/controller/priorityqueue/priorityqueue.go, and the metrics of its
metrics.go.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable

from clientgo.klog import Logger
from clientgo.util.workqueue.default_rate_limiters import TypedRateLimiter
from clientgo.util.workqueue.metrics import MetricsProvider
from clientgo.utils.clock import WithTicker

__all__ = ["LOW_PRIORITY", "AddOpts", "DepthMetricWithPriority", "MetricsProviderWithPriority", "PriorityQueueConfig"]

T = TypeVar("T", bound=Hashable)

LOW_PRIORITY = -100
"""For work that can wait until everything else is done, such as the items of an informer's initial list."""


@dataclass(kw_only=True, slots=True)
class AddOpts:
    """How `PriorityQueue.add_with_opts` adds an item."""

    after: float = 0.0
    """Seconds until the item is ready."""
    rate_limited: bool = False
    """Ask the rate limiter how long the item waits, counting one more failure. With `after` the shorter wait counts."""
    priority: int | None = None
    """Higher comes first. None means 0; in a PriorityQueue, for a delayed item the one it is being processed with."""


class DepthMetricWithPriority(Protocol):
    """How many items are queued, by priority."""

    def inc(self, priority: int) -> None: ...

    def dec(self, priority: int) -> None: ...


@runtime_checkable
class MetricsProviderWithPriority(MetricsProvider, Protocol):
    """A provider that wants to know the depth of each priority."""

    def new_depth_metric_with_priority(self, name: str) -> DepthMetricWithPriority:
        """Used in place of `new_depth_metric` by priority queues."""
        ...


@dataclass(kw_only=True)
class PriorityQueueConfig(Generic[T]):
    """What can be chosen about a priority queue."""

    name: str = ""
    """A queue without a name reports no metrics."""
    metrics_provider: MetricsProvider | None = None
    """Used instead of the one given to `set_provider`."""
    clock: WithTicker | None = None
    """The real clock when None."""
    rate_limiter: TypedRateLimiter[T] | None = None
    """The default controller limiter when None."""
    ageing: float | None = None
    """Seconds in which a ready item's priority grows by one, so that none starves. None: priorities stay."""
    log: Logger | None = None
    """Gets a list of all items every ten seconds, at verbosity 5."""
