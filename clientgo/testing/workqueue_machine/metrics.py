"""A metrics provider that remembers, and that can fail."""

from __future__ import annotations

import threading


class MetricsError(Exception):
    """Raised by a metric that is to fail."""


class _Metric:
    def __init__(self, provider: RecordingMetrics) -> None:
        self._provider = provider
        self.value: float = 0
        self.observations = 0

    def inc(self) -> None:
        self._provider.raise_if_failing()
        self.value += 1

    def dec(self) -> None:
        self._provider.raise_if_failing()
        self.value -= 1

    def set(self, value: float) -> None:
        self._provider.raise_if_failing()
        self.value = value

    def observe(self, value: float) -> None:
        self._provider.raise_if_failing()
        self.observations += 1
        self.value += value


class RecordingMetrics:
    """A workqueue.MetricsProvider that keeps the reported values."""

    def __init__(self) -> None:
        self.depth: _Metric | None = None
        self.adds: _Metric | None = None
        self.latency: _Metric | None = None
        self.work_duration: _Metric | None = None
        self.retries: _Metric | None = None
        self.failing_in: threading.Thread | None = None
        """The thread in which every metric raises MetricsError."""

    @property
    def used(self) -> bool:
        """Report whether the queue has requested a metric."""
        return any((self.depth, self.adds, self.latency, self.work_duration, self.retries))

    def raise_if_failing(self) -> None:
        """Raise MetricsError in the thread `failing_in`."""
        if self.failing_in is threading.current_thread():
            raise MetricsError("the metrics provider failed")

    def new_depth_metric(self, name: str) -> _Metric:
        self.depth = _Metric(self)
        return self.depth

    def new_adds_metric(self, name: str) -> _Metric:
        self.adds = _Metric(self)
        return self.adds

    def new_latency_metric(self, name: str) -> _Metric:
        self.latency = _Metric(self)
        return self.latency

    def new_work_duration_metric(self, name: str) -> _Metric:
        self.work_duration = _Metric(self)
        return self.work_duration

    def new_unfinished_work_seconds_metric(self, name: str) -> _Metric:
        return _Metric(self)

    def new_longest_running_processor_seconds_metric(self, name: str) -> _Metric:
        return _Metric(self)

    def new_retries_metric(self, name: str) -> _Metric:
        self.retries = _Metric(self)
        return self.retries
