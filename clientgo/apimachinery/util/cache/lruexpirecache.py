"""A map of limited size whose entries expire.

Mirrors apimachinery/pkg/util/cache/lruexpirecache.go.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from clientgo.klog.answers import is_true
from clientgo.utils.clock import PassiveClock, RealClock


class LRUExpireCache:
    """A cache of at most `max_size` values, each with a time to live. Go: LRUExpireCache.

    One more value drops the least recently used one. Thread-safe.

    Invariants (`_check` asserts them):
      * there are at most max_size entries, ordered from the least to the most recently used
    """

    def __init__(self, max_size: int, clock: PassiveClock) -> None:
        if max_size <= 0:
            raise ValueError("maxSize must be > 0")
        self._max_size = max_size
        self._clock = clock
        # Guards _entries, which holds the value and the expiry time of each key.
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, tuple[Any, float]] = OrderedDict()

    def add(self, key: Hashable, value: Any, ttl: float) -> None:
        """Insert or replace a value for `ttl` seconds and make it the most recently used one."""
        with self._lock:
            if key not in self._entries and len(self._entries) >= self._max_size:
                self._entries.popitem(last=False)
            self._entries[key] = (value, self._clock.now() + ttl)
            self._entries.move_to_end(key)

    def get(self, key: Hashable) -> tuple[Any, bool]:
        """Return (value, True) and make the value the most recently used one; (None, False) if it is missing or
        expired.
        """
        with self._lock:
            if key not in self._entries:
                return None, False
            value, expires = self._entries[key]
            if self._clock.now() > expires:
                del self._entries[key]
                return None, False
            self._entries.move_to_end(key)
            return value, True

    def remove(self, key: Hashable) -> None:
        """Drop the value, if there is one."""
        with self._lock:
            self._entries.pop(key, None)

    def remove_all(self, predicate: Callable[[Any], bool]) -> None:
        """Drop the values of all keys for which `predicate` returns True. It runs under the lock."""
        with self._lock:
            for key in [key for key in self._entries if is_true(predicate, key)]:
                del self._entries[key]

    def keys(self) -> list[Any]:
        """Return the keys that have not expired, the least recently used first."""
        with self._lock:
            now = self._clock.now()
            return [key for key, (_, expires) in self._entries.items() if now <= expires]

    def _check(self) -> None:
        with self._lock:
            assert len(self._entries) <= self._max_size

    def __repr__(self) -> str:
        return f"<LRUExpireCache {len(self._entries)}/{self._max_size}>"


def new_lru_expire_cache(max_size: int) -> LRUExpireCache:
    """Return an empty cache with the real clock. Raises ValueError if max_size < 1. Go: NewLRUExpireCache."""
    return new_lru_expire_cache_with_clock(max_size, RealClock())


def new_lru_expire_cache_with_clock(max_size: int, clock: PassiveClock) -> LRUExpireCache:
    """Return an empty cache. Raises ValueError if max_size < 1. Go: NewLRUExpireCacheWithClock."""
    return LRUExpireCache(max_size, clock)
