"""The metrics of informers. Mirrors component-base/metrics/prometheus/clientgo/fifo/metrics.go.

Beyond Go: the backlog of each handler, and the time at which its oldest notification was queued.
"""

from __future__ import annotations

from clientgo.metrics import instruments
from clientgo.metrics.legacyregistry import must_register
from clientgo.tools import cache
from clientgo.tools.cache import InformerNameAndResource

__all__ = ["register"]

_LABELS = ["name", "group", "version", "resource"]

_QUEUED_ITEMS = must_register(
    instruments.gauge_vec("informer_queued_items", "Number of items currently queued in the FIFO.", _LABELS)
)
_PROCESSING_LATENCY = must_register(
    instruments.histogram_vec(
        "informer_processing_latency_seconds",
        "Time taken to process events after popping from the queue.",
        _LABELS,
        [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    )
)
_STORE_RESOURCE_VERSION = must_register(
    instruments.gauge_vec(
        "informer_store_resource_version",
        "The 15 least significant digits of the resource version of the store.",
        _LABELS,
    )
)
_PENDING_NOTIFICATIONS = must_register(
    instruments.gauge_vec(
        "informer_pending_notifications",
        "Number of notifications that wait for a handler.",
        [*_LABELS, "handler"],
    )
)
_OLDEST_NOTIFICATION = must_register(
    instruments.gauge_vec(
        "informer_oldest_notification_timestamp_seconds",
        "Unix time at which the oldest waiting notification was queued, 0 if none waits.",
        [*_LABELS, "handler"],
    )
)


class _ReservedGauge:
    """A gauge that ignores updates once the informer's name has been released."""

    def __init__(self, id: InformerNameAndResource, gauge: instruments.Number) -> None:
        self._id = id
        self._gauge = gauge

    def set(self, value: float, /) -> None:
        if self._id.reserved():
            self._gauge.set(value)


class _ReservedHistogram:
    """A histogram that ignores observations once the informer's name has been released."""

    def __init__(self, id: InformerNameAndResource, histogram: instruments.Distribution) -> None:
        self._id = id
        self._histogram = histogram

    def observe(self, value: float, /) -> None:
        if self._id.reserved():
            self._histogram.observe(value)


def _labels(id: InformerNameAndResource) -> tuple[str, str, str, str]:
    resource = id.group_version_resource()
    return id.name(), resource.group, resource.version, resource.resource


class _InformerMetricsProvider:
    def new_queued_item_metric(self, id: InformerNameAndResource) -> cache.GaugeMetric:
        return _ReservedGauge(id, _QUEUED_ITEMS.labels(*_labels(id)))

    def new_processing_latency_metric(self, id: InformerNameAndResource) -> cache.HistogramMetric:
        return _ReservedHistogram(id, _PROCESSING_LATENCY.labels(*_labels(id)))

    def new_store_resource_version_metric(self, id: InformerNameAndResource) -> cache.GaugeMetric:
        return _ReservedGauge(id, _STORE_RESOURCE_VERSION.labels(*_labels(id)))

    def new_pending_notifications_metric(self, id: InformerNameAndResource, handler: str) -> cache.GaugeMetric:
        return _ReservedGauge(id, _PENDING_NOTIFICATIONS.labels(*_labels(id), handler))

    def new_oldest_notification_metric(self, id: InformerNameAndResource, handler: str) -> cache.GaugeMetric:
        return _ReservedGauge(id, _OLDEST_NOTIFICATION.labels(*_labels(id), handler))


def register() -> None:
    """Report the named informers of the process, unless another provider is set already. Go: fifo.Register."""
    cache.set_informer_metrics_provider(_InformerMetricsProvider())
