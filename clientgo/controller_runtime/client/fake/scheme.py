"""A scheme that learns kinds without a class. No Go file: Go's fake client adds them to the user's scheme."""

from __future__ import annotations

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime import Object, Scheme
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind
from clientgo.controller_runtime.client.apiutil import Example


class GrowingScheme(Scheme):
    """A scheme that extends another one with the kinds of unstructured objects that it sees."""

    def __init__(self, below: Scheme) -> None:
        super().__init__(below.name())
        self._below = below
        # Entries are never removed.
        self._learned: dict[GroupVersionKind, type[Object]] = {}

    def register(self, obj: Example) -> None:
        """Remember the kind of an object without a class. Ignores other objects."""
        if isinstance(obj, (UnstructuredList, metav1.PartialObjectMetadataList)):
            gvk = obj.group_version_kind()
            kind = gvk.kind if gvk.kind.endswith("List") else f"{gvk.kind}List"
            self.register_kind(gvk.group_version().with_kind(kind), UnstructuredList)
        elif isinstance(obj, (Unstructured, metav1.PartialObjectMetadata)):
            self.register_kind(obj.group_version_kind(), Unstructured)

    def register_kind(self, gvk: GroupVersionKind, cls: type[Object]) -> None:
        """Remember a kind, unless it is known."""
        if gvk.kind and gvk.version and not self.recognizes(gvk):
            self._learned[gvk] = cls

    def class_for(self, gvk: GroupVersionKind) -> type[Object]:
        return self._learned.get(gvk) or self._below.class_for(gvk)

    def object_kinds(self, obj: Object) -> tuple[list[GroupVersionKind], bool]:
        return self._below.object_kinds(obj)

    def recognizes(self, gvk: GroupVersionKind) -> bool:
        return gvk in self._learned or self._below.recognizes(gvk)

    def known_types(self, group_version: GroupVersion) -> dict[str, type[Object]]:
        learned = {gvk.kind: cls for gvk, cls in self._learned.items() if gvk.group_version() == group_version}
        return {**self._below.known_types(group_version), **learned}
