"""Counters, gauges and histograms with little overhead. No Go file: client_golang has them in Go.

A reconcile updates twelve metrics. prometheus_client's own instruments check labels, signs and exemplars at every call,
and scan a histogram's buckets one by one, which took longer than the rest of the controller's work
(test/bench/controller_runtime). These instruments keep plain numbers and turn into prometheus_client's metric families
when the registry collects them.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Generic, TypeVar

from clientgo.metrics import need_prometheus_client

need_prometheus_client(__name__)

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

__all__ = ["Distribution", "Number", "Vec", "counter_vec", "gauge_vec", "histogram_vec"]

M = TypeVar("M")

# The number of pending additions that one lock acquisition folds.
_ENOUGH = 256


class Number:
    """A counter or a gauge. Thread-safe.

    Additions go to a deque, whose `append` is atomic with and without a GIL and needs no lock. They are summed when the
    value is read, or when there are enough of them to be worth the lock.
    """

    __slots__ = ("_lock", "_pending", "_value")

    def __init__(self) -> None:
        # Guards _value, and the folding of _pending into it.
        self._lock = threading.Lock()
        self._pending: deque[float] = deque()
        self._value = 0.0

    def inc(self, amount: float = 1) -> None:
        pending = self._pending
        pending.append(amount)
        if len(pending) >= _ENOUGH:
            self.value()

    def dec(self, amount: float = 1) -> None:
        self.inc(-amount)

    def set(self, value: float) -> None:
        with self._lock:
            self._pending.clear()
            self._value = float(value)

    def value(self) -> float:
        """Return the current value."""
        with self._lock:
            self._value += sum(_drain(self._pending))
            return self._value


class Distribution:
    """A histogram: the number of observations up to each bound. Thread-safe; observations are pending as in a Number.
    """

    __slots__ = ("_bounds", "_counts", "_lock", "_pending", "_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        # Guards _counts and _sum, and the folding of _pending into them.
        self._lock = threading.Lock()
        self._pending: deque[float] = deque()
        # One count per bucket, and one for observations above the last bound.
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, amount: float) -> None:
        """Count an observation. An observation equal to a bound belongs to that bucket."""
        pending = self._pending
        pending.append(amount)
        if len(pending) >= _ENOUGH:
            self._fold()

    def _fold(self) -> tuple[list[int], float]:
        with self._lock:
            for amount in _drain(self._pending):
                self._counts[bisect_left(self._bounds, amount)] += 1
                self._sum += amount
            return list(self._counts), self._sum

    def buckets(self) -> tuple[list[tuple[str, float]], float]:
        """Return pairs of each bound, including infinity, and the observations up to it; then the sum of all
        observations.
        """
        counts, total = self._fold()
        bounds = [*(str(float(bound)) for bound in self._bounds), "+Inf"]
        return [(bound, float(so_far)) for bound, so_far in zip(bounds, accumulate(counts), strict=True)], total


def _drain(pending: deque[float]) -> list[float]:
    """Remove and return the pending additions. Concurrent additions may remain."""
    return [pending.popleft() for _ in range(len(pending))]


class Vec(Generic[M]):
    """A metric for each combination of label values, and a collector for prometheus_client. Thread-safe."""

    def __init__(self, labels: int, make: Callable[[], M], show: Callable[[dict[tuple[str, ...], M]], Metric]) -> None:
        self._labels = labels
        self._make = make
        self._show = show
        # Guards changes of the dict.
        self._lock = threading.Lock()
        self._metrics: dict[tuple[str, ...], M] = {}
        if not labels:
            self.labels()

    def labels(self, *values: str) -> M:
        """Return the metric of these values, in the order of the labels. Raises ValueError for a wrong number of
        values.
        """
        if len(values) != self._labels:
            raise ValueError(f"inconsistent label cardinality: expected {self._labels} label values but got {values}")
        with self._lock:
            metric = self._metrics.get(values)
            if metric is None:
                metric = self._metrics[values] = self._make()
            return metric

    def reset(self) -> None:
        """Forget all metrics. Callers that hold one can still update it, but it is no longer collected."""
        with self._lock:
            self._metrics = {}

    def describe(self) -> Iterable[Metric]:
        """Return the family without series, so that a registry can detect duplicate names."""
        return [self._show({})]

    def collect(self) -> Iterable[Metric]:
        """Return all metrics as one family."""
        with self._lock:
            metrics = dict(self._metrics)
        return [self._show(metrics)]


def counter_vec(name: str, help: str, labels: Sequence[str]) -> Vec[Number]:
    """Return a counter for each combination of label values."""

    def show(metrics: dict[tuple[str, ...], Number]) -> Metric:
        family = CounterMetricFamily(name, help, labels=labels)
        for values, metric in metrics.items():
            family.add_metric(values, metric.value())
        return family

    return Vec(len(labels), Number, show)


def gauge_vec(name: str, help: str, labels: Sequence[str]) -> Vec[Number]:
    """Return a gauge for each combination of label values."""

    def show(metrics: dict[tuple[str, ...], Number]) -> Metric:
        family = GaugeMetricFamily(name, help, labels=labels)
        for values, metric in metrics.items():
            family.add_metric(values, metric.value())
        return family

    return Vec(len(labels), Number, show)


def histogram_vec(name: str, help: str, labels: Sequence[str], bounds: Sequence[float]) -> Vec[Distribution]:
    """Return a histogram for each combination of label values. Raises ValueError unless the bounds increase."""
    if any(low >= high for low, high in pairwise(bounds)):
        raise ValueError(f"histogram buckets must be in increasing order: {list(bounds)}")

    def show(metrics: dict[tuple[str, ...], Distribution]) -> Metric:
        family = HistogramMetricFamily(name, help, labels=labels)
        for values, metric in metrics.items():
            buckets, total = metric.buckets()
            family.add_metric(values, buckets, total)
        return family

    return Vec(len(labels), lambda: Distribution(bounds), show)
