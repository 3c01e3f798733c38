"""Fakes for tests of code that uses an ExpirationCache.

Mirrors tools/cache/expiration_cache_fakes.go.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from clientgo.golang.channel import Channel
from clientgo.tools.cache.expiration_cache import ExpirationCache, ExpirationPolicy, TimestampedEntry
from clientgo.tools.cache.index import Indices
from clientgo.tools.cache.store import KeyFunc, Store
from clientgo.tools.cache.thread_safe_store import _ThreadSafeMap
from clientgo.utils.clock import Clock


class _FakeThreadSafeMap(_ThreadSafeMap):
    """A store that sends the keys of expired objects to a channel; without a channel it does not delete them."""

    __slots__ = ("_deleted_keys",)

    def __init__(self, deleted_keys: Channel[str] | None) -> None:
        indices: Indices = {}
        super().__init__({}, indices)
        self._deleted_keys = deleted_keys

    def delete(self, key: str) -> None:
        """Delete the object and send its key. May block until another thread receives it."""
        if self._deleted_keys is not None:
            super().delete(key)
            self._deleted_keys.send(key)


@dataclass(slots=True)
class FakeExpirationPolicy:
    """A policy that expires all entries except those with a key in `never_expire`. Go: FakeExpirationPolicy."""

    never_expire: Collection[str]
    retrieve_key_func: KeyFunc

    def is_expired(self, obj: TimestampedEntry) -> bool:
        """Report whether the entry's key, from `retrieve_key_func`, is not in `never_expire`."""
        try:
            key = self.retrieve_key_func(obj)
        except Exception:
            key = ""
        return key not in self.never_expire


def new_fake_expiration_store(
    key_func: KeyFunc,
    deleted_keys: Channel[str] | None,
    expiration_policy: ExpirationPolicy,
    cache_clock: Clock,
) -> Store:
    """Return an empty ExpirationCache that sends expired keys to `deleted_keys`. Go: NewFakeExpirationStore."""
    return ExpirationCache(_FakeThreadSafeMap(deleted_keys), key_func, cache_clock, expiration_policy)
