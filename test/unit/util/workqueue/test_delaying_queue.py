"""The delaying queue adds what is due, once, in order of time."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from countingclock import CountingClock
from invariants import check_invariants
from queueobjects import EqualItems
from threadtools import threads_of

from clientgo import logr
from clientgo.testing import synctest
from clientgo.util import workqueue
from clientgo.utils.clock.testing import FakeClock


@pytest.fixture
def bubble() -> Iterator[synctest.Bubble]:
    with synctest.bubble() as b:
        yield b


class Case:
    """A delaying queue on a clock that only the test moves."""

    def __init__(self, bubble: synctest.Bubble) -> None:
        self.bubble = bubble
        self.clock = CountingClock(1000.0)
        self.queue: Any = workqueue.new_delaying_queue_with_config(workqueue.DelayingQueueConfig(clock=self.clock))
        bubble.wait()

    def add_after(self, item: str, duration: float) -> None:
        self.queue.add_after(item, duration)
        self.bubble.wait()

    def step(self, seconds: float) -> list[str]:
        """Move the clock; what was added then, taken and done."""
        self.clock.step(seconds)
        self.bubble.wait()
        check_invariants(self.queue)
        items = []
        while self.queue.len():
            item, _ = self.queue.get()
            items.append(item)
            self.queue.done(item)
        return items


@pytest.fixture
def case(bubble: synctest.Bubble) -> Iterator[Case]:
    case = Case(bubble)
    yield case
    case.queue.shut_down()


def test_item_appears_once_after_its_delay(case: Case) -> None:
    """Go: TestSimpleQueue"""
    case.add_after("foo", 0.05)
    assert case.queue.len() == 0
    assert case.step(0.06) == ["foo"]
    assert case.step(10.0) == []


def test_earliest_time_counts(case: Case) -> None:
    """Go: TestDeduping"""
    case.add_after("foo", 0.05)
    case.add_after("foo", 0.07)
    assert case.step(0.06) == ["foo"]
    assert case.step(0.02) == []

    case.add_after("foo", 0.05)
    case.add_after("foo", 0.03)
    assert case.step(0.04) == ["foo"]
    assert case.step(0.02) == []


def test_a_delay_that_is_not_a_number_is_refused_and_delays_no_other(case: Case) -> None:
    with pytest.raises(ValueError, match="the delay of 'a' is not a number"):
        case.add_after("a", float("nan"))
    case.add_after("b", 1.0)
    assert case.step(1.0) == ["b"]


def test_a_delay_that_is_longer_than_a_condition_can_wait_is_a_delay(bubble: synctest.Bubble) -> None:
    waits: list[float] = []

    class RecordingClock(FakeClock):
        def wait(self, cond: threading.Condition, timeout: float | None = None) -> bool:
            if timeout is not None:
                waits.append(timeout)
            return super().wait(cond, timeout)

    clock = RecordingClock()
    queue: Any = workqueue.new_delaying_queue_with_custom_clock(clock, "")
    queue.add_after("late", 10 * threading.TIMEOUT_MAX)
    queue.add_after("soon", 1.0)
    bubble.wait()
    clock.step(1.0)
    bubble.wait()
    assert queue.get() == ("soon", False)
    assert max(waits) == 86_400.0
    queue.shut_down()


def test_shorter_delay_added_later_fires_first(case: Case) -> None:
    """Go: TestAddTwoFireEarly"""
    case.add_after("foo", 1.0)
    case.add_after("bar", 0.05)
    assert case.step(0.06) == ["bar"]
    case.add_after("baz", 2.0)
    assert case.step(1.0) == ["foo"]
    assert case.step(2.0) == ["baz"]


def test_items_due_together_come_in_order_of_time(case: Case) -> None:
    """Go: TestCopyShifting"""
    case.add_after("foo", 1.0)
    case.add_after("bar", 0.5)
    case.add_after("baz", 0.25)
    assert case.step(2.0) == ["baz", "bar", "foo"]


def test_items_due_at_one_instant_come_in_order_of_arrival(case: Case) -> None:
    for item in "cab":
        case.add_after(item, 1.0)
    assert case.step(1.0) == ["c", "a", "b"]


def test_an_item_that_is_added_again_for_the_same_time_keeps_its_place(case: Case) -> None:
    for item in "aba":
        case.add_after(item, 1.0)
    assert case.step(1.0) == ["a", "b"]


@pytest.mark.parametrize("duration", [0.0, -1.0])
def test_no_delay_adds_at_once_and_once(case: Case, duration: float) -> None:
    case.queue.add_after("foo", duration)
    assert case.queue.len() == 1
    assert case.queue.get() == ("foo", False)
    case.bubble.wait()
    case.queue.done("foo")
    assert case.queue.len() == 0


def test_infinite_delay_waits_for_ever(case: Case) -> None:
    case.add_after("foo", float("inf"))
    assert case.step(1e9) == []


def test_replaced_entries_do_not_pile_up(case: Case) -> None:
    items = EqualItems()
    for step in range(10_000):
        case.queue.add_after(items.new(), 10_000.0 - step)
    assert items.kept() <= 1 + 2 + 64, "the first one is also the key"
    check_invariants(case.queue)


@pytest.mark.parametrize(("others", "most"), [(0, 66), (3, 69)])
def test_there_are_at_most_64_more_replaced_entries_than_items(case: Case, others: int, most: int) -> None:
    items = EqualItems()
    for number in range(others):
        case.queue.add_after(number, 20_000.0)
    sizes = []
    for step in range(200):
        case.queue.add_after(items.new(), 10_000.0 - step)
        sizes.append(items.kept())
    assert max(sizes) == 1 + most, "the first one is also the key"


@pytest.mark.parametrize(("replaced", "left"), [(65, 66), (66, 2)])
def test_replaced_entries_are_dropped_when_the_items_that_justified_them_are_due(
    case: Case, replaced: int, left: int
) -> None:
    items = EqualItems()
    for number in range(40):
        case.queue.add_after(number, 1.0)
    for step in range(replaced + 1):
        case.queue.add_after(items.new(), 10_000.0 - step)
    assert items.kept() == replaced + 1
    case.step(1.0)
    assert items.kept() == left, "the last one, and the first one, which is the key"


def test_items_keep_their_order_when_replaced_entries_are_dropped(case: Case) -> None:
    """The later they were added, the sooner they are due: as they stand in the dict, they are no heap."""
    names = [f"item-{number}" for number in range(20)]
    for number, name in enumerate(names):
        case.queue.add_after(name, 100.0 - number)
    for step in range(200):
        case.queue.add_after("often", 10_000.0 - step)
    assert case.step(1000.0) == names[::-1]


def test_thread_sleeps_while_later_items_are_added(case: Case) -> None:
    """Only an item due before the thread would wake by itself wakes it."""
    case.add_after("first", 1.0)
    waits = case.clock.waits
    for number in range(100):
        case.add_after(str(number), 1.0 + number)
    assert case.clock.waits == waits
    case.add_after("earlier", 0.5)
    assert case.clock.waits == waits + 1


def test_an_inner_queue_that_raises_does_not_end_the_thread(bubble: synctest.Bubble) -> None:
    class Picky:
        def __init__(self) -> None:
            self.inner: workqueue.Queue[Any] = workqueue.default_queue()
            self.pop, self.len, self.touch = self.inner.pop, self.inner.len, self.inner.touch

        def push(self, item: Any) -> None:
            if item == "bad":
                raise ValueError("no bad items")
            self.inner.push(item)

    queue = workqueue.new_delaying_queue_with_custom_queue(
        workqueue.new_with_config(workqueue.QueueConfig(queue=Picky())), "picky"
    )
    queue.add_after("bad", 1.0)
    queue.add_after("good", 1.0)
    bubble.sleep(1.0)
    assert queue.get() == ("good", False)
    queue.shut_down()


@pytest.mark.parametrize("drain", [False, True])
def test_shutdown_drops_what_waits_and_ends_the_thread(bubble: synctest.Bubble, drain: bool) -> None:
    queue: Any = workqueue.new_named_delaying_queue("drops-waiting")
    queue.add_after("later", 5.0)
    queue.add("now")
    if drain:
        queue.shut_down_with_drain()
    queue.shut_down()
    queue.add_after("never", 1.0)
    queue.add_after("at once", 0.0)
    bubble.sleep(10.0)
    assert queue.get() == ("now", False)
    queue.done("now")
    assert queue.get() == (None, True)
    assert threads_of("drops-waiting") == []


def test_shut_down_ends_a_drain_also_when_it_is_not_the_first(bubble: synctest.Bubble) -> None:
    queue: Any = workqueue.new_delaying_queue()
    queue.add("a")
    queue.get()
    queue.shut_down()
    drain = threading.Thread(target=queue.shut_down_with_drain)
    drain.start()
    bubble.wait()
    assert drain.is_alive()
    queue.shut_down()
    drain.join()


def test_deprecated_constructors(bubble: synctest.Bubble) -> None:
    clock = FakeClock()
    for queue in (
        workqueue.new_delaying_queue(),
        workqueue.typed_new_delaying_queue(),
        workqueue.new_typed_delaying_queue(),
        workqueue.new_named_delaying_queue("name"),
        workqueue.new_delaying_queue_with_custom_clock(clock, "name"),
    ):
        queue.add("a")
        assert queue.get() == ("a", False)
        queue.shut_down()


def test_an_error_in_the_thread_goes_to_the_configured_logger(bubble: synctest.Bubble) -> None:
    class Errors:
        def __init__(self) -> None:
            self.errors: list[str] = []

        def init(self, info: Any) -> None: ...

        def enabled(self, level: int) -> bool:
            return True

        def info(self, level: int, msg: str, /, **pairs: Any) -> None: ...

        def error(self, err: BaseException | None, msg: str, /, **pairs: Any) -> None:
            self.errors.append(msg)

    class Closed:
        """A queue that rejects all items."""

        def __init__(self) -> None:
            self.inner: Any = workqueue.new()
            self.len, self.get, self.done = self.inner.len, self.inner.get, self.inner.done
            self.shutting_down, self.shut_down = self.inner.shutting_down, self.inner.shut_down
            self.shut_down_with_drain = self.inner.shut_down_with_drain

        def add(self, item: object) -> None:
            raise ValueError("closed")

    sink: Any = Errors()
    queue = workqueue.new_delaying_queue_with_config(
        workqueue.DelayingQueueConfig(logger=logr.new(sink), queue=Closed())
    )
    queue.add_after("a", 1.0)
    bubble.sleep(1.0)
    queue.shut_down()
    assert sink.errors == ["Observed a panic"]


def test_an_item_that_a_shutdown_overtakes_does_not_wait() -> None:
    class Overtaking(FakeClock):
        """A clock that shuts the queue down when the thread of the test reads it."""

        def since(self, ts: float) -> float:
            if threading.current_thread() is threading.main_thread():
                queue.shut_down()
            return super().since(ts)

    queue: Any = workqueue.new_delaying_queue_with_custom_clock(Overtaking(), "")
    queue.add_after("late", 1.0)
    assert queue.statistics().waiting == 0


@pytest.mark.parametrize("shut_down", ["shut_down", "shut_down_with_drain"])
def test_after_a_shutdown_the_thread_and_the_waiting_items_are_gone(bubble: synctest.Bubble, shut_down: str) -> None:
    class Item:
        pass

    queue: Any = workqueue.new_named_delaying_queue("ends-here")
    item = Item()
    gone = weakref.ref(item)
    queue.add_after(item, 5.0)
    bubble.wait()
    del item
    assert len(threads_of("ends-here-delay")) == 1
    getattr(queue, shut_down)()
    assert threads_of("ends-here-delay") == []
    gc.collect()
    assert gone() is None


def test_the_thread_keeps_no_interpreter_alive() -> None:
    queue = workqueue.new_named_delaying_queue("kept by nothing")
    daemons = [thread.daemon for thread in threads_of("kept by nothing-delay")]
    queue.shut_down()
    assert daemons == [True]
