"""Sets of field values (k8s.io/apimachinery/pkg/fields/fields.go).

Readers accept any mapping of texts; a missing field counts as "".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from clientgo.apimachinery.fields.selector import Selector


@runtime_checkable
class Fields(Protocol):
    """A source of field values. Go: fields.Fields."""

    def has(self, field: str, /) -> bool:
        """Report whether the field exists."""
        ...

    def get(self, field: str, /) -> str:
        """Return the field's value, or "" if it does not exist."""
        ...


class Set(dict[str, str]):
    """The fields of an object: a dict whose `get` returns "" by default. Go: fields.Set."""

    __slots__ = ()

    def __str__(self) -> str:
        return ",".join(sorted(f"{key}={value}" for key, value in self.items()))

    def has(self, field: str) -> bool:
        """Report whether the field exists. Go: Set.Has."""
        return field in self

    def get(self, field: str, default: Any = "") -> Any:
        """Return the field's value, or "" if it does not exist. Go: Set.Get."""
        return super().get(field, default)

    def as_selector(self) -> Selector:
        """Return a selector for objects with all these values. Go: Set.AsSelector."""
        from clientgo.apimachinery.fields.selector import selector_from_set

        return selector_from_set(self)
