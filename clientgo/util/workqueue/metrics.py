"""Metrics of the work queues and the interface to a metrics system. Mirrors util/workqueue/metrics.go.

A program connects its metrics system (for example Prometheus) as a `MetricsProvider`: for one queue through the queue's
config, for all queues through `set_provider`. Only queues with a name report metrics. Differs from Go: a queue without
metrics holds None and skips the calls, where Go uses objects without effect.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar

from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.golang.functions import create_checked
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
    """The metrics that a queue reports. Every method is called with the queue's lock held."""

    def add(self, item: T_contra, /) -> None: ...

    def get(self, item: T_contra, /) -> None: ...

    def done(self, item: T_contra, /) -> None: ...

    def update_unfinished_work(self) -> None: ...


class GaugeMetric(Protocol):
    """A number that goes up and down. Go: workqueue.GaugeMetric."""

    def inc(self) -> None: ...

    def dec(self) -> None: ...


class SettableGaugeMetric(Protocol):
    """A number that is set. Go: workqueue.SettableGaugeMetric."""

    def set(self, value: float, /) -> None: ...


class CounterMetric(Protocol):
    """A number that only increases. Go: workqueue.CounterMetric."""

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
    """Converter of a queue's events to the provider's metrics. Not thread-safe: the queue's lock guards it.

    Invariant: an item is in `_add_times` from its add to its get, and in `_processing_start_times` from its get to its
    done.
    """

    def __init__(self, provider: MetricsProvider, name: str, clock: Clock, depth: GaugeMetric | None = None) -> None:
        """Create the metrics. `depth` replaces the provider's depth metric, for a queue that counts the depth itself.
        """
        self._clock = clock
        # Times below are seconds since `_began`, as in the delaying queue.
        self._began = clock.now()
        if depth is None:
            depth = create_checked(provider.new_depth_metric, (name,), "inc", "dec")
        self._depth = depth
        self._adds = create_checked(provider.new_adds_metric, (name,), "inc")
        self._latency = create_checked(provider.new_latency_metric, (name,), "observe")
        self._work_duration = create_checked(provider.new_work_duration_metric, (name,), "observe")
        self._unfinished_work_seconds = create_checked(provider.new_unfinished_work_seconds_metric, (name,), "set")
        self._longest_running_processor = create_checked(
            provider.new_longest_running_processor_seconds_metric, (name,), "set"
        )
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
    """Report the duration of the work in progress once per period. The calling thread holds the queue's lock.

    `stopping` is notified when `is_shutting_down` becomes true.
    """
    guard = utilruntime.handle_crash(go_on=True)
    next_update = clock.now() + period
    while not is_shutting_down():
        ran_out = not clock.wait(stopping, max(0.0, next_update - clock.now()))
        if ran_out and not is_shutting_down():
            with guard:
                metrics.update_unfinished_work()
            # Skip missed updates, as a ticker does.
            next_update = max(next_update + period, clock.now())


class _RetryMetrics:
    """Counts delayed additions. Thread-safe if the provider's counter is."""

    def __init__(self, retries: CounterMetric) -> None:
        self._retries = retries

    def retry(self) -> None:
        self._retries.inc()


class MetricsProvider(Protocol):
    """A factory for the metrics of a queue. `name` is the queue's name. Go: workqueue.MetricsProvider.

    The queue calls the metrics with its lock held: they must be fast and must not call the queue.
    """

    def new_depth_metric(self, name: str, /) -> GaugeMetric:
        """Return the gauge for the number of items that are queued or will be queued again by their done."""
        ...

    def new_adds_metric(self, name: str, /) -> CounterMetric:
        """Return the counter of added items, without duplicates."""
        ...

    def new_latency_metric(self, name: str, /) -> HistogramMetric:
        """Return the histogram of the seconds from add to get."""
        ...

    def new_work_duration_metric(self, name: str, /) -> HistogramMetric:
        """Return the histogram of the seconds from get to done."""
        ...

    def new_unfinished_work_seconds_metric(self, name: str, /) -> SettableGaugeMetric:
        """Return the gauge for the seconds spent so far on all items in progress together."""
        ...

    def new_longest_running_processor_seconds_metric(self, name: str, /) -> SettableGaugeMetric:
        """Return the gauge for the seconds spent so far on the oldest item in progress."""
        ...

    def new_retries_metric(self, name: str, /) -> CounterMetric:
        """Return the counter of items added with a delay or a rate limit."""
        ...


_global_metrics_provider: MetricsProvider | None = None


def _listener(provider: MetricsProvider | None, name: str) -> MetricsProvider | None:
    """Return the provider that a queue reports to; None if the queue has no name or there is no provider."""
    if provider is None:
        provider = _global_metrics_provider
    return provider if name else None


def _new_queue_metrics(provider: MetricsProvider | None, name: str, clock: Clock) -> _DefaultQueueMetrics[T] | None:
    """Return a queue's metrics, or None if the queue has no name or there is no provider.

    A queue without metrics needs no thread that updates them.
    """
    provider = _listener(provider, name)
    return None if provider is None else _DefaultQueueMetrics(provider, name, clock)


def _new_retry_metrics(name: str, provider: MetricsProvider | None) -> _RetryMetrics | None:
    provider = _listener(provider, name)
    return None if provider is None else _RetryMetrics(create_checked(provider.new_retries_metric, (name,), "inc"))


_set_provider_lock = threading.Lock()


def set_provider(metrics_provider: MetricsProvider) -> None:
    """Report the metrics of all named queues that are created from now on to `metrics_provider`.

    Only the first call has an effect. Go: workqueue.SetProvider.
    """
    global _global_metrics_provider
    with _set_provider_lock:
        if _global_metrics_provider is None:
            _global_metrics_provider = metrics_provider
