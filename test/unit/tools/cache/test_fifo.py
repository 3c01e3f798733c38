"""FIFO hands out each object once, in its newest version."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from invariants import check_invariants
from queueobjects import Item, errors_of_closed_pops, in_threads, join, key_of, pop

from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import FIFO


def new() -> FIFO:
    return cache.new_fifo(key_of)


def pop_all(queue: FIFO) -> list[Any]:
    popped = []
    while queue.statistics().items:
        popped.append(pop(queue).val)
        check_invariants(queue)
    return popped


def test_every_value_comes_out_in_the_order_it_went_in() -> None:
    """Go: TestFIFO_basic"""
    queue = new()
    n = 500

    def produce(prefix: str) -> None:
        for i in range(n):
            queue.add(Item(f"{prefix}{i}", i))

    producers = in_threads([partial(produce, "a"), partial(produce, "b")])
    values: dict[str, list[int]] = {"a": [], "b": []}
    for _ in range(2 * n):
        item = pop(queue)
        values[item.name[0]].append(item.val)
    join(producers)
    assert values == {"a": list(range(n)), "b": list(range(n))}


def test_only_the_newest_version_comes_out() -> None:
    """Go: TestFIFO_addUpdate, Go: TestFIFO_addReplace"""
    for change in (lambda queue: queue.update(Item("foo", 15)), lambda queue: queue.replace([Item("foo", 15)], "15")):
        queue = new()
        queue.add(Item("foo", 10))
        change(queue)
        assert queue.statistics().items == 1
        assert pop_all(queue) == [15]


def test_a_key_keeps_its_place() -> None:
    """Go: TestFIFO_detectLineJumpers"""
    queue = new()
    for name, val in (("foo", 10), ("bar", 1), ("foo", 11), ("foo", 13), ("zab", 30)):
        queue.add(Item(name, val))
    assert pop(queue).val == 13
    queue.add(Item("foo", 14))  # now behind
    assert pop_all(queue) == [1, 30, 14]


def test_what_was_deleted_does_not_come_out() -> None:
    queue = new()
    queue.add(Item("foo", 1))
    queue.add(Item("bar", 2))
    queue.delete(Item("foo"))
    assert pop_all(queue) == [2]


A, B = Item("a", 1), Item("b", 2)


@pytest.mark.parametrize(
    ("actions", "pops", "synced"),
    [
        ([], 0, False),
        ([("add", A)], 0, True),
        ([("replace", [], "0")], 0, True),
        ([("replace", [A, B], "0")], 0, False),
        ([("replace", [A, B], "0")], 1, False),
        ([("replace", [A, B], "0")], 2, True),
    ],
)
def test_has_synced(actions: list[tuple[Any, ...]], pops: int, synced: bool) -> None:
    """Go: TestFIFO_HasSynced/#0-#5"""
    queue = new()
    for op, *args in actions:
        getattr(queue, op)(*args)
    for _ in range(pops):
        pop(queue)
    assert queue.has_synced() == synced
    assert queue.has_synced_checker().done().is_set() == synced


def test_close_ends_every_pop() -> None:
    """Go: TestFIFO_PopShouldUnblockWhenClosed"""
    errors = errors_of_closed_pops(new, 5)
    assert len(errors) == 5
    assert all(isinstance(err, cache.ErrFIFOClosed) for err in errors)


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda queue: queue.add(Item("a", 1)), id="add"),
        pytest.param(lambda queue: queue.update(Item("a", 1)), id="update"),
        pytest.param(lambda queue: queue.replace([Item("a", 1)], "1"), id="replace"),
    ],
)
def test_every_write_wakes_a_waiting_pop(write: Callable[[FIFO], None]) -> None:
    popped: list[Item] = []
    with synctest.bubble() as bubble:
        queue = new()
        threads = in_threads([lambda: popped.append(pop(queue))])
        bubble.wait()
        write(queue)
        join(threads)
    assert popped == [Item("a", 1)]
