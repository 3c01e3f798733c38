"""Selectors of objects by ranges of a hash. Mirrors k8s.io/apimachinery/pkg/sharding/selector.go.

A selector never changes, so `deep_copy_selector` returns the selector itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from clientgo.apimachinery.sharding.accessor import resolve_field_value
from clientgo.apimachinery.sharding.hash import hash_field
from clientgo.apimachinery.sharding.types import ShardRangeRequirement
from clientgo.golang.strconv import quote


class Selector(Protocol):
    """A test whether an object belongs to a shard; str() returns the text for `ListOptions.shard_selector`.

    Thread-safe; no method blocks. Go: sharding.Selector.
    """

    def matches(self, obj: Any, /) -> bool:
        """Report whether the object is in the shard. Raises ValueError if the object does not have the field."""
        ...

    def empty(self) -> bool:
        """Report whether the selector matches every object."""
        ...

    def __str__(self) -> str: ...

    def requirements(self) -> list[ShardRangeRequirement]:
        """Return the ranges in the order of the text; the list belongs to the caller."""
        ...

    def deep_copy_selector(self) -> Selector:
        """Return a selector that shares no mutable state with this one."""
        ...


def everything() -> Selector:
    """Return the selector of all objects. Go: sharding.Everything."""
    return _EVERYTHING


@dataclass(frozen=True, slots=True)
class _EverythingSelector:
    """The selector without ranges. Go: sharding.everythingSelector."""

    def matches(self, obj: Any) -> bool:
        return True

    def empty(self) -> bool:
        return True

    def __str__(self) -> str:
        return ""

    def requirements(self) -> list[ShardRangeRequirement]:
        return []

    def deep_copy_selector(self) -> Selector:
        return self


_EVERYTHING = _EverythingSelector()


@dataclass(frozen=True, slots=True)
class _ShardSelector:
    """One or more ranges of the hash of one field. Go: sharding.shardSelector."""

    ranges: tuple[ShardRangeRequirement, ...]

    def matches(self, obj: Any) -> bool:
        key = self.ranges[0].key
        for each in self.ranges:
            if each.key != key:
                raise ValueError(f"inconsistent shard keys: {quote(key)} vs {quote(each.key)}")
        hashed = "0x" + hash_field(resolve_field_value(obj, key))
        return any(not hex_less(hashed, each.start) and hex_less(hashed, each.end) for each in self.ranges)

    def empty(self) -> bool:
        return False

    def __str__(self) -> str:
        return " || ".join(f"shardRange({each.key}, '{each.start}', '{each.end}')" for each in self.ranges)

    def requirements(self) -> list[ShardRangeRequirement]:
        return list(self.ranges)

    def deep_copy_selector(self) -> Selector:
        return self


def hex_less(a: str, b: str) -> bool:
    """Report whether `a` is less than `b`, both lower-case hexadecimal: a text of fewer bytes is less.

    Go: sharding.HexLess.
    """
    if not (a.isascii() and b.isascii()):
        return _sizes_and_bytes(a) < _sizes_and_bytes(b)
    return (len(a), a) < (len(b), b)


def _sizes_and_bytes(text: str) -> tuple[int, bytes]:
    encoded = text.encode("utf-8", "surrogateescape")
    return len(encoded), encoded


def new_selector(*requirements: ShardRangeRequirement) -> Selector:
    """Return the selector of the objects in any of the ranges, or of all objects without a range.

    The ranges are not checked. Go: sharding.NewSelector.
    """
    return _ShardSelector(requirements) if requirements else _EVERYTHING
