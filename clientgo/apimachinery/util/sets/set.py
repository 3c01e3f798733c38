"""Sets with Go's vocabulary. Mirrors apimachinery/pkg/util/sets/set.go.

A `Set` is a Python set with additional methods. The methods with Go's names return a Set; the mutating ones return the
set itself.
"""

from __future__ import annotations

import builtins
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

__all__ = ["Set", "insert", "key_set", "list", "new"]

T = TypeVar("T", bound=Hashable)


class _Ordered(Hashable, Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


OrderedT = TypeVar("OrderedT", bound=_Ordered)
SetT = TypeVar("SetT", bound="Set[Any]")


class Set(builtins.set[T]):
    """A set of hashable values. Go: sets.Set. Not thread-safe."""

    __slots__ = ()

    def insert(self: SetT, *items: Any) -> SetT:
        """Add the items and return this set. Go: Set.Insert."""
        self.update(items)
        return self

    def delete(self: SetT, *items: Any) -> SetT:
        """Remove the items that exist and return this set. Go: Set.Delete."""
        self.difference_update(items)
        return self

    def clear(self: SetT) -> SetT:  # type: ignore[override]
        """Remove everything and return this set. Go: Set.Clear."""
        super().clear()
        return self

    def has(self, item: T) -> bool:
        """Report whether the item is in the set. Go: Set.Has."""
        return item in self

    def has_all(self, *items: T) -> bool:
        """Report whether every item is in the set. Go: Set.HasAll."""
        return self.issuperset(items)

    def has_any(self, *items: T) -> bool:
        """Report whether at least one of the items is in the set. Go: Set.HasAny."""
        return not self.isdisjoint(items)

    def clone(self: SetT) -> SetT:
        """Return a copy. Go: Set.Clone."""
        return type(self)(self)

    def difference(self: SetT, *others: Iterable[Any]) -> SetT:
        """Return the items that none of the others contains. Go: Set.Difference."""
        return type(self)(super().difference(*others))

    def symmetric_difference(self: SetT, other: Iterable[Any]) -> SetT:  # type: ignore[override]
        """Return the items that exactly one of the two contains. Go: Set.SymmetricDifference."""
        return type(self)(super().symmetric_difference(other))

    def union(self: SetT, *others: Iterable[Any]) -> SetT:  # type: ignore[override]
        """Return the items of all the sets. Go: Set.Union."""
        return type(self)(super().union(*others))

    def intersection(self: SetT, *others: Iterable[Any]) -> SetT:
        """Return the items that all sets contain. Go: Set.Intersection."""
        return type(self)(super().intersection(*others))

    def is_superset(self, other: Iterable[Any]) -> bool:
        """Report whether the set contains every item of `other`. Go: Set.IsSuperset."""
        return self.issuperset(other)

    def equal(self, other: Iterable[Any]) -> bool:
        """Report whether both sets contain the same items. Go: Set.Equal."""
        return self == builtins.set(other)

    def unsorted_list(self) -> builtins.list[T]:
        """Return the items in any order. Go: Set.UnsortedList."""
        return builtins.list(self)

    def pop_any(self) -> tuple[T | None, bool]:
        """Remove an arbitrary item and return `(item, True)`, or `(None, False)` if the set is empty.

        Go: Set.PopAny.
        """
        return (self.pop(), True) if self else (None, False)

    def len(self) -> int:
        """Return the number of items. Go: Set.Len."""
        return builtins.len(self)


def new(*items: T) -> Set[T]:
    """Return a set of the items. Go: sets.New."""
    return Set(items)


def key_set(the_map: Mapping[T, Any]) -> Set[T]:
    """Return the keys of a mapping. Go: sets.KeySet."""
    return Set(the_map)


def insert(set: Set[T], *items: T) -> Set[T]:
    """Add the items to the set and return it. Go: sets.Insert."""
    return set.insert(*items)


def list(s: Set[OrderedT]) -> builtins.list[OrderedT]:
    """Return the items in order. Go: sets.List."""
    return sorted(s)
