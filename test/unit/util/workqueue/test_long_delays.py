"""An item whose retries have become slow costs one log line, which states the remedy. Beyond Go."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from clientgo.golang.duration import format_duration
from clientgo.util import workqueue
from clientgo.util.workqueue.beyond.dropping_priority_queue import DroppingPriorityQueue
from clientgo.utils.clock.testing import FakeClock

Warnings = Callable[[], list[str]]
# No other test has a queue of this name.
PODS = "pods of test_long_delays"


def limiter() -> Any:
    return workqueue.new_typed_item_exponential_failure_rate_limiter(0.005, 1000.0)


def rate_limiting(limiter: Any) -> Any:
    config = workqueue.TypedRateLimitingQueueConfig[str](name=PODS, clock=FakeClock())
    return workqueue.new_typed_rate_limiting_queue_with_config(limiter, config)


def priority(limiter: Any) -> Any:
    config = workqueue.PriorityQueueConfig(name=PODS, clock=FakeClock(), rate_limiter=limiter)
    return workqueue.new_priority_queue(config)


def dropping(limiter: Any) -> Any:
    return DroppingPriorityQueue(workqueue.PriorityQueueConfig(name=PODS, clock=FakeClock(), rate_limiter=limiter))


queues = pytest.mark.parametrize("new_queue", [rate_limiting, priority, dropping])


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Warnings:
    """Return the warnings logged so far about queues of this module."""
    caplog.set_level(logging.INFO)

    def logged() -> list[str]:
        lines = [each.getMessage() for each in caplog.records]
        return [line for line in lines if "Warning" in line and PODS in line]

    return logged


@queues
def test_an_item_whose_failures_make_it_wait_is_reported_once(
    new_queue: Callable[..., Any], warnings: Warnings
) -> None:
    queue = new_queue(limiter())
    for _ in range(13):
        queue.add_rate_limited("default/a")
    assert warnings() == []
    queue.add_rate_limited("default/a")
    (line,) = warnings()
    for item in ("default/a", "default/b"):
        for _ in range(20):
            queue.add_rate_limited(item)
    queue.shut_down()

    assert len(warnings()) == 1
    assert "call forget after each success" in line
    assert "requeue_after in place of requeue" in line
    assert f'item="default/a" failures=14 delay="{format_duration(0.005 * 2**13)}"' in line


@queues
def test_items_that_are_forgotten_after_each_success_are_not_reported(
    new_queue: Callable[..., Any], warnings: Warnings
) -> None:
    queue = new_queue(limiter())
    for _ in range(100):
        for _ in range(13):
            queue.add_rate_limited("default/a")
        queue.forget("default/a")
    queue.shut_down()

    assert warnings() == []


class Slow:
    """A limiter that delays every item by an hour, after `failures` failures."""

    def __init__(self, failures: int) -> None:
        self._failures = failures

    def when(self, item: object) -> float:
        return 3600.0

    def forget(self, item: object) -> None:
        pass

    def num_requeues(self, item: object) -> int:
        return self._failures


@queues
def test_the_choice_of_a_limiter_is_not_reported(new_queue: Callable[..., Any], warnings: Warnings) -> None:
    queue = new_queue(Slow(9))
    queue.add_rate_limited("default/a")
    queue.shut_down()
    assert warnings() == []

    queue = new_queue(Slow(10))
    queue.add_rate_limited("default/a")
    queue.shut_down()
    assert len(warnings()) == 1


@pytest.mark.parametrize("new_queue", [priority, dropping])
def test_rate_limited_options_of_a_priority_queue_are_reported(
    new_queue: Callable[..., Any], warnings: Warnings
) -> None:
    queue = new_queue(limiter())
    for _ in range(14):
        queue.add_with_opts(workqueue.AddOpts(rate_limited=True), "default/a")
    queue.shut_down()

    assert len(warnings()) == 1
