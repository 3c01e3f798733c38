"""A list of objects of any kind. Mirrors apis/meta/v1/unstructured/unstructured_list.go.

In Go the items are a separate field; here they are the document's "items".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self

from clientgo.apimachinery.apis.meta.v1.types import ListMeta
from clientgo.apimachinery.apis.meta.v1.unstructured.unstructured import Unstructured, UnstructuredContent
from clientgo.apimachinery.runtime.documents import document_of, replace_document, writable_document_of
from clientgo.apimachinery.runtime.object import ListObject
from clientgo.apimachinery.runtime.view import JSONObject
from clientgo.golang.functions import call_checked


class UnstructuredList(UnstructuredContent, ListObject):
    """A list of unstructured objects. Go: unstructured.UnstructuredList."""

    METADATA = ListMeta
    ITEM = Unstructured

    def __init__(
        self, object: JSONObject | None = None, items: Iterable[Unstructured] | None = None, **fields: Any
    ) -> None:
        """Wrap `object` without a copy; `items` replaces its items."""
        super().__init__(**fields)
        if object is not None:
            object.update(document_of(self))
            replace_document(self, object)
        if items is not None:
            self.items = list(items)

    @property
    def object(self) -> JSONObject:
        """The document, items included; see `unstructured_content`. Go: Object."""
        return self.unstructured_content()

    @object.setter
    def object(self, content: JSONObject) -> None:
        self.set_unstructured_content(content)

    def unstructured_content(self) -> JSONObject:
        """Return the document, which has the key "items" even without items. Go: UnstructuredContent."""
        content = super().unstructured_content()
        if content.get("items") is None:
            content["items"] = []
        return content

    def set_unstructured_content(self, content: JSONObject) -> None:
        """Set the document to `content` without a copy. Items that are not objects are dropped.

        Go: SetUnstructuredContent.
        """
        items = content.get("items")
        content["items"] = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
        super().set_unstructured_content(content)

    @property
    def items(self) -> list[Unstructured]:
        """The items, which share their documents with the list."""
        return self.extract_items()

    @items.setter
    def items(self, items: Iterable[Unstructured]) -> None:
        writable_document_of(self)["items"] = [item.to_dict() for item in items]

    def extract_items(self) -> list[Unstructured]:
        """Return the items as separate objects; an item without a kind takes it from the list's ("PodList" holds
        "Pod").

        As in Go, a list's kind that does not end in List is used unchanged.
        """
        kind, api_version = self.get_kind(), self.get_api_version()
        items = super().extract_items()
        if not kind or self.frozen:
            return items
        for item in items:
            if not item.get_kind() and not item.get_api_version():
                document = document_of(item)
                document["kind"], document["apiVersion"] = kind.removesuffix("List"), api_version
        return items

    def is_list(self) -> bool:
        """Return True. Go: IsList."""
        return True

    def each_list_item(self, func: Callable[[Unstructured], None]) -> None:
        """Call `func` for each item. Go: EachListItem."""
        for item in self.extract_items():
            call_checked(func, item)

    def each_list_item_with_alloc(self, func: Callable[[Unstructured], None]) -> None:
        """Call `func` for each item, as `each_list_item` does. No item keeps its list alive.

        Go: EachListItemWithAlloc.
        """
        self.each_list_item(func)

    def new_empty_instance(self) -> Self:
        """Return an empty list of the same kind. Go: NewEmptyInstance."""
        empty = type(self)()
        if self.get_api_version():
            empty.set_api_version(self.get_api_version())
        if self.get_kind():
            empty.set_kind(self.get_kind())
        return empty
