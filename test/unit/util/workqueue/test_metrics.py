"""Metrics of a queue. More cases, compared with Go, are in test/golden/workqueue."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from clientgo.testing import synctest
from clientgo.util import workqueue
from clientgo.util.workqueue import metrics as metrics_module
from clientgo.util.workqueue import queue as queue_module
from clientgo.utils.clock.testing import FakeClock


@pytest.fixture
def bubble() -> Iterator[synctest.Bubble]:
    with synctest.bubble() as b:
        yield b


class CountingMetrics:
    def __init__(self) -> None:
        self.updates = 0

    def add(self, item: Any) -> None: ...

    def get(self, item: Any) -> None: ...

    def done(self, item: Any) -> None: ...

    def update_unfinished_work(self) -> None:
        self.updates += 1


def test_updates_end_with_the_shutdown(bubble: synctest.Bubble) -> None:
    """Go: TestMetricShutdown"""
    counting = CountingMetrics()
    clock = FakeClock(1000.0)
    queue: workqueue.Type = workqueue.Typed(clock, workqueue.default_queue(), counting, 0.001)
    bubble.wait()
    assert clock.has_waiters()

    clock.step(0.001)
    bubble.wait()
    assert counting.updates == 1

    queue.shut_down()
    assert not clock.has_waiters()
    clock.step(3600.0)
    bubble.wait()
    assert counting.updates == 1


class Metric:
    """A metric of any kind, which records its calls."""

    def __init__(self) -> None:
        self.value = 0.0
        self.observed: list[float] = []

    def inc(self) -> None:
        self.value += 1

    def dec(self) -> None:
        self.value -= 1

    def set(self, value: float) -> None:
        self.value = value

    def observe(self, value: float) -> None:
        self.observed.append(round(value, 9))


class Provider:
    def __init__(self) -> None:
        self.depth, self.adds, self.latency, self.duration = Metric(), Metric(), Metric(), Metric()
        self.unfinished, self.longest, self.retries = Metric(), Metric(), Metric()

    def new_depth_metric(self, name: str) -> Metric:
        return self.depth

    def new_adds_metric(self, name: str) -> Metric:
        return self.adds

    def new_latency_metric(self, name: str) -> Metric:
        return self.latency

    def new_work_duration_metric(self, name: str) -> Metric:
        return self.duration

    def new_unfinished_work_seconds_metric(self, name: str) -> Metric:
        return self.unfinished

    def new_longest_running_processor_seconds_metric(self, name: str) -> Metric:
        return self.longest

    def new_retries_metric(self, name: str) -> Metric:
        return self.retries


def test_metrics_follow_an_item_through_the_queue(bubble: synctest.Bubble) -> None:
    """Go: TestMetrics"""
    provider, clock = Provider(), FakeClock()
    config = workqueue.QueueConfig(name="test", clock=clock, metrics_provider=provider)
    queue = queue_module._new_queue_with_config(config, 0.001)
    bubble.wait()

    queue.add("foo")
    assert (provider.adds.value, provider.depth.value) == (1, 1)

    clock.step(50e-6)
    item, _ = queue.get()
    assert provider.latency.observed == [50e-6]
    assert provider.depth.value == 0

    for _ in range(5):
        queue.add(item)
    assert (provider.adds.value, provider.depth.value) == (2, 1)

    clock.step(25e-6)
    queue.done(item)
    assert provider.duration.observed == [25e-6]
    assert provider.depth.value == 1

    queue.get()
    assert provider.latency.observed == [50e-6, 25e-6]

    clock.step(0.001)
    bubble.wait()
    assert provider.unfinished.value == pytest.approx(0.001)
    assert provider.longest.value == pytest.approx(0.001)

    queue.done(item)
    assert provider.duration.observed == [25e-6, pytest.approx(0.001)]
    queue.shut_down()


def test_several_items_in_progress_add_up(bubble: synctest.Bubble) -> None:
    provider, clock = Provider(), FakeClock()
    config = workqueue.QueueConfig(name="test", clock=clock, metrics_provider=provider)
    queue = workqueue.new_with_config(config)
    bubble.wait()
    queue.add("a")
    queue.get()
    clock.step(0.3)
    queue.add("b")
    queue.get()
    clock.step(0.2)
    bubble.wait()
    assert provider.unfinished.value == pytest.approx(0.7)
    assert provider.longest.value == pytest.approx(0.5)
    queue.shut_down()


def test_retries_count_delayed_additions(bubble: synctest.Bubble) -> None:
    provider = Provider()
    queue = workqueue.new_delaying_queue_with_config(
        workqueue.DelayingQueueConfig(name="test", metrics_provider=provider)
    )
    queue.add("a")
    queue.add_after("b", 1.0)
    queue.add_after("c", 0.0)
    assert provider.retries.value == 2
    queue.shut_down()
    queue.add_after("d", 1.0)
    assert provider.retries.value == 2


def updaters(name: str) -> list[threading.Thread]:
    """Return the running threads that update the metrics of a queue with this name."""
    return [thread for thread in threading.enumerate() if thread.name == f"workqueue-{name}-metrics"]


def test_queue_without_a_name_reports_nothing() -> None:
    provider = Provider()
    queue = workqueue.new_with_config(workqueue.QueueConfig(metrics_provider=provider))
    queue.add("a")
    assert provider.adds.value == 0
    assert updaters("") == []


def test_first_global_provider_stays(monkeypatch: pytest.MonkeyPatch, bubble: synctest.Bubble) -> None:
    monkeypatch.setattr(metrics_module, "_global_metrics_provider", None)
    workqueue.new_named("before")
    assert updaters("before") == []
    first, second = Provider(), Provider()
    workqueue.set_provider(first)
    workqueue.set_provider(second)
    queue = workqueue.new_named("after")
    queue.add("a")
    assert (first.adds.value, second.adds.value) == (1, 0)
    queue.shut_down()


def test_unfinished_work_is_updated_every_half_second_also_after_an_update_failed(bubble: synctest.Bubble) -> None:
    provider, clock = Provider(), FakeClock(1000.0)
    queue = workqueue.new_with_config(workqueue.QueueConfig(name="q", clock=clock, metrics_provider=provider))
    bubble.wait()
    queue.add("a")
    queue.get()

    def step(seconds: float) -> float:
        clock.step(seconds)
        bubble.wait()
        return provider.unfinished.value

    assert [step(0.25), step(0.25)] == [0.0, 0.5]
    set_longest = provider.longest.set

    def fail_once(value: float) -> None:
        provider.longest.set = set_longest  # type: ignore[method-assign]
        raise OSError("no connection")

    provider.longest.set = fail_once  # type: ignore[method-assign]
    assert [step(0.5), provider.longest.value] == [1.0, 0.5]
    assert [step(0.5), provider.longest.value] == [1.5, 1.5]
    queue.done("a")
    assert [step(0.5), provider.longest.value] == [0.0, 0.0]
    queue.shut_down()


def test_a_period_that_ends_with_the_shutdown_is_not_reported() -> None:
    class Ending(FakeClock):
        ended = False

        def wait(self, cond: threading.Condition, timeout: float | None = None) -> bool:
            self.ended = True
            return False

    counting, clock = CountingMetrics(), Ending()
    with (lock := threading.Lock()):
        metrics_module._update_until_shutdown(
            counting, clock, 1.0, threading.Condition(lock), lambda: clock.ended
        )
    assert counting.updates == 0


@pytest.mark.parametrize("shut_down", ["shut_down", "shut_down_with_drain"])
def test_a_shutdown_ends_the_thread_that_updates(shut_down: str, bubble: synctest.Bubble) -> None:
    queue = workqueue.new_with_config(workqueue.QueueConfig(name="ends", metrics_provider=Provider()))
    assert len(updaters("ends")) == 1
    getattr(queue, shut_down)()
    assert updaters("ends") == []


def test_the_thread_that_updates_keeps_no_interpreter_alive() -> None:
    queue = workqueue.new_with_config(workqueue.QueueConfig(name="daemon", metrics_provider=Provider()))
    assert [thread.daemon for thread in updaters("daemon")] == [True]
    queue.shut_down()
