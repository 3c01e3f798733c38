"""A metrics provider that remembers."""

from __future__ import annotations


class _Metric:
    def __init__(self) -> None:
        self.value: float = 0
        self.observations = 0

    def inc(self) -> None:
        self.value += 1

    def dec(self) -> None:
        self.value -= 1

    def set(self, value: float) -> None:
        self.value = value

    def observe(self, value: float) -> None:
        self.observations += 1
        self.value += value


class RecordingMetrics:
    """A workqueue.MetricsProvider that keeps what the queue reports."""

    def __init__(self) -> None:
        self.depth: _Metric | None = None
        self.adds: _Metric | None = None
        self.latency: _Metric | None = None
        self.work_duration: _Metric | None = None
        self.retries: _Metric | None = None

    def new_depth_metric(self, name: str) -> _Metric:
        self.depth = _Metric()
        return self.depth

    def new_adds_metric(self, name: str) -> _Metric:
        self.adds = _Metric()
        return self.adds

    def new_latency_metric(self, name: str) -> _Metric:
        self.latency = _Metric()
        return self.latency

    def new_work_duration_metric(self, name: str) -> _Metric:
        self.work_duration = _Metric()
        return self.work_duration

    def new_unfinished_work_seconds_metric(self, name: str) -> _Metric:
        return _Metric()

    def new_longest_running_processor_seconds_metric(self, name: str) -> _Metric:
        return _Metric()

    def new_retries_metric(self, name: str) -> _Metric:
        self.retries = _Metric()
        return self.retries
