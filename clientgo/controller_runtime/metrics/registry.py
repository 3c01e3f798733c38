"""The registry of controllers' metrics, and constructors of metrics. Mirrors pkg/metrics/registry.go.

The registry is prometheus_client's, from the extra `metrics` (`pip install 'clientgo[metrics]'`), and also accepts its
metrics. The metrics made here have less overhead (clientgo/metrics/instruments.py). Without the extra, the registry
collects nothing, and every metric ignores its calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar

__all__ = [
    "AVAILABLE",
    "REGISTRY",
    "Counter",
    "Gatherer",
    "Gauge",
    "Histogram",
    "Registerer",
    "RegistererGatherer",
    "Vec",
    "exponential_buckets",
    "new_counter_vec",
    "new_gauge_vec",
    "new_histogram_vec",
]

AVAILABLE = find_spec("prometheus_client") is not None
"""True if prometheus_client is installed, so that metrics are collected."""

if AVAILABLE:
    import prometheus_client

    from clientgo.metrics import instruments

CollectorT = TypeVar("CollectorT")
M_co = TypeVar("M_co", covariant=True)


class Counter(Protocol):
    """A number that only increases."""

    def inc(self, amount: float = 1, /) -> None: ...


class Gauge(Protocol):
    """A number that can increase and decrease."""

    def inc(self, amount: float = 1, /) -> None: ...

    def dec(self, amount: float = 1, /) -> None: ...

    def set(self, value: float, /) -> None: ...


class Histogram(Protocol):
    """A histogram of observations."""

    def observe(self, amount: float, /) -> None: ...


class Vec(Protocol[M_co]):
    """A metric for each combination of label values. Go: prometheus.CounterVec and similar types."""

    def labels(self, *values: str) -> M_co:
        """Return the metric of these values, in the order of the labels. Keep the result where speed matters."""
        ...

    def reset(self) -> None:
        """Forget all metrics. Callers that hold one can still update it, but it is no longer collected.

        Go: MetricVec.Reset.
        """
        ...


class Registerer(Protocol):
    """A registry for collectors such as those of prometheus_client. Go: prometheus.Registerer."""

    def register(self, collector: Any, /) -> None:
        """Add a collector. Raises ValueError if one of its names is taken."""
        ...

    def unregister(self, collector: Any, /) -> None:
        """Remove a collector."""
        ...


class Gatherer(Protocol):
    """A source of collected metrics. Go: prometheus.Gatherer."""

    def collect(self) -> Iterable[Any]:
        """Return the metric families as prometheus_client represents them. Go: Gather."""
        ...


class RegistererGatherer(Registerer, Gatherer, Protocol):
    """A registry. Go: metrics.RegistererGatherer."""


class _NullMetric:
    """A stand-in for every metric and for the registry, used without prometheus_client."""

    def labels(self, *values: str) -> Any:
        return self

    def reset(self) -> None:
        pass

    def inc(self, amount: float = 1) -> None:
        pass

    def dec(self, amount: float = 1) -> None:
        pass

    def set(self, value: float) -> None:
        pass

    def observe(self, amount: float) -> None:
        pass

    def register(self, collector: Any) -> None:
        pass

    def unregister(self, collector: Any) -> None:
        pass

    def collect(self) -> Iterable[Any]:
        return ()


_NULL_METRIC = _NullMetric()

REGISTRY: RegistererGatherer = prometheus_client.CollectorRegistry() if AVAILABLE else _NULL_METRIC
"""The registry of the metrics endpoint. Register your own metrics here. Go: metrics.Registry."""


def new_counter_vec(name: str, help: str, labels: Sequence[str]) -> Vec[Counter]:
    """Create a counter in `REGISTRY` and return it."""
    return _registered(instruments.counter_vec(name, help, labels)) if AVAILABLE else _NULL_METRIC


def new_gauge_vec(name: str, help: str, labels: Sequence[str]) -> Vec[Gauge]:
    """Create a gauge in `REGISTRY` and return it."""
    return _registered(instruments.gauge_vec(name, help, labels)) if AVAILABLE else _NULL_METRIC


def new_histogram_vec(name: str, help: str, labels: Sequence[str], buckets: Sequence[float]) -> Vec[Histogram]:
    """Create a histogram in `REGISTRY` and return it."""
    return _registered(instruments.histogram_vec(name, help, labels, buckets)) if AVAILABLE else _NULL_METRIC


def _registered(vec: CollectorT) -> CollectorT:
    REGISTRY.register(vec)
    return vec


def exponential_buckets(start: float, factor: float, count: int) -> list[float]:
    """Return `count` upper bounds of buckets, each `factor` times the previous one.

    Go: prometheus.ExponentialBuckets.
    """
    buckets = [start]
    while len(buckets) < count:
        buckets.append(buckets[-1] * factor)
    return buckets
