"""The priority queue: what matters first, and the guarantees of the other queues."""

from __future__ import annotations

import gc
import random
import re
import threading
import weakref
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from countingclock import CountingClock
from hypothesis import given
from hypothesis import strategies as st
from invariants import check_invariants
from queueobjects import EqualItems
from threadtools import threads_of

from clientgo import logr
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.controller_runtime.controller import priorityqueue
from clientgo.testing import synctest
from clientgo.testing.workqueue_machine import RecordingMetrics
from clientgo.util import workqueue
from clientgo.util.workqueue import LOW_PRIORITY, AddOpts, PriorityQueue, PriorityQueueConfig
from clientgo.utils.clock.testing import FakeClock


@pytest.fixture
def bubble() -> Iterator[synctest.Bubble]:
    with synctest.bubble() as b:
        yield b


@pytest.fixture
def queue(bubble: synctest.Bubble) -> Iterator[PriorityQueue[str]]:
    limiter = workqueue.new_typed_item_exponential_failure_rate_limiter(1.0, 60.0)
    queue: PriorityQueue[str] = workqueue.new_priority_queue(PriorityQueueConfig(rate_limiter=limiter))
    yield queue
    queue.shut_down()


def add(queue: PriorityQueue[str], item: str, priority: int | None = None, after: float = 0.0) -> None:
    queue.add_with_opts(AddOpts(priority=priority, after=after), item)
    check_invariants(queue)


def take_all(queue: PriorityQueue[str]) -> list[tuple[str, int]]:
    """Get everything that is ready, done at once."""
    taken = []
    while queue.len():
        item, priority, _ = queue.get_with_priority()
        taken.append((item, priority))
        queue.done(item)
        check_invariants(queue)
    return taken


def test_higher_priority_first_and_first_in_first_out_in_one_priority(queue: PriorityQueue[str]) -> None:
    for item, priority in (("a", 0), ("b", 0), ("low", -1), ("high", 5), ("c", 0), ("high2", 5)):
        add(queue, item, priority)
    assert [item for item, _ in take_all(queue)] == ["high", "high2", "a", "b", "c", "low"]


def test_duplicate_keeps_the_higher_priority_and_its_place(queue: PriorityQueue[str]) -> None:
    add(queue, "a", 1)
    add(queue, "b", 1)
    add(queue, "a", 1)
    add(queue, "a", -5)
    assert queue.len() == 2
    assert take_all(queue) == [("a", 1), ("b", 1)]


def test_raised_item_goes_to_the_end_of_its_new_priority(queue: PriorityQueue[str]) -> None:
    add(queue, "a", 0)
    add(queue, "b", 1)
    add(queue, "c", 0)
    add(queue, "a", 1)
    assert take_all(queue) == [("b", 1), ("a", 1), ("c", 0)]


def test_item_whose_delay_ends_goes_to_the_end(queue: PriorityQueue[str], bubble: synctest.Bubble) -> None:
    add(queue, "a", 0, after=1.0)
    add(queue, "b", 0)
    bubble.sleep(1.0)
    assert take_all(queue) == [("b", 0), ("a", 0)]


def test_item_pulled_forward_keeps_the_place_of_its_first_addition(queue: PriorityQueue[str]) -> None:
    add(queue, "a", 0, after=1.0)
    add(queue, "b", 0)
    add(queue, "a", 0)
    assert take_all(queue) == [("a", 0), ("b", 0)]


def test_of_items_due_at_once_the_higher_priority_and_then_the_earlier_addition_comes_first(
    queue: PriorityQueue[str], bubble: synctest.Bubble
) -> None:
    for item, priority in (("a", 0), ("b", 1), ("c", 1), ("d", 0)):
        add(queue, item, priority, after=1.0)
    add(queue, "a", 1, after=2.0)
    bubble.sleep(1.0)
    assert take_all(queue) == [("b", 1), ("c", 1), ("a", 1), ("d", 0)]


def test_of_items_due_at_once_one_that_was_raised_comes_before_those_added_later(
    queue: PriorityQueue[str], bubble: synctest.Bubble
) -> None:
    for item, priority in (("a", 0), ("b", 1), ("a", 1), ("c", 1)):
        add(queue, item, priority, after=1.0)
    bubble.sleep(1.0)
    assert take_all(queue) == [("b", 1), ("a", 1), ("c", 1)]


def test_item_added_while_processed_keeps_its_place_until_done(queue: PriorityQueue[str]) -> None:
    add(queue, "a", 0)
    queue.get()
    add(queue, "a", 0)
    add(queue, "b", 0)
    queue.done("a")
    assert take_all(queue) == [("a", 0), ("b", 0)]


def test_duplicate_keeps_the_earlier_time(queue: PriorityQueue[str], bubble: synctest.Bubble) -> None:
    add(queue, "a", 0, after=10.0)
    add(queue, "a", 3, after=5.0)
    add(queue, "a", 0, after=7.0)
    bubble.sleep(4.999)
    assert queue.len() == 0
    bubble.sleep(0.001)
    assert take_all(queue) == [("a", 3)]
    bubble.sleep(10.0)
    assert queue.len() == 0


def test_add_pulls_a_waiting_item_forward(queue: PriorityQueue[str], bubble: synctest.Bubble) -> None:
    add(queue, "a", 2, after=5.0)
    queue.add("a")
    assert take_all(queue) == [("a", 2)]
    bubble.sleep(10.0)
    assert queue.len() == 0


def test_ready_item_is_not_delayed_by_a_later_addition(queue: PriorityQueue[str]) -> None:
    queue.add("a")
    add(queue, "a", 4, after=5.0)
    assert take_all(queue) == [("a", 4)]


def test_waiting_does_not_hold_up_lower_priorities(queue: PriorityQueue[str], bubble: synctest.Bubble) -> None:
    add(queue, "urgent", 100, after=5.0)
    add(queue, "now", LOW_PRIORITY)
    assert take_all(queue) == [("now", LOW_PRIORITY)]
    bubble.sleep(5.0)
    assert take_all(queue) == [("urgent", 100)]


def test_initial_list_comes_after_new_events(queue: PriorityQueue[str]) -> None:
    for number in range(3):
        workqueue.add_event(queue, f"listed-{number}", True)
    workqueue.add_event(queue, "changed", False)
    workqueue.add_event(queue, "listed-2", False)
    assert [item for item, _ in take_all(queue)] == ["changed", "listed-2", "listed-0", "listed-1"]


def test_add_event_takes_any_queue() -> None:
    plain = workqueue.new()
    workqueue.add_event(plain, "a", True)
    assert plain.len() == 1


def test_item_is_never_in_two_workers_hands(queue: PriorityQueue[str], bubble: synctest.Bubble) -> None:
    queue.add("a")
    queue.get()
    add(queue, "a", 7)
    add(queue, "a", 9)
    assert queue.len() == 0
    queue.done("a")
    assert take_all(queue) == [("a", 9)]


def test_delayed_item_due_while_processed_waits_for_done(queue: PriorityQueue[str], bubble: synctest.Bubble) -> None:
    queue.add("a")
    queue.get()
    queue.add_after("a", 1.0)
    bubble.sleep(2.0)
    check_invariants(queue)
    assert queue.len() == 0
    queue.done("a")
    assert queue.len() == 1


def test_delayed_item_stays_delayed_over_done(queue: PriorityQueue[str], bubble: synctest.Bubble) -> None:
    queue.add("a")
    queue.get()
    queue.add_after("a", 1.0)
    queue.done("a")
    check_invariants(queue)
    assert queue.len() == 0
    bubble.sleep(1.0)
    assert queue.len() == 1


def test_done_of_an_item_not_in_progress_changes_nothing(queue: PriorityQueue[str]) -> None:
    queue.add("a")
    queue.done("a")
    queue.done("b")
    check_invariants(queue)
    assert take_all(queue) == [("a", 0)]


def test_retry_keeps_the_priority_it_was_processed_with(queue: PriorityQueue[str], bubble: synctest.Bubble) -> None:
    add(queue, "a", LOW_PRIORITY)
    queue.get()
    queue.add_rate_limited("a")
    queue.done("a")
    bubble.sleep(1.0)
    assert take_all(queue) == [("a", LOW_PRIORITY)]


def test_rate_limit(queue: PriorityQueue[str], bubble: synctest.Bubble) -> None:
    queue.add_rate_limited("a")
    assert queue.num_requeues("a") == 1
    bubble.sleep(1.0)
    assert take_all(queue) == [("a", 0)]
    queue.add_with_opts(AddOpts(rate_limited=True, after=1.5, priority=3), "a", "b")
    bubble.sleep(1.5)
    # 2 s and 1 s by the limiter, 1.5 s by the option.
    assert take_all(queue) == [("b", 3), ("a", 3)]
    queue.forget("a")
    assert queue.num_requeues("a") == 0


def test_shutdown_hands_out_what_is_ready_and_drops_what_waits(
    queue: PriorityQueue[str], bubble: synctest.Bubble
) -> None:
    queue.add("ready")
    queue.add("held")
    assert queue.get() == ("ready", False)
    queue.add("ready")
    queue.add_after("waiting", 1.0)
    assert queue.shutting_down() is False
    queue.shut_down()
    assert queue.shutting_down() is True
    queue.add("late")
    queue.add_rate_limited("late")
    bubble.sleep(5.0)
    check_invariants(queue)
    assert queue.get() == ("held", False)
    assert queue.get() == (None, True)
    queue.done("ready")
    assert queue.get() == ("ready", False)
    assert queue.get() == (None, True)
    assert ", 1 threads alive" in repr(bubble), "the test's own"


def test_drain_waits_for_work_in_progress(queue: PriorityQueue[str], bubble: synctest.Bubble) -> None:
    queue.add("a")
    queue.get()
    drains = [threading.Thread(target=queue.shut_down_with_drain) for _ in range(2)]
    for drain in drains:
        drain.start()
    bubble.wait()
    assert all(drain.is_alive() for drain in drains)
    queue.done("a")
    for drain in drains:
        drain.join()


def test_shut_down_ends_a_drain(queue: PriorityQueue[str], bubble: synctest.Bubble) -> None:
    queue.add("a")
    queue.get()
    drain = threading.Thread(target=queue.shut_down_with_drain)
    drain.start()
    bubble.wait()
    assert "draining" in repr(queue)
    queue.shut_down()
    drain.join()


@pytest.mark.parametrize("seed", range(30))
def test_every_addition_is_processed_whatever_the_order_of_events(seed: int) -> None:
    with synctest.bubble(synctest.RandomSchedule(seed)) as bubble:
        queue: PriorityQueue[int] = workqueue.new_priority_queue()
        in_hands: set[int] = set()
        processed: dict[int, int] = {}

        def work() -> None:
            while True:
                item, shutdown = queue.get()
                if shutdown:
                    return
                assert item not in in_hands
                in_hands.add(item)
                processed[item] = processed.get(item, 0) + 1
                if processed[item] == 1:
                    queue.add_rate_limited(item)
                in_hands.remove(item)
                queue.done(item)

        def produce(first: int) -> None:
            for item in range(first, first + 4):
                queue.add_with_opts(AddOpts(priority=item % 3, after=0.001 * (item % 2)), item)

        threads = [threading.Thread(target=work) for _ in range(3)]
        threads += [threading.Thread(target=produce, args=(first,)) for first in (0, 2)]
        for thread in threads:
            thread.start()
        bubble.sleep(1.0)
        check_invariants(queue)
        queue.shut_down()
        for thread in threads:
            thread.join()
        assert processed.keys() == set(range(6))
        assert all(times >= 2 for times in processed.values())


def test_ageing_keeps_low_priorities_from_starving(bubble: synctest.Bubble) -> None:
    clock = FakeClock()
    queue: PriorityQueue[str] = workqueue.new_priority_queue(PriorityQueueConfig(clock=clock, ageing=1.0))
    add(queue, "old", -10)
    served = []
    for number in range(20):
        clock.step(1.0)
        add(queue, f"new-{number}", 0)
        served.append(queue.get()[0])
        queue.done(served[-1])
    # After ten seconds it is equal to the tenth new item, and was there before.
    assert served.index("old") == 9
    queue.shut_down()


def test_without_ageing_a_stream_of_higher_priority_starves_the_rest(queue: PriorityQueue[str]) -> None:
    add(queue, "old", -1)
    for number in range(100):
        add(queue, f"new-{number}", 0)
        assert queue.get()[0] == f"new-{number}"


def test_metrics(bubble: synctest.Bubble) -> None:
    counts: dict[str, list[float]] = {}

    class Metric:
        def __init__(self, name: str) -> None:
            self.calls = counts.setdefault(name, [])

        def inc(self) -> None:
            self.calls.append(1)

        def dec(self) -> None:
            self.calls.append(-1)

        def set(self, value: float) -> None:
            self.calls.append(round(value, 3))

        observe = set

    class Provider:
        def __getattr__(self, name: str) -> Any:
            if name.endswith("_with_priority"):
                raise AttributeError(name)
            return lambda queue_name: Metric(name.removeprefix("new_").removesuffix("_metric"))

    queue: PriorityQueue[str] = workqueue.new_priority_queue(PriorityQueueConfig(name="q", metrics_provider=Provider()))
    queue.add_after("a", 0.1)
    queue.add("b")
    add(queue, "b", 3)
    bubble.sleep(0.2)
    queue.get()
    queue.add("b")
    bubble.sleep(0.3)
    queue.done("b")
    queue.shut_down()
    assert counts == {
        "adds": [1, 1, 1],
        "depth": [1, 1, -1, 1],
        "latency": [0.2],
        "work_duration": [0.3],
        "unfinished_work_seconds": [0.3],
        "longest_running_processor_seconds": [0.3],
        "retries": [1],
    }


@pytest.mark.parametrize("add_late", ["add_after", "add_rate_limited"])
def test_a_delayed_add_after_the_shutdown_is_no_retry(add_late: str, bubble: synctest.Bubble) -> None:
    retries: list[int] = []

    class Metric:
        def __init__(self, name: str) -> None:
            self.name = name

        def inc(self) -> None:
            if self.name == "retries":
                retries.append(1)

        def __getattr__(self, _: str) -> Any:
            return lambda *_: None

    class Provider:
        def __getattr__(self, name: str) -> Any:
            if name.endswith("_with_priority"):
                raise AttributeError(name)
            return lambda queue_name: Metric(name.removeprefix("new_").removesuffix("_metric"))

    queue: Any = workqueue.new_priority_queue(PriorityQueueConfig(name="q", metrics_provider=Provider()))
    args = (1.0,) if add_late == "add_after" else ()
    getattr(queue, add_late)("a", *args)
    assert retries == [1]
    queue.shut_down()
    getattr(queue, add_late)("b", *args)
    assert retries == [1]


def test_depth_is_counted_for_each_priority_when_the_provider_wants_to_know_it(bubble: synctest.Bubble) -> None:
    depths: Counter[int] = Counter()

    class Depth:
        def inc(self, priority: int) -> None:
            depths[priority] += 1

        def dec(self, priority: int) -> None:
            depths[priority] -= 1

    class Provider(RecordingMetrics):
        def new_depth_metric_with_priority(self, name: str) -> Depth:
            return Depth()

    queue: PriorityQueue[str] = workqueue.new_priority_queue(PriorityQueueConfig(name="q", metrics_provider=Provider()))
    add(queue, "a", 1)
    add(queue, "b", 1)
    add(queue, "waits", 1, after=1.0)
    assert depths == {1: 2}
    add(queue, "a", 5)
    add(queue, "waits", 4, after=1.0)
    assert depths == {1: 1, 5: 1}
    queue.get()
    add(queue, "a", 2)
    add(queue, "a", 3)
    assert depths == {1: 1, 3: 1, 5: 0, 2: 0}
    bubble.sleep(1.0)
    assert depths[4] == 1
    queue.shut_down()


def test_finished_items_are_not_kept(bubble: synctest.Bubble) -> None:
    class BigObject:
        pass

    queue: PriorityQueue[Any] = workqueue.new_priority_queue()
    item = BigObject()
    collected = weakref.ref(item)
    for priority in range(5):
        queue.add_with_opts(AddOpts(priority=priority), item)
    queue.get()
    queue.done(item)
    del item
    gc.collect()
    assert collected() is None
    queue.shut_down()


def test_replaced_entries_do_not_pile_up(queue: PriorityQueue[Any]) -> None:
    ready, waiting = EqualItems(), EqualItems()
    for priority in range(5000):
        queue.add_with_opts(AddOpts(priority=priority), ("ready", ready.new()))
        queue.add_with_opts(AddOpts(after=10_000.0 - priority), ("waiting", waiting.new()))
    check_invariants(queue)
    assert 1 < ready.kept() < 100
    assert 1 < waiting.kept() < 100


class Model:
    """The queue's promises in plain lists: (priority, due, place, whether it is due)."""

    def __init__(self) -> None:
        self.pending: dict[str, list[Any]] = {}
        self.processing: set[str] = set()
        self.place = 0
        self.now = 0.0

    def next_place(self) -> int:
        self.place += 1
        return self.place

    def add(self, item: str, priority: int, after: float) -> None:
        due = self.now + after
        if item not in self.pending:
            self.pending[item] = [priority, due, self.next_place(), after <= 0]
            return
        entry = self.pending[item]
        if priority > entry[0]:
            entry[0], entry[2] = priority, self.next_place()
        if not entry[3]:
            entry[1] = min(entry[1], due)
            entry[3] = after <= 0

    def settle(self) -> None:
        """Append the items that became due, in the order of their times."""
        for _, entry in sorted(self.pending.items(), key=lambda pair: pair[1][1]):
            if not entry[3] and entry[1] <= self.now + 1e-6:
                entry[2:] = [self.next_place(), True]

    def ready(self) -> list[str]:
        return [item for item, entry in self.pending.items() if entry[3] and item not in self.processing]

    def next(self) -> str | None:
        return min(self.ready(), key=lambda item: (-self.pending[item][0], self.pending[item][2]), default=None)


OPERATIONS = st.one_of(
    st.tuples(st.just("add"), st.sampled_from("abcd"), st.integers(-1, 2), st.sampled_from([0.0, 0.0, 1.0, 2.5])),
    st.tuples(st.just("get")),
    st.tuples(st.just("done"), st.integers(0, 3)),
    st.tuples(st.just("advance"), st.sampled_from([0.5, 1.0, 3.0])),
)


@given(operations=st.lists(OPERATIONS, max_size=40), seed=st.integers(0, 3))
def test_queue_follows_the_model(operations: list[tuple[Any, ...]], seed: int) -> None:
    with synctest.bubble() as bubble:
        queue: PriorityQueue[str] = workqueue.new_priority_queue()
        model = Model()
        rng = random.Random(seed)
        for operation in operations:
            match operation:
                case ("add", item, priority, after):
                    # Times that differ: what becomes ready at one instant has no defined order.
                    after = after and after + rng.random() / 10
                    queue.add_with_opts(AddOpts(priority=priority, after=after), item)
                    model.add(item, priority, after)
                case ("get",) if (expected := model.next()) is not None:
                    assert queue.get_with_priority() == (expected, model.pending[expected][0], False)
                    del model.pending[expected]
                    model.processing.add(expected)
                case ("done", index) if model.processing:
                    item = sorted(model.processing)[index % len(model.processing)]
                    queue.done(item)
                    model.processing.remove(item)
                case ("advance", seconds):
                    bubble.sleep(seconds)
                    model.now += seconds
                    model.settle()
            bubble.wait()
            check_invariants(queue)
            assert queue.len() == len(model.ready())
        queue.shut_down()


class Lines:
    """A log sink whose verbosity can be changed."""

    def __init__(self) -> None:
        self.verbosity = 4
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def init(self, info: Any) -> None:
        pass

    def enabled(self, level: int) -> bool:
        return level <= self.verbosity

    def info(self, level: int, msg: str, /, **pairs: Any) -> None:
        self.lines.append((msg, pairs))


def test_at_verbosity_five_the_items_are_listed_every_ten_seconds(bubble: synctest.Bubble) -> None:
    sink: Any = Lines()
    queue: PriorityQueue[str] = workqueue.new_priority_queue(PriorityQueueConfig(name="q", log=logr.new(sink)))
    add(queue, "low", LOW_PRIORITY)
    add(queue, "high", 5)
    add(queue, "late", after=60.0)
    add(queue, "soon", after=30.0)
    add(queue, "in work", 7)
    assert queue.get()[0] == "in work"
    bubble.sleep(25.0)
    assert sink.lines == [], "the verbosity is lower"
    sink.verbosity = 5
    bubble.sleep(10.0)
    sink.verbosity = 4
    bubble.sleep(20.0)  # after a minute the item in work would be reported
    queue.shut_down()
    assert sink.lines == [
        (
            "workqueue_items",
            {
                "items": [
                    {"key": "late", "priority": 0, "readyIn": "30s"},
                    {"key": "high", "priority": 5},
                    {"key": "soon", "priority": 0},
                    {"key": "low", "priority": LOW_PRIORITY},
                ]
            },
        )
    ]


def test_a_log_sink_that_raises_does_not_end_the_listing_of_items(
    bubble: synctest.Bubble, monkeypatch: pytest.MonkeyPatch
) -> None:
    class RaisesOnce(Lines):
        def info(self, level: int, msg: str, /, **pairs: Any) -> None:
            super().info(level, msg, **pairs)
            if len(self.lines) == 1:
                raise OSError("disk full")

    reported: list[object] = []
    monkeypatch.setattr(utilruntime.runtime, "PANIC_HANDLERS", [lambda ctx, err: reported.append(err)])
    sink: Any = RaisesOnce()
    sink.verbosity = 5
    queue: PriorityQueue[str] = workqueue.new_priority_queue(PriorityQueueConfig(name="q", log=logr.new(sink)))
    add(queue, "a")
    bubble.sleep(25.0)
    queue.shut_down()
    assert len(sink.lines) == 2, "the period after the error has its line"
    assert [str(err) for err in reported] == ["disk full"]


def test_the_threads_of_a_queue_have_its_name_and_keep_no_interpreter_alive() -> None:
    """A program that ends with an exception never calls `shut_down`. In a bubble every thread is a daemon."""
    before = set(threading.enumerate())
    sink: Any = Lines()
    metrics: Any = RecordingMetrics()
    config: PriorityQueueConfig[str] = PriorityQueueConfig(name="q", log=logr.new(sink), metrics_provider=metrics)
    queue: PriorityQueue[str] = workqueue.new_priority_queue(config)
    threads = set(threading.enumerate()) - before
    queue.shut_down()
    names = sorted(thread.name for thread in threads)
    assert names == ["priorityqueue-q-delay", "priorityqueue-q-log", "priorityqueue-q-metrics"]
    assert all(thread.daemon for thread in threads)


def test_a_priority_of_a_wrong_type_is_an_error(bubble: synctest.Bubble) -> None:
    queue: PriorityQueue[str] = workqueue.new_priority_queue(PriorityQueueConfig(name="q"))
    add(queue, "a", 1)
    wrong: Any = "high"
    with pytest.raises(TypeError, match="not supported between instances of 'str' and 'int'"):
        queue.add_with_opts(AddOpts(priority=wrong), "a")
    assert queue.get_with_priority() == ("a", 1, False)
    queue.done("a")
    queue.shut_down()


def test_items_are_listed_ten_seconds_apart_with_the_time_left(bubble: synctest.Bubble) -> None:
    class Timed(Lines):
        def info(self, level: int, msg: str, /, **pairs: Any) -> None:
            super().info(level, msg, **pairs)
            times.append(bubble.elapsed)

    times: list[float] = []
    sink: Any = Timed()
    sink.verbosity = 5
    queue: PriorityQueue[str] = workqueue.new_priority_queue(PriorityQueueConfig(name="q", log=logr.new(sink)))
    for item, priority in (("a", 0), ("b", 1), ("a", 1)):
        add(queue, item, priority)
    add(queue, "soon", after=10.5)
    bubble.sleep(25.0)
    queue.shut_down()
    assert times == pytest.approx([10.0, 20.0])
    assert [each["key"] for each in sink.lines[0][1]["items"]] == ["soon", "b", "a"]
    assert sink.lines[0][1]["items"][0]["readyIn"] == "500ms"


def test_an_item_added_after_no_delay_is_ready_at_once(queue: PriorityQueue[str]) -> None:
    queue.add_after("a", 0.0)
    assert queue.len() == 1


def test_an_addition_that_changes_nothing_leaves_no_entry(queue: PriorityQueue[str]) -> None:
    items = EqualItems()
    for after in (5.0, 5.0, 6.0, 7.0):
        add(queue, items.new(), 1, after=after)
    assert items.kept() == 1


def test_the_thread_sleeps_while_items_are_added_that_are_not_due_before_it_wakes(
    bubble: synctest.Bubble,
) -> None:
    clock = CountingClock()
    queue: Any = workqueue.new_priority_queue(PriorityQueueConfig(clock=clock))
    queue.add_after("first", 1.0)
    bubble.wait()
    waits = clock.waits
    for item, after in (("same", 1.0), ("later", 2.0)):
        queue.add_after(item, after)
        bubble.wait()
    assert clock.waits == waits
    queue.add_after("earlier", 0.5)
    bubble.wait()
    assert clock.waits == waits + 1
    queue.shut_down()


@pytest.mark.parametrize(("others", "most"), [(0, 66), (3, 69)])
def test_there_are_at_most_64_more_replaced_entries_than_items(
    queue: PriorityQueue[Any], others: int, most: int
) -> None:
    """On the waiting heap, whose bound ready items do not raise, and on the ready heap."""
    for number in range(others):
        add(queue, f"waiting-{number}", after=20_000.0)
        add(queue, f"ready-{number}")
    foo, bar = EqualItems(), EqualItems()
    waiting, ready = [], []
    for step in range(200):
        add(queue, ("foo", foo.new()), after=10_000.0 - step)
        waiting.append(foo.kept())
    assert max(waiting) == 1 + most, "the first one is also the key"
    for step in range(200):
        add(queue, ("bar", bar.new()), step)
        ready.append(bar.kept())
    assert max(ready) == 1 + most


def test_items_are_examined_again_only_when_replaced_entries_are_dropped(queue: PriorityQueue[Any]) -> None:
    """Otherwise the cost of an addition would grow with the number of items."""

    class Item:
        looked_up = 0

        def __hash__(self) -> int:
            self.looked_up += 1
            return id(self)

    items = [Item() for _ in range(300)]
    for item in items:
        queue.add(item)
    assert {item.looked_up for item in items} == {items[-1].looked_up}


def test_items_keep_their_order_when_replaced_entries_are_dropped(queue: PriorityQueue[str]) -> None:
    """The later they were added, the higher their priority."""
    names = [f"item-{number:02}" for number in range(20)]
    for priority, name in enumerate(names):
        queue.add_with_opts(AddOpts(priority=priority), name)
    for priority in range(-200, -1):
        add(queue, "often", priority)
    assert [item for item, _ in take_all(queue)] == [*names[::-1], "often"]


def test_after_a_shutdown_a_worker_gets_no_item_and_no_priority(queue: PriorityQueue[str]) -> None:
    queue.shut_down()
    assert queue.get_with_priority() == (None, 0, True)


@pytest.mark.parametrize("shut_down", ["shut_down", "shut_down_with_drain"])
def test_after_a_shutdown_the_threads_and_the_waiting_items_are_gone(bubble: synctest.Bubble, shut_down: str) -> None:
    class Item:
        pass

    queue: PriorityQueue[Any] = workqueue.new_priority_queue(PriorityQueueConfig(name="ends-here"))
    item = Item()
    gone = weakref.ref(item)
    queue.add_after(item, 5.0)
    bubble.wait()
    del item
    assert threads_of("ends-here") != []
    getattr(queue, shut_down)()
    assert threads_of("ends-here") == []
    gc.collect()
    assert gone() is None


def test_metrics_that_raise_do_not_end_the_thread_that_makes_items_ready(bubble: synctest.Bubble) -> None:
    metrics = RecordingMetrics()
    queue: PriorityQueue[str] = workqueue.new_priority_queue(PriorityQueueConfig(name="q", metrics_provider=metrics))
    queue.add_after("a", 1.0)
    [metrics.failing_in] = threads_of("priorityqueue-q-delay")
    bubble.sleep(1.5)
    metrics.failing_in = None
    queue.add_after("b", 1.0)
    bubble.sleep(1.0)
    assert {queue.get()[0], queue.get()[0]} == {"a", "b"}
    queue.shut_down()


def test_an_item_that_waits_while_it_is_processed_is_not_counted_as_added_again(queue: PriorityQueue[str]) -> None:
    for item in "ab":
        add(queue, item)
        queue.get()
    add(queue, "a", after=5.0)
    statistics = queue.statistics()
    assert (statistics.processing, statistics.added_again, statistics.waiting) == (2, 0, 1)


@pytest.mark.parametrize("way", ["add_after", "add_with_opts", "limiter", "both"])
@pytest.mark.parametrize("dropping", [False, True], ids=["beyond Go", "controller-runtime"])
def test_a_delay_that_is_not_a_number_is_refused(bubble: synctest.Bubble, way: str, dropping: bool) -> None:
    """It would be no delay, so that a worker retries without a pause."""

    class Limiter:
        def when(self, item: str) -> float:
            return float("nan")

        def forget(self, item: str) -> None: ...

        def num_requeues(self, item: str) -> int:
            return 0

    queue: Any = (
        priorityqueue.new("nan", lambda opts: setattr(opts, "rate_limiter", Limiter()))
        if dropping
        else workqueue.new_priority_queue(PriorityQueueConfig(rate_limiter=Limiter()))
    )
    calls = {
        "add_after": lambda: queue.add_after("a", float("nan")),
        "add_with_opts": lambda: queue.add_with_opts(AddOpts(after=float("nan")), "a"),
        "limiter": lambda: queue.add_rate_limited("a"),
        "both": lambda: queue.add_with_opts(AddOpts(rate_limited=True), "a"),
    }
    with pytest.raises(ValueError, match="the delay of 'a' is not a number"):
        calls[way]()
    assert queue.len() == 0
    queue.add_after("b", 1.0)
    bubble.sleep(1.0)
    assert queue.get()[0] == "b"
    queue.done("b")
    queue.shut_down()


@pytest.mark.parametrize("delay", ["1.5", timedelta(seconds=1.5), None, [1.5]], ids=repr)
@pytest.mark.parametrize("way", ["add_after", "add_with_opts", "both"])
def test_a_delay_of_another_type_is_named(way: str, delay: Any, bubble: synctest.Bubble) -> None:
    queue: Any = workqueue.new_priority_queue(PriorityQueueConfig())
    calls = {
        "add_after": lambda: queue.add_after("a", delay),
        "add_with_opts": lambda: queue.add_with_opts(AddOpts(after=delay), "a"),
        "both": lambda: queue.add_with_opts(AddOpts(after=delay, rate_limited=True), "a"),
    }
    with pytest.raises(TypeError, match=re.escape(f"the delay of 'a' is a number of seconds; got {delay!r}")):
        calls[way]()
    queue.add_with_opts(AddOpts(after=2), "b")
    bubble.sleep(2.0)
    assert queue.get() == ("b", False)
    queue.done("b")
    queue.shut_down()
