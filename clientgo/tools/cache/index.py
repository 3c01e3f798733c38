"""Indexers: stores with lookups by values computed from the objects.

Mirrors tools/cache/index.go. An index has a name, an index function that returns an object's values, and for each value
the keys of the objects with that value.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import Identified
from clientgo.tools.cache.store import KeyFunc, Store


class Indexer(Store, Protocol):
    """A Store with indexes. Go: Indexer.

    It has three kinds of strings: the storage key of an object, the name of an index, and an indexed value, which an
    index function returns. All methods are thread-safe.
    """

    def index(self, index_name: str, obj: Any, /) -> builtins.list[Any]:
        """Return the stored objects that share an indexed value with `obj`.

        Raises LookupError when the index does not exist, and any exception of the index function for `obj`.
        """
        ...

    def index_keys(self, index_name: str, indexed_value: str, /) -> builtins.list[str]:
        """Return the sorted keys of the objects with that value. Raises LookupError when the index does not exist."""
        ...

    def list_index_func_values(self, index_name: str, /) -> builtins.list[str]:
        """Return all values of the stored objects; [] when the index does not exist."""
        ...

    def by_index(self, index_name: str, indexed_value: str, /) -> builtins.list[Any]:
        """Return the stored objects with that value. Raises LookupError when the index does not exist."""
        ...

    def get_indexers(self) -> Indexers:
        """Return the indexers by name: the store's own dict, which the caller must not change."""
        ...

    def add_indexers(self, new_indexers: Mapping[str, IndexFunc], /) -> None:
        """Add indexes, also of objects already stored. Raises ValueError, without a change, when a name exists."""
        ...


IndexFunc = Callable[[Any], Sequence[str]]
"""Returns the indexed values of an object, always the same for the same object. Go: IndexFunc."""


def index_func_to_key_func_adapter(index_func: IndexFunc) -> KeyFunc:
    """Return a key function made of an index function that returns exactly one value for each object.

    The key function raises ValueError for none or several values. Go: IndexFuncToKeyFuncAdapter.
    """

    def key_func(obj: Any) -> str:
        index_keys = index_func(obj)
        if len(index_keys) > 1:
            raise ValueError(f"too many keys: [{' '.join(index_keys)}]")
        if not index_keys:
            raise ValueError("unexpected empty indexKeys")
        return index_keys[0]

    return key_func


NAMESPACE_INDEX = "namespace"
"""The name of the index by namespace. Go: NamespaceIndex."""


def meta_namespace_index_func(obj: Any) -> Sequence[str]:
    """Return the namespace of an API object. Raises ValueError without metadata. Go: MetaNamespaceIndexFunc."""
    if isinstance(obj, Identified):
        return (obj.get_namespace(),)
    try:
        metadata = meta.accessor(obj)
    except Exception as err:
        raise ValueError(f"object has no meta: {err}") from err
    return (metadata.get_namespace(),)


# The keys of one index by indexed value. The inner dicts are sets in the order of insertion, so that the result of a
# lookup depends only on the operations of the store.
Index = dict[str, dict[str, None]]

Indexers = dict[str, IndexFunc]
"""Index functions by the name of the index. Go: Indexers."""

Indices = dict[str, Index]
"""Indexes by name. Go: Indices."""
