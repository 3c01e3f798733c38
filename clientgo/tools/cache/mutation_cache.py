"""MutationCache, which keeps the results of a program's writes until its informer has them.

Mirrors tools/cache/mutation_cache.go. A controller that updates an object and processes it again may still read the old
version from its informer's store. A MutationCache in front of that store returns the newer of the two versions.

Differs from Go: the constructor takes a clock.
"""

from __future__ import annotations

import threading
from typing import Any, Protocol

from clientgo import klog
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import Object
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util.cache import LRUExpireCache, new_lru_expire_cache_with_clock
from clientgo.golang.strconv import quote
from clientgo.tools.cache.controller import deletion_handling_meta_namespace_key_func
from clientgo.tools.cache.index import Indexer
from clientgo.tools.cache.store import Store
from clientgo.utils.clock import PassiveClock, RealClock

# Number of objects kept. Above it the least recently used object is dropped.
_MAX_MUTATIONS = 100


class MutationCache(Protocol):
    """A view of a store that includes the results of the program's own writes. Thread-safe. Go: MutationCache."""

    def get_by_key(self, key: str, /) -> tuple[Any, bool]:
        """Return (the newer of the stored and the written object, True), or (None, False)."""
        ...

    def by_index(self, index_name: str, index_key: str, /) -> list[Any]:
        """Return the objects with that value, each in its newer version; see Indexer.by_index."""
        ...

    def mutation(self, obj: Any, /) -> None:
        """Keep `obj` as the result of a write."""
        ...


class ResourceVersionComparator(Protocol):
    """Compares two versions of an object. Go: ResourceVersionComparator."""

    def compare_resource_version(self, lhs: Object, rhs: Object, /) -> int:
        """Return -1, 0 or 1 if `lhs` is older than, equal to or newer than `rhs`."""
        ...


def new_integer_resource_version_mutation_cache(
    logger: klog.Logger,
    backing_cache: Store,
    indexer: Indexer | None,
    ttl: float,
    include_adds: bool,
    *,
    clock: PassiveClock | None = None,
) -> MutationCache:
    """Return a MutationCache for objects whose resourceVersion is a number that grows with each update.

    Only `by_index` needs `indexer`. A write is kept for `ttl` seconds. With `include_adds` the cache also returns
    written objects that the store does not have. Such an object may have been deleted meanwhile: the cache cannot
    distinguish an object that the informer has not seen yet from one that it has seen deleted. Go:
    NewIntegerResourceVersionMutationCache.
    """
    mutations = new_lru_expire_cache_with_clock(_MAX_MUTATIONS, clock or RealClock())
    return _MutationCache(logger, backing_cache, indexer, mutations, ttl, include_adds)


class _MutationCache:
    """The MutationCache. Go: mutationCache.

    It guarantees only a version that was valid at some time: a write may have been dropped, may be older than the
    stored object, or may be one of two writes that two threads reported at the same time.
    """

    def __init__(
        self,
        logger: klog.Logger,
        backing_cache: Store,
        indexer: Indexer | None,
        mutations: LRUExpireCache,
        ttl: float,
        include_adds: bool,
    ) -> None:
        self._logger = logger
        # Held for each whole operation, so that the compared objects do not change meanwhile.
        self._lock = threading.Lock()
        self._backing_cache = backing_cache
        self._indexer = indexer
        self._mutation_cache = mutations
        self._ttl = ttl
        self._include_adds = include_adds
        self._comparator: ResourceVersionComparator = _EtcdObjectVersioner()

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        """See MutationCache.get_by_key."""
        with self._lock:
            obj, exists = self._backing_cache.get_by_key(key)
            if not exists and self._include_adds:
                obj, exists = self._mutation_cache.get(key)
            if not exists:
                return None, False
            return self._newer_object_locked(key, obj), True

    def by_index(self, index_name: str, index_key: str) -> list[Any]:
        """See MutationCache.by_index. Raises LookupError without an indexer, or when the index does not exist."""
        with self._lock:
            if self._indexer is None:
                raise LookupError("no indexer has been provided to the mutation cache")
            keys = self._indexer.index_keys(index_name, index_key)
            found = [(key, *self._indexer.get_by_key(key)) for key in keys]
            objs = [self._newer_object_locked(key, obj) for key, obj, exists in found if exists]
            if self._include_adds:
                objs += self._added_locked(self._indexer, index_name, index_key, set(keys))
            return objs

    def _added_locked(self, indexer: Indexer, index_name: str, index_key: str, seen: set[str]) -> list[Any]:
        """Return the written objects with that value that the indexer does not have under it."""
        index_func = indexer.get_indexers()[index_name]
        added = []
        # In order from the least recently used: reading each of them once keeps their order.
        for key in self._mutation_cache.keys():  # noqa: SIM118 - not a dict
            obj, exists = self._mutation_cache.get(key)
            if not exists or key in seen:
                continue
            try:
                values = index_func(obj)
            except Exception as err:
                self._logger.v(4).info(
                    "Unable to calculate an index entry for mutation cache entry", key=key, err=err
                )
                continue
            if index_key in values:
                added.append(obj)
        return added

    def _newer_object_locked(self, key: str, backing: Any) -> Any:
        """Return the written object if it is newer than `backing`; drop it otherwise."""
        if not isinstance(backing, Object):
            return backing
        mutated, exists = self._mutation_cache.get(key)
        if not exists or not isinstance(mutated, Object):
            return backing
        if self._comparator.compare_resource_version(backing, mutated) >= 0:
            self._mutation_cache.remove(key)
            return backing
        return mutated

    def mutation(self, obj: Any) -> None:
        """See MutationCache.mutation. An object without a key is logged and ignored."""
        with self._lock:
            try:
                key = deletion_handling_meta_namespace_key_func(obj)
            except Exception as err:
                utilruntime.handle_error_with_logger(self._logger, err, "DeletionHandlingMetaNamespaceKeyFunc")
                return
            known, exists = self._mutation_cache.get(key)
            if (
                exists
                and isinstance(obj, Object)
                and isinstance(known, Object)
                and self._comparator.compare_resource_version(obj, known) < 0
            ):
                return
            self._mutation_cache.add(key, obj, self._ttl)

    def __repr__(self) -> str:
        return f"<MutationCache {self._mutation_cache!r} over {self._backing_cache!r}>"


class _EtcdObjectVersioner:
    """Compares resourceVersions as numbers. Go: etcdObjectVersioner."""

    def object_resource_version(self, obj: Object) -> int:
        """Return the version as a number; 0 for none. Raises ValueError for any other text."""
        version = str(meta.accessor(obj).get_resource_version())
        if not version:
            return 0
        if not (version.isascii() and version.isdigit()):
            raise ValueError(f"strconv.ParseUint: parsing {quote(version)}: invalid syntax")
        return int(version)

    def compare_resource_version(self, lhs: Object, rhs: Object) -> int:
        """See ResourceVersionComparator. Raises ValueError for an object whose version is not a number."""
        left, right = self.object_resource_version(lhs), self.object_resource_version(rhs)
        return (left > right) - (left < right)
