"""Stores whose entries expire.

Mirrors tools/cache/expiration_cache.go.

Differs from Go in that the constructors take a clock, which Go's tests put in from within the package.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from clientgo.tools.cache.store import KeyError, KeyFunc, Store
from clientgo.tools.cache.thread_safe_store import ThreadSafeStore, new_thread_safe_store
from clientgo.utils.clock import Clock, RealClock


class ExpirationCache:
    """A Store that stamps each entry with the time and drops those that have expired. Go: ExpirationCache.

    Nothing is dropped before somebody asks for it: `get`, `get_by_key` and `list` remove what has expired. That makes
    them slower than those of a plain store, since reading an entry takes the lock of the writers too.
    """

    def __init__(
        self, cache_storage: ThreadSafeStore, key_func: KeyFunc, clock: Clock, expiration_policy: ExpirationPolicy
    ) -> None:
        self._cache_storage = cache_storage
        self._key_func = key_func
        self._clock = clock
        self._expiration_policy = expiration_policy
        # Held from the decision that an entry has expired until it is gone, so that no new one is dropped in its place.
        self._expiration_lock = threading.Lock()

    def _get_or_expire(self, key: str) -> tuple[Any, bool]:
        with self._expiration_lock:
            entry, exists = self._cache_storage.get(key)
            if not exists:
                return None, False
            if self._expiration_policy.is_expired(entry):
                self._cache_storage.delete(key)
                return None, False
            return entry.obj, True

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        """(the object under `key`, True), or (None, False) when there is none or it has just expired."""
        return self._get_or_expire(key)

    def get(self, obj: Any) -> tuple[Any, bool]:
        """`get_by_key` for the key of `obj`. Raises KeyError when it has none."""
        return self._get_or_expire(self._key_of(obj))

    def list(self) -> builtins.list[Any]:
        """All objects that have not expired."""
        found = (self._get_or_expire(entry.key) for entry in self._cache_storage.list())
        return [obj for obj, exists in found if exists]

    def last_store_sync_resource_version(self) -> str:
        """See Store.last_store_sync_resource_version."""
        return self._cache_storage.last_store_sync_resource_version()

    def bookmark(self, rv: str) -> None:
        """See Store.bookmark."""
        self._cache_storage.bookmark(rv)

    def list_keys(self) -> builtins.list[str]:
        """All keys, also those of objects that have expired and nobody asked for since."""
        return self._cache_storage.list_keys()

    def add(self, obj: Any) -> None:
        """Put `obj` under its key, stamped with the time. Raises KeyError when it has none."""
        key = self._key_of(obj)
        with self._expiration_lock:
            self._cache_storage.add(key, TimestampedEntry(obj, self._clock.now(), key))

    def update(self, obj: Any) -> None:
        """The same as `add`."""
        self.add(obj)

    def delete(self, obj: Any) -> None:
        """See Store.delete."""
        key = self._key_of(obj)
        with self._expiration_lock:
            self._cache_storage.delete_with_object(key, obj)

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """See Store.replace; all are stamped with the same time."""
        now = self._clock.now()
        items: dict[str, Any] = {}
        for obj in objs:
            key = self._key_of(obj)
            items[key] = TimestampedEntry(obj, now, key)
        with self._expiration_lock:
            self._cache_storage.replace(items, resource_version)

    def resync(self) -> None:
        """Does nothing."""

    def _key_of(self, obj: Any) -> str:
        try:
            return self._key_func(obj)
        except Exception as err:
            raise KeyError(obj, err) from err

    def __repr__(self) -> str:
        return f"<ExpirationCache {self._expiration_policy!r} over {self._cache_storage!r}>"


class ExpirationPolicy(Protocol):
    """Says when an entry expires. Go: ExpirationPolicy."""

    def is_expired(self, obj: TimestampedEntry) -> bool:
        """Whether the entry has expired."""
        ...


@dataclass(slots=True)
class TTLPolicy:
    """An entry expires when it is older than `ttl` seconds; never, when `ttl` is not above 0. Go: TTLPolicy."""

    ttl: float
    clock: Clock

    def is_expired(self, obj: TimestampedEntry) -> bool:
        """Whether it is older, not merely as old."""
        return self.ttl > 0 and self.clock.since(obj.timestamp) > self.ttl


@dataclass(slots=True)
class TimestampedEntry:
    """What an ExpirationCache stores: an object, and when by the cache's clock it came. Go: TimestampedEntry."""

    obj: Any
    timestamp: float
    key: str = ""


def new_ttl_store(key_func: KeyFunc, ttl: float, *, clock: Clock | None = None) -> Store:
    """An empty ExpirationCache with a TTLPolicy of `ttl` seconds. Go: NewTTLStore."""
    clock = clock or RealClock()
    return new_expiration_store(key_func, TTLPolicy(ttl, clock), clock=clock)


def new_expiration_store(
    key_func: KeyFunc, expiration_policy: ExpirationPolicy, *, clock: Clock | None = None
) -> Store:
    """An empty ExpirationCache. Go: NewExpirationStore."""
    return ExpirationCache(new_thread_safe_store({}, {}), key_func, clock or RealClock(), expiration_policy)
