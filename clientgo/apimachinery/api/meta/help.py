"""Functions for lists of any kind.

Mirrors k8s.io/apimachinery/pkg/api/meta/help.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.documents import copied_document_of, document_of, writable_document_of
from clientgo.apimachinery.runtime.object import ListObject, Object, ResourceObject
from clientgo.apimachinery.runtime.types import Unknown
from clientgo.apimachinery.runtime.view import JSONObject
from clientgo.golang.functions import call_checked

L = TypeVar("L", bound=ListObject)


def is_list_type(obj: Any) -> bool:
    """Report whether the object is a list. Go: meta.IsListType."""
    return isinstance(obj, ListObject) or (isinstance(obj, Unstructured) and obj.is_list())


def get_items_ptr(list: Any) -> Any:
    """Return the list's items as the view `items`. Raises TypeError. Go: meta.GetItemsPtr."""
    return _list(list).items  # type: ignore[attr-defined]


def each_list_item(obj: Any, fn: Callable[[Any], object]) -> None:
    """Call `fn` with each item. An exception that `fn` raises or returns ends the loop.

    Go: meta.EachListItem.
    """
    for item in extract_list(obj):
        call_checked(fn, item)


def each_list_item_with_alloc(obj: Any, fn: Callable[[Any], object]) -> None:
    """Call `fn` with each item. In Python an item never keeps its list alive anyway. Go: meta.EachListItemWithAlloc."""
    each_list_item(obj, fn)


def extract_list(obj: Any) -> list[Any]:
    """Return the items as separate objects that share their documents with the list. Raises TypeError.

    Items that may be any objects, such as those of metav1.List, are runtime.Unknown. Go: meta.ExtractList.
    """
    listed = _list(obj)
    items = type(listed)._fields.get("items")
    if listed.ITEM is None and items is not None and items.type in ("[]raw", "[]runtime.RawExtension"):
        return [Unknown.from_dict(item) for item in document_of(listed).get("items") or ()]
    return listed.extract_items()


def extract_list_with_alloc(obj: Any) -> list[Any]:
    """Return the items, as `extract_list` does. Go: meta.ExtractListWithAlloc."""
    return extract_list(obj)


def len_list(list: Any) -> int:
    """Return the number of items in the list, or 0 if the object is not a list. Go: meta.LenList."""
    if not is_list_type(list):
        return 0
    return len(document_of(list).get("items") or ())


def new_list(cls: type[L], document: JSONObject, objects: Sequence[ResourceObject]) -> L:
    """Return a list of these objects, which share their documents with it. `document` holds the list's other fields.

    In Go, set_list shares the memory that the items point to as well.
    """
    return cls.of_items(document, objects)


def set_list(list: Any, objects: Iterable[Object]) -> None:
    """Set the list's items to copies of these objects. Raises TypeError. Go: meta.SetList."""
    if not is_list_type(list):
        raise TypeError(f"{type(list).__name__} is not a list")
    writable_document_of(list)["items"] = [copied_document_of(item) for item in objects]


def _list(obj: Any) -> ListObject:
    if isinstance(obj, ListObject):
        return obj
    if isinstance(obj, Unstructured) and obj.is_list():
        return obj.to_list()
    raise TypeError(f"{type(obj).__name__} is not a list")
