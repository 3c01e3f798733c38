"""The metrics of work queues. Mirrors pkg/internal/metrics/workqueue.go.

In Go, importing the package makes all client-go queues of the process report to it. Here `install` does so; the first
manager or controller calls it.
"""

from __future__ import annotations

import threading

from clientgo.controller_runtime.metrics.client_go_adapter import register_client_metrics
from clientgo.controller_runtime.metrics.leaderelection import register_leader_election_metrics
from clientgo.controller_runtime.metrics.registry import (
    AVAILABLE,
    Gauge,
    Vec,
    exponential_buckets,
    new_counter_vec,
    new_gauge_vec,
    new_histogram_vec,
)
from clientgo.controller_runtime.metrics.workqueue import (
    ADDS_KEY,
    DEPTH_KEY,
    LONGEST_RUNNING_PROCESSOR_KEY,
    QUEUE_LATENCY_KEY,
    RETRIES_KEY,
    UNFINISHED_WORK_KEY,
    WORK_DURATION_KEY,
    WORK_QUEUE_SUBSYSTEM,
)
from clientgo.util import workqueue
from clientgo.util.workqueue import DepthMetricWithPriority, MetricsProviderWithPriority

__all__ = [
    "DepthMetricWithPriority",
    "MetricsProviderWithPriority",
    "WorkqueueMetricsProvider",
    "install",
    "provider",
]

_LABELS = ("name", "controller")
_BUCKETS = exponential_buckets(10e-9, 10, 12)


def _name(key: str) -> str:
    return f"{WORK_QUEUE_SUBSYSTEM}_{key}"


_DEPTH = new_gauge_vec(
    _name(DEPTH_KEY), "Current depth of workqueue by workqueue and priority", ["name", "controller", "priority"]
)
_ADDS = new_counter_vec(_name(ADDS_KEY), "Total number of adds handled by workqueue", _LABELS)
_LATENCY = new_histogram_vec(
    _name(QUEUE_LATENCY_KEY), "How long in seconds an item stays in workqueue before being requested", _LABELS, _BUCKETS
)
_WORK_DURATION = new_histogram_vec(
    _name(WORK_DURATION_KEY), "How long in seconds processing an item from workqueue takes.", _LABELS, _BUCKETS
)
_UNFINISHED = new_gauge_vec(
    _name(UNFINISHED_WORK_KEY),
    "How many seconds of work has been done that is in progress and hasn't been observed by work_duration. "
    "Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which "
    "this increases.",
    _LABELS,
)
_LONGEST_RUNNING_PROCESSOR = new_gauge_vec(
    _name(LONGEST_RUNNING_PROCESSOR_KEY),
    "How many seconds has the longest running processor for workqueue been running.",
    _LABELS,
)
_RETRIES = new_counter_vec(
    _name(RETRIES_KEY),
    "Total number of items added to the workqueue with a non-zero delay "
    "(rate-limited requeues, explicit RequeueAfter or AddAfter calls)",
    _LABELS,
)


class WorkqueueMetricsProvider:
    """A workqueue.MetricsProvider that reports to the registry, by priority."""

    def new_depth_metric(self, name: str) -> workqueue.GaugeMetric:
        """Return the depth gauge of a queue without priorities: that label is ""."""
        return _DEPTH.labels(name, name, "")

    def new_adds_metric(self, name: str) -> workqueue.CounterMetric:
        return _ADDS.labels(name, name)

    def new_latency_metric(self, name: str) -> workqueue.HistogramMetric:
        return _LATENCY.labels(name, name)

    def new_work_duration_metric(self, name: str) -> workqueue.HistogramMetric:
        return _WORK_DURATION.labels(name, name)

    def new_unfinished_work_seconds_metric(self, name: str) -> workqueue.SettableGaugeMetric:
        return _UNFINISHED.labels(name, name)

    def new_longest_running_processor_seconds_metric(self, name: str) -> workqueue.SettableGaugeMetric:
        return _LONGEST_RUNNING_PROCESSOR.labels(name, name)

    def new_retries_metric(self, name: str) -> workqueue.CounterMetric:
        return _RETRIES.labels(name, name)

    def new_depth_metric_with_priority(self, name: str) -> DepthMetricWithPriority:
        return DepthWithPriorityMetric(_DEPTH, name)


# The number of series must stay bounded: a queue with more priorities than this reports one series for all.
_EXCEEDED = "exceeded_cardinality_limit"
_MAX_PRIORITIES = 25


class DepthWithPriorityMetric:
    """A gauge of the queue's depth by priority, as long as there are few priorities.

    Above the limit it counts all items under one label. Earlier counts keep their labels, so the sum remains the
    queue's depth (also in Go).
    """

    def __init__(self, depth: Vec[Gauge], name: str) -> None:
        self._depth = depth
        self._name = name
        # Guards changes of the attributes below. Queues call with their own lock held, but several may share a name.
        self._lock = threading.Lock()
        self._gauges: dict[int, Gauge] = {}
        self._exceeded: Gauge | None = None

    def _gauge(self, priority: int) -> Gauge:
        """Return the gauge of a priority that is not in `_gauges`."""
        with self._lock:
            if self._exceeded is not None:
                return self._exceeded
            gauge = self._gauges.get(priority)
            if gauge is not None:
                return gauge
            if len(self._gauges) >= _MAX_PRIORITIES:
                self._gauges.clear()
                self._exceeded = self._depth.labels(self._name, self._name, _EXCEEDED)
                return self._exceeded
            gauge = self._gauges[priority] = self._depth.labels(self._name, self._name, str(priority))
            return gauge

    def inc(self, priority: int) -> None:
        (self._gauges.get(priority) or self._gauge(priority)).inc()

    def dec(self, priority: int) -> None:
        (self._gauges.get(priority) or self._gauge(priority)).dec()


_PROVIDER = WorkqueueMetricsProvider()


def provider() -> workqueue.MetricsProvider | None:
    """Return the metrics provider of queues, or None without the extra `metrics`."""
    return _PROVIDER if AVAILABLE else None


def install() -> None:
    """Make the queues, clients and elections of the process report here, unless they have another provider already."""
    if AVAILABLE:
        workqueue.set_provider(_PROVIDER)
        register_client_metrics()
        register_leader_election_metrics()
