"""The protocols of the metrics that a provider, such as Prometheus, creates for the reflector.

Mirrors tools/cache/reflector_metrics.go. As in Go v0.36 the provider can be set, but no reflector reports to it any
more; the informer metrics that are reported live in fifo_metrics.py and store.py.
"""

from __future__ import annotations

import threading
from typing import Protocol


class GaugeMetric(Protocol):
    """A number that goes up and down. Go: GaugeMetric."""

    def set(self, value: float, /) -> None: ...


class CounterMetric(Protocol):
    """A number that only goes up. Go: CounterMetric."""

    def inc(self) -> None: ...


class SummaryMetric(Protocol):
    """Takes single observations. Go: SummaryMetric."""

    def observe(self, value: float, /) -> None: ...


class HistogramMetric(Protocol):
    """Counts observations in configurable buckets, with their sum and number. Go: HistogramMetric."""

    def observe(self, value: float, /) -> None: ...


class _NoopMetric:
    """Every kind of metric, recorded nowhere."""

    def inc(self) -> None:
        pass

    def dec(self) -> None:
        pass

    def observe(self, value: float, /) -> None:
        pass

    def set(self, value: float, /) -> None:
        pass


class MetricsProvider(Protocol):
    """A factory for the reflector's metrics, one set per reflector name. Go: MetricsProvider."""

    def new_lists_metric(self, name: str, /) -> CounterMetric: ...

    def new_list_duration_metric(self, name: str, /) -> SummaryMetric: ...

    def new_items_in_list_metric(self, name: str, /) -> SummaryMetric: ...

    def new_watches_metric(self, name: str, /) -> CounterMetric: ...

    def new_short_watches_metric(self, name: str, /) -> CounterMetric: ...

    def new_watch_duration_metric(self, name: str, /) -> SummaryMetric: ...

    def new_items_in_watch_metric(self, name: str, /) -> SummaryMetric: ...

    def new_last_resource_version_metric(self, name: str, /) -> GaugeMetric: ...


class _NoopMetricsProvider:
    def new_lists_metric(self, name: str) -> CounterMetric:
        return _NoopMetric()

    def new_list_duration_metric(self, name: str) -> SummaryMetric:
        return _NoopMetric()

    def new_items_in_list_metric(self, name: str) -> SummaryMetric:
        return _NoopMetric()

    def new_watches_metric(self, name: str) -> CounterMetric:
        return _NoopMetric()

    def new_short_watches_metric(self, name: str) -> CounterMetric:
        return _NoopMetric()

    def new_watch_duration_metric(self, name: str) -> SummaryMetric:
        return _NoopMetric()

    def new_items_in_watch_metric(self, name: str) -> SummaryMetric:
        return _NoopMetric()

    def new_last_resource_version_metric(self, name: str) -> GaugeMetric:
        return _NoopMetric()


class _MetricsFactory:
    """A holder of the provider. The first provider set stays."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._was_set = False
        self.metrics_provider: MetricsProvider = _NoopMetricsProvider()

    def set_once(self, metrics_provider: MetricsProvider) -> None:
        with self._lock:
            if not self._was_set:
                self._was_set = True
                self.metrics_provider = metrics_provider


_METRICS_FACTORY = _MetricsFactory()


def set_reflector_metrics_provider(metrics_provider: MetricsProvider) -> None:
    """Set the provider for the whole process; only the first call counts. Go: SetReflectorMetricsProvider."""
    _METRICS_FACTORY.set_once(metrics_provider)


__all__ = [
    "CounterMetric",
    "GaugeMetric",
    "HistogramMetric",
    "MetricsProvider",
    "SummaryMetric",
    "set_reflector_metrics_provider",
]
