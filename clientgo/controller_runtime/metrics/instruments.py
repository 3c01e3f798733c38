"""Counters, gauges and histograms that cost little to count with. Has no Go file; Go's come from client_golang.

A reconcile counts twelve things. prometheus_client's own instruments check their labels, signs and exemplars at every
call, and walk a histogram's buckets one by one: together that took longer than the reconcile's whole way through queue
and controller. These keep plain numbers, and become prometheus_client's metric families when somebody collects them, by
its interface for collectors of other people's.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Generic, TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

__all__ = ["Distribution", "Number", "Vec", "counter_vec", "gauge_vec", "histogram_vec"]

M = TypeVar("M")

# How many calls wait to be counted together.
_ENOUGH = 256


class Number:
    """A counter or a gauge. Thread-safe.

    What is added waits in a deque, whose `append` is one step with and without a GIL and needs no lock, until somebody
    asks for the value or it is enough for the price of a lock.
    """

    __slots__ = ("_lock", "_pending", "_value")

    def __init__(self) -> None:
        # Guards _value, and what it takes to fold _pending into it.
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
        """What it is now."""
        with self._lock:
            self._value += sum(_taken(self._pending))
            return self._value


class Distribution:
    """A histogram: how many observations there were up to each bound. Thread-safe; they wait as in a Number."""

    __slots__ = ("_bounds", "_counts", "_lock", "_pending", "_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        # Guards _counts and _sum, and what it takes to fold _pending into them.
        self._lock = threading.Lock()
        self._pending: deque[float] = deque()
        # Of each bucket, and of what is greater than the last bound.
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, amount: float) -> None:
        """Count one; what equals a bound is within it."""
        pending = self._pending
        pending.append(amount)
        if len(pending) >= _ENOUGH:
            self._fold()

    def _fold(self) -> tuple[list[int], float]:
        with self._lock:
            for amount in _taken(self._pending):
                self._counts[bisect_left(self._bounds, amount)] += 1
                self._sum += amount
            return list(self._counts), self._sum

    def buckets(self) -> tuple[list[tuple[str, float]], float]:
        """(bound, how many up to it) for each bound and infinity, and the sum of all."""
        counts, total = self._fold()
        bounds = [*(str(float(bound)) for bound in self._bounds), "+Inf"]
        return [(bound, float(so_far)) for bound, so_far in zip(bounds, accumulate(counts), strict=True)], total


def _taken(pending: deque[float]) -> list[float]:
    """What waits, taken away; what is appended meanwhile may stay."""
    return [pending.popleft() for _ in range(len(pending))]


class Vec(Generic[M]):
    """A metric for each combination of label values, and a collector of them for prometheus_client. Thread-safe."""

    def __init__(self, labels: int, make: Callable[[], M], show: Callable[[dict[tuple[str, ...], M]], Metric]) -> None:
        self._labels = labels
        self._make = make
        self._show = show
        # Guards the dict.
        self._lock = threading.Lock()
        self._metrics: dict[tuple[str, ...], M] = {}
        if not labels:
            self.labels()

    def labels(self, *values: str) -> M:
        """The metric of these values, in the order of the labels. Raises ValueError when they are not as many."""
        if len(values) != self._labels:
            raise ValueError(f"inconsistent label cardinality: expected {self._labels} label values but got {values}")
        with self._lock:
            metric = self._metrics.get(values)
            if metric is None:
                metric = self._metrics[values] = self._make()
            return metric

    def reset(self) -> None:
        """Forget all metrics. Who has kept one goes on with it, unseen."""
        with self._lock:
            self._metrics = {}

    def describe(self) -> Iterable[Metric]:
        """What it will collect, so that a registry can refuse a name that is taken."""
        return [self._show({})]

    def collect(self) -> Iterable[Metric]:
        """All metrics as one family."""
        with self._lock:
            metrics = dict(self._metrics)
        return [self._show(metrics)]


def counter_vec(name: str, help: str, labels: Sequence[str]) -> Vec[Number]:
    """A counter for each combination of values."""

    def show(metrics: dict[tuple[str, ...], Number]) -> Metric:
        family = CounterMetricFamily(name, help, labels=labels)
        for values, metric in metrics.items():
            family.add_metric(values, metric.value())
        return family

    return Vec(len(labels), Number, show)


def gauge_vec(name: str, help: str, labels: Sequence[str]) -> Vec[Number]:
    """A gauge for each combination of values."""

    def show(metrics: dict[tuple[str, ...], Number]) -> Metric:
        family = GaugeMetricFamily(name, help, labels=labels)
        for values, metric in metrics.items():
            family.add_metric(values, metric.value())
        return family

    return Vec(len(labels), Number, show)


def histogram_vec(name: str, help: str, labels: Sequence[str], bounds: Sequence[float]) -> Vec[Distribution]:
    """A histogram for each combination of values. Raises ValueError when the bounds do not grow."""
    if any(low >= high for low, high in pairwise(bounds)):
        raise ValueError(f"histogram buckets must be in increasing order: {list(bounds)}")

    def show(metrics: dict[tuple[str, ...], Distribution]) -> Metric:
        family = HistogramMetricFamily(name, help, labels=labels)
        for values, metric in metrics.items():
            buckets, total = metric.buckets()
            family.add_metric(values, buckets, total)
        return family

    return Vec(len(labels), lambda: Distribution(bounds), show)
