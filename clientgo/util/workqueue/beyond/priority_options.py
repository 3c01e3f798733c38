"""Options and metrics of the priority queues.

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
"""Priority of work that can wait until everything else is done, such as the items of an informer's initial list."""


@dataclass(kw_only=True, slots=True)
class AddOpts:
    """Options of one `PriorityQueue.add_with_opts` call."""

    after: float = 0.0
    """Seconds until the item is ready."""
    rate_limited: bool = False
    """Delay the item as the rate limiter decides, and count one more failure. With `after` the shorter delay counts."""
    priority: int | None = None
    """Items with a higher priority come first.

    None means 0. For a delayed item in a PriorityQueue, None means the priority with which a worker is processing it.
    """


class DepthMetricWithPriority(Protocol):
    """The number of queued items, by priority."""

    def inc(self, priority: int, /) -> None: ...

    def dec(self, priority: int, /) -> None: ...


@runtime_checkable
class MetricsProviderWithPriority(MetricsProvider, Protocol):
    """A provider with a depth metric per priority."""

    def new_depth_metric_with_priority(self, name: str, /) -> DepthMetricWithPriority:
        """Return the depth metric that priority queues use in place of `new_depth_metric`."""
        ...


@dataclass(kw_only=True)
class PriorityQueueConfig(Generic[T]):
    """Options of a priority queue."""

    name: str = ""
    """A queue without a name reports no metrics."""
    metrics_provider: MetricsProvider | None = None
    """Replaces the provider passed to `set_provider`."""
    clock: WithTicker | None = None
    """The queue's clock; None selects the real clock."""
    rate_limiter: TypedRateLimiter[T] | None = None
    """Computes the delays of retries; None selects the default controller limiter."""
    ageing: float | None = None
    """Seconds in which a ready item's priority grows by one, so that no item starves. None: priorities do not change.
    """
    log: Logger | None = None
    """Receives a list of all items every ten seconds, at verbosity 5."""
