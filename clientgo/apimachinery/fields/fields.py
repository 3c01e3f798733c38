"""Sets of field values (k8s.io/apimachinery/pkg/fields/fields.go).

Wherever fields are read, any mapping of texts will do; an absent field counts as "".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from clientgo.apimachinery.fields.selector import Selector


@runtime_checkable
class Fields(Protocol):
    """Something fields can be looked up in. Go: fields.Fields."""

    def has(self, field: str) -> bool:
        """Whether the field is there."""
        ...

    def get(self, field: str) -> str:
        """The field's value, "" when it is not there."""
        ...


class Set(dict[str, str]):
    """Fields of one object. A dict; only `get` differs: its default is "". Go: fields.Set."""

    __slots__ = ()

    def __str__(self) -> str:
        return ",".join(sorted(f"{key}={value}" for key, value in self.items()))

    def has(self, field: str) -> bool:
        """Whether the field is there. Go: Set.Has."""
        return field in self

    def get(self, field: str, default: Any = "") -> Any:
        """The field's value, "" when it is not there. Go: Set.Get."""
        return super().get(field, default)

    def as_selector(self) -> Selector:
        """A selector for objects with all these values. Go: Set.AsSelector."""
        from clientgo.apimachinery.fields.selector import selector_from_set

        return selector_from_set(self)
