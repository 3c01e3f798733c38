"""An object of any kind, without declared fields. Mirrors apis/meta/v1/unstructured/unstructured.go.

In Go this is a struct around a map. Here every object is a view over a document, and Unstructured is the view without
declared fields: it has the accessors of every object, and `object` for everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from clientgo.apimachinery.apis.meta.v1.types import ObjectMeta
from clientgo.apimachinery.runtime.accessors import LenientAccessors
from clientgo.apimachinery.runtime.documents import (
    document_of,
    free_document_of,
    replace_document,
    writable_document_of,
)
from clientgo.apimachinery.runtime.object import ListObject, Object, ResourceObject
from clientgo.apimachinery.runtime.serializer.json import marshal_unstructured, parse_json
from clientgo.apimachinery.runtime.view import JSONObject
from clientgo.golang.functions import call_checked

if TYPE_CHECKING:
    from clientgo.apimachinery.apis.meta.v1.unstructured.unstructured_list import UnstructuredList


class UnstructuredContent(LenientAccessors, Object):
    """The base class of unstructured objects and lists, which expose their document."""

    def unstructured_content(self) -> JSONObject:
        """Return the document, which the caller may change; a copy of it if the object is read-only.

        Go: UnstructuredContent.
        """
        return free_document_of(self)

    def set_unstructured_content(self, content: JSONObject) -> None:
        """Set the document to `content` without a copy. Go: SetUnstructuredContent."""
        replace_document(self, content)

    def get_api_version(self) -> str:
        return self.api_version_and_kind()[0]

    def set_api_version(self, version: str) -> None:
        writable_document_of(self)["apiVersion"] = version

    def get_kind(self) -> str:
        return self.api_version_and_kind()[1]

    def set_kind(self, kind: str) -> None:
        writable_document_of(self)["kind"] = kind

    def marshal_json(self) -> bytes:
        """Return the document as JSON with a newline at the end. Go: MarshalJSON."""
        return marshal_unstructured(self)

    def unmarshal_json(self, data: bytes | str) -> None:
        """Replace the document by a parsed one.

        Raises ValueError for malformed JSON, and the missing-kind error without a kind. Go: UnmarshalJSON.
        """
        self.set_unstructured_content(parse_object(data))


class Unstructured(UnstructuredContent, ResourceObject):
    """One object of any kind. Go: unstructured.Unstructured.

    A setter removes a field for an empty map or list, where Go writes one that is not nil. A getter returns an empty one
    for a field that is absent, so that writing it back changes nothing.
    """

    METADATA = ObjectMeta

    def __init__(self, object: JSONObject | None = None, **fields: Any) -> None:
        """Wrap `object` without a copy; `fields` are apiVersion and kind, as in any object."""
        super().__init__(**fields)
        if object is not None:
            object.update(document_of(self))
            replace_document(self, object)

    @property
    def object(self) -> JSONObject:
        """The document; see `unstructured_content`. Go: Object."""
        return self.unstructured_content()

    @object.setter
    def object(self, content: JSONObject) -> None:
        self.set_unstructured_content(content)

    def is_list(self) -> bool:
        """Report whether the document has a list of items. Go: IsList."""
        return isinstance(document_of(self).get("items"), list)

    def to_list(self) -> UnstructuredList:
        """Return the document as a list. Raises TypeError if it is not a list. Go: ToList."""
        from clientgo.apimachinery.apis.meta.v1.unstructured.unstructured_list import UnstructuredList

        if not self.is_list():
            return UnstructuredList()
        return UnstructuredList.from_dict(self.unstructured_content())

    def each_list_item(self, func: Callable[[Unstructured], None]) -> None:
        """Call `func` for each item. Raises TypeError if the document is not a list. Go: EachListItem."""
        if "items" not in document_of(self):
            raise TypeError("content is not a list")
        items = document_of(self)["items"]
        if not isinstance(items, list):
            raise TypeError(f"content is not a list: {type(items).__name__}")
        for item in items:
            if not isinstance(item, dict):
                raise TypeError(f"items member is not an object: {type(item).__name__}")
            call_checked(func, Unstructured.from_dict(item))

    def each_list_item_with_alloc(self, func: Callable[[Unstructured], None]) -> None:
        """Call `func` for each item, as `each_list_item` does. No item keeps its list alive.

        Go: EachListItemWithAlloc.
        """
        self.each_list_item(func)

    def new_empty_instance(self) -> Self:
        """Return an empty object of the same kind. Go: NewEmptyInstance."""
        empty = type(self)()
        if self.get_api_version():
            empty.set_api_version(self.get_api_version())
        if self.get_kind():
            empty.set_kind(self.get_kind())
        return empty

    # As in Go, an unstructured list held as one object has these methods too.
    get_continue = ListObject.get_continue
    set_continue = ListObject.set_continue
    get_remaining_item_count = ListObject.get_remaining_item_count
    set_remaining_item_count = ListObject.set_remaining_item_count


def parse_object(data: bytes | str) -> JSONObject:
    """Parse a JSON object with a kind. Raises ValueError or the missing-kind error."""
    from clientgo.apimachinery.runtime.error import new_missing_kind_err

    document = parse_json(data)
    if not isinstance(document, dict):
        raise ValueError(f"json: cannot unmarshal {type(document).__name__} into an object")
    if not document.get("kind"):
        raise new_missing_kind_err(data if isinstance(data, str) else data.decode(errors="replace"))
    return document
