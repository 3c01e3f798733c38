"""The queues of clientgo.util.workqueue under the state machines and under random interleavings of real threads."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

from clientgo.testing import synctest
from clientgo.testing.workqueue_machine import (
    DelayingQueueMachine,
    PriorityQueueMachine,
    QueueMachine,
    RateLimitingQueueMachine,
    interleave,
)
from clientgo.util import workqueue


def plain_queue(metrics_provider: Any) -> Any:
    return workqueue.new_typed_with_config(
        workqueue.TypedQueueConfig(name="plain", metrics_provider=metrics_provider),
    )


def delaying_queue(metrics_provider: Any) -> Any:
    return workqueue.new_typed_delaying_queue_with_config(
        workqueue.TypedDelayingQueueConfig(name="delaying", metrics_provider=metrics_provider)
    )


def rate_limiting_queue(metrics_provider: Any) -> Any:
    return workqueue.new_typed_rate_limiting_queue_with_config(
        workqueue.new_typed_item_exponential_failure_rate_limiter(0.125, 8.0),
        workqueue.TypedRateLimitingQueueConfig(name="rate limiting", metrics_provider=metrics_provider),
    )


def priority_queue(metrics_provider: Any) -> Any:
    return workqueue.new_priority_queue(
        workqueue.PriorityQueueConfig(
            name="priority",
            metrics_provider=metrics_provider,
            rate_limiter=workqueue.new_typed_item_exponential_failure_rate_limiter(0.125, 8.0),
        )
    )


TestPlainQueue = QueueMachine.of(plain_queue).TestCase
TestDelayingQueue = DelayingQueueMachine.of(delaying_queue).TestCase
TestRateLimitingQueue = RateLimitingQueueMachine.of(rate_limiting_queue).TestCase
# It is no plain queue with more operations: what is added while it is processed keeps its place, and there goes to the
# end after `done`.
TestPriorityQueue = PriorityQueueMachine.of(priority_queue).TestCase


def test_hypothesis_neither_shrinks_nor_explains_a_failure() -> None:
    """Both take much longer than the shortening of the script, which does better."""
    phases = TestPlainQueue.settings.phases

    assert Phase.generate in phases
    assert not {Phase.shrink, Phase.explain} & {*phases}


# None: when all the work is done.
DRAIN_AFTER = st.none() | st.integers(0, 15)
ALL = [plain_queue, delaying_queue, rate_limiting_queue, priority_queue]


@pytest.mark.parametrize("new_queue", ALL, ids=lambda value: value.__name__)
@synctest.explore()
def test_nothing_is_lost_or_processed_twice_at_once_and_the_shutdown_ends(
    new_queue: Any, schedule: synctest.Schedule
) -> None:
    """In all shapes, those with delays and those with a switch before each line among them."""
    interleave(new_queue, schedule)


@pytest.mark.parametrize("new_queue", ALL, ids=lambda value: value.__name__)
@given(schedule=synctest.schedules(decisions=300), drain_after=DRAIN_AFTER)
def test_no_race_between_any_two_lines_of_the_queue(
    new_queue: Any, schedule: synctest.Schedule, drain_after: int | None
) -> None:
    """A switch may come before every line of the queues, not only where they lock."""
    modules = [workqueue.queue, workqueue.delaying_queue, workqueue.beyond.priority_queue]
    shape: dict[str, Any] = {"workers": 2, "producers": 2, "items": "ab", "rounds": 2, "work": 0.0, "delay": 0.0}
    interleave(new_queue, schedule, **shape, drain_after=drain_after, shutdown="with drain", preempt_in=modules)
