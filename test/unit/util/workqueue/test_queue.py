"""The plain queue: fair, stingy, and clear about its end."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from invariants import check_invariants

from clientgo.testing import synctest
from clientgo.util import workqueue
from clientgo.utils.clock import REAL_CLOCK

SHUT_DOWNS: list[Callable[[workqueue.Type], None]] = [workqueue.Type.shut_down, workqueue.Type.shut_down_with_drain]


def run_all(*threads: threading.Thread) -> None:
    for thread in threads:
        thread.start()


@pytest.mark.parametrize("shut_down", SHUT_DOWNS)
@pytest.mark.parametrize("seed", range(3))
def test_producers_and_consumers_end_cleanly(shut_down: Callable[[workqueue.Type], None], seed: int) -> None:
    """Queued items are drained, and items added after the shutdown are dropped. Go: TestBasic/#0-#1"""
    with synctest.bubble(synctest.RandomSchedule(seed)):
        queue = workqueue.new()
        seen: list[object] = []

        def produce(number: int) -> None:
            for _ in range(20):
                queue.add(number)
                REAL_CLOCK.sleep(0.001)

        def consume() -> None:
            while True:
                item, shutdown = queue.get()
                if shutdown:
                    return
                seen.append(item)
                REAL_CLOCK.sleep(0.003)
                queue.done(item)

        producers = [threading.Thread(target=produce, args=(number,)) for number in range(10)]
        consumers = [threading.Thread(target=consume) for _ in range(4)]
        run_all(*producers, *consumers)
        for thread in producers:
            thread.join()
        shut_down(queue)
        queue.add("added after shutdown!")
        for thread in consumers:
            thread.join()

        assert queue.len() == 0
        assert set(seen) == set(range(10))
        check_invariants(queue)


@pytest.mark.parametrize("shut_down", SHUT_DOWNS)
@pytest.mark.parametrize("seed", range(3))
def test_item_added_by_its_worker_is_processed_again(shut_down: Callable[[workqueue.Type], None], seed: int) -> None:
    """Go: TestAddWhileProcessing/#0-#1"""
    with synctest.bubble(synctest.RandomSchedule(seed)) as bubble:
        queue = workqueue.new()
        counts: dict[int, int] = {}

        def consume() -> None:
            while True:
                item, shutdown = queue.get()
                if shutdown:
                    return
                counts[item] = counts.get(item, 0) + 1
                if counts[item] < 2:
                    queue.add(item)
                queue.done(item)

        producers = [threading.Thread(target=queue.add, args=(number,)) for number in range(50)]
        consumers = [threading.Thread(target=consume) for _ in range(4)]
        run_all(*producers, *consumers)
        bubble.wait()
        shut_down(queue)
        for thread in consumers:
            thread.join()

        assert queue.len() == 0
        assert counts == dict.fromkeys(range(50), 2)


def test_len_counts_distinct_items() -> None:
    """Go: TestLen"""
    queue = workqueue.new()
    for item, expected in (("foo", 1), ("bar", 2), ("foo", 2)):
        queue.add(item)
        assert queue.len() == expected


def test_item_added_while_processed_is_held_back_until_done() -> None:
    """Go: TestReinsert"""
    queue = workqueue.new()
    queue.add("foo")
    item, _ = queue.get()
    queue.add(item)
    assert queue.len() == 0

    queue.done(item)

    assert queue.get() == ("foo", False)
    queue.done("foo")
    assert queue.len() == 0
    check_invariants(queue)


class TraceQueue:
    """A FIFO that notes what was touched."""

    def __init__(self) -> None:
        self.inner: workqueue.Queue[Any] = workqueue.default_queue()
        self.push = self.inner.push
        self.pop = self.inner.pop
        self.len = self.inner.len
        self.touched: list[Any] = []

    def touch(self, item: Any) -> None:
        self.inner.touch(item)
        self.touched.append(item)


def test_adding_a_queued_item_again_touches_it() -> None:
    """Go: TestCollapse"""
    trace = TraceQueue()
    queue = workqueue.new_with_config(workqueue.QueueConfig(queue=trace))
    queue.add("bar")
    queue.add("bar")

    item, _ = queue.get()
    queue.done(item)

    assert queue.len() == 0
    assert trace.touched == ["bar"]
    check_invariants(queue)


def test_additions_while_processing_collapse_into_one() -> None:
    """Go: TestCollapseWhileProcessing"""
    with synctest.bubble() as bubble:
        trace = TraceQueue()
        queue = workqueue.new_with_config(workqueue.QueueConfig(queue=trace))
        queue.add("foo")
        assert queue.get() == ("foo", False)
        queue.add("foo")
        queue.add("foo")
        got: list[Any] = []

        def other_worker() -> None:
            got.append(queue.get()[0])
            queue.done("foo")

        worker = threading.Thread(target=other_worker)
        worker.start()
        bubble.wait()
        assert got == [], "the other worker has to wait for done"

        queue.done("foo")
        worker.join()

        assert got == ["foo"]
        assert queue.len() == 0
        assert trace.touched == []


def started_drain(queue: workqueue.Type, bubble: synctest.Bubble) -> threading.Thread:
    """Begin a drain that blocks, and see that it does."""
    thread = threading.Thread(target=queue.shut_down_with_drain)
    thread.start()
    bubble.wait()
    assert thread.is_alive()
    assert queue.shutting_down()
    assert queue.get() == (None, True)
    return thread


def test_drain_waits_for_every_item_in_progress() -> None:
    """Go: TestQueueDrainageUsingShutDownWithDrain"""
    with synctest.bubble() as bubble:
        queue = workqueue.new()
        queue.add("foo")
        queue.add("bar")
        items = [queue.get()[0], queue.get()[0]]
        drain = started_drain(queue, bubble)

        queue.done(items[0])
        bubble.wait()
        assert drain.is_alive()

        queue.done(items[1])
        drain.join()


def test_shut_down_does_not_wait_for_items_in_progress() -> None:
    """Go: TestNoQueueDrainageUsingShutDown"""
    queue = workqueue.new()
    queue.add("foo")
    queue.get()

    queue.shut_down()

    assert queue.get() == (None, True)


def test_shut_down_ends_a_drain() -> None:
    """Go: TestForceQueueShutdownUsingShutDown"""
    with synctest.bubble() as bubble:
        queue = workqueue.new()
        queue.add("foo")
        queue.get()
        drain = started_drain(queue, bubble)

        queue.shut_down()

        drain.join()


def test_drain_hands_out_an_item_that_was_added_while_in_progress() -> None:
    """Go: TestQueueDrainageUsingShutDownWithDrainWithDirtyItem"""
    with synctest.bubble() as bubble:
        queue = workqueue.new()
        queue.add("foo")
        item, _ = queue.get()
        queue.add("foo")
        drain = started_drain(queue, bubble)

        queue.done(item)
        assert queue.get() == ("foo", False)
        queue.done("foo")

        assert queue.get() == (None, True)
        drain.join()


def test_finished_items_are_not_kept() -> None:
    """Go: TestGarbageCollection"""

    class BigObject:
        pass

    queue = workqueue.new()
    item = BigObject()
    collected = weakref.ref(item)
    queue.add(item)
    queue.get()
    queue.done(item)

    del item
    gc.collect()

    assert collected() is None
    assert queue.len() == 0


def test_a_shutdown_wakes_every_waiting_worker() -> None:
    with synctest.bubble() as bubble:
        queue = workqueue.new()
        shutdowns: list[bool] = []
        workers = [threading.Thread(target=lambda: shutdowns.append(queue.get()[1])) for _ in range(5)]
        run_all(*workers)
        bubble.wait()
        assert shutdowns == []

        queue.shut_down()
        for worker in workers:
            worker.join()

        assert shutdowns == [True] * 5


@pytest.mark.parametrize("seed", range(20))
def test_no_wake_up_is_lost(seed: int) -> None:
    """With as many adds as sleeping workers, each worker gets an item in every schedule."""
    with synctest.bubble(synctest.RandomSchedule(seed)):
        queue = workqueue.new()
        got: list[Any] = []
        workers = [threading.Thread(target=lambda: got.append(queue.get()[0])) for _ in range(3)]
        producers = [threading.Thread(target=queue.add, args=(number,)) for number in range(3)]
        run_all(*workers, *producers)
        for thread in workers + producers:
            thread.join()
        assert sorted(got) == [0, 1, 2]
        check_invariants(queue)


def test_interrupted_worker_passes_its_wake_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends the get of the main thread just after an add chose it: the other sleeping worker takes the item."""
    with synctest.bubble() as bubble:
        queue = workqueue.new()
        got: list[Any] = []
        other = threading.Thread(target=lambda: got.append(queue.get()[0]))
        other.start()
        bubble.wait()

        def chosen_and_interrupted() -> None:
            queue._dirty.add("a")
            queue._push("a")
            queue._sleepers.count -= 1
            raise KeyboardInterrupt

        monkeypatch.setattr(queue._sleepers._available, "wait", chosen_and_interrupted)
        with pytest.raises(KeyboardInterrupt):
            queue.get()
        other.join()
        assert got == ["a"]


def test_repr_shows_the_state() -> None:
    queue = workqueue.new_named("pods")
    queue.add("a")
    queue.add("b")
    queue.get()
    queue.add("a")
    assert repr(queue) == "<Typed 'pods' 1 queued, 1 processing, 1 of them dirty, open>"
    queue.shut_down()
    assert repr(queue).endswith("shut down>")


def test_the_statistics_say_what_it_holds():
    queue = workqueue.new_typed()
    for item in "abc":
        queue.add(item)
    first, _ = queue.get()
    queue.get()
    queue.add(first)
    assert queue.statistics() == workqueue.QueueStatistics(
        queued=1, processing=2, added_again=1, shutting_down=False
    )
    queue.done(first)
    queue.shut_down()
    assert queue.statistics() == workqueue.QueueStatistics(queued=2, processing=1, added_again=0, shutting_down=True)


@pytest.mark.parametrize(
    "new_queue",
    [
        lambda limiter: workqueue.new_typed_rate_limiting_queue(limiter),
        lambda limiter: workqueue.new_priority_queue(workqueue.PriorityQueueConfig(rate_limiter=limiter)),
    ],
    ids=["rate limiting", "priority"],
)
def test_the_statistics_of_queues_with_delays_say_what_waits(new_queue):
    queue = new_queue(workqueue.new_typed_item_exponential_failure_rate_limiter(3600.0, 3600.0))
    for item in "abc":
        queue.add(item)
    first, _ = queue.get()
    queue.add(first)
    queue.add_rate_limited("failed")
    queue.add_after("later", 3600.0)
    assert queue.statistics() == workqueue.QueueStatistics(
        queued=2, processing=1, added_again=1, shutting_down=False, waiting=2
    )
    queue.shut_down()
    assert queue.statistics().shutting_down
    assert queue.statistics().waiting == 0


def test_a_drain_ends_with_the_last_item_in_progress_even_if_that_is_queued_again() -> None:
    with synctest.bubble() as bubble:
        queue = workqueue.new()
        queue.add("foo")
        queue.get()
        queue.add("foo")
        drain = threading.Thread(target=queue.shut_down_with_drain)
        drain.start()
        bubble.wait()
        assert drain.is_alive()

        queue.done("foo")

        drain.join()
        assert queue.get() == ("foo", False)
