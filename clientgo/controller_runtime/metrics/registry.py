"""Where the metrics of controllers are collected. Mirrors pkg/metrics/registry.go, and makes the metrics themselves.

The registry is prometheus_client's, which the extra `metrics` brings (`pip install 'clientgo[metrics]'`), and takes its
metrics too. Those made here are cheaper to count with (metrics/instruments.py). Without the extra the registry collects
nothing, and every metric is one that takes all calls and keeps nothing.
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
"""Whether metrics are collected at all."""

if AVAILABLE:
    import prometheus_client

    from clientgo.controller_runtime.metrics import instruments

CollectorT = TypeVar("CollectorT")
M_co = TypeVar("M_co", covariant=True)


class Counter(Protocol):
    """One number that only grows."""

    def inc(self, amount: float = 1) -> None: ...


class Gauge(Protocol):
    """One number."""

    def inc(self, amount: float = 1) -> None: ...

    def dec(self, amount: float = 1) -> None: ...

    def set(self, value: float) -> None: ...


class Histogram(Protocol):
    """Counts observations."""

    def observe(self, amount: float) -> None: ...


class Vec(Protocol[M_co]):
    """A metric for each combination of label values (Go: prometheus.CounterVec and its like)."""

    def labels(self, *values: str) -> M_co:
        """The metric of these values, in the order of the labels. Cheap enough to ask for, cheaper to keep."""
        ...

    def reset(self) -> None:
        """Forget all metrics. Who has kept one goes on with it, unseen. Go: MetricVec.Reset."""
        ...


class Registerer(Protocol):
    """Takes collectors, as those of prometheus_client are. Go: prometheus.Registerer."""

    def register(self, collector: Any) -> None:
        """Collect from `collector` too. Raises ValueError when one of its names is taken."""
        ...

    def unregister(self, collector: Any) -> None:
        """Do so no more."""
        ...


class Gatherer(Protocol):
    """Gives what was collected. Go: prometheus.Gatherer."""

    def collect(self) -> Iterable[Any]:
        """The metric families, as prometheus_client has them. Go: Gather."""
        ...


class RegistererGatherer(Registerer, Gatherer, Protocol):
    """A registry. Go: metrics.RegistererGatherer."""


class _Nothing:
    """Every metric, and the registry, where there is no prometheus_client."""

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


_NOTHING = _Nothing()

REGISTRY: RegistererGatherer = prometheus_client.CollectorRegistry() if AVAILABLE else _NOTHING
"""What the metrics endpoint shows. Register metrics of your own here. Go: metrics.Registry."""


def new_counter_vec(name: str, help: str, labels: Sequence[str]) -> Vec[Counter]:
    """A counter in `REGISTRY`."""
    return _registered(instruments.counter_vec(name, help, labels)) if AVAILABLE else _NOTHING


def new_gauge_vec(name: str, help: str, labels: Sequence[str]) -> Vec[Gauge]:
    """A gauge in `REGISTRY`."""
    return _registered(instruments.gauge_vec(name, help, labels)) if AVAILABLE else _NOTHING


def new_histogram_vec(name: str, help: str, labels: Sequence[str], buckets: Sequence[float]) -> Vec[Histogram]:
    """A histogram in `REGISTRY`."""
    return _registered(instruments.histogram_vec(name, help, labels, buckets)) if AVAILABLE else _NOTHING


def _registered(vec: CollectorT) -> CollectorT:
    REGISTRY.register(vec)
    return vec


def exponential_buckets(start: float, factor: float, count: int) -> list[float]:
    """The upper bounds of `count` buckets, each `factor` times the one before. Go: prometheus.ExponentialBuckets."""
    buckets = [start]
    while len(buckets) < count:
        buckets.append(buckets[-1] * factor)
    return buckets
