"""The metrics of work queues. Mirrors component-base/metrics/prometheus/workqueue/metrics.go."""

from __future__ import annotations

from clientgo.metrics import instruments
from clientgo.metrics.legacyregistry import must_register
from clientgo.util import workqueue

__all__ = ["register"]

_BUCKETS = [10e-9 * 10**power for power in range(10)]

_DEPTH = must_register(instruments.gauge_vec("workqueue_depth", "Current depth of workqueue", ["name"]))
_ADDS = must_register(
    instruments.counter_vec("workqueue_adds_total", "Total number of adds handled by workqueue", ["name"])
)
_LATENCY = must_register(
    instruments.histogram_vec(
        "workqueue_queue_duration_seconds",
        "How long in seconds an item stays in workqueue before being requested.",
        ["name"],
        _BUCKETS,
    )
)
_WORK_DURATION = must_register(
    instruments.histogram_vec(
        "workqueue_work_duration_seconds",
        "How long in seconds processing an item from workqueue takes.",
        ["name"],
        _BUCKETS,
    )
)
_UNFINISHED = must_register(
    instruments.gauge_vec(
        "workqueue_unfinished_work_seconds",
        "How many seconds of work has done that is in progress and hasn't been observed by work_duration. "
        "Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at "
        "which this increases.",
        ["name"],
    )
)
_LONGEST_RUNNING_PROCESSOR = must_register(
    instruments.gauge_vec(
        "workqueue_longest_running_processor_seconds",
        "How many seconds has the longest running processor for workqueue been running.",
        ["name"],
    )
)
_RETRIES = must_register(
    instruments.counter_vec("workqueue_retries_total", "Total number of retries handled by workqueue", ["name"])
)


class _MetricsProvider:
    def new_depth_metric(self, name: str) -> workqueue.GaugeMetric:
        return _DEPTH.labels(name)

    def new_adds_metric(self, name: str) -> workqueue.CounterMetric:
        return _ADDS.labels(name)

    def new_latency_metric(self, name: str) -> workqueue.HistogramMetric:
        return _LATENCY.labels(name)

    def new_work_duration_metric(self, name: str) -> workqueue.HistogramMetric:
        return _WORK_DURATION.labels(name)

    def new_unfinished_work_seconds_metric(self, name: str) -> workqueue.SettableGaugeMetric:
        return _UNFINISHED.labels(name)

    def new_longest_running_processor_seconds_metric(self, name: str) -> workqueue.SettableGaugeMetric:
        return _LONGEST_RUNNING_PROCESSOR.labels(name)

    def new_retries_metric(self, name: str) -> workqueue.CounterMetric:
        return _RETRIES.labels(name)


def register() -> None:
    """Report the named queues of the process, unless another provider is set already."""
    workqueue.set_provider(_MetricsProvider())
