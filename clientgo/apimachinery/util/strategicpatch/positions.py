"""The positions of a list's elements, so that merging two lists takes linear time. No Go file: Go compares all pairs.

One request may have a patch with tens of thousands of elements. Comparing all pairs would take minutes in Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any


class Positions:
    """The first position of each JSON value in a list. Values are equal as in Python: 1, 1.0 and True are.

    >>> positions = Positions(["a", {"b": 1}, "a"])
    >>> positions.find("a"), positions.find({"b": 1}), positions.find("c")
    (0, 1, -1)
    """

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self._by_value: dict[Any, int] = {}
        # Lists and maps with their positions.
        self._others: list[tuple[Any, int]] = []
        self._size = 0
        for value in values:
            self.append(value)

    def __contains__(self, value: object) -> bool:
        return self.find(value) >= 0

    def append(self, value: Any) -> None:
        """Add a value at the end."""
        try:
            self._by_value.setdefault(value, self._size)
        except TypeError:
            self._others.append((value, self._size))
        self._size += 1

    def find(self, value: Any) -> int:
        """Return the first position of a value, or -1. O(1) for a scalar."""
        try:
            return self._by_value.get(value, -1)
        except TypeError:
            return next((position for other, position in self._others if other == value), -1)


def deduplicated(values: Iterable[Any]) -> list[Any]:
    """Return scalars without duplicates, in the order of Go's deduplicateScalars. O(n log n).

    Go puts the last value in the place of each duplicate.

    >>> deduplicated(["f", "f", "g", "h"])
    ['f', 'h', 'g']
    """
    items = list(values)
    # Positions by value. A position that has another value by now is ignored.
    places: dict[Any, list[int]] = {}
    for position, value in enumerate(items):
        places.setdefault(value, []).append(position)
    current = 0
    while current < len(items):
        value = items[current]
        waiting = places[value]
        while waiting:
            position = heappop(waiting)
            if position <= current or position >= len(items) or items[position] != value:
                continue
            last = items.pop()
            if position < len(items):
                items[position] = last
                heappush(places[last], position)
        current += 1
    return items
