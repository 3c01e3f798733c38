"""The accessors of metadata: get_name, set_labels and so on. Mirrors apis/meta/v1/meta.go.

They stand here since the objects have them as well as their metadata: in Go by embedding, here by inheritance. A getter
raises UnmarshalTypeError for a field that is of a wrong type, except those of unstructured objects (LenientAccessors).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Self, cast

from clientgo.apimachinery.runtime import timestamps
from clientgo.apimachinery.runtime.source import JSONObject, Part
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.apimachinery.runtime.view import child, copy_json


class MetaAccessors(Struct):
    """The accessors of the metadata that objects and lists share. Go: metav1.Common.

    They serve the metadata structs themselves, and the objects and lists that have one: what differs stands first.
    """

    def _meta(self, key: str) -> Any:
        """Return a field of the metadata as JSON, or None when the field is absent."""
        value = self._source.get(key)
        return value.snapshot() if isinstance(value, Part) else value

    def _alone(self, metadata: Any, key: str) -> Any:
        """Return a metadata struct that holds only a copy of one field, so that no other field is decoded."""
        return child(type(metadata), metadata, {key: copy_json(self._meta(key))})

    def _mistyped_meta(self, key: str, value: Any, go_type: str) -> None:
        """Handle a metadata field of a wrong type: raise UnmarshalTypeError, or return to treat the field as absent."""
        raise self._mistyped(key, value, go_type)

    def _unreadable_meta(self, key: str, err: ValueError) -> None:
        """Handle a metadata field with unreadable text: raise ValueError, or return to treat the field as absent."""
        raise self._unreadable(key, err) from err

    def _text(self, key: str) -> str:
        value = self._meta(key)
        if type(value) is str:
            return value
        if value is not None:
            self._mistyped_meta(key, value, "string")
        return ""

    def _number(self, key: str) -> int | None:
        value = self._meta(key)
        if type(value) is int or value is None:
            return value
        self._mistyped_meta(key, value, "int64")
        return None

    def _texts(self, key: str) -> list[str]:
        values = self._meta(key) or ()
        if type(values) is not list and values != ():
            self._mistyped_meta(key, values, "[]string")
            return []
        for value in values:
            if type(value) is not str:
                self._mistyped_meta(key, value, "string")
                return []
        return list(values)

    def _text_map(self, key: str) -> dict[str, str]:
        values = self._meta(key)
        if type(values) is not dict:
            if values is not None:
                self._mistyped_meta(key, values, "map[string]string")
            return {}
        for value in values.values():
            if type(value) is not str:
                self._mistyped_meta(key, value, "string")
                return {}
        return dict(values)

    def _writable_metadata(self) -> JSONObject:
        return cast(JSONObject, self._writable())

    def _set_metadata(self, key: str, value: Any) -> None:
        """Write a metadata field; a zero value removes it, as Go's omitempty does."""
        self._write_metadata(key, value or None)

    def _write_metadata(self, key: str, value: Any) -> None:
        """Write a metadata field; None removes it."""
        metadata = self._writable_metadata()
        if value is None:
            metadata.pop(key, None)
        else:
            metadata[key] = value

    def get_resource_version(self) -> str:
        """Return the resourceVersion as the server wrote it, or "" when it is unknown."""
        return self._text("resourceVersion")

    def set_resource_version(self, version: str) -> None:
        self._set_metadata("resourceVersion", version)

    def get_self_link(self) -> str:
        return self._text("selfLink")

    def set_self_link(self, self_link: str) -> None:
        self._set_metadata("selfLink", self_link)


class ObjectMetaAccessors(MetaAccessors):
    """The accessors of ObjectMeta and of the objects that have it. Go: the methods of metav1.ObjectMeta.

    A getter answers with plain values: its maps and lists are copies.
    """

    def _object_meta(self) -> Any:
        """Return the metadata as metav1.ObjectMeta."""
        return self

    def get_object_meta(self) -> Self:
        """Return the object itself, which has every accessor. Go: GetObjectMeta."""
        return self

    def get_name(self) -> str:
        return self._text("name")

    def set_name(self, name: str) -> None:
        self._set_metadata("name", name)

    def get_generate_name(self) -> str:
        return self._text("generateName")

    def set_generate_name(self, name: str) -> None:
        self._set_metadata("generateName", name)

    def get_namespace(self) -> str:
        return self._text("namespace")

    def set_namespace(self, namespace: str) -> None:
        self._set_metadata("namespace", namespace)

    def get_uid(self) -> str:
        return self._text("uid")

    def set_uid(self, uid: str) -> None:
        self._set_metadata("uid", uid)

    def get_generation(self) -> int:
        return self._number("generation") or 0

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
        return self._number("deletionGracePeriodSeconds")

    def set_deletion_grace_period_seconds(self, seconds: int | None) -> None:
        self._write_metadata("deletionGracePeriodSeconds", seconds)

    def get_labels(self) -> dict[str, str]:
        return self._text_map("labels")

    def set_labels(self, labels: Mapping[str, str] | None) -> None:
        self._set_metadata("labels", dict(labels or {}))

    def get_annotations(self) -> dict[str, str]:
        return self._text_map("annotations")

    def set_annotations(self, annotations: Mapping[str, str] | None) -> None:
        self._set_metadata("annotations", dict(annotations or {}))

    def get_finalizers(self) -> list[str]:
        return self._texts("finalizers")

    def set_finalizers(self, finalizers: Sequence[str] | None) -> None:
        self._set_metadata("finalizers", list(finalizers or ()))

    def get_owner_references(self) -> list[Any]:
        """Return the owner references as independent metav1.OwnerReference values."""
        return [owner.deep_copy() for owner in self._alone(self._object_meta(), "ownerReferences").owner_references]

    def set_owner_references(self, references: Sequence[Struct] | None) -> None:
        self._set_metadata("ownerReferences", [reference.deep_copy()._document for reference in references or ()])

    def get_managed_fields(self) -> list[Any]:
        """Return the field managers as independent metav1.ManagedFieldsEntry values."""
        return [entry.deep_copy() for entry in self._alone(self._object_meta(), "managedFields").managed_fields]

    def set_managed_fields(self, entries: Sequence[Struct] | None) -> None:
        self._set_metadata("managedFields", [entry.deep_copy()._document for entry in entries or ()])

    def _get_time(self, key: str) -> datetime | None:
        text = self._text(key)
        try:
            return timestamps.parse_time(text) if text else None
        except ValueError as err:
            self._unreadable_meta(key, err)
            return None

    def _set_time(self, key: str, timestamp: datetime | None) -> None:
        self._set_metadata(key, None if timestamp is None else timestamps.format_time(timestamp))


class ListMetaAccessors(MetaAccessors):
    """The accessors of ListMeta and of the lists that have it. Go: the methods of metav1.ListMeta."""

    def _list_meta(self) -> Any:
        """Return the metadata as metav1.ListMeta."""
        return self

    def get_list_meta(self) -> Self:
        """Return the list itself, which has every accessor. Go: GetListMeta."""
        return self

    def get_continue(self) -> str:
        return self._text("continue")

    def set_continue(self, token: str) -> None:
        self._set_metadata("continue", token)

    def get_remaining_item_count(self) -> int | None:
        return self._number("remainingItemCount")

    def set_remaining_item_count(self, count: int | None) -> None:
        self._write_metadata("remainingItemCount", count)

    def get_shard_info(self) -> Any:
        """Return the shard of the list, as an independent metav1.ShardInfo; None for a list that is not sharded."""
        info = self._alone(self._list_meta(), "shardInfo").shard_info
        return None if info is None else info.deep_copy()

    def set_shard_info(self, info: Struct | None) -> None:
        self._write_metadata("shardInfo", None if info is None else info.to_dict())


class LenientAccessors(MetaAccessors):
    """The accessors of objects of any kind. A field of a wrong type reads as absent."""

    # The class of the metadata: metav1.ObjectMeta or ListMeta.
    METADATA: ClassVar[type[Struct]]

    def _mistyped_meta(self, key: str, value: Any, go_type: str) -> None:
        """Return, so that the caller treats the field as absent."""

    def _mistyped_metadata(self, value: Any) -> None:
        """Return, so that the caller treats the metadata as absent."""

    def _write_metadata(self, key: str, value: Any) -> None:
        """Write a metadata field, but do not create metadata in order to remove a field from it.

        Does nothing if the metadata are no object, null too. Go: SetNestedField, whose error is ignored, and
        RemoveNestedField.
        """
        document = self._writable()
        if isinstance(document.get("metadata"), dict) or ("metadata" not in document and value is not None):
            super()._write_metadata(key, value)

    def _unreadable_meta(self, key: str, err: ValueError) -> None:
        """Return, so that the caller treats the field as absent."""

    def _alone(self, metadata: Any, key: str) -> Any:
        value = self._meta(key)
        if isinstance(value, list):
            value = [element for element in value if isinstance(element, dict)]
        elif not isinstance(value, dict):
            value = None
        fits = value is None or isinstance(value, dict) is (key == "shardInfo")
        return child(self.METADATA, self, {key: copy_json(value) if fits else None})

    def _object_meta(self) -> Any:
        metadata = self._source.get("metadata")
        attached = type(metadata) is dict or isinstance(metadata, Part)
        view = child(self.METADATA, self, metadata if attached else {})
        view._key = None if attached else "metadata"
        return view

    def _list_meta(self) -> Any:
        return self._object_meta()
