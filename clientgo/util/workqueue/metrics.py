"""What a work queue tells about itself, and to whom. Mirrors util/workqueue/metrics.go.

A program plugs in its metrics system (Prometheus, say) as a `MetricsProvider`, for one queue through its config or for
all through `set_provider`. Only a queue with a name reports. Differs from Go in how silence is expressed: where Go
hands out objects that do nothing, a queue without metrics holds None and skips the call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar

from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.utils.clock import Clock

__all__ = [
    "CounterMetric",
    "GaugeMetric",
    "HistogramMetric",
    "MetricsProvider",
    "SettableGaugeMetric",
    "SummaryMetric",
    "set_provider",
]

T = TypeVar("T", bound=Hashable)
T_contra = TypeVar("T_contra", contravariant=True)


class _QueueMetrics(Protocol[T_contra]):
    """What a queue reports. Every method is called with the queue's lock held."""

    def add(self, item: T_contra) -> None: ...

    def get(self, item: T_contra) -> None: ...

    def done(self, item: T_contra) -> None: ...

    def update_unfinished_work(self) -> None: ...


class GaugeMetric(Protocol):
    """One number that goes up and down. Go: workqueue.GaugeMetric."""

    def inc(self) -> None: ...

    def dec(self) -> None: ...


class SettableGaugeMetric(Protocol):
    """One number that is set. Go: workqueue.SettableGaugeMetric."""

    def set(self, value: float, /) -> None: ...


class CounterMetric(Protocol):
    """One number that only grows. Go: workqueue.CounterMetric."""

    def inc(self) -> None: ...


class SummaryMetric(Protocol):
    """Collects observations. Go: workqueue.SummaryMetric."""

    def observe(self, value: float, /) -> None: ...


class HistogramMetric(Protocol):
    """Counts observations. Go: workqueue.HistogramMetric."""

    def observe(self, value: float, /) -> None: ...


class _NoopMetric:
    def inc(self) -> None:
        pass

    def dec(self) -> None:
        pass

    def set(self, value: float, /) -> None:
        pass

    def observe(self, value: float, /) -> None:
        pass


class _DefaultQueueMetrics(Generic[T]):
    """Turns what happens in a queue into the provider's metrics. Not thread-safe: the queue's lock guards it.

    Invariant: an item is in `_add_times` from its add to its get, and in `_processing_start_times` from get to done.
    """

    def __init__(self, provider: MetricsProvider, name: str, clock: Clock, depth: GaugeMetric | None = None) -> None:
        """`depth` stands in for the provider's, for a queue that counts the depth by itself."""
        self._clock = clock
        # The times below are seconds since then, as in the delaying queue.
        self._began = clock.now()
        self._depth = provider.new_depth_metric(name) if depth is None else depth
        self._adds = provider.new_adds_metric(name)
        self._latency = provider.new_latency_metric(name)
        self._work_duration = provider.new_work_duration_metric(name)
        self._unfinished_work_seconds = provider.new_unfinished_work_seconds_metric(name)
        self._longest_running_processor = provider.new_longest_running_processor_seconds_metric(name)
        self._add_times: dict[T, float] = {}
        self._processing_start_times: dict[T, float] = {}

    def add(self, item: T) -> None:
        self._adds.inc()
        self._depth.inc()
        self._add_times.setdefault(item, self._clock.since(self._began))

    def get(self, item: T) -> None:
        self._depth.dec()
        self._processing_start_times[item] = now = self._clock.since(self._began)
        added_at = self._add_times.pop(item, None)
        if added_at is not None:
            self._latency.observe(now - added_at)

    def done(self, item: T) -> None:
        started_at = self._processing_start_times.pop(item, None)
        if started_at is not None:
            self._work_duration.observe(self._clock.since(self._began) - started_at)

    def update_unfinished_work(self) -> None:
        now = self._clock.since(self._began)
        ages = [now - started_at for started_at in self._processing_start_times.values()]
        self._unfinished_work_seconds.set(sum(ages))
        self._longest_running_processor.set(max(ages, default=0.0))


def _update_until_shutdown(
    metrics: _QueueMetrics[T],
    clock: Clock,
    period: float,
    stopping: threading.Condition,
    is_shutting_down: Callable[[], bool],
) -> None:
    """Report every period how long the work in progress has taken. For a thread that holds the queue's lock.

    `stopping` is woken when `is_shutting_down` becomes true.
    """
    guard = utilruntime.handle_crash(go_on=True)
    next_update = clock.now() + period
    while not is_shutting_down():
        ran_out = not clock.wait(stopping, max(0.0, next_update - clock.now()))
        if ran_out and not is_shutting_down():
            with guard:
                metrics.update_unfinished_work()
            # As a ticker does: updates that could not be made in time are left out.
            next_update = max(next_update + period, clock.now())


class _RetryMetrics:
    """Counts delayed additions. Thread-safe as far as the provider's counter is."""

    def __init__(self, retries: CounterMetric) -> None:
        self._retries = retries

    def retry(self) -> None:
        self._retries.inc()


class MetricsProvider(Protocol):
    """Makes the metrics of a queue; `name` is the queue's. Go: workqueue.MetricsProvider.

    The metrics are called with the queue's lock held: they must be quick and must not call the queue.
    """

    def new_depth_metric(self, name: str) -> GaugeMetric:
        """How many items are queued, or waiting for their done to be queued again."""
        ...

    def new_adds_metric(self, name: str) -> CounterMetric:
        """How many items were added, duplicates not counted."""
        ...

    def new_latency_metric(self, name: str) -> HistogramMetric:
        """Seconds from add to get."""
        ...

    def new_work_duration_metric(self, name: str) -> HistogramMetric:
        """Seconds from get to done."""
        ...

    def new_unfinished_work_seconds_metric(self, name: str) -> SettableGaugeMetric:
        """Seconds that the items in progress have been worked on so far, summed."""
        ...

    def new_longest_running_processor_seconds_metric(self, name: str) -> SettableGaugeMetric:
        """Seconds that the oldest item in progress has been worked on so far."""
        ...

    def new_retries_metric(self, name: str) -> CounterMetric:
        """How many items were added with a delay or a rate limit."""
        ...


class _NoopMetricsProvider:
    def new_depth_metric(self, name: str) -> GaugeMetric:
        return _NoopMetric()

    def new_adds_metric(self, name: str) -> CounterMetric:
        return _NoopMetric()

    def new_latency_metric(self, name: str) -> HistogramMetric:
        return _NoopMetric()

    def new_work_duration_metric(self, name: str) -> HistogramMetric:
        return _NoopMetric()

    def new_unfinished_work_seconds_metric(self, name: str) -> SettableGaugeMetric:
        return _NoopMetric()

    def new_longest_running_processor_seconds_metric(self, name: str) -> SettableGaugeMetric:
        return _NoopMetric()

    def new_retries_metric(self, name: str) -> CounterMetric:
        return _NoopMetric()


_NOOP_PROVIDER = _NoopMetricsProvider()
_global_metrics_provider: MetricsProvider = _NOOP_PROVIDER


def _listener(provider: MetricsProvider | None, name: str) -> MetricsProvider | None:
    """The provider that a queue reports to; None when it has no name or nobody listens."""
    if provider is None:
        provider = _global_metrics_provider
    return provider if name and provider is not _NOOP_PROVIDER else None


def _new_queue_metrics(provider: MetricsProvider | None, name: str, clock: Clock) -> _DefaultQueueMetrics[T] | None:
    """The metrics of a queue; None when it has no name or nobody listens, so that it needs no updating thread."""
    provider = _listener(provider, name)
    return None if provider is None else _DefaultQueueMetrics(provider, name, clock)


def _new_retry_metrics(name: str, provider: MetricsProvider | None) -> _RetryMetrics | None:
    provider = _listener(provider, name)
    return None if provider is None else _RetryMetrics(provider.new_retries_metric(name))


_set_provider_lock = threading.Lock()


def set_provider(metrics_provider: MetricsProvider) -> None:
    """Report all named queues made from now on to `metrics_provider`. Only the first call has an effect.

    Go: workqueue.SetProvider.
    """
    global _global_metrics_provider
    with _set_provider_lock:
        if _global_metrics_provider is _NOOP_PROVIDER:
            _global_metrics_provider = metrics_provider
