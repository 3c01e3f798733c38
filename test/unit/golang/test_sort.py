"""Go's sorts: they sort, and of equal elements they leave the order that Go leaves."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo.golang import sort as gosort


def less(one: int, other: int) -> bool:
    return one < other


def first_less(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[0]


def not_greater(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[0]


def equal(length: int) -> list[tuple[int, int]]:
    return [(0, number) for number in range(length)]


@given(st.lists(st.integers(0, 30), max_size=200))
def test_lists_are_sorted(items: list[int]) -> None:
    for compare in (less, lambda one, other: one <= other):
        ordered = list(items)
        gosort.sort(ordered, compare)
        assert ordered == sorted(items)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers()), max_size=200))
def test_the_stable_sort_keeps_the_order_of_equal_elements(items: list[tuple[int, int]]) -> None:
    ordered = list(items)
    gosort.stable(ordered, first_less)
    assert ordered == sorted(items, key=lambda item: item[0])


@pytest.mark.parametrize("length", [13, 49, 50, 51, 400, 3000])
def test_patterns_are_sorted(length: int) -> None:
    """Ascending, descending, organ pipes, few values, almost sorted, and many bad pivots."""
    numbers = list(range(length))
    nearly = list(numbers)
    nearly[3], nearly[length // 2] = nearly[length // 2], nearly[3]
    pipes = numbers[: length // 2] + numbers[length // 2 :: -1]
    shuffled = random.Random(length).sample(numbers, length)
    for items in (numbers, numbers[::-1], pipes, [n % 3 for n in numbers], nearly, shuffled):
        ordered = list(items)
        gosort.sort(ordered, less)
        assert ordered == sorted(items)


def test_a_sort_without_good_pivots_ends_as_a_heapsort() -> None:
    items = random.Random(1).sample(range(100), 100)
    ordered = list(items)
    gosort._Sorter(ordered, less).sort(0, 100, 0)
    assert ordered == sorted(items)


@pytest.mark.parametrize("length", range(13))
def test_up_to_twelve_equal_elements_are_reversed_by_a_less_that_is_true_of_equals(length: int) -> None:
    items = equal(length)
    gosort.sort(items, not_greater)
    assert items == equal(length)[::-1]


def test_thirteen_equal_elements_depend_on_the_pivot() -> None:
    """Go: pdqsort. The pivot is element 6, the median of 3, 6 and 9 for a `less` that is always true.

    It goes to the front, and 0 to its place; no element is not less than it, so it is exchanged with the last one. The
    first twelve are reversed by insertion sort then.
    """
    items = equal(13)
    gosort.sort(items, not_greater)
    assert [number for _, number in items] == [11, 10, 9, 8, 7, 0, 5, 4, 3, 2, 1, 12, 6]


def test_the_stable_sort_takes_a_less_that_is_always_true() -> None:
    items = equal(5)
    gosort.stable(items, lambda one, other: True)
    assert [number for _, number in items] == [4, 3, 2, 1, 0]


def test_random_numbers_are_those_of_go() -> None:
    """Go: xorshift.Next with the shifts 13, 7 and 17; the first number from the state 1, worked out by hand.

    1 ^ 1<<13 is 0x2001, 0x2001 ^ 0x2001>>7 is 0x2041, and 0x2041 ^ 0x2041<<17 is 0x40822041.
    """
    assert gosort._next_random(1) == 0x40822041
    assert gosort._next_random(2**64 - 1) < 2**64
