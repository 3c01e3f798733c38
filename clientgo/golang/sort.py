"""Go's two sorts, step by step. Mirrors the standard library's sort package (sort.go, zsortinterface.go).

It is needed where the order of equal elements is visible, or where `less` is not an order at all: then the result
depends on which elements are compared and swapped. Use `sorted` everywhere else.

`sort` is a pattern-defeating quicksort (https://arxiv.org/abs/2106.05123) with insertion sort for up to twelve elements
and heapsort after too many bad pivots. `stable` is insertion sort in blocks of twenty, which SymMerge joins (Kim and
Kutzner, ESA 2004). The random numbers are those of Go 1.22 and later.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence
from typing import TypeVar

__all__ = ["sort", "stable"]

T = TypeVar("T")

_MAX_INSERTION = 12
_BLOCK = 20
# From this length, the pivot is chosen from nine elements instead of three, and unordered elements are shifted.
_LONG = 50
_MAX_SHIFTS = 5
_MAX_SWAPS = 12


def sort(items: MutableSequence[T], less: Callable[[T, T], bool]) -> None:
    """Sort in place exactly as Go's sort.Sort does, for any `less`. Not stable. Go: sort.Sort."""
    _Sorter(items, less).sort(0, len(items), len(items).bit_length())


def stable(items: MutableSequence[T], less: Callable[[T, T], bool]) -> None:
    """Sort in place exactly as Go's sort.Stable and sort.SliceStable do. Go: sort.Stable."""
    _Sorter(items, less).stable(len(items))


class _Sorter:
    """The state of one sort. All arguments are positions; a range excludes its end."""

    def __init__(self, items: MutableSequence[T], less: Callable[[T, T], bool]) -> None:
        def less_at(i: int, j: int) -> bool:
            return less(items[i], items[j])

        def swap(i: int, j: int) -> None:
            items[i], items[j] = items[j], items[i]

        self._less = less_at
        self._swap = swap

    # ---- sort

    def sort(self, a: int, b: int, limit: int) -> None:
        """Sort a range, with heapsort after `limit` unbalanced partitions. Go: pdqsort."""
        was_balanced = was_partitioned = True
        while (length := b - a) > _MAX_INSERTION:
            if limit == 0:
                self._heap_sort(a, b)
                return
            if not was_balanced:
                self._break_patterns(a, b)
                limit -= 1
            pivot, swaps = self._choose_pivot(a, b)
            increasing = swaps == 0
            if swaps == _MAX_SWAPS:
                self._reverse(a, b)
                pivot = (b - 1) - (pivot - a)
                increasing = True
            if was_balanced and was_partitioned and increasing and self._insert_few(a, b):
                return
            if a > 0 and not self._less(a - 1, pivot):
                a = self._partition_equal(a, b, pivot)
                continue
            middle, was_partitioned = self._partition(a, b, pivot)
            left, right = middle - a, b - middle
            was_balanced = min(left, right) >= length // 8
            if left < right:
                self.sort(a, middle, limit)
                a = middle + 1
            else:
                self.sort(middle + 1, b, limit)
                b = middle
        self._insertion_sort(a, b)

    def _insertion_sort(self, a: int, b: int) -> None:
        for i in range(a + 1, b):
            self._sink(i, a)

    def _sink(self, i: int, first: int) -> None:
        """Swap the element toward `first` while it is less than the one before it."""
        while i > first and self._less(i, i - 1):
            self._swap(i, i - 1)
            i -= 1

    def _heap_sort(self, a: int, b: int) -> None:
        length = b - a
        for root in range((length - 1) // 2, -1, -1):
            self._sift_down(root, length, a)
        for end in range(length - 1, -1, -1):
            self._swap(a, a + end)
            self._sift_down(0, end, a)

    def _sift_down(self, root: int, end: int, first: int) -> None:
        while (child := 2 * root + 1) < end:
            if child + 1 < end and self._less(first + child, first + child + 1):
                child += 1
            if not self._less(first + root, first + child):
                return
            self._swap(first + root, first + child)
            root = child

    def _partition(self, a: int, b: int, pivot: int) -> tuple[int, bool]:
        """Move the elements less than the pivot before it; return its position, and whether the range was already
        partitioned.
        """
        self._swap(a, pivot)
        i, j = a + 1, b - 1
        moved = False
        while True:
            while i <= j and self._less(i, a):
                i += 1
            while i <= j and not self._less(j, a):
                j -= 1
            if i > j:
                self._swap(j, a)
                return j, not moved
            self._swap(i, j)
            moved = True
            i, j = i + 1, j - 1

    def _partition_equal(self, a: int, b: int, pivot: int) -> int:
        """Move the elements that equal the pivot to the front; return the position of the rest. No element is less."""
        self._swap(a, pivot)
        i, j = a + 1, b - 1
        while True:
            while i <= j and not self._less(a, i):
                i += 1
            while i <= j and self._less(a, j):
                j -= 1
            if i > j:
                return i
            self._swap(i, j)
            i, j = i + 1, j - 1

    def _insert_few(self, a: int, b: int) -> bool:
        """Sort a nearly sorted range by a few insertions. Returns True if it is sorted afterwards.

        Go: partialInsertionSort.
        """
        i = a + 1
        for _ in range(_MAX_SHIFTS):
            while i < b and not self._less(i, i - 1):
                i += 1
            if i == b:
                return True
            if b - a < _LONG:
                return False
            self._swap(i, i - 1)
            if i - a >= 2:
                # Down to the very first position, as in Go.
                self._sink(i - 1, 0)
            if b - i >= 2:
                j = i + 1
                while j < b and self._less(j, j - 1):
                    self._swap(j, j - 1)
                    j += 1
        return False

    def _break_patterns(self, a: int, b: int) -> None:
        """Swap three elements of the middle with random ones."""
        length = b - a
        random, mask = length, (1 << length.bit_length()) - 1
        middle = a + length // 4 * 2
        for i in range(middle - 1, middle + 2):
            random = _next_random(random)
            other = random & mask
            self._swap(i, a + (other - length if other >= length else other))

    def _choose_pivot(self, a: int, b: int) -> tuple[int, int]:
        """Return the position of a median, and the number of swaps for it."""
        swaps = 0

        def median(i: int, j: int, k: int) -> int:
            nonlocal swaps
            if self._less(j, i):
                swaps, i, j = swaps + 1, j, i
            if self._less(k, j):
                swaps, j, k = swaps + 1, k, j
            if self._less(j, i):
                swaps, i, j = swaps + 1, j, i
            return j

        quarter = (b - a) // 4
        indexes = [a + quarter, a + quarter * 2, a + quarter * 3]
        if b - a >= _LONG:
            indexes = [median(place - 1, place, place + 1) for place in indexes]
        return median(*indexes), swaps

    def _reverse(self, a: int, b: int) -> None:
        for i in range((b - a) // 2):
            self._swap(a + i, b - 1 - i)

    # ---- stable

    def stable(self, length: int) -> None:
        """Sort so that equal items keep their order. Go: stable."""
        for a in range(0, length, _BLOCK):
            self._insertion_sort(a, min(a + _BLOCK, length))
        block = _BLOCK
        while block < length:
            for a in range(0, length - block, 2 * block):
                self._merge(a, a + block, min(a + 2 * block, length))
            block *= 2

    def _merge(self, a: int, m: int, b: int) -> None:
        """Merge two adjacent sorted ranges, split at `m`; neither is empty. Go: symMerge."""
        if m - a == 1:
            self._rotate(a, m, self._search(m, b, lambda i: not self._less(i, a)))
            return
        if b - m == 1:
            self._rotate(self._search(a, m, lambda i: self._less(m, i)), m, b)
            return
        middle = (a + b) // 2
        both = middle + m
        start, end = (both - b, middle) if m > middle else (a, m)
        start = self._search(start, end, lambda i: self._less(both - 1 - i, i))
        end = both - start
        self._rotate(start, m, end)
        if a < start < middle:
            self._merge(a, start, middle)
        if middle < end < b:
            self._merge(middle, end, b)

    def _search(self, low: int, high: int, found: Callable[[int], bool]) -> int:
        """Return the first position at which `found` returns True, or `high`. Go: the loops of symMerge."""
        while low < high:
            half = (low + high) // 2
            if found(half):
                high = half
            else:
                low = half + 1
        return low

    def _rotate(self, a: int, m: int, b: int) -> None:
        """Swap two adjacent ranges, which keep their inner orders."""
        if a < m < b:
            self._reverse(a, m)
            self._reverse(m, b)
            self._reverse(a, b)


def _next_random(state: int) -> int:
    """Return the next state of Marsaglia's 64-bit xorshift. Go: xorshift.Next."""
    state ^= state << 13 & 0xFFFF_FFFF_FFFF_FFFF
    state ^= state >> 7
    return state ^ (state << 17 & 0xFFFF_FFFF_FFFF_FFFF)
