"""The queue of controllers. Mirrors pkg/controller/priorityqueue/priorityqueue.go.

The queue itself stands in `util/workqueue`, in `priority_queue.py` and `dropping_priority_queue.py`; here are
controller-runtime's names for it. What differs from Go: adding takes effect at once instead of by way of a buffer that
a goroutine empties, and delivery needs no goroutine either, so a shutdown cannot race it (in v0.24.1 that can deadlock)
and may be repeated (there it panics).
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

    An item is in it once, with the highest of the priorities it was added with and the earliest of the times. Raised to
    a higher priority it goes to the end of those, so that within a priority the order stays that of the additions.
    """

    def add_with_opts(self, o: AddOpts, /, *items: T) -> None:
        """Add items with a priority, after a delay or rate limited. Never blocks."""
        ...

    def get_with_priority(self) -> tuple[T, int, bool]:
        """`get`, with the item's priority: (item, priority, shutdown). Blocks."""
        ...


@dataclass(kw_only=True)
class Opts(Generic[T]):
    """What can be chosen about a priority queue. Go: priorityqueue.Opts."""

    rate_limiter: workqueue.TypedRateLimiter[T] | None = None
    """Says how long `add_rate_limited` delays: by default 5 ms to 1000 s, twice as long for each failure."""
    metric_provider: workqueue.MetricsProvider | None = None
    """By default the metrics go to `metrics.REGISTRY`."""
    log: Logger | None = None
    """Gets a list of the items every ten seconds at verbosity 5; None for no such list."""


Opt: TypeAlias = Callable[[Opts[Any]], None]
"""Changes the options. Go: priorityqueue.Opt."""


class ForwardingQueue(Generic[T]):
    """A queue in front of another one, to be subclassed: forwards everything."""

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
    """A priority queue; it has threads, which a shutdown ends. Without a name it reports no metrics. Go: New."""
    opts: Opts[Any] = Opts()
    for opt in o:
        opt(opts)
    limiter = opts.rate_limiter or workqueue.new_typed_item_exponential_failure_rate_limiter(_BASE_DELAY, _MAX_DELAY)
    provider = opts.metric_provider or default_provider()
    return workqueue.DroppingPriorityQueue(
        workqueue.PriorityQueueConfig(name=name, rate_limiter=limiter, metrics_provider=provider, log=opts.log)
    )


def default_provider() -> workqueue.MetricsProvider | None:
    """What counts where nobody chose something else; None without the extra `metrics`."""
    from clientgo.controller_runtime.internal.metrics.workqueue import provider

    return provider()
