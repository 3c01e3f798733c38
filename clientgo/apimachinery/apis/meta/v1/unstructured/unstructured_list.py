"""A list of objects of any kind. Mirrors apis/meta/v1/unstructured/unstructured_list.go.

In Go the items are a field beside the map; here they are the document's "items", like everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self

from clientgo.apimachinery.apis.meta.v1.types import ListMeta
from clientgo.apimachinery.apis.meta.v1.unstructured.unstructured import Unstructured, UnstructuredContent
from clientgo.apimachinery.runtime.documents import document_of, replace_document, writable_document_of
from clientgo.apimachinery.runtime.object import ListObject
from clientgo.apimachinery.runtime.view import JSONObject


class UnstructuredList(UnstructuredContent, ListObject):
    """Any list of a server. Go: unstructured.UnstructuredList."""

    METADATA = ListMeta
    ITEM = Unstructured

    def __init__(
        self, object: JSONObject | None = None, items: Iterable[Unstructured] | None = None, **fields: Any
    ) -> None:
        """Lay the view over `object`, without copying it; `items` replaces its items."""
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
        """The document, which has items even when it has none. Go: UnstructuredContent."""
        content = super().unstructured_content()
        if content.get("items") is None:
            content["items"] = []
        return content

    def set_unstructured_content(self, content: JSONObject) -> None:
        """Take `content` as the document, without copying it; an item that is no object is left out of it.

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
        """The items as objects of their own; one without kind takes it from the list's ("PodList" holds "Pod").

        As in Go a kind that does not end in List is the items' as well.
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
        """True. Go: IsList."""
        return True

    def each_list_item(self, func: Callable[[Unstructured], None]) -> None:
        """Call `func` for each item. Go: EachListItem."""
        for item in self.extract_items():
            func(item)

    def each_list_item_with_alloc(self, func: Callable[[Unstructured], None]) -> None:
        """Like each_list_item, with items that do not keep the list alive (none do here). Go: EachListItemWithAlloc."""
        self.each_list_item(func)

    def new_empty_instance(self) -> Self:
        """An empty list of the same kind. Go: NewEmptyInstance."""
        empty = type(self)()
        if self.get_api_version():
            empty.set_api_version(self.get_api_version())
        if self.get_kind():
            empty.set_kind(self.get_kind())
        return empty
