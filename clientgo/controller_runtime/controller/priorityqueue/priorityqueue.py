"""The queue of controllers. Mirrors pkg/controller/priorityqueue/priorityqueue.go.

The implementation is in `util/workqueue`, in `priority_queue.py` and `dropping_priority_queue.py`; this module has
controller-runtime's names for it. Differences from Go: an addition takes effect at once; Go buffers it for a goroutine.
Delivery needs no goroutine either, so a shutdown cannot race with it (in v0.24.1 this can deadlock), and a second
shutdown does nothing (in Go it panics).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from clientgo.klog import Logger
from clientgo.util import workqueue
from clientgo.util.workqueue import AddOpts

__all__ = ["AddOpts", "Opt", "Opts", "PriorityQueue", "new"]

T = TypeVar("T", bound=Hashable)

_BASE_DELAY = 0.005
_MAX_DELAY = 1000.0


@runtime_checkable
class PriorityQueue(workqueue.TypedRateLimitingInterface[T], Protocol[T]):
    """A work queue with priorities. Go: priorityqueue.PriorityQueue.

    It contains an item once, with the highest priority and the earliest time of its additions. An item whose priority
    rises moves to the end of the new priority, so items of one priority keep the order of their additions.
    """

    def add_with_opts(self, o: AddOpts, /, *items: T) -> None:
        """Add items with a priority, after a delay or rate limited. Never blocks."""
        ...

    def get_with_priority(self) -> tuple[T, int, bool]:
        """Return (item, priority, shutdown) as `get` does. Blocks."""
        ...


@dataclass(kw_only=True)
class Opts(Generic[T]):
    """The options of a priority queue. Go: priorityqueue.Opts."""

    rate_limiter: workqueue.TypedRateLimiter[T] | None = None
    """The delays of `add_rate_limited`: by default 5 ms to 1000 s, doubled after each failure."""
    metric_provider: workqueue.MetricsProvider | None = None
    """The receiver of the metrics; None selects `metrics.REGISTRY`."""
    log: Logger | None = None
    """Logs the items every ten seconds at verbosity 5; None disables this."""


Opt: TypeAlias = Callable[[Opts[Any]], None]
"""A function that changes the options. Go: priorityqueue.Opt."""


class ForwardingQueue(Generic[T]):
    """A queue that forwards all calls to another one; a base class."""

    def __init__(self, queue: workqueue.TypedRateLimitingInterface[T]) -> None:
        self._queue = queue

    def add(self, item: T) -> None:
        self._queue.add(item)

    def add_after(self, item: T, duration: float) -> None:
        self._queue.add_after(item, duration)

    def add_rate_limited(self, item: T) -> None:
        self._queue.add_rate_limited(item)

    def get(self) -> tuple[T, bool]:
        return self._queue.get()

    def done(self, item: T) -> None:
        self._queue.done(item)

    def forget(self, item: T) -> None:
        self._queue.forget(item)

    def num_requeues(self, item: T) -> int:
        return self._queue.num_requeues(item)

    def len(self) -> int:
        return self._queue.len()

    def shut_down(self) -> None:
        self._queue.shut_down()

    def shut_down_with_drain(self) -> None:
        self._queue.shut_down_with_drain()

    def shutting_down(self) -> bool:
        return self._queue.shutting_down()


def new(name: str, *o: Opt) -> PriorityQueue[Any]:
    """Return a priority queue. Its threads end on shutdown. A queue without a name reports no metrics. Go: New."""
    opts: Opts[Any] = Opts()
    for opt in o:
        opt(opts)
    limiter = opts.rate_limiter or workqueue.new_typed_item_exponential_failure_rate_limiter(_BASE_DELAY, _MAX_DELAY)
    provider = opts.metric_provider or default_provider()
    return workqueue.DroppingPriorityQueue(
        workqueue.PriorityQueueConfig(name=name, rate_limiter=limiter, metrics_provider=provider, log=opts.log)
    )


def default_provider() -> workqueue.MetricsProvider | None:
    """Return the default metrics provider, or None without the extra `metrics`."""
    from clientgo.controller_runtime.internal.metrics.workqueue import provider

    return provider()
