"""Sets with Go's vocabulary. Mirrors apimachinery/pkg/util/sets/set.go.

A `Set` is a Python set, so everything a set can do works as well. The methods named as in Go return a Set, the mutating
ones the set itself.
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
        """Add the items; returns this set. Go: Set.Insert."""
        self.update(items)
        return self

    def delete(self: SetT, *items: Any) -> SetT:
        """Remove the items that are there; returns this set. Go: Set.Delete."""
        self.difference_update(items)
        return self

    def clear(self: SetT) -> SetT:  # type: ignore[override]
        """Remove everything; returns this set. Go: Set.Clear."""
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
        """A set of its own with the same items. Go: Set.Clone."""
        return type(self)(self)

    def difference(self: SetT, *others: Iterable[Any]) -> SetT:
        """The items that are in none of the others. Go: Set.Difference."""
        return type(self)(super().difference(*others))

    def symmetric_difference(self: SetT, other: Iterable[Any]) -> SetT:  # type: ignore[override]
        """The items that are in exactly one of the two. Go: Set.SymmetricDifference."""
        return type(self)(super().symmetric_difference(other))

    def union(self: SetT, *others: Iterable[Any]) -> SetT:  # type: ignore[override]
        """The items of all the sets. Go: Set.Union."""
        return type(self)(super().union(*others))

    def intersection(self: SetT, *others: Iterable[Any]) -> SetT:
        """The items that are in all the sets. Go: Set.Intersection."""
        return type(self)(super().intersection(*others))

    def is_superset(self, other: Iterable[Any]) -> bool:
        """Report whether the set contains every item of `other`. Go: Set.IsSuperset."""
        return self.issuperset(other)

    def equal(self, other: Iterable[Any]) -> bool:
        """Report whether both sets contain the same items. Go: Set.Equal."""
        return self == builtins.set(other)

    def unsorted_list(self) -> builtins.list[T]:
        """The items in any order. Go: Set.UnsortedList."""
        return builtins.list(self)

    def pop_any(self) -> tuple[T | None, bool]:
        """Remove some item: `(item, True)`, or `(None, False)` when there is none. Go: Set.PopAny."""
        return (self.pop(), True) if self else (None, False)

    def len(self) -> int:
        """Return the number of items. Go: Set.Len."""
        return builtins.len(self)


def new(*items: T) -> Set[T]:
    """A set of the items. Go: sets.New."""
    return Set(items)


def key_set(the_map: Mapping[T, Any]) -> Set[T]:
    """The keys of a mapping. Go: sets.KeySet."""
    return Set(the_map)


def insert(set: Set[T], *items: T) -> Set[T]:
    """`set.insert(*items)`. Go: sets.Insert."""
    return set.insert(*items)


def list(s: Set[OrderedT]) -> builtins.list[OrderedT]:
    """The items in order. Go: sets.List."""
    return sorted(s)
