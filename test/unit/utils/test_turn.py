"""A consumer's turns: who waits for whom, and for how long."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator

import pytest

from clientgo.testing import synctest
from clientgo.utils import turn


class Buffer:
    """Numbers for one consumer, whose work may take time."""

    def __init__(self) -> None:
        lock = threading.Lock()
        self.cond = threading.Condition(lock)
        self.turn = turn.Turn(lock)
        self.items: deque[int] = deque()
        self.closed = False

    def put(self, item: int) -> None:
        with self.cond:
            self.items.append(item)
            self.cond.notify()
            self.turn.add_work()
            self.turn.give()

    def consume(self, work: Callable[[int], None]) -> None:
        while True:
            with self.cond:
                while not self.items and not self.closed:
                    self.turn.finish()
                    self.cond.wait()
                if self.closed:
                    return
                item = self.items.popleft()
            work(item)

    def close(self) -> None:
        with self.cond:
            self.closed = True
            self.cond.notify()


@contextlib.contextmanager
def always_near() -> Iterator[None]:
    """The collector is always near, while in a bubble it is always far."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turn, "collection_is_near", lambda left_over: True)
        yield


def started(buffer: Buffer, work: Callable[[int], None]) -> threading.Thread:
    thread = threading.Thread(target=buffer.consume, args=(work,), name="consumer")
    thread.start()
    return thread


def test_the_producer_waits_until_the_consumer_has_finished():
    with synctest.bubble() as bubble, always_near():
        buffer, done = Buffer(), []

        def work(item: int) -> None:
            bubble.sleep(0.01)
            done.append(item)

        thread = started(buffer, work)
        bubble.wait()
        for item in range(5):
            buffer.put(item)
            assert done[-1] == item
        assert bubble.elapsed == pytest.approx(0.05)
        buffer.close()
        thread.join()


def test_nobody_waits_while_the_collector_is_far():
    with synctest.bubble() as bubble:
        buffer = Buffer()
        thread = started(buffer, lambda item: bubble.sleep(1.0))
        bubble.wait()
        for item in range(5):
            buffer.put(item)
        assert bubble.elapsed == 0.0
        buffer.close()
        thread.join()


def test_nobody_waits_without_a_consumer():
    with synctest.bubble() as bubble, always_near():
        buffer = Buffer()
        buffer.put(1)
        assert bubble.elapsed == 0.0


def test_nobody_waits_for_a_consumer_with_nothing_to_do():
    with synctest.bubble() as bubble, always_near():
        buffer = Buffer()
        thread = started(buffer, lambda item: None)
        bubble.wait()
        with buffer.cond:
            buffer.turn.give()
        assert bubble.elapsed == 0.0
        buffer.close()
        thread.join()


def test_a_slow_consumer_costs_its_producer_one_wait_until_it_has_caught_up():
    with synctest.bubble() as bubble, always_near():
        buffer = Buffer()
        thread = started(buffer, lambda item: bubble.sleep(1.0))
        bubble.wait()
        for item in range(10):
            buffer.put(item)
        assert bubble.elapsed == pytest.approx(0.05)
        bubble.sleep(20.0)
        before = bubble.elapsed
        buffer.put(10)
        assert bubble.elapsed - before == pytest.approx(0.05), "it had caught up, and so got a turn again"
        buffer.close()
        thread.join()


@pytest.mark.parametrize(
    ("new", "left_over", "near"),
    [(350, 0, False), (351, 0, True), (351, 330, False), (400, 330, True), (400, 450, True)],
)
def test_a_collection_is_near_at_half_the_threshold(monkeypatch, new, left_over, near):
    monkeypatch.setattr(turn.gc, "get_count", lambda: (new, 0, 0))
    monkeypatch.setattr(turn.gc, "get_threshold", lambda: (700, 10, 10))
    monkeypatch.setattr(turn.gc, "isenabled", lambda: True)
    assert turn.collection_is_near(left_over) is near


def test_no_collection_is_near_when_the_collector_is_off(monkeypatch):
    monkeypatch.setattr(turn.gc, "get_count", lambda: (10_000, 0, 0))
    monkeypatch.setattr(turn.gc, "isenabled", lambda: False)
    assert not turn.collection_is_near(0)
