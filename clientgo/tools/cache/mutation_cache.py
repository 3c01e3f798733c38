"""MutationCache, which remembers what one has just written until the informer has seen it.

Mirrors tools/cache/mutation_cache.go. A controller that updates an object and is called for it again may still find the
old version in its informer's store; layered over that store, a MutationCache gives the newer of the two.

Differs from Go in that the constructor takes a clock.
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

# How many objects are remembered; beyond that the one not looked at for longest is forgotten.
_MAX_MUTATIONS = 100


class MutationCache(Protocol):
    """A view on a store that knows the results of one's own writes; safe to use from any thread. Go: MutationCache."""

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        """(the newer of what the store has and what was written, True), or (None, False)."""
        ...

    def by_index(self, index_name: str, index_key: str) -> list[Any]:
        """The newer ones of the objects with that value in that index; see Indexer.by_index."""
        ...

    def mutation(self, obj: Any) -> None:
        """Remember `obj` as the result of a write."""
        ...


class ResourceVersionComparator(Protocol):
    """Can tell which of two versions of an object is newer. Go: ResourceVersionComparator."""

    def compare_resource_version(self, lhs: Object, rhs: Object) -> int:
        """-1, 0 or 1 as `lhs` is older than, as old as or newer than `rhs`."""
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
    """A MutationCache for objects whose resourceVersion is a number that grows with each update.

    `indexer` is only needed for `by_index`. A write is remembered for `ttl` seconds. With `include_adds` objects are
    returned that the store does not have, which is only good for a caller that can live with objects that were deleted
    meanwhile: created and not seen yet is not to be told from seen and deleted.
    Go: NewIntegerResourceVersionMutationCache.
    """
    mutations = new_lru_expire_cache_with_clock(_MAX_MUTATIONS, clock or RealClock())
    return _MutationCache(logger, backing_cache, indexer, mutations, ttl, include_adds)


class _MutationCache:
    """The MutationCache. Go: mutationCache.

    It promises no more than a version that was valid at some time: a write may have been forgotten, be older than what
    the store has, or be one of two that were reported by two threads at once.
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
        # Held over every operation as a whole, so that what a reader compares stays what it is.
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
        """See MutationCache.by_index. Raises LookupError without an indexer, or when it has no such index."""
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
        """The written objects with that value that the indexer does not have under it."""
        index_func = indexer.get_indexers()[index_name]
        added = []
        # From the least recently used on: looking at each of them once leaves their order as it is.
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
        """What was written under `key` if it is newer than `backing`; forgets it otherwise."""
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
        """See MutationCache.mutation. An object without a key is logged and forgotten."""
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
    """Knows that a resourceVersion is a number. Go: etcdObjectVersioner."""

    def object_resource_version(self, obj: Object) -> int:
        """The number, 0 when there is none. Raises ValueError for any other text."""
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
