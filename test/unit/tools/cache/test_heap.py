"""Heap hands out the least object first."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from invariants import check_invariants
from queueobjects import Item, in_threads, join, key_of

from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import Heap


def new(*items: Item) -> Heap:
    heap = cache.new_heap(key_of, lambda a, b: a.val < b.val)
    for item in items:
        heap.add(item)
    return heap


def pop_all(heap: Heap) -> list[str]:
    popped = []
    while heap.list_keys():
        popped.append(heap.pop().name)
        check_invariants(heap)
    return popped


FIVE = [Item("foo", 10), Item("bar", 1), Item("baz", 11), Item("zab", 30), Item("qux", 13)]


@pytest.mark.parametrize("order", [1, -1], ids=["ascending", "descending"])
def test_the_least_comes_first(order: int) -> None:
    """Go: TestHeapBasic"""
    values = list(range(500))[::order]
    heap = new(*(Item(str(value), value) for value in values))
    assert pop_all(heap) == [str(value) for value in range(500)]


def test_add_puts_a_known_key_where_it_belongs_now() -> None:
    """Go: TestHeap_Add"""
    heap = new(*FIVE)
    assert heap.pop().name == "bar"
    heap.add(Item("bar", 14))
    heap.update(Item("baz", 0))
    check_invariants(heap)
    assert pop_all(heap) == ["baz", "foo", "qux", "bar", "zab"]


def test_bulk_add_wakes_a_consumer() -> None:
    """Go: TestHeap_BulkAdd"""
    popped: list[int] = []
    with synctest.bubble() as bubble:
        heap = new()
        consumer = in_threads([lambda: popped.extend(heap.pop().val for _ in range(500))])
        bubble.wait()
        heap.bulk_add([Item(str(value), value) for value in reversed(range(500))])
        join(consumer)
    assert popped == list(range(500))


def test_close_ends_a_waiting_pop() -> None:
    """Go: TestHeapEmptyPop"""
    errors: list[str] = []
    with synctest.bubble() as bubble:
        heap = new()

        def consume() -> None:
            try:
                heap.pop()
            except RuntimeError as err:
                errors.append(str(err))

        consumer = in_threads([consume])
        bubble.wait()
        heap.close()
        join(consumer)
    assert errors == ["heap is closed"]


def test_add_if_not_present_leaves_what_is_there() -> None:
    """Go: TestHeap_AddIfNotPresent"""
    heap = new()
    for item in (*FIVE, Item("foo", 99)):
        heap.add_if_not_present(item)
    assert heap.get_by_key("foo") == (Item("foo", 10), True)
    assert heap.pop().name == "bar"
    heap.add_if_not_present(Item("bar", 14))
    assert pop_all(heap) == ["foo", "baz", "qux", "bar", "zab"]


def test_delete_needs_only_the_key() -> None:
    """Go: TestHeap_Delete"""
    heap = new(*FIVE)
    heap.delete(Item("bar", 200))  # the head
    heap.delete(Item("zab"))  # the tail
    check_invariants(heap)
    with pytest.raises(LookupError, match="object not found"):
        heap.delete(Item("non-existent"))
    heap.delete(Item("baz"))
    assert pop_all(heap) == ["foo", "qux"]


def test_update_moves_an_object() -> None:
    """Go: TestHeap_Update"""
    heap = new(*FIVE)
    heap.update(Item("baz", 0))
    check_invariants(heap)
    assert heap.pop() == Item("baz", 0)
    heap.add(Item("baz", 0))
    heap.update(Item("baz", 100))
    check_invariants(heap)
    assert pop_all(heap) == ["bar", "foo", "qux", "zab", "baz"]


@pytest.mark.parametrize("get", [Heap.get, lambda heap, item: heap.get_by_key(item.name)])
def test_get(get: Callable[[Heap, Any], tuple[Any, bool]]) -> None:
    """Go: TestHeap_Get, Go: TestHeap_GetByKey"""
    heap = new(*FIVE)
    assert get(heap, Item("baz")) == (Item("baz", 11), True)
    assert get(heap, Item("non-existent")) == (None, False)


def test_is_closed() -> None:
    """Go: TestHeap_Close"""
    heap = new(*FIVE)
    assert not heap.is_closed()
    heap.close()
    assert heap.is_closed()


def test_list() -> None:
    """Go: TestHeap_List, Go: TestHeap_ListKeys"""
    assert new().list() == []
    assert new().list_keys() == []
    assert sorted(new(*FIVE).list(), key=key_of) == sorted(FIVE, key=key_of)
    assert sorted(new(*FIVE).list_keys()) == ["bar", "baz", "foo", "qux", "zab"]


def test_nothing_can_be_added_after_close() -> None:
    """Go: TestHeapAddAfterClose"""
    heap = new()
    heap.close()
    adds: list[Callable[[], None]] = [
        lambda: heap.add(FIVE[0]),
        lambda: heap.add_if_not_present(FIVE[0]),
        lambda: heap.bulk_add(FIVE),
    ]
    for add in adds:
        with pytest.raises(RuntimeError, match="heap is closed"):
            add()


def test_any_order_of_changes_keeps_the_heap() -> None:
    rng = random.Random(1)
    heap = new()
    for _ in range(2000):
        name = str(rng.randrange(40))
        if rng.random() < 0.3 and name in heap.list_keys():
            heap.delete(Item(name))
        else:
            heap.add(Item(name, rng.randrange(100)))
        check_invariants(heap)


@pytest.mark.parametrize(
    "add",
    [
        lambda heap, item: heap.add(item),
        lambda heap, item: heap.update(item),
        lambda heap, item: heap.add_if_not_present(item),
        lambda heap, item: heap.bulk_add([item]),
    ],
    ids=["add", "update", "add if not present", "bulk add"],
)
def test_each_way_to_add_wakes_a_consumer(add: Callable[[Heap, Item], None]) -> None:
    popped: list[str] = []
    with synctest.bubble() as bubble:
        heap = new()
        consumer = in_threads([lambda: popped.append(heap.pop().name)])
        bubble.wait()
        add(heap, Item("a", 1))
        join(consumer)
    assert popped == ["a"]
