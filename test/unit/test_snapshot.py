"""Copying what others change meanwhile: as it goes without a GIL, on every Python."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest
from queueobjects import Item, key_of

from clientgo.snapshot import consistent_copy, first_items
from clientgo.tools import cache
from clientgo.tools.cache import testing as framework
from clientgo.util import workqueue


class Disturbed(deque[Any]):
    """A deque that another thread changes while it is copied, the first so many times; then for good."""

    times = 1

    def __iter__(self) -> Iterator[Any]:
        if self.times:
            self.times -= 1
            raise RuntimeError("deque mutated during iteration")
        return super().__iter__()


def test_an_undisturbed_snapshot_takes_no_lock() -> None:
    lock = threading.Lock()
    with lock:
        assert consistent_copy(lambda: tuple(deque("abc")), lock) == ("a", "b", "c")


def test_a_disturbed_snapshot_copies_under_the_lock() -> None:
    lock, numbers = threading.Lock(), Disturbed([1, 2])
    held: list[bool] = []

    def copy() -> tuple[Any, ...]:
        held.append(lock.locked())
        return tuple(numbers)

    assert consistent_copy(copy, lock) == (1, 2)
    assert held == [False, True] and not lock.locked()


def test_a_snapshot_that_cannot_get_the_lock_copies_without_it() -> None:
    lock, numbers = threading.Lock(), Disturbed([1, 2])
    with lock:  # a thread that has the lock is stuck and changes nothing
        assert consistent_copy(lambda: tuple(numbers), lock) == (1, 2)


@pytest.mark.parametrize("times", [0, 1, 99, 10_000])
def test_a_deque_without_a_lock_is_read_piece_by_piece_in_the_end(times: int) -> None:
    numbers = Disturbed(range(5))
    numbers.times = times
    assert first_items(numbers, 3) == (0, 1, 2)
    numbers.times = times
    assert first_items(numbers) == (0, 1, 2, 3, 4)
    numbers.clear()
    numbers.times = times
    assert first_items(numbers) == ()


def test_a_disturbed_snapshot_shows_fifos_and_queues() -> None:
    for fifo, where in (
        (cache.new_delta_fifo(key_of, None), "_queue"),
        (cache.new_real_fifo_with_options(cache.RealFIFOOptions(key_function=key_of, atomic_events=True)), "_items"),
    ):
        fifo.add(Item("a"))
        setattr(fifo, where, Disturbed(getattr(fifo, where)))
        assert fifo.contents().length == 1
    queue: Any = workqueue.new_typed()
    queue._queue.items = Disturbed("ab")
    assert queue.contents().order == ("a", "b")


def test_a_disturbed_snapshot_shows_a_store() -> None:
    class Objects(dict[str, Any]):
        times = 1

        def items(self) -> Any:
            if self.times:
                self.times -= 1
                raise RuntimeError("dictionary changed size during iteration")
            return super().items()

    store: Any = cache.new_thread_safe_store({}, {})
    store._items = Objects(a=1, b=2)
    assert store.contents(1).items == {"a": 1}


def test_a_disturbed_snapshot_shows_a_handlers_backlog() -> None:
    source = framework.new_fake_controller_source()
    informer: Any = cache.new_shared_index_informer(source, None, 0.0, {})
    try:
        handler: Any = informer.add_event_handler(cache.ResourceEventHandlerFuncs())
        handler._pending, handler._taken = Disturbed([1, 2]), Disturbed([3])
        contents = handler.contents()
        assert contents.pending == (1, 2) and contents.taken == (3,)
        assert informer.parts().handlers == (handler,)
    finally:
        source.shutdown()
