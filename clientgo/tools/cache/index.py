"""Indexers: stores that can also be searched by values computed from the objects.

Mirrors tools/cache/index.go. An index has a name, an index function that gives the values under which an object is
found, and, for each such value, the keys of the objects that have it.
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

    There are three kinds of strings here: the storage key of an object, the name of an index, and an indexed value,
    which is what an index function gives. All methods are safe to call from any thread.
    """

    def index(self, index_name: str, obj: Any) -> builtins.list[Any]:
        """The stored objects that share an indexed value with `obj`.

        Raises LookupError when there is no such index, and whatever the index function raises for `obj`.
        """
        ...

    def index_keys(self, index_name: str, indexed_value: str) -> builtins.list[str]:
        """The sorted storage keys of the objects with that value. Raises LookupError when there is no such index."""
        ...

    def list_index_func_values(self, index_name: str) -> builtins.list[str]:
        """All values that some stored object has; [] when there is no such index."""
        ...

    def by_index(self, index_name: str, indexed_value: str) -> builtins.list[Any]:
        """The stored objects with that value. Raises LookupError when there is no such index."""
        ...

    def get_indexers(self) -> Indexers:
        """The indexers by name: the store's own dict, not to be changed."""
        ...

    def add_indexers(self, new_indexers: Mapping[str, IndexFunc]) -> None:
        """Add indexes, also to a store with content. Raises ValueError, changing nothing, when a name is taken."""
        ...


IndexFunc = Callable[[Any], Sequence[str]]
"""Gives the values under which an object is found; the same ones for the same object. Go: IndexFunc."""


def index_func_to_key_func_adapter(index_func: IndexFunc) -> KeyFunc:
    """A key function out of an index function that gives exactly one value for each object.

    The key function raises ValueError for none or several. Go: IndexFuncToKeyFuncAdapter.
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
    """The namespace of an API object. Raises ValueError when `obj` has no metadata. Go: MetaNamespaceIndexFunc."""
    if isinstance(obj, Identified):
        return (obj.get_namespace(),)
    try:
        metadata = meta.accessor(obj)
    except Exception as err:
        raise ValueError(f"object has no meta: {err}") from err
    return (metadata.get_namespace(),)


# The keys of one index by indexed value. The inner dicts are used as sets that keep the order of insertion, so that
# what a lookup returns depends on nothing but what was done to the store.
Index = dict[str, dict[str, None]]

Indexers = dict[str, IndexFunc]
"""Index functions by the name of the index. Go: Indexers."""

Indices = dict[str, Index]
"""Indexes by name. Go: Indices."""
