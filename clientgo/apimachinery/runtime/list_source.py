"""The source of a list whose items are objects and not documents of the list yet. No Go file."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final

from clientgo.apimachinery.runtime.source import JSONObject, Source, interned_type

# Guards the documents of lists; held while the items' documents are collected, which takes the lock of `source`.
_LOCK: Final = threading.RLock()

_NO_METADATA: Final[JSONObject] = {}


class ListSource(Source):
    """The items as objects, decoded or not, and the rest of the list as a document. Thread-safe."""

    __slots__ = (
        "_document",
        "_documents",
        "_is_own",
        "_items",
        "_metadata",
        "_read_only",
        "_rest",
        "_taken",
        "api_version",
        "kind",
    )

    def __init__(self, document: JSONObject, items: Sequence[Any]) -> None:
        """Keep a list's document and its items. The items may be objects; the document's own "items" value is ignored.
        """
        self.api_version, self.kind = document.get("apiVersion"), document.get("kind")
        self._metadata = document.get("metadata") or _NO_METADATA
        self._rest = document
        # The array of the items and the document, after their first use.
        self._documents: list[JSONObject] | None = None
        self._document: JSONObject | None = None
        self._items = items
        # Whether all items are known to be read-only, which they stay.
        self._read_only = False
        # The owner of the items: the caller that took them, or the list, which hands them out.
        self._taken = False
        self._is_own = False

    def set_type(self, api_version: str, kind: str) -> None:
        self.api_version, self.kind = interned_type(api_version, kind)
        if self._document is not None:
            self.typed(self._document)

    def take_items(self) -> list[Any] | None:
        """Return the items to the first caller; None to others, whose items must be objects of their own."""
        if self._taken or self._is_own:
            return None
        self._taken = True
        return [*self._items]

    def own_items(self) -> Sequence[Any] | None:
        """Return the items, which stay the list's; None if they were taken or one of them is read-only."""
        if not self._is_own and (self._taken or any(item.frozen for item in self._items)):
            return None
        self._is_own = True
        return self._items

    def freeze(self) -> None:
        """Freeze the items that were handed out as the list's own."""
        if self._is_own:
            for item in self._items:
                item.freeze()

    def read_only_items(self) -> Sequence[Any] | None:
        """Return the items, which others have too; None if one of them may be written to."""
        self._read_only = self._read_only or all(item.frozen for item in self._items)
        return self._items if self._read_only else None

    def get(self, key: str, default: Any = None) -> Any:
        if key in ("apiVersion", "kind"):
            return (self.kind if key == "kind" else self.api_version) or default
        if key != "items":
            return self._rest.get(key, default)
        return self.document().get(key, default)

    def meta(self, key: str) -> Any:
        return self._metadata.get(key)

    def item_documents(self) -> list[JSONObject]:
        """Return the array of the items that the document begins with, the same list for every caller."""
        with _LOCK:
            if self._documents is None:
                self._documents = [item._document for item in self._items]
            return self._documents

    def document(self) -> JSONObject:
        with _LOCK:
            if self._document is None:
                self._document = self.typed({**self._rest, "items": self.item_documents()})
            return self._document

    def snapshot(self) -> JSONObject:
        return self.document()

    def key_of(self, value: object) -> Any:
        return next((key for key, entry in self._rest.items() if entry is value), None)
