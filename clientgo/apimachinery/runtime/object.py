"""Top-level API objects: what every kind has, whether its fields are declared or not.

Mirrors the interfaces runtime.Object (runtime/interfaces.go), metav1.Object and metav1.ListInterface
(apis/meta/v1/meta.go): in Go each struct gets them by embedding TypeMeta and ObjectMeta, here by inheriting from the
classes below.

The informer machinery reads names and versions through the accessors only (`object_key`, `get_resource_version`, ...).
They look straight into the object's source (see `source`) and build no view. An object that is not decoded yet answers
them from what was read when it arrived, and decodes when anything else reads its document. That shows in time and
memory alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from clientgo.apimachinery.runtime import text_source
from clientgo.apimachinery.runtime.accessors import ListMetaAccessors, MetaAccessors, ObjectMetaAccessors
from clientgo.apimachinery.runtime.field_types import FieldType, ListType
from clientgo.apimachinery.runtime.fields import EMPTY, FieldInfo, field, make_getter, make_items_getter
from clientgo.apimachinery.runtime.genclient import Genclient
from clientgo.apimachinery.runtime.list_source import ListSource
from clientgo.apimachinery.runtime.promoted import NoSuchFieldError, PromotedListMeta, PromotedObjectMeta
from clientgo.apimachinery.runtime.schema import GroupVersionKind, parse_group_version
from clientgo.apimachinery.runtime.source import JSONObject, ObjectSource, Part, Source
from clientgo.apimachinery.runtime.view import View
from clientgo.golang.json import UnmarshalTypeError
from clientgo.golang.strconv import quote

if TYPE_CHECKING:
    from clientgo.apimachinery.runtime.custom_resource import CustomResource


class Object(MetaAccessors):
    """Any object with an apiVersion and a kind. Go: runtime.Object, metav1.TypeMeta."""

    # The kind the class stands for; None where one class serves many kinds (Unstructured).
    GROUP_VERSION_KIND: ClassVar[GroupVersionKind | None] = None

    # How its generated client looks; None for kinds without one.
    GENCLIENT: ClassVar[Genclient | None] = None

    # Its part of a CustomResourceDefinition beyond the fields; None for the defaults.
    CRD: ClassVar[CustomResource | None] = None

    # What its metadata is called.
    _META: ClassVar[str] = "ListMeta"

    kind: str = field("kind", "string", default="", omitempty=True)
    api_version: str = field("apiVersion", "string", default="", omitempty=True)

    @classmethod
    def from_source(cls, source: Source) -> Self:
        """Return an object whose document is decoded when it is read. For decoders."""
        self = object.__new__(cls)
        self._parent = None
        self._source = source
        self._frozen = False
        return self

    # Hidden from type checkers, which would take it for a class that has all attributes.
    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Raise the error for an attribute that does not exist."""
            raise NoSuchFieldError(self, name)

    @property
    def _document(self) -> Any:
        """The document, to be read only. Decodes the object for good, unless it is frozen."""
        source = self._source
        if not isinstance(source, Source):
            return source
        document = source.document()
        if self._parent is None and not self._frozen:
            self._source = document
        return document

    @property
    def frozen(self) -> bool:
        """True if the object is read-only."""
        root: View = self
        while root._parent is not None:
            root = root._parent
        return root._frozen

    def freeze(self, before: object = None) -> Self:
        """Make the object, and all views on it, read-only for good; returns itself. O(1).

        Shared informers freeze what they cache. A write then raises ReadOnlyError; `deep_copy()` gives a free copy.
        `before` is the state whose place it takes in the cache, if there is one.
        """
        if self._parent is None:
            self._frozen = True
            if isinstance(self._source, Source):
                self._source.freeze()
        return self

    def get_object_kind(self) -> Self:
        """Return the object itself, which is its own schema.ObjectKind. Go: GetObjectKind."""
        return self

    def group_version_kind(self) -> GroupVersionKind:
        """Return the kind in apiVersion and kind; empty if they are absent. Go: ObjectKind.GroupVersionKind."""
        api_version, kind = self.api_version_and_kind()
        return parse_group_version(api_version).with_kind(kind)

    def api_version_and_kind(self) -> tuple[str, str]:
        """Return apiVersion and kind as they are in the document, "" if they are absent. Decodes nothing."""
        source = self._source
        return source.get("apiVersion") or "", source.get("kind") or ""

    def set_group_version_kind(self, gvk: GroupVersionKind) -> None:
        """Write apiVersion and kind; an empty one is removed. Decodes nothing. Go: ObjectKind.SetGroupVersionKind."""
        api_version, kind = gvk.to_api_version_and_kind()
        source = self._source
        if isinstance(source, Source) and not self.frozen:
            source.set_type(api_version, kind)
            return
        document = self._writable()
        for key, value in (("apiVersion", api_version), ("kind", kind)):
            if value:
                document[key] = value
            else:
                document.pop(key, None)

    def deep_copy_object(self) -> Self:
        """Return a deep copy, like `deep_copy()`. Go: DeepCopyObject."""
        return self.deep_copy()

    def _meta(self, key: str) -> Any:
        source = self._source
        if isinstance(source, Source):
            return source.meta(key)
        metadata = source.get("metadata")
        if type(metadata) is dict:
            return metadata.get(key)
        if isinstance(metadata, Part):  # Of an object inside another.
            value = metadata.get(key)
            return value.snapshot() if isinstance(value, Part) else value
        if metadata is not None:
            self._mistyped_metadata(metadata)
        return None

    def _mistyped_metadata(self, value: Any) -> None:
        """Handle metadata of a wrong type: raise UnmarshalTypeError, or return to treat the metadata as absent."""
        raise self._mistyped("metadata", value, f"v1.{self._META}")

    def _mistyped_meta(self, key: str, value: Any, go_type: str) -> None:
        name = "types.UID" if key == "uid" else go_type
        raise UnmarshalTypeError(value, name, self._META, self._path(f"metadata.{key}"), within=self._owner_text())

    def _unreadable_meta(self, key: str, err: ValueError) -> None:
        raise self._unreadable(f"metadata.{key}", err) from err

    def _writable_metadata(self) -> JSONObject:
        document = self._writable()
        metadata = document.get("metadata")
        if metadata is None:
            metadata = document["metadata"] = {}
        return cast(JSONObject, metadata)


class Identified:
    """The names and the version that the machinery reads of every object of a resource.

    No struct, so that `isinstance` has no metaclass to ask: that takes a quarter of the time.
    """

    __slots__ = ()

    def get_namespace(self) -> str:
        raise NotImplementedError

    def get_resource_version(self) -> str:
        raise NotImplementedError

    def object_key(self) -> str:
        raise NotImplementedError


class ResourceObject(PromotedObjectMeta, ObjectMetaAccessors, Object, Identified):
    """An object of a resource: it has ObjectMeta. Go: metav1.Object, metav1.ObjectMetaAccessor.

    The accessors give copies; `obj.metadata` is the writable view, and `obj.name` the same as `obj.metadata.name`, for
    every field of the metadata that the class has no field of the same name for.
    """

    _META = "ObjectMeta"

    def _owner_text(self) -> str:
        source = self._source
        if isinstance(source, ObjectSource):
            key = "/".join(filter(None, (source.namespace, source.object_name)))
            if not key and source.get("metadata") is None:
                return type(self).__name__
        else:
            metadata = source.get("metadata")
            if type(metadata) is not dict and not isinstance(metadata, Part):
                return type(self).__name__
            names = metadata.get("namespace"), metadata.get("name")
            key = "/".join(name for name in names if isinstance(name, str))
        return f"{type(self).__name__} {quote(key)}"

    def __eq__(self, other: object) -> bool:
        source = self._source
        if isinstance(source, ObjectSource) and type(other) is type(self) and source.is_same(other._source):
            return True
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # as for all structs

    def deep_copy(self) -> Self:
        """Return a copy that may be written to. O(1) while the object is not decoded, else O(size). Go: DeepCopy."""
        source = self._source
        return self.from_source(source.copy()) if isinstance(source, ObjectSource) else super().deep_copy()

    def without_managed_fields(self) -> Self:
        """Return the object without metadata.managedFields, often half of it: itself, or one that takes its place.

        For transforms of informers. It counts as a write, but decodes nothing of an object in protobuf. Beyond Go.
        """
        source = self._source
        if isinstance(source, ObjectSource) and not self._frozen:
            less = source.without("managedFields")
            if less is not None:
                return self if less is source else self.from_source(less)
        if self._meta("managedFields"):
            self.set_managed_fields(None)
        return self

    def freeze(self, before: object = None) -> Self:
        """Freeze the object and reuse `before`'s cache key."""
        # `super`, written out: each event comes here.
        if self._parent is None:
            self._frozen = True
        source = self._source
        if isinstance(source, ObjectSource):
            if isinstance(before, ResourceObject):
                known = before._source
                if isinstance(known, ObjectSource) and known.key == source.key:
                    source.key = known.key
            source.freeze()
        return self

    # The machinery asks every object for these, and listers ask all objects that they choose from: no `super`, no
    # `cast`.

    def get_name(self) -> str:
        """See ObjectMetaAccessors.get_name."""
        source = self._source
        return source.object_name if isinstance(source, ObjectSource) else super().get_name()

    def get_namespace(self) -> str:
        """See ObjectMetaAccessors.get_namespace."""
        source = self._source
        if isinstance(source, ObjectSource):
            return source.namespace
        metadata = source.get("metadata")
        namespace = metadata.get("namespace") if type(metadata) is dict else None
        return namespace if type(namespace) is str else super().get_namespace()

    def get_resource_version(self) -> str:
        """See MetaAccessors.get_resource_version."""
        source = self._source
        if isinstance(source, ObjectSource):
            return source.version
        metadata = source.get("metadata")
        version = metadata.get("resourceVersion") if type(metadata) is dict else None
        return version if type(version) is str else super().get_resource_version()

    def get_labels(self) -> dict[str, str]:
        """See ObjectMetaAccessors.get_labels."""
        source = self._source
        if isinstance(source, Source):
            labels = source.meta("labels")
        else:
            metadata = source.get("metadata")
            labels = metadata.get("labels") if type(metadata) is dict else None
        if type(labels) is not dict:
            return super().get_labels()
        for value in labels.values():
            if type(value) is not str:
                return super().get_labels()
        return dict(labels)

    def object_key(self) -> str:
        """Return the cache key: "namespace/name", or "name" without a namespace."""
        source = self._source
        if isinstance(source, ObjectSource):
            return source.key
        metadata = source.get("metadata")
        if type(metadata) is dict:
            namespace, name = metadata.get("namespace"), metadata.get("name")
            if type(name) is str:
                if not namespace:
                    return name
                if type(namespace) is str:
                    return f"{namespace}/{name}"
        namespace, name = self.get_namespace(), self.get_name()
        return f"{namespace}/{name}" if namespace else name

    def _repr_parts(self) -> Any:
        """Yield key and version, no content: an object may be a Secret, and a repr ends up in logs."""
        yield repr(self.object_key())
        version = self.get_resource_version()
        if version:
            yield f"resource_version={version!r}"


class ListMetaObject(PromotedListMeta, ListMetaAccessors, Object):
    """An object with the metadata of a list, such as a Table. Go: metav1.ListMetaAccessor."""


class ListObject(ListMetaObject):
    """A list of objects of one resource. Go: metav1.ListInterface, metav1.ListMetaAccessor."""

    # The class of an item; None where the items are whatever they say they are (UnstructuredList).
    ITEM: ClassVar[type[ResourceObject] | None] = None

    @classmethod
    def _make_getter(cls, info: FieldInfo, kind: FieldType) -> Callable[[Any], Any]:
        if info.json == "items" and isinstance(kind, ListType):
            return make_items_getter(info, kind)
        return make_getter(info, kind)

    @classmethod
    def of_items(cls, document: JSONObject, items: Sequence[ResourceObject]) -> Self:
        """Return a list of these objects, which share their documents with it; `document` is the rest of the list."""
        if text_source.AVAILABLE or any(isinstance(item._source, Source) for item in items):
            return cls.from_source(ListSource(document, items))
        return cls.from_dict({**document, "items": [item._document for item in items]})

    def extract_items(self) -> list[Any]:
        """Return the items as objects of their own, which share their documents with the list.

        They do not keep the list alive. Those of a read-only list are read-only. For the caller that decoded the list
        and now hands out its items (meta.extract_list does); others read `items`.
        """
        source = self._source
        items = source.take_items() if isinstance(source, ListSource) else None
        if items is not None:
            return items
        item = type(self).ITEM
        if item is None:
            raise TypeError(f"{type(self).__name__} does not say what its items are")
        from_dict = item.from_dict
        items = [from_dict(document) for document in self._document.get("items") or ()]
        if self.frozen:
            for each in items:
                each.freeze()
        return items

    def _repr_parts(self) -> Any:
        yield f"{len(self._document.get('items') or ())} items"
        version = self.get_resource_version()
        if version:
            yield f"resource_version={version!r}"


__all__ = ["EMPTY", "Identified", "ListMetaAccessors", "ListObject", "Object", "ObjectMetaAccessors", "ResourceObject"]
