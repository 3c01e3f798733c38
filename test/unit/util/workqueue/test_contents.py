"""Looking at what a work queue holds."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from clientgo.testing import synctest
from clientgo.util import workqueue
from clientgo.utils.clock.testing import FakeClock


@pytest.fixture
def queue():
    with synctest.bubble():
        limiter = workqueue.new_typed_max_of_rate_limiter(
            workqueue.new_typed_item_exponential_failure_rate_limiter(2.0, 1000.0),
            workqueue.new_typed_item_fast_slow_rate_limiter(0.5, 1.0, 3),
        )
        made = workqueue.new_typed_rate_limiting_queue(limiter)
        yield made
        made.shut_down()


def test_each_set_of_the_queue_is_shown(queue):
    for item in "abc":
        queue.add(item)
    assert queue.get() == ("a", False)
    queue.add("a")
    queue.add_after("d", 7.0)
    queue.add_rate_limited("e")
    contents = queue.contents()
    assert contents.order == ("b", "c")
    assert contents.dirty == {"a", "b", "c"}
    assert contents.processing == {"a"}
    assert contents.waiting == ((2.0, "e"), (7.0, "d"))
    assert contents.failures == {"e": 1}
    queue.forget("e")
    assert queue.contents().failures == {}


@pytest.mark.parametrize("name", ["pods", ""])
def test_every_kind_of_queue_has_its_name(name):
    limiter: Any = workqueue.new_typed_item_exponential_failure_rate_limiter(0.5, 2.0)
    with synctest.bubble():
        queues: list[Any] = [
            workqueue.new_typed_with_config(workqueue.TypedQueueConfig(name=name)),
            workqueue.new_typed_delaying_queue_with_config(workqueue.TypedDelayingQueueConfig(name=name)),
            workqueue.new_typed_rate_limiting_queue_with_config(
                limiter, workqueue.TypedRateLimitingQueueConfig(name=name)
            ),
            workqueue.new_priority_queue(workqueue.PriorityQueueConfig(name=name)),
        ]
        assert [queue.name() for queue in queues] == [name] * 4
        for queue in queues:
            queue.shut_down()


def test_a_queue_around_another_has_its_name():
    with synctest.bubble():
        inner: Any = workqueue.new_typed_with_config(workqueue.TypedQueueConfig(name="inner"))
        for name, shown in (("", "inner"), ("outer", "outer")):
            config = workqueue.TypedDelayingQueueConfig(name=name, queue=inner)
            queue: Any = workqueue.new_typed_delaying_queue_with_config(config)
            assert queue.name() == shown
            queue.shut_down()


@pytest.mark.parametrize("make", ["delaying", "priority"])
def test_due_reports_the_time_of_a_single_item(make):
    with synctest.bubble() as bubble:
        queue: Any = (
            workqueue.new_typed_delaying_queue()
            if make == "delaying"
            else workqueue.new_priority_queue(workqueue.PriorityQueueConfig())
        )
        queue.add_after("a", 10.0)
        bubble.sleep(4.0)
        first = queue.due("a")
        assert first[1] == pytest.approx(6.0) and queue.due("b") is None
        queue.add_after("a", 20.0)  # later: nothing changes
        assert queue.due("a") == first
        queue.add_after("a", 1.0)
        assert queue.due("a")[0] < first[0] and queue.due("a")[1] == pytest.approx(1.0)
        bubble.sleep(2.0)
        assert queue.due("a") is None and queue.get()[0] == "a"
        queue.shut_down()


def test_items_due_until_a_time_are_listed_with_priorities():
    with synctest.bubble():
        queue: Any = workqueue.new_priority_queue(workqueue.PriorityQueueConfig())
        for item, after in (("b", 2.0), ("a", 1.0), ("c", 3.0)):
            queue.add_after(item, after)
        queue.add_with_opts(workqueue.AddOpts(after=1.5, priority=7), "c")
        assert queue.due_until(queue.due("b")[0]) == ["a", "c", "b"]
        assert [queue.priority_of(item) for item in "acx"] == [0, 7, 0]
        queue.shut_down()


def test_what_was_shown_does_not_change(queue):
    queue.add("a")
    before = queue.contents()
    queue.get()
    assert before.order == ("a",) and before.processing == frozenset()


def test_of_several_limiters_the_worst_count_is_shown(queue):
    inner = workqueue.new_typed_with_max_wait_rate_limiter(
        workqueue.new_typed_item_exponential_failure_rate_limiter(1.0, 9.0), 5.0
    )
    both = workqueue.new_typed_max_of_rate_limiter(inner, workqueue.new_typed_item_fast_slow_rate_limiter(1.0, 2.0, 1))
    inner.when("a")
    both.when("a")
    assert both.failures() == {"a": 2}


def test_a_queue_whose_lock_is_held_can_be_looked_at():
    """Metrics that hang are an example, since they run with the lock held."""
    entered, leave = threading.Event(), threading.Event()

    class Order:
        """A queue that hangs in push."""

        def touch(self, item):
            pass

        def push(self, item):
            entered.set()
            leave.wait()

        def len(self):
            return 0

        def pop(self):
            raise AssertionError

    queue = workqueue.new_typed_with_config(workqueue.TypedQueueConfig(queue=Order()))
    adder = threading.Thread(target=queue.add, args=("a",), name="adder", daemon=True)
    adder.start()
    entered.wait()
    try:
        assert queue.contents().dirty == {"a"}
        assert queue.contents().order == ()  # only the queue's maker knows
    finally:
        leave.set()
        adder.join()


def test_a_priority_queue_shows_the_order_of_get_and_what_waits_with_priorities():
    with synctest.bubble():
        limiter = workqueue.new_typed_item_exponential_failure_rate_limiter(2.0, 100.0)
        queue = workqueue.new_priority_queue(workqueue.PriorityQueueConfig(rate_limiter=limiter))
        queue.add_with_opts(workqueue.AddOpts(priority=-1), "a", "b")
        queue.add("c")
        assert queue.get() == ("c", False)
        queue.add("c")
        queue.add_with_opts(workqueue.AddOpts(priority=7), "b")
        queue.add_rate_limited("d")
        queue.add_after("e", 1.0)
        contents = queue.contents()
        assert contents.order == ("b", "a")
        assert contents.dirty == {"a", "b", "c"} and contents.processing == {"c"}
        assert contents.waiting == ((1.0, "e"), (2.0, "d")) and contents.failures == {"d": 1}
        assert contents.priorities == {"a": -1, "b": 7, "c": 0, "d": 0, "e": 0}
        where = {item: queue.state_of(item) for item in "abcdx"}
        assert where == {
            "a": (True, False), "b": (True, False), "c": (True, True), "d": (False, False), "x": (False, False)
        }  # fmt: skip
        queue.done("c")
        assert [queue.get()[0] for _ in range(3)] == ["b", "c", "a"]
        queue.shut_down()


def test_items_that_were_raised_are_shown_in_their_new_place():
    with synctest.bubble() as bubble:
        queue: Any = workqueue.new_priority_queue(workqueue.PriorityQueueConfig())
        for after in (0.0, 5.0):
            for item, priority in (("a", 0), ("b", 1), ("a", 1)):
                queue.add_with_opts(workqueue.AddOpts(priority=priority, after=after), f"{item}{after:g}")
        queue.add_after("later", 9.0)
        bubble.sleep(4.5)
        contents = queue.contents()
        assert contents.order == ("b0", "a0")
        assert contents.waiting == ((0.5, "b5"), (0.5, "a5"), (4.5, "later"))
        assert queue.due("a5")[1] == 0.5
        assert queue.due_until(queue.due("a5")[0]) == ["b5", "a5"]
        assert queue.get() == ("b0", False)
        assert queue.processing() == {"b0"}
        queue.shut_down()


def test_a_queue_can_be_looked_at_while_an_item_is_added():
    """`contents` takes no lock: the clock, which is read during an addition, calls it."""

    class Looking(FakeClock):
        def now(self) -> float:
            if queue is not None:
                seen.append(queue.contents().order)
            return super().now()

    queue: Any = None
    seen: list[tuple[str, ...]] = []
    queue = workqueue.new_priority_queue(workqueue.PriorityQueueConfig(clock=Looking(), ageing=1.0))
    queue.add("a")
    queue.add("b")
    assert seen[-1] == ("a",)
    queue.shut_down()
