"""Accessors for the metadata of any object.

Mirrors k8s.io/apimachinery/pkg/api/meta/meta.go. Objects of this library have the accessor methods themselves, so
`accessor` usually returns its argument; it also accepts any other object with these methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from clientgo.apimachinery.apis.meta.v1.meta import Common, ListInterface, Object, Type
from clientgo.apimachinery.apis.meta.v1.types import ObjectMeta, PartialObjectMetadata
from clientgo.apimachinery.runtime.documents import copied_document_of
from clientgo.apimachinery.runtime.object import Identified, ListObject, ResourceObject
from clientgo.apimachinery.runtime.object import Object as RuntimeObject
from clientgo.apimachinery.runtime.schema import parse_group_version
from clientgo.apimachinery.runtime.unknown_fields import OBJECT_META, UnknownFields, unknown_fields_of


class ErrNotList(TypeError):
    """The error of an object that is no list. Go: meta.errNotList."""

    def __init__(self) -> None:
        super().__init__("object does not implement the List interfaces")


class ErrNotCommon(TypeError):
    """The error of an object without the metadata that objects and lists share. Go: meta.errNotCommon."""

    def __init__(self) -> None:
        super().__init__("object does not implement the common interface for accessing the SelfLink")


class ErrNotObject(TypeError):
    """The error of an object without metadata. Go: meta.errNotObject."""

    def __init__(self) -> None:
        super().__init__("object does not implement the Object interfaces")


def common_accessor(obj: Any) -> Common:
    """Return the accessor that objects and lists have in common. Raises ErrNotCommon. Go: meta.CommonAccessor."""
    for access in (list_accessor, accessor):
        try:
            return access(obj)
        except TypeError:
            continue
    raise ErrNotCommon


def list_accessor(obj: Any) -> ListInterface:
    """Return the metadata of a list. Raises ErrNotList. Go: meta.ListAccessor."""
    if isinstance(obj, ListObject) or (hasattr(obj, "get_continue") and hasattr(obj, "get_resource_version")):
        return cast(ListInterface, obj)
    if hasattr(obj, "get_list_meta") and (found := obj.get_list_meta()) is not None:
        return cast(ListInterface, found)
    raise ErrNotList


def accessor(obj: Any) -> Object:
    """Return the metadata of an object. Raises ErrNotObject (a TypeError) with Go's text. Go: meta.Accessor."""
    if isinstance(obj, Identified):
        return obj  # type: ignore[return-value]  # A ResourceObject; to ask for that takes four times as long.
    if hasattr(obj, "get_name") and hasattr(obj, "get_resource_version"):
        return cast(Object, obj)
    if hasattr(obj, "get_object_meta") and (found := obj.get_object_meta()) is not None:
        return cast(Object, found)
    raise ErrNotObject


def as_partial_object_metadata(m: Object | ObjectMeta) -> PartialObjectMetadata:
    """Return a copy of the metadata as a separate object. Go: meta.AsPartialObjectMetadata."""
    if isinstance(m, ObjectMeta):
        return PartialObjectMetadata(metadata=m)
    if isinstance(m, ResourceObject):
        source = copied_document_of(m)
        document = {"metadata": source.get("metadata") or {}}
        unknown = unknown_fields_of(source).get(OBJECT_META)
        if unknown is not None:
            document = UnknownFields(document, {OBJECT_META: unknown})
        return PartialObjectMetadata.from_dict(document)
    partial = PartialObjectMetadata()
    for name in vars(Object):
        if name.startswith("set_"):
            getattr(partial, name)(getattr(m, f"get_{name.removeprefix('set_')}")())
    return partial


def type_accessor(obj: Any) -> Type:
    """Return the apiVersion and kind of an object. Raises TypeError. Go: meta.TypeAccessor."""
    if isinstance(obj, RuntimeObject):
        return _ObjectAccessor(obj)
    if isinstance(obj, Type):
        return obj
    raise TypeError(f"expected struct, but got {type(obj).__name__}")


class _ObjectAccessor:
    """Go: meta.objectAccessor."""

    def __init__(self, obj: RuntimeObject) -> None:
        self._object = obj

    def get_kind(self) -> str:
        return self._object.group_version_kind().kind

    def set_kind(self, kind: str) -> None:
        gvk = self._object.group_version_kind()
        self._object.set_group_version_kind(gvk.group_version().with_kind(kind))

    def get_api_version(self) -> str:
        return str(self._object.group_version_kind().group_version())

    def set_api_version(self, version: str) -> None:
        kind = self.get_kind()
        try:
            group_version = parse_group_version(version)
        except ValueError as err:
            raise TypeError(str(err)) from err
        self._object.set_group_version_kind(group_version.with_kind(kind))


def new_accessor() -> ResourceAccessor:
    """Return a MetadataAccessor for any object. Go: meta.NewAccessor."""
    return ResourceAccessor()


class ResourceAccessor:
    """An accessor for single fields. Raises TypeError for an object without metadata. Go: meta.resourceAccessor."""

    def kind(self, obj: Any) -> str:
        return type_accessor(obj).get_kind()

    def set_kind(self, obj: Any, kind: str) -> None:
        type_accessor(obj).set_kind(kind)

    def api_version(self, obj: Any) -> str:
        return type_accessor(obj).get_api_version()

    def set_api_version(self, obj: Any, version: str) -> None:
        type_accessor(obj).set_api_version(version)

    def namespace(self, obj: Any) -> str:
        return accessor(obj).get_namespace()

    def set_namespace(self, obj: Any, namespace: str) -> None:
        accessor(obj).set_namespace(namespace)

    def name(self, obj: Any) -> str:
        return accessor(obj).get_name()

    def set_name(self, obj: Any, name: str) -> None:
        accessor(obj).set_name(name)

    def generate_name(self, obj: Any) -> str:
        return accessor(obj).get_generate_name()

    def set_generate_name(self, obj: Any, name: str) -> None:
        accessor(obj).set_generate_name(name)

    def uid(self, obj: Any) -> str:
        return accessor(obj).get_uid()

    def set_uid(self, obj: Any, uid: str) -> None:
        accessor(obj).set_uid(uid)

    def self_link(self, obj: Any) -> str:
        return common_accessor(obj).get_self_link()

    def set_self_link(self, obj: Any, self_link: str) -> None:
        common_accessor(obj).set_self_link(self_link)

    def labels(self, obj: Any) -> dict[str, str]:
        return accessor(obj).get_labels()

    def set_labels(self, obj: Any, labels: Mapping[str, str] | None) -> None:
        accessor(obj).set_labels(labels)

    def annotations(self, obj: Any) -> dict[str, str]:
        return accessor(obj).get_annotations()

    def set_annotations(self, obj: Any, annotations: Mapping[str, str] | None) -> None:
        accessor(obj).set_annotations(annotations)

    def resource_version(self, obj: Any) -> str:
        return common_accessor(obj).get_resource_version()

    def set_resource_version(self, obj: Any, version: str) -> None:
        common_accessor(obj).set_resource_version(version)

    def continue_(self, obj: Any) -> str:
        return list_accessor(obj).get_continue()

    def set_continue(self, obj: Any, c: str) -> None:
        list_accessor(obj).set_continue(c)
