"""A bounded map that forgets what was used longest ago.

Mirrors k8s.io/utils/lru/lru.go.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class Cache:
    """At most `size` values; adding one more drops the least recently used. Thread-safe. Go: lru.Cache.

    Invariants (`_check`): len(entries) <= size, and the entries are ordered from the least to the most recently used.
    """

    def __init__(self, size: int, on_evicted: Callable[[Hashable, Any], None] | None = None) -> None:
        """Make an empty cache. A size of 0 means no bound. `on_evicted` is called, without a lock, with each value
        dropped.
        """
        self._size = size
        self._on_evicted = on_evicted
        # Guards _entries; held for dict operations only.
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, Any] = OrderedDict()

    def add(self, key: Hashable, value: Any) -> None:
        """Insert or replace; the entry becomes the most recently used. Go: Cache.Add."""
        dropped: tuple[Hashable, Any] | None = None
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            if self._size and len(self._entries) > self._size:
                dropped = self._entries.popitem(last=False)
        if dropped is not None and self._on_evicted is not None:
            self._on_evicted(*dropped)

    def get(self, key: Hashable) -> tuple[Any, bool]:
        """Return the value and whether it exists, and mark the entry as the most recently used. Go: Cache.Get."""
        with self._lock:
            if key not in self._entries:
                return None, False
            self._entries.move_to_end(key)
            return self._entries[key], True

    def remove(self, key: Hashable) -> None:
        """Forget the entry, if it is there. Go: Cache.Remove."""
        with self._lock:
            removed = key in self._entries
            value = self._entries.pop(key, None)
        if removed and self._on_evicted is not None:
            self._on_evicted(key, value)

    def remove_oldest(self) -> None:
        """Forget the least recently used entry. Go: Cache.RemoveOldest."""
        with self._lock:
            oldest = self._entries.popitem(last=False) if self._entries else None
        if oldest is not None and self._on_evicted is not None:
            self._on_evicted(*oldest)

    def len(self) -> int:
        """Return the number of entries. Go: Cache.Len."""
        return len(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        """Remove all entries. Go: Cache.Clear."""
        with self._lock:
            entries, self._entries = self._entries, OrderedDict()
        if self._on_evicted is not None:
            for key, value in entries.items():
                self._on_evicted(key, value)

    def __repr__(self) -> str:
        return f"<lru.Cache {len(self._entries)}/{self._size}>"

    def _check(self) -> None:
        assert not self._size or len(self._entries) <= self._size


def new(size: int) -> Cache:
    """Return a cache of at most `size` entries. Go: lru.New."""
    return Cache(size)


def new_with_eviction_func(size: int, f: Callable[[Hashable, Any], None]) -> Cache:
    """Return a cache that calls a function for each entry that it evicts. Go: lru.NewWithEvictionFunc."""
    return Cache(size, f)
