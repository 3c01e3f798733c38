"""An item without its `done` costs one log line, which states the remedy. Beyond Go."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest

from clientgo.testing import synctest
from clientgo.util import workqueue
from clientgo.util.workqueue import metrics as metrics_module
from clientgo.util.workqueue.beyond.dropping_priority_queue import DroppingPriorityQueue
from clientgo.utils.clock import REAL_CLOCK, WithTicker
from clientgo.utils.clock.testing import FakeClock

Warnings = Callable[[], list[str]]
# No other test has a queue or an item of this name. A queue that another test left behind may be reported at any time.
PODS = "pods of test_unfinished"


def plain(clock: WithTicker, name: str = PODS) -> Any:
    return workqueue.new_typed_with_config(workqueue.TypedQueueConfig(name=name, clock=clock))


def rate_limiting(clock: WithTicker, name: str = PODS) -> Any:
    config = workqueue.TypedRateLimitingQueueConfig[str](name=name, clock=clock)
    return workqueue.new_typed_rate_limiting_queue_with_config(
        workqueue.default_typed_controller_rate_limiter(), config
    )


def priority(clock: WithTicker, name: str = PODS) -> Any:
    return workqueue.new_priority_queue(workqueue.PriorityQueueConfig(name=name, clock=clock))


def dropping(clock: WithTicker, name: str = PODS) -> Any:
    return DroppingPriorityQueue(workqueue.PriorityQueueConfig(name=name, clock=clock))


queues = pytest.mark.parametrize("new_queue", [plain, rate_limiting, priority, dropping])


@pytest.fixture(autouse=True)
def _no_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make queues without metrics: a manager in an earlier test may have set a provider for the whole process."""
    monkeypatch.setattr(metrics_module, "_global_metrics_provider", None)


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Warnings:
    """Return the warnings logged so far about queues of this module."""
    caplog.set_level(logging.INFO)

    def logged() -> list[str]:
        lines = [each.getMessage() for each in caplog.records]
        return [line for line in lines if "Warning" in line and PODS in line]

    return logged


def step(clock: FakeClock, seconds: int) -> None:
    for _ in range(seconds):
        clock.step(1.0)


@queues
def test_an_item_that_is_not_done_a_minute_after_get_is_reported_once(
    new_queue: Callable[..., Any], warnings: Warnings
) -> None:
    clock = FakeClock()
    queue = new_queue(clock)
    for item in ("default/a", "default/b"):
        queue.add(item)
        assert queue.get() == (item, False)
    step(clock, 59)
    assert warnings() == []
    step(clock, 1)
    (line,) = warnings()
    queue.done("default/a")
    step(clock, 600)
    queue.shut_down()
    assert len(warnings()) == 1

    assert "call done for each item, also when its work fails; let long work return early" in line
    assert f'queue="{PODS}"' in line
    assert 'item="default/a"' in line
    assert "itemsInProgress=2" in line


@queues
def test_an_item_got_while_others_are_in_progress_is_reported_within_five_seconds_of_the_minute(
    new_queue: Callable[..., Any], warnings: Warnings
) -> None:
    clock = FakeClock()
    queue = new_queue(clock)
    for item in "abc":
        queue.add(item)
    queue.get()
    step(clock, 12)
    queue.get()
    queue.done("a")
    step(clock, 59)
    assert warnings() == []
    step(clock, 6)
    (line,) = warnings()
    assert 'item="b"' in line
    queue.shut_down()


@queues
def test_the_item_in_progress_for_longest_is_reported_and_of_equal_ones_the_first_by_its_text(
    new_queue: Callable[..., Any], warnings: Warnings
) -> None:
    clock = FakeClock()
    queue = new_queue(clock)
    for items in ("z", "yxw", "abc"):
        for item in items:
            queue.add(item)
            queue.get()
        step(clock, 6)
    queue.done("z")
    step(clock, 42)
    assert warnings() == []
    step(clock, 12)
    (line,) = warnings()
    assert 'item="w"' in line
    queue.shut_down()


@queues
def test_an_item_that_a_worker_got_again_has_a_new_minute(new_queue: Callable[..., Any], warnings: Warnings) -> None:
    clock = FakeClock()
    queue = new_queue(clock)
    for item in ("first", "again"):
        queue.add(item)
        queue.get()
    step(clock, 20)
    queue.done("first")
    queue.add("again")
    queue.done("again")
    assert queue.get() == ("again", False)
    step(clock, 59)
    assert warnings() == []
    step(clock, 6)
    (line,) = warnings()
    assert 'item="again"' in line
    queue.shut_down()


@queues
def test_items_that_take_less_than_a_minute_are_not_reported(new_queue: Callable[..., Any], warnings: Warnings) -> None:
    clock = FakeClock()
    queue = new_queue(clock)
    queue.add("other")
    for _ in range(10):
        queue.add("same")
        item, _ = queue.get()
        step(clock, 50)
        queue.add(item)
        queue.done(item)
        step(clock, 7)
    queue.shut_down()

    assert warnings() == []


@queues
def test_a_queue_that_was_shut_down_is_not_reported(new_queue: Callable[..., Any], warnings: Warnings) -> None:
    clock = FakeClock()
    queue = new_queue(clock)
    queue.add("a")
    queue.get()
    queue.shut_down()
    new_queue(clock).shut_down()  # never used
    step(clock, 600)

    assert warnings() == []


@pytest.mark.parametrize("new_queue", [plain, rate_limiting, priority])
def test_a_drain_that_waits_for_an_item_is_reported_once(new_queue: Callable[..., Any], warnings: Warnings) -> None:
    with synctest.bubble() as bubble:
        queue = new_queue(REAL_CLOCK)
        queue.add("a")
        queue.get()
        drain = threading.Thread(target=queue.shut_down_with_drain)
        drain.start()
        bubble.sleep(3600.0)
        queue.done("a")
        drain.join()

    (line,) = warnings()
    assert 'item="a"' in line


def test_a_queue_without_a_name_is_reported_too(warnings: Warnings) -> None:
    clock = FakeClock()
    queue = plain(clock, name="")
    queue.add(PODS)
    queue.get()
    step(clock, 60)
    queue.shut_down()

    (line,) = warnings()
    assert f'queue="(without a name)" item="{PODS}"' in line


def test_a_queue_that_is_gone_is_not_reported(warnings: Warnings) -> None:
    clock = FakeClock()
    # Without a name: the metrics of a named queue refer to it until it is shut down, if a provider is set.
    queue = plain(clock, name="")
    queue.add(PODS)
    queue.get()
    del queue
    step(clock, 600)

    assert warnings() == []


def test_a_queue_that_another_test_left_behind_does_not_disturb_this_one(
    warnings: Warnings, caplog: pytest.LogCaptureFixture
) -> None:
    clock = FakeClock()
    left = plain(clock, name="left behind")
    left.add("a")
    left.get()
    step(clock, 60)

    assert any('queue="left behind"' in each.getMessage() for each in caplog.records)
    assert warnings() == []
    left.shut_down()


class CountingClock(FakeClock):
    """A clock that counts the scheduled checks."""

    looks = 0

    def call_later(self, d: float, fn: Callable[[], None]) -> Callable[[], bool]:
        self.looks += 1
        return super().call_later(d, fn)


@queues
def test_looks_do_not_grow_with_the_items_and_end_with_them(new_queue: Callable[..., Any]) -> None:
    clock = CountingClock()
    queue = new_queue(clock)
    assert clock.looks == 0
    for number in range(100):
        queue.add(f"{number}")
        item, _ = queue.get()
        queue.done(item)
    assert clock.looks == 1
    step(clock, 600)
    assert clock.looks == 1
    queue.add("again")
    queue.get()
    assert clock.looks == 2
    assert not clock.has_waiters()
    queue.shut_down()


@pytest.mark.parametrize("new_queue", [plain, rate_limiting, priority])
def test_an_item_got_after_the_shutdown_is_not_looked_at(new_queue: Callable[..., Any], warnings: Warnings) -> None:
    clock = CountingClock()
    queue = new_queue(clock)
    queue.add("a")
    queue.shut_down()
    assert queue.get() == ("a", False)
    step(clock, 600)
    assert (clock.looks, warnings()) == (0, [])
