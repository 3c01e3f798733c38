"""UndeltaStore, which passes on the whole state after each change.

Mirrors tools/cache/undelta_store.go.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

from clientgo.tools.cache.store import KeyFunc, Store, new_store


class UndeltaStore:
    """A Store that calls `push_func` with all its objects after each change. Go: UndeltaStore.

    The store's lock is released between the change and the read of the state: two threads that change the store at the
    same time may both push the state after both changes. `push_func` runs in the thread of the change, without a lock,
    and must be thread-safe. Reading does not push.
    """

    def __init__(self, store: Store, push_func: Callable[[builtins.list[Any]], None]) -> None:
        self.store = store
        self.push_func = push_func

    def add(self, obj: Any) -> None:
        """See Store.add. Calls `push_func`."""
        self.store.add(obj)
        self.push_func(self.store.list())

    def update(self, obj: Any) -> None:
        """See Store.update. Calls `push_func`."""
        self.store.update(obj)
        self.push_func(self.store.list())

    def delete(self, obj: Any) -> None:
        """See Store.delete. Calls `push_func`."""
        self.store.delete(obj)
        self.push_func(self.store.list())

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """See Store.replace. Calls `push_func` once."""
        self.store.replace(objs, resource_version)
        self.push_func(self.store.list())

    def list(self) -> builtins.list[Any]:
        """See Store.list."""
        return self.store.list()

    def list_keys(self) -> builtins.list[str]:
        """See Store.list_keys."""
        return self.store.list_keys()

    def last_store_sync_resource_version(self) -> str:
        """See Store.last_store_sync_resource_version."""
        return self.store.last_store_sync_resource_version()

    def bookmark(self, rv: str) -> None:
        """See Store.bookmark."""
        self.store.bookmark(rv)

    def get(self, obj: Any) -> tuple[Any, bool]:
        """See Store.get."""
        return self.store.get(obj)

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        """See Store.get_by_key."""
        return self.store.get_by_key(key)

    def resync(self) -> None:
        """See Store.resync."""
        self.store.resync()

    def __repr__(self) -> str:
        return f"<UndeltaStore over {self.store!r}>"


def new_undelta_store(push_func: Callable[[builtins.list[Any]], None], key_func: KeyFunc) -> UndeltaStore:
    """Return an empty UndeltaStore. Go: NewUndeltaStore."""
    return UndeltaStore(new_store(key_func), push_func)
