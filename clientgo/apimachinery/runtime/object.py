"""Top-level API objects: what every kind has, whether its fields are declared or not.

Mirrors the interfaces runtime.Object (runtime/interfaces.go), metav1.Object and metav1.ListInterface
(apis/meta/v1/meta.go): in Go each struct gets them by embedding TypeMeta and ObjectMeta, here by inheriting from the
classes below.

The informer machinery reads names and versions through the accessors only (`object_key`, `get_resource_version`, ...).
They look straight into the document and build no view, and they are the one place that knows how the document is kept:
an object that is not decoded yet (see `undecoded`) answers the accessors from what was read off the wire, and decodes
when anything else reads its document. That shows in nothing but time and memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from clientgo.apimachinery.runtime import timestamps, undecoded
from clientgo.apimachinery.runtime.genclient import Genclient
from clientgo.apimachinery.runtime.schema import GroupVersionKind, parse_group_version
from clientgo.apimachinery.runtime.undecoded import Undecoded, UndecodedList, UndecodedObject
from clientgo.apimachinery.runtime.view import EMPTY, JSONObject, Struct, copy_json, field


class _MetaAccessors(Struct):
    """The accessors of what the metadata of objects and of lists share. Go: metav1.Common.

    They serve the metadata structs themselves, and the objects and lists that have one: what differs stands first.
    """

    def _meta(self, key: str) -> Any:
        """A field of the metadata as JSON; None when it is absent."""
        return self._document.get(key)

    def _writable_metadata(self) -> JSONObject:
        return cast(JSONObject, self._writable())

    def _set_metadata(self, key: str, value: Any) -> None:
        """Write a metadata field; a zero value removes it, as Go's omitempty does."""
        metadata = self._writable_metadata()
        if value:
            metadata[key] = value
        else:
            metadata.pop(key, None)

    def get_resource_version(self) -> str:
        """The version as the server wrote it, "" when unknown."""
        return self._meta("resourceVersion") or ""

    def set_resource_version(self, version: str) -> None:
        self._set_metadata("resourceVersion", version)

    def get_self_link(self) -> str:
        return self._meta("selfLink") or ""

    def set_self_link(self, self_link: str) -> None:
        self._set_metadata("selfLink", self_link)


class ObjectMetaAccessors(_MetaAccessors):
    """The accessors of ObjectMeta and of the objects that have it. Go: the methods of metav1.ObjectMeta.

    A getter answers with plain values: its maps and lists are copies.
    """

    def get_object_meta(self) -> Self:
        """Itself: it has all accessors. Go: GetObjectMeta."""
        return self

    def get_name(self) -> str:
        return self._meta("name") or ""

    def set_name(self, name: str) -> None:
        self._set_metadata("name", name)

    def get_generate_name(self) -> str:
        return self._meta("generateName") or ""

    def set_generate_name(self, name: str) -> None:
        self._set_metadata("generateName", name)

    def get_namespace(self) -> str:
        return self._meta("namespace") or ""

    def set_namespace(self, namespace: str) -> None:
        self._set_metadata("namespace", namespace)

    def get_uid(self) -> str:
        return self._meta("uid") or ""

    def set_uid(self, uid: str) -> None:
        self._set_metadata("uid", uid)

    def get_generation(self) -> int:
        return self._meta("generation") or 0

    def set_generation(self, generation: int) -> None:
        self._set_metadata("generation", generation)

    def get_creation_timestamp(self) -> datetime | None:
        return self._get_time("creationTimestamp")

    def set_creation_timestamp(self, timestamp: datetime | None) -> None:
        self._set_time("creationTimestamp", timestamp)

    def get_deletion_timestamp(self) -> datetime | None:
        return self._get_time("deletionTimestamp")

    def set_deletion_timestamp(self, timestamp: datetime | None) -> None:
        self._set_time("deletionTimestamp", timestamp)

    def get_deletion_grace_period_seconds(self) -> int | None:
        return cast("int | None", self._meta("deletionGracePeriodSeconds"))

    def set_deletion_grace_period_seconds(self, seconds: int | None) -> None:
        metadata = self._writable_metadata()
        if seconds is None:
            metadata.pop("deletionGracePeriodSeconds", None)
        else:
            metadata["deletionGracePeriodSeconds"] = seconds

    def get_labels(self) -> dict[str, str]:
        return dict(self._meta("labels") or {})

    def set_labels(self, labels: Mapping[str, str] | None) -> None:
        self._set_metadata("labels", dict(labels or {}))

    def get_annotations(self) -> dict[str, str]:
        return dict(self._meta("annotations") or {})

    def set_annotations(self, annotations: Mapping[str, str] | None) -> None:
        self._set_metadata("annotations", dict(annotations or {}))

    def get_finalizers(self) -> list[str]:
        return list(self._meta("finalizers") or ())

    def set_finalizers(self, finalizers: Sequence[str] | None) -> None:
        self._set_metadata("finalizers", list(finalizers or ()))

    def get_owner_references(self) -> list[Any]:
        """The owners as independent metav1.OwnerReference values."""
        from clientgo.apimachinery.apis.meta.v1.types import OwnerReference

        return [OwnerReference.from_dict(copy_json(raw)) for raw in self._meta("ownerReferences") or ()]

    def set_owner_references(self, references: Sequence[Struct] | None) -> None:
        self._set_metadata("ownerReferences", [reference.to_dict() for reference in references or ()])

    def get_managed_fields(self) -> list[Any]:
        """The field managers as independent metav1.ManagedFieldsEntry values."""
        from clientgo.apimachinery.apis.meta.v1.types import ManagedFieldsEntry

        return [ManagedFieldsEntry.from_dict(copy_json(raw)) for raw in self._meta("managedFields") or ()]

    def set_managed_fields(self, entries: Sequence[Struct] | None) -> None:
        self._set_metadata("managedFields", [entry.to_dict() for entry in entries or ()])

    def _get_time(self, key: str) -> datetime | None:
        text = self._meta(key)
        return timestamps.parse_time(text) if text else None

    def _set_time(self, key: str, timestamp: datetime | None) -> None:
        self._set_metadata(key, None if timestamp is None else timestamps.format_time(timestamp))


class ListMetaAccessors(_MetaAccessors):
    """The accessors of ListMeta and of the lists that have it. Go: the methods of metav1.ListMeta."""

    def get_list_meta(self) -> Self:
        """Itself: it has all accessors. Go: GetListMeta."""
        return self

    def get_continue(self) -> str:
        return self._meta("continue") or ""

    def set_continue(self, token: str) -> None:
        self._set_metadata("continue", token)

    def get_remaining_item_count(self) -> int | None:
        return cast("int | None", self._meta("remainingItemCount"))

    def set_remaining_item_count(self, count: int | None) -> None:
        metadata = self._writable_metadata()
        if count is None:
            metadata.pop("remainingItemCount", None)
        else:
            metadata["remainingItemCount"] = count

    def get_shard_info(self) -> Any:
        """Which shard the list is of, as an independent metav1.ShardInfo; None when it is of all."""
        from clientgo.apimachinery.apis.meta.v1.types import ShardInfo

        raw = self._meta("shardInfo")
        return None if raw is None else ShardInfo.from_dict(copy_json(raw))

    def set_shard_info(self, info: Struct | None) -> None:
        metadata = self._writable_metadata()
        if info is None:
            metadata.pop("shardInfo", None)
        else:
            metadata["shardInfo"] = info.to_dict()


class Object(_MetaAccessors):
    """Any object with an apiVersion and a kind. Go: runtime.Object, metav1.TypeMeta."""

    # The kind the class stands for; None where one class serves many kinds (Unstructured).
    GROUP_VERSION_KIND: ClassVar[GroupVersionKind | None] = None

    # How its generated client looks; None for kinds without one.
    GENCLIENT: ClassVar[Genclient | None] = None

    kind: str = field("kind", "string", default="", omitempty=True)
    api_version: str = field("apiVersion", "string", default="", omitempty=True)

    @classmethod
    def _from_undecoded(cls, pending: Undecoded) -> Self:
        """An object whose document is decoded when it is read."""
        self = object.__new__(cls)
        self._parent = None
        self._pending = pending
        self._frozen = False
        return self

    # Only where it is needed, since it makes finding any attribute a little slower; and type checkers would take it for
    # a class that has all attributes.
    if undecoded.AVAILABLE and not TYPE_CHECKING:

        def __getattr__(self, name):
            """Called for what is not there, as `_document` is before it is decoded."""
            if name == "_document":
                pending = self._pending
                if isinstance(pending, Undecoded):
                    self._document = pending.document()
                    # Not before: whoever sees None here reads the document.
                    self._pending = None
            return object.__getattribute__(self, name)

    @property
    def frozen(self) -> bool:
        """Whether the object is read-only."""
        return self._frozen

    def freeze(self) -> Self:
        """Make the object, and all views on it, read-only for good; returns itself. O(1).

        Shared informers freeze what they cache. A write then raises ReadOnlyError; `deep_copy()` gives a free copy.
        """
        self._frozen = True
        return self

    def get_object_kind(self) -> Self:
        """The object itself: it is its own schema.ObjectKind. Go: GetObjectKind."""
        return self

    def group_version_kind(self) -> GroupVersionKind:
        """What apiVersion and kind say, empty when they are absent. Go: ObjectKind.GroupVersionKind."""
        return parse_group_version(self._api_version()).with_kind(self._kind())

    def _api_version(self) -> str:
        pending = self._pending
        return (pending.api_version if isinstance(pending, Undecoded) else self._document.get("apiVersion")) or ""

    def _kind(self) -> str:
        pending = self._pending
        return (pending.kind if isinstance(pending, Undecoded) else self._document.get("kind")) or ""

    def set_group_version_kind(self, gvk: GroupVersionKind) -> None:
        """Write apiVersion and kind; an empty one is removed. Go: ObjectKind.SetGroupVersionKind."""
        document = self._writable()
        for key, value in zip(("apiVersion", "kind"), gvk.to_api_version_and_kind()):
            if value:
                document[key] = value
            else:
                document.pop(key, None)

    def deep_copy_object(self) -> Self:
        """`deep_copy()`. Go: DeepCopyObject."""
        return self.deep_copy()

    def _meta(self, key: str) -> Any:
        pending = self._pending
        if pending is not None and isinstance(pending, Undecoded):
            return pending.meta(key)
        metadata = self._document.get("metadata")
        return metadata.get(key) if metadata else None

    def _writable_metadata(self) -> JSONObject:
        document = self._writable()
        metadata = document.get("metadata")
        if metadata is None:
            metadata = document["metadata"] = {}
        return cast(JSONObject, metadata)


class ResourceObject(ObjectMetaAccessors, Object):
    """An object of a resource: it has ObjectMeta. Go: metav1.Object, metav1.ObjectMetaAccessor.

    The accessors give copies; `obj.metadata` is the writable view.
    """

    def deep_copy(self) -> Self:
        """As Struct.deep_copy; O(1) while the object is undecoded."""
        pending = self._pending
        return self._from_undecoded(pending.copy()) if isinstance(pending, UndecodedObject) else super().deep_copy()

    def object_key(self) -> str:
        """The cache key: "namespace/name", or "name" without a namespace."""
        pending = self._pending
        if pending is not None and isinstance(pending, Undecoded):
            metadata = pending.header
        else:
            metadata = self._document.get("metadata")
        if not metadata:
            return ""
        namespace = metadata.get("namespace")
        name = metadata.get("name") or ""
        return f"{namespace}/{name}" if namespace else name

    def _repr_parts(self) -> Any:
        """Who it is, not what it holds: an object may be a Secret, and a repr ends up in logs."""
        yield repr(self.object_key())
        version = self.get_resource_version()
        if version:
            yield f"resource_version={version!r}"


class ListObject(ListMetaAccessors, Object):
    """A list of objects of one resource. Go: metav1.ListInterface, metav1.ListMetaAccessor."""

    # The class of an item; None where the items are whatever they say they are (UnstructuredList).
    ITEM: ClassVar[type[ResourceObject] | None] = None

    @classmethod
    def _of_items(cls, document: JSONObject, items: Sequence[ResourceObject]) -> Self:
        """A list of these objects, which share their documents with it; `document` is all the rest of it."""
        if undecoded.AVAILABLE:
            return cls._from_undecoded(UndecodedList(document, items))
        return cls.from_dict({**document, "items": [item._document for item in items]})

    def extract_items(self) -> list[Any]:
        """The items as objects of their own, which share their documents with the list but do not keep it alive.

        For the one who decoded the list and now hands out its items (meta.extract_list does); others read `items`.
        """
        pending = self._pending
        items = pending.take_items() if isinstance(pending, UndecodedList) else None
        if items is not None:
            return items
        item = type(self).ITEM
        if item is None:
            raise TypeError(f"{type(self).__name__} does not say what its items are")
        from_dict = item.from_dict
        return [from_dict(document) for document in self._document.get("items") or ()]

    def _repr_parts(self) -> Any:
        yield f"{len(self._document.get('items') or ())} items"
        version = self.get_resource_version()
        if version:
            yield f"resource_version={version!r}"


__all__ = ["EMPTY", "ListMetaAccessors", "ListObject", "Object", "ObjectMetaAccessors", "ResourceObject"]
