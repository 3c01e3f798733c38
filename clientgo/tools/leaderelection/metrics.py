"""Metrics of leader election. Mirrors client-go/tools/leaderelection/metrics.go."""

from __future__ import annotations

import threading
from typing import Protocol

from clientgo.golang.functions import create_checked

__all__ = ["LeaderMetric", "MetricsProvider", "set_provider"]


class LeaderMetric(Protocol):
    """Metrics of the elections of a process, by name. Thread-safe. Go: leaderelection.LeaderMetric."""

    def on(self, name: str, /) -> None:
        """Record that this process leads now. Go: LeaderMetric.On."""
        ...

    def off(self, name: str, /) -> None:
        """Record that this process does not lead. Go: LeaderMetric.Off."""
        ...

    def slowpath_exercised(self, name: str, /) -> None:
        """Record a renewal that had to read the lock first. Go: LeaderMetric.SlowpathExercised."""
        ...


class MetricsProvider(Protocol):
    """A factory for the metrics. Go: leaderelection.MetricsProvider."""

    def new_leader_metric(self) -> LeaderMetric:
        """Return the metric of one elector. Go: MetricsProvider.NewLeaderMetric."""
        ...


class _NoopMetric:
    def on(self, name: str) -> None:
        return None

    def off(self, name: str) -> None:
        return None

    def slowpath_exercised(self, name: str) -> None:
        return None


class _NoopMetricsProvider:
    def new_leader_metric(self) -> LeaderMetric:
        return _NoopMetric()


class _LeaderMetricsFactory:
    """A factory for metrics that uses the first provider that was set."""

    def __init__(self) -> None:
        # Guards writes of _provider; reads take no lock.
        self._lock = threading.Lock()
        self._provider: MetricsProvider = _NoopMetricsProvider()
        self._set = False

    def set_provider(self, provider: MetricsProvider) -> None:
        with self._lock:
            if not self._set:
                self._set = True
                self._provider = provider

    def new_leader_metrics(self) -> LeaderMetric:
        return create_checked(self._provider.new_leader_metric, (), "on", "off", "slowpath_exercised")


_global_metrics_factory = _LeaderMetricsFactory()


def set_provider(metrics_provider: MetricsProvider) -> None:
    """Use this provider for all electors created from now on. Only the first call has an effect.

    Go: leaderelection.SetProvider.
    """
    _global_metrics_factory.set_provider(metrics_provider)
