"""Stores whose entries expire.

Mirrors tools/cache/expiration_cache.go.

Differs from Go: the constructors take a clock. Go's tests set it inside the package.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from clientgo.klog.answers import is_true
from clientgo.tools.cache.store import KeyError as CacheKeyError
from clientgo.tools.cache.store import KeyFunc, Store, checked_key_func
from clientgo.tools.cache.thread_safe_store import ThreadSafeStore, new_thread_safe_store
from clientgo.utils.clock import Clock, RealClock


class ExpirationCache:
    """A Store that records the time of each entry and drops expired entries. Go: ExpirationCache.

    `get`, `get_by_key` and `list` drop the expired entries that they read; there is no other cleanup. They are slower
    than those of a plain store, because a read takes the writers' lock too.
    """

    def __init__(
        self, cache_storage: ThreadSafeStore, key_func: KeyFunc, clock: Clock, expiration_policy: ExpirationPolicy
    ) -> None:
        self._cache_storage = cache_storage
        self._key_func = checked_key_func(key_func)
        self._clock = clock
        self._expiration_policy = expiration_policy
        # Held from the check of an entry until its removal, so that a new entry is not dropped in its place.
        self._expiration_lock = threading.Lock()

    def _get_or_expire(self, key: str) -> tuple[Any, bool]:
        with self._expiration_lock:
            entry, exists = self._cache_storage.get(key)
            if not exists:
                return None, False
            if is_true(self._expiration_policy.is_expired, entry):
                self._cache_storage.delete(key)
                return None, False
            return entry.obj, True

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        """Return (the object under `key`, True), or (None, False) if there is none or it has expired."""
        return self._get_or_expire(key)

    def get(self, obj: Any) -> tuple[Any, bool]:
        """Call `get_by_key` with the key of `obj`. Raises KeyError when it has none."""
        return self._get_or_expire(self._key_of(obj))

    def list(self) -> builtins.list[Any]:
        """Return all objects that have not expired."""
        found = (self._get_or_expire(entry.key) for entry in self._cache_storage.list())
        return [obj for obj, exists in found if exists]

    def last_store_sync_resource_version(self) -> str:
        """See Store.last_store_sync_resource_version."""
        return self._cache_storage.last_store_sync_resource_version()

    def bookmark(self, rv: str) -> None:
        """See Store.bookmark."""
        self._cache_storage.bookmark(rv)

    def list_keys(self) -> builtins.list[str]:
        """Return all keys. The key of an expired object remains until the object is read."""
        return self._cache_storage.list_keys()

    def add(self, obj: Any) -> None:
        """Store `obj` under its key, with the time. Raises KeyError when it has none."""
        key = self._key_of(obj)
        with self._expiration_lock:
            self._cache_storage.add(key, TimestampedEntry(obj, self._clock.now(), key))

    def update(self, obj: Any) -> None:
        """Store `obj`; see `add`."""
        self.add(obj)

    def delete(self, obj: Any) -> None:
        """See Store.delete."""
        key = self._key_of(obj)
        with self._expiration_lock:
            self._cache_storage.delete_with_object(key, obj)

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """See Store.replace. All entries get the same time."""
        now = self._clock.now()
        items: dict[str, Any] = {}
        for obj in objs:
            key = self._key_of(obj)
            items[key] = TimestampedEntry(obj, now, key)
        with self._expiration_lock:
            self._cache_storage.replace(items, resource_version)

    def resync(self) -> None:
        """Do nothing."""

    def _key_of(self, obj: Any) -> str:
        try:
            return self._key_func(obj)
        except Exception as err:
            raise CacheKeyError(obj, err) from err

    def __repr__(self) -> str:
        return f"<ExpirationCache {self._expiration_policy!r} over {self._cache_storage!r}>"


class ExpirationPolicy(Protocol):
    """Determines when an entry expires. Go: ExpirationPolicy."""

    def is_expired(self, obj: TimestampedEntry, /) -> bool:
        """Report whether the entry has expired."""
        ...


@dataclass(slots=True)
class TTLPolicy:
    """A policy that expires entries older than `ttl` seconds, and no entry if `ttl` is not positive. Go: TTLPolicy."""

    ttl: float
    clock: Clock

    def is_expired(self, obj: TimestampedEntry) -> bool:
        """Report whether the entry is older than `ttl`."""
        return self.ttl > 0 and self.clock.since(obj.timestamp) > self.ttl


@dataclass(slots=True)
class TimestampedEntry:
    """An entry of an ExpirationCache: an object and the time at which it was stored. Go: TimestampedEntry."""

    obj: Any
    timestamp: float
    key: str = ""


def new_ttl_store(key_func: KeyFunc, ttl: float, *, clock: Clock | None = None) -> Store:
    """Return an empty ExpirationCache with a TTLPolicy of `ttl` seconds. Go: NewTTLStore."""
    clock = clock or RealClock()
    return new_expiration_store(key_func, TTLPolicy(ttl, clock), clock=clock)


def new_expiration_store(
    key_func: KeyFunc, expiration_policy: ExpirationPolicy, *, clock: Clock | None = None
) -> Store:
    """Return an empty ExpirationCache. Go: NewExpirationStore."""
    return ExpirationCache(new_thread_safe_store({}, {}), key_func, clock or RealClock(), expiration_policy)
