"""The rate limiting queue asks its limiter how long an item waits."""

from __future__ import annotations

import pytest

from clientgo.testing import synctest
from clientgo.util import workqueue


def test_limiter_decides_the_delay_of_each_item() -> None:
    """Go: TestRateLimitingQueue"""
    with synctest.bubble() as bubble:
        limiter = workqueue.new_item_exponential_failure_rate_limiter(0.001, 1.0)
        queue = workqueue.new_rate_limiting_queue(limiter)

        def delay_of(item: str) -> float:
            start = bubble.elapsed
            queue.add_rate_limited(item)
            got, _ = queue.get()
            assert got == item
            queue.done(item)
            return bubble.elapsed - start

        assert delay_of("one") == pytest.approx(0.001, abs=2e-6)
        assert delay_of("one") == pytest.approx(0.002, abs=2e-6)
        assert queue.num_requeues("one") == 2
        assert delay_of("two") == pytest.approx(0.001, abs=2e-6)
        assert queue.num_requeues("two") == 1

        queue.forget("one")
        assert queue.num_requeues("one") == 0
        assert delay_of("one") == pytest.approx(0.001, abs=2e-6)
        queue.shut_down()


def test_configured_parts_are_used() -> None:
    with synctest.bubble():
        limiter = workqueue.default_controller_rate_limiter()
        inner = workqueue.new_named_delaying_queue("inner")
        queue = workqueue.new_rate_limiting_queue_with_delaying_interface(inner, limiter)
        queue.add("a")
        assert inner.len() == 1
        queue.shut_down()
        assert inner.shutting_down()


def test_a_queue_of_an_old_walkthrough() -> None:
    with synctest.bubble() as bubble:
        queue = workqueue.new_named_rate_limiting_queue(workqueue.default_controller_rate_limiter(), "Networks")
        queue.add_rate_limited("default/example")
        bubble.sleep(0.005)
        obj, shutdown = queue.get()
        assert (obj, shutdown) == ("default/example", False)
        queue.forget(obj)
        queue.done(obj)
        queue.shut_down()


def test_it_reports_the_shutdown_and_shows_its_parts() -> None:
    with synctest.bubble():
        queue = workqueue.new_named_rate_limiting_queue(
            workqueue.new_item_exponential_failure_rate_limiter(0.5, 2.0), "pods"
        )
        queue.add_rate_limited("a")
        assert not queue.shutting_down()
        assert repr(queue) == (
            "<<TypedItemExponentialFailureRateLimiter 0.5s to 2.0s, 1 items> before <delaying 1 items for "
            "<Typed 'pods' 0 queued, 0 processing, 0 of them dirty, open>>>"
        )
        queue.shut_down()
        assert queue.shutting_down()
