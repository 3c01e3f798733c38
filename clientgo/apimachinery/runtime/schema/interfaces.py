"""The interface through which an object's kind is read and set.

Mirrors k8s.io/apimachinery/pkg/runtime/schema/interfaces.go.
"""

from __future__ import annotations

from typing import Final, Protocol

from clientgo.apimachinery.runtime.schema.group_version import GroupVersionKind


class ObjectKind(Protocol):
    """The group, version and kind of an object, to read and to set. Go: schema.ObjectKind."""

    def set_group_version_kind(self, kind: GroupVersionKind, /) -> None:
        """Store the kind; the empty value clears it."""
        ...

    def group_version_kind(self) -> GroupVersionKind:
        """Return the stored kind, or the empty value when the object carries none."""
        ...


class _EmptyObjectKind:
    """For objects that carry no kind: reads as empty, ignores writes. Go: schema.emptyObjectKind."""

    def set_group_version_kind(self, kind: GroupVersionKind) -> None:
        return

    def group_version_kind(self) -> GroupVersionKind:
        return GroupVersionKind()


EMPTY_OBJECT_KIND: Final = _EmptyObjectKind()
"""The ObjectKind of objects without one. Go: schema.EmptyObjectKind."""
