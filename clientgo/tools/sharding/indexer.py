"""The caches of several shards as one Indexer. No Go counterpart."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from clientgo.tools import cache

__all__ = ["ShardedIndexer"]


class ShardedIndexer:
    """A view of the Indexers of all shards that a replica has. Read-only: the informers fill the Indexers.

    Thread-safe. A query reads one Indexer after the other, so it shows no single moment of all of them; an object is in
    one Indexer at a time. `indexers` returns the Indexers; another call may return others, when shards have moved.
    """

    def __init__(self, indexers: Callable[[], Sequence[cache.Indexer]], functions: cache.Indexers) -> None:
        self._indexers = indexers
        self._functions = functions

    def __repr__(self) -> str:
        return f"<ShardedIndexer of {len(self._indexers())} shards, {len(self.list_keys())} objects>"

    def list(self) -> builtins.list[Any]:
        """Return all objects."""
        return [obj for indexer in self._indexers() for obj in indexer.list()]

    def list_keys(self) -> builtins.list[str]:
        """Return the keys of all objects."""
        return [key for indexer in self._indexers() for key in indexer.list_keys()]

    def get(self, obj: Any) -> tuple[Any, bool]:
        """Return the stored object with the key of `obj`, and whether there is one."""
        return self.get_by_key(cache.meta_namespace_key_func(obj))

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        """Return the object with this key, and whether there is one. O(shards)."""
        for indexer in self._indexers():
            found, exists = indexer.get_by_key(key)
            if exists:
                return found, True
        return None, False

    def index(self, index_name: str, obj: Any) -> builtins.list[Any]:
        """Return the objects that share an indexed value with `obj`. Raises LookupError without such an index."""
        values = self._function(index_name)(obj)
        found = {id(each): each for value in values for each in self.by_index(index_name, value)}
        return builtins.list(found.values())

    def index_keys(self, index_name: str, indexed_value: str) -> builtins.list[str]:
        """Return the sorted keys of the objects with that value. Raises LookupError without such an index."""
        self._function(index_name)
        return sorted(key for indexer in self._indexers() for key in indexer.index_keys(index_name, indexed_value))

    def list_index_func_values(self, index_name: str) -> builtins.list[str]:
        """Return all values that some object has; [] without such an index."""
        return builtins.list(
            dict.fromkeys(
                value for indexer in self._indexers() for value in indexer.list_index_func_values(index_name)
            )
        )

    def by_index(self, index_name: str, indexed_value: str) -> builtins.list[Any]:
        """Return the objects with that value. Raises LookupError without such an index."""
        self._function(index_name)
        return [obj for indexer in self._indexers() for obj in indexer.by_index(index_name, indexed_value)]

    def get_indexers(self) -> cache.Indexers:
        """Return the index functions by name; the caller must not change the dict."""
        return self._functions

    def last_store_sync_resource_version(self) -> str:
        """Return "": the shards are at different versions."""
        return ""

    def add(self, obj: Any) -> None:
        """Raise RuntimeError: the view is read-only."""
        self._reject()

    def update(self, obj: Any) -> None:
        """Raise RuntimeError: the view is read-only."""
        self._reject()

    def delete(self, obj: Any) -> None:
        """Raise RuntimeError: the view is read-only."""
        self._reject()

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """Raise RuntimeError: the view is read-only."""
        self._reject()

    def bookmark(self, rv: str) -> None:
        """Raise RuntimeError: the view is read-only."""
        self._reject()

    def add_indexers(self, new_indexers: Mapping[str, cache.IndexFunc]) -> None:
        """Raise RuntimeError: call `ShardedInformer.add_indexers`."""
        self._reject()

    def resync(self) -> None:
        """Do nothing, as every Indexer."""

    def _function(self, index_name: str) -> cache.IndexFunc:
        try:
            return self._functions[index_name]
        except builtins.KeyError:
            raise LookupError(f"Index with name {index_name} does not exist") from None

    def _reject(self) -> NoReturn:
        raise RuntimeError("a ShardedIndexer is read-only: the informers of the shards fill it")
