"""Metrics of the queue and the store of an informer.

Mirrors tools/cache/fifo_metrics.go. Differs from Go: the functions return None where Go returns metrics that do
nothing, so that queue and store can skip publishing.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from clientgo.golang.functions import create_checked
from clientgo.tools.cache.identity import InformerNameAndResource
from clientgo.tools.cache.reflector_metrics import GaugeMetric, HistogramMetric


class InformerMetricsProvider(Protocol):
    """A factory for the metrics of an informer. Go: InformerMetricsProvider.

    An informer may end before the process does: a metric should check `id.reserved()` before it publishes.
    """

    def new_queued_item_metric(self, id: InformerNameAndResource, /) -> GaugeMetric:
        """Return a metric for the number of queued items: keys in a DeltaFIFO, deltas in a RealFIFO."""
        ...

    def new_processing_latency_metric(self, id: InformerNameAndResource, /) -> HistogramMetric:
        """Return a metric for the seconds of processing of each popped item or batch."""
        ...

    def new_store_resource_version_metric(self, id: InformerNameAndResource, /) -> GaugeMetric:
        """Return a metric for the store's resourceVersion (its last 15 digits)."""
        ...


@dataclass(slots=True)
class FIFOMetrics:
    """The metrics of one queue. Go: fifoMetrics."""

    number_of_queued_item: GaugeMetric
    processing_latency: HistogramMetric


@dataclass(slots=True)
class StoreMetrics:
    """The metrics of one store. Go: storeMetrics."""

    store_resource_version: GaugeMetric


@runtime_checkable
class HandlerMetricsProvider(Protocol):
    """An InformerMetricsProvider with metrics of the handlers' backlogs. Beyond Go."""

    def new_pending_notifications_metric(self, id: InformerNameAndResource, handler: str, /) -> GaugeMetric:
        """Return a metric for the number of notifications that wait for a handler, given by its name in logs."""
        ...

    def new_oldest_notification_metric(self, id: InformerNameAndResource, handler: str, /) -> GaugeMetric:
        """Return a metric for the time at which the first of them was queued, in Unix seconds; 0 for none."""
        ...


@dataclass(slots=True)
class HandlerMetrics:
    """The metrics of one handler of a shared informer."""

    pending: GaugeMetric
    oldest: GaugeMetric


_global_lock = threading.Lock()
_global_informer_metrics_provider: InformerMetricsProvider | None = None


def set_informer_metrics_provider(metrics_provider: InformerMetricsProvider) -> None:
    """Set the provider for all informers created from now on. Only the first call has an effect.

    Go: SetInformerMetricsProvider.
    """
    global _global_informer_metrics_provider
    with _global_lock:
        if _global_informer_metrics_provider is None:
            _global_informer_metrics_provider = metrics_provider


def new_fifo_metrics(
    id: InformerNameAndResource, metrics_provider: InformerMetricsProvider | None
) -> FIFOMetrics | None:
    provider = metrics_provider or _global_informer_metrics_provider
    if provider is None or not id.reserved():
        return None
    return FIFOMetrics(
        create_checked(provider.new_queued_item_metric, (id,), "set"),
        create_checked(provider.new_processing_latency_metric, (id,), "observe"),
    )


def new_store_metrics(
    id: InformerNameAndResource, metrics_provider: InformerMetricsProvider | None
) -> StoreMetrics | None:
    provider = metrics_provider or _global_informer_metrics_provider
    if provider is None or not id.reserved():
        return None
    return StoreMetrics(create_checked(provider.new_store_resource_version_metric, (id,), "set"))


def new_handler_metrics(
    id: InformerNameAndResource, handler: str, metrics_provider: InformerMetricsProvider | None
) -> HandlerMetrics | None:
    provider = metrics_provider or _global_informer_metrics_provider
    if not isinstance(provider, HandlerMetricsProvider) or not id.reserved():
        return None
    return HandlerMetrics(
        create_checked(provider.new_pending_notifications_metric, (id, handler), "set"),
        create_checked(provider.new_oldest_notification_metric, (id, handler), "set"),
    )
