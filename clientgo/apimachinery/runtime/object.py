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

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from clientgo.apimachinery.runtime import undecoded
from clientgo.apimachinery.runtime.accessors import ListMetaAccessors, MetaAccessors, ObjectMetaAccessors
from clientgo.apimachinery.runtime.field_types import FieldType
from clientgo.apimachinery.runtime.fields import EMPTY, FieldInfo, field, make_late_getter
from clientgo.apimachinery.runtime.genclient import Genclient
from clientgo.apimachinery.runtime.promoted import NoSuchFieldError, PromotedListMeta, PromotedObjectMeta
from clientgo.apimachinery.runtime.schema import GroupVersionKind, parse_group_version
from clientgo.apimachinery.runtime.undecoded import Undecoded, UndecodedList, UndecodedObject, UndecodedSource
from clientgo.apimachinery.runtime.view import JSONObject, StandIn, View
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

    # What its CustomResourceDefinition says beyond the fields; None where the defaults do.
    CRD: ClassVar[CustomResource | None] = None

    # What its metadata is called.
    _META: ClassVar[str] = "ListMeta"

    kind: str = field("kind", "string", default="", omitempty=True)
    api_version: str = field("apiVersion", "string", default="", omitempty=True)

    @classmethod
    def _make_getter(cls, info: FieldInfo, kind: FieldType) -> Callable[[Any], Any]:
        return make_late_getter(info, kind)

    @classmethod
    def from_undecoded(cls, pending: Undecoded) -> Self:
        """An object whose document is decoded when it is read. For decoders."""
        self = object.__new__(cls)
        self._parent = None
        self._undecoded = pending
        self._frozen = False
        return self

    # Hidden from type checkers, which would take it for a class that has all attributes.
    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Called for what is not there: parts of an undecoded object and of a view, and wrong names."""
            if name in ("_document", "_source"):
                pending = self._undecoded
                if pending is not None:
                    return UndecodedSource(self, pending) if name == "_source" else self._decode(pending)
                with suppress(AttributeError):
                    # Another thread has decoded it since this one found nothing there.
                    return object.__getattribute__(self, name)
            elif name == "_undecoded":  # A view, which is never undecoded.
                return None
            raise NoSuchFieldError(self, name)

    def _decode(self, pending: Undecoded) -> JSONObject:
        self._document = document = pending.document()
        # Not before: whoever sees None here reads the document.
        self._undecoded = None
        return document

    def _snapshot(self) -> JSONObject:
        pending = self._undecoded
        return super()._snapshot() if pending is None else cast(JSONObject, pending.snapshot(self))

    @property
    def frozen(self) -> bool:
        """Whether the object is read-only."""
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
        return self

    def get_object_kind(self) -> Self:
        """The object itself: it is its own schema.ObjectKind. Go: GetObjectKind."""
        return self

    def group_version_kind(self) -> GroupVersionKind:
        """What apiVersion and kind say, empty when they are absent. Go: ObjectKind.GroupVersionKind."""
        api_version, kind = self.api_version_and_kind()
        return parse_group_version(api_version).with_kind(kind)

    def api_version_and_kind(self) -> tuple[str, str]:
        """What apiVersion and kind say as they stand there, "" when they are absent. Decodes nothing."""
        pending = self._undecoded
        if pending is not None:
            names: tuple[str, str] = pending.api_version_and_kind()
            return names
        document = self._document
        return document.get("apiVersion") or "", document.get("kind") or ""

    def set_group_version_kind(self, gvk: GroupVersionKind) -> None:
        """Write apiVersion and kind; an empty one is removed. Decodes nothing. Go: ObjectKind.SetGroupVersionKind."""
        api_version, kind = gvk.to_api_version_and_kind()
        pending = self._undecoded
        if pending is not None and not self.frozen:
            pending.name(api_version, kind)
            return
        document = self._writable()
        for key, value in (("apiVersion", api_version), ("kind", kind)):
            if value:
                document[key] = value
            else:
                document.pop(key, None)

    def deep_copy_object(self) -> Self:
        """`deep_copy()`. Go: DeepCopyObject."""
        return self.deep_copy()

    def _meta(self, key: str) -> Any:
        pending = self._undecoded
        if pending is not None:
            return pending.meta(key)
        metadata = self._document.get("metadata")
        if type(metadata) is dict:
            return metadata.get(key)
        if isinstance(metadata, StandIn):
            value = metadata.get(key)
            return value.plain() if isinstance(value, StandIn) else value
        if metadata is not None:
            self._mistyped_metadata(metadata)
        return None

    def _text(self, key: str) -> str:
        # As in MetaAccessors, with `_meta` written out: the machinery asks every object for its version.
        pending = self._undecoded
        if pending is not None:
            value = pending.meta(key)
        else:
            metadata = self._document.get("metadata")
            value = metadata.get(key) if type(metadata) is dict else None
        return value if type(value) is str else super()._text(key)

    def _mistyped_metadata(self, value: Any) -> None:
        """Called for metadata of a wrong type, as `_mistyped_meta` is for a field of it."""
        raise self._mistyped("metadata", value, f"v1.{self._META}")

    def _mistyped_meta(self, key: str, value: Any, go_type: str) -> None:
        raise UnmarshalTypeError(value, go_type, self._META, self._path(f"metadata.{key}"), within=self._whose())

    def _unreadable_meta(self, key: str, err: ValueError) -> None:
        raise self._unreadable(f"metadata.{key}", err) from err

    def _writable_metadata(self) -> JSONObject:
        document = self._writable()
        metadata = document.get("metadata")
        if metadata is None:
            metadata = document["metadata"] = {}
        return cast(JSONObject, metadata)


class Identified:
    """What the machinery asks every object for, again and again. Only objects of resources are.

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

    def _whose(self) -> str:
        pending = self._undecoded
        if pending is None:
            metadata = self._document.get("metadata")
        else:
            metadata = {"namespace": pending.namespace or None, "name": pending.object_name or None}
        if type(metadata) is not dict and not isinstance(metadata, StandIn):
            return type(self).__name__
        key = "/".join(name for name in (metadata.get("namespace"), metadata.get("name")) if isinstance(name, str))
        return f"{type(self).__name__} {quote(key)}"

    def __eq__(self, other: object) -> bool:
        pending = self._undecoded
        theirs = other._undecoded if isinstance(other, ResourceObject) and type(other) is type(self) else None
        return (isinstance(pending, UndecodedObject) and pending.says_the_same(theirs)) or super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # as for all structs

    def deep_copy(self) -> Self:
        """As Struct.deep_copy; O(1) while the object is undecoded."""
        pending = self._undecoded
        return self.from_undecoded(pending.copy()) if isinstance(pending, UndecodedObject) else super().deep_copy()

    def without_managed_fields(self) -> Self:
        """The object without metadata.managedFields, often half of it: itself, or one that takes its place.

        For transforms of informers. It counts as a write, but decodes nothing of an object in protobuf. Beyond Go.
        """
        pending = self._undecoded
        if isinstance(pending, UndecodedObject) and not self._frozen:
            less = pending.without("managedFields")
            if less is not None:
                return self if less is pending else self.from_undecoded(less)
        if self._meta("managedFields"):
            self.set_managed_fields(None)
        return self

    def freeze(self, before: object = None) -> Self:
        """As of all objects. It has the key of `before` then, which is what the cache goes on having it under."""
        pending = self._undecoded
        if pending is not None and isinstance(before, ResourceObject):
            known = before._undecoded
            if known is not None and known.key == pending.key:
                pending.key = known.key
        # Written out, as each event comes here: `super` would be half as much again.
        if self._parent is None:
            self._frozen = True
        return self

    # What the machinery asks every object for, and listers those they choose among: each is one call, without `cast`,
    # which would be another.

    def get_name(self) -> str:
        """See ObjectMetaAccessors.get_name."""
        pending: UndecodedObject | None = self._undecoded
        return super().get_name() if pending is None else pending.object_name

    def get_namespace(self) -> str:
        """See ObjectMetaAccessors.get_namespace."""
        pending: UndecodedObject | None = self._undecoded
        if pending is not None:
            return pending.namespace
        metadata = self._document.get("metadata")
        namespace = metadata.get("namespace") if type(metadata) is dict else None
        return namespace if type(namespace) is str else super().get_namespace()

    def get_resource_version(self) -> str:
        """See MetaAccessors.get_resource_version."""
        pending: UndecodedObject | None = self._undecoded
        if pending is not None:
            return pending.version
        metadata = self._document.get("metadata")
        version = metadata.get("resourceVersion") if type(metadata) is dict else None
        return version if type(version) is str else super().get_resource_version()

    def get_labels(self) -> dict[str, str]:
        """See ObjectMetaAccessors.get_labels."""
        pending = self._undecoded
        if pending is not None:
            labels = pending.meta("labels")
        else:
            metadata = self._document.get("metadata")
            labels = metadata.get("labels") if type(metadata) is dict else None
        if type(labels) is not dict:
            return super().get_labels()
        for value in labels.values():
            if type(value) is not str:
                return super().get_labels()
        return dict(labels)

    def object_key(self) -> str:
        """The cache key: "namespace/name", or "name" without a namespace."""
        pending: UndecodedObject | None = self._undecoded
        if pending is not None:
            return pending.key
        metadata = self._document.get("metadata")
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
        """Who it is, not what it holds: an object may be a Secret, and a repr ends up in logs."""
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
    def of_items(cls, document: JSONObject, items: Sequence[ResourceObject]) -> Self:
        """A list of these objects, which share their documents with it; `document` is all the rest of it."""
        if undecoded.AVAILABLE or any(item._undecoded is not None for item in items):
            return cls.from_undecoded(UndecodedList(document, items))
        return cls.from_dict({**document, "items": [item._document for item in items]})

    def freeze(self, before: object = None) -> Self:
        """As of all objects. Items that were read off a list before it was decoded as a whole stay as they are."""
        pending = self._undecoded
        if isinstance(pending, UndecodedList):
            pending.freeze()
        return super().freeze(before)

    def extract_items(self) -> list[Any]:
        """The items as objects of their own, which share their documents with the list but do not keep it alive.

        Those of a read-only list are read-only.

        For the one who decoded the list and now hands out its items (meta.extract_list does); others read `items`.
        """
        pending = self._undecoded
        items = pending.take_items() if isinstance(pending, UndecodedList) else None
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
