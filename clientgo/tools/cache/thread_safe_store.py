"""The store under all stores: a dict, its indexes, and one lock.

Mirrors tools/cache/thread_safe_store.go. The caller passes the key of each object; `new_store` adds a key function.

Differs from Go: a Lock replaces the RWMutex, since with the GIL readers do not run in parallel. The store copies the
indexers. Lists are in order of insertion. An object for which an index function raises is not stored; see
beyond/indexing.py.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from clientgo import features
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import Identified
from clientgo.golang.functions import require_function
from clientgo.golang.stop import is_crash
from clientgo.golang.strconv import parse_int
from clientgo.hops import hop
from clientgo.klog.exceptions import crash_error
from clientgo.tools.cache.beyond.indexing import IndexingError, checked_values, rebuilt, values_with_key
from clientgo.tools.cache.beyond.inspection import InspectableMap
from clientgo.tools.cache.fifo_metrics import InformerMetricsProvider, StoreMetrics, new_store_metrics
from clientgo.tools.cache.identity import InformerNameAndResource
from clientgo.tools.cache.store import Transaction, TransactionError, TransactionType
from clientgo.utils import trace
from clientgo.utils.clock import REAL_CLOCK, Clock

if TYPE_CHECKING:
    from clientgo.tools.cache.beyond.records import StoreStatistics
    from clientgo.tools.cache.beyond.storage import CacheStorage
    from clientgo.tools.cache.index import Indexers, IndexFunc, Indices


@runtime_checkable
class ThreadSafeStore(Protocol):
    """Thread-safe storage of objects by key, with indexes. Go: ThreadSafeStore.

    `get` and `list` return the stored objects themselves. Never change one: that is not thread-safe, and leaves the
    indexes stale.
    """

    def add(self, key: str, obj: Any, /) -> None:
        """Store `obj` under `key`; see `update`."""
        ...

    def update(self, key: str, obj: Any, /) -> None:
        """Store `obj` under `key`. Raises IndexingError, without a change, when an index function raises."""
        ...

    def delete(self, key: str, /) -> None:
        """Remove the object under `key`, if there is one. Prefer `delete_with_object`, which records its version."""
        ...

    def delete_with_object(self, key: str, obj: Any, /) -> None:
        """Remove the object under `key`, if there is one, and record the version of its final state `obj`."""
        ...

    def get(self, key: str, /) -> tuple[Any, bool]:
        """Return (the object under `key`, True), or (None, False)."""
        ...

    def list(self) -> builtins.list[Any]:
        """Return all objects, in a new list."""
        ...

    def list_keys(self) -> builtins.list[str]:
        """Return all keys, in a new list."""
        ...

    def replace(self, items: dict[str, Any], resource_version: str, /) -> None:
        """Replace the whole contents by `items`. The store keeps the dict: the caller must not use it afterwards.

        Raises TransactionError when some objects cannot be indexed. The others are stored, and the objects that had the
        keys of the failed ones stay.
        """
        ...

    def index(self, index_name: str, obj: Any, /) -> builtins.list[Any]:
        """See Indexer.index; likewise for the next methods."""
        ...

    def index_keys(self, index_name: str, indexed_value: str, /) -> builtins.list[str]:
        """See Indexer.index_keys."""
        ...

    def bookmark(self, rv: str, /) -> None:
        """Record that the store has seen all changes up to `rv`."""
        ...

    def last_store_sync_resource_version(self) -> str:
        """Return the version of the last write that had one, or of the last bookmark; "" with AtomicFIFO off."""
        ...

    def list_index_func_values(self, name: str, /) -> builtins.list[str]:
        """See Indexer.list_index_func_values."""
        ...

    def by_index(self, index_name: str, indexed_value: str, /) -> builtins.list[Any]:
        """See Indexer.by_index."""
        ...

    def get_indexers(self) -> Indexers:
        """See Indexer.get_indexers."""
        ...

    def add_indexers(self, new_indexers: Mapping[str, IndexFunc], /) -> None:
        """See Indexer.add_indexers."""
        ...

    def statistics(self) -> StoreStatistics:
        """Return the store's sizes. O(number of indexes). Beyond Go."""
        ...

    def resync(self) -> None:
        """Do nothing. Deprecated in Go."""
        ...


@runtime_checkable
class ThreadSafeStoreWithTransaction(ThreadSafeStore, Protocol):
    """A ThreadSafeStore that applies many writes at once. Go: ThreadSafeStoreWithTransaction."""

    def transaction(self, *txns: ThreadSafeStoreTransaction) -> None:
        """Apply `txns` in order with one acquisition of the lock. Raises TransactionError when some objects cannot be
        indexed; the others are stored."""
        ...


@dataclass(slots=True)
class ThreadSafeStoreTransaction(Transaction):
    """A Transaction and the key of its object. Go: ThreadSafeStoreTransaction."""

    key: str


class _StoreIndex:
    """The indexes of one store. Not thread-safe: the store's lock guards it. Go: storeIndex.

    Invariants:
      * the key of an object is in `indices[name][value]` exactly if `indexers[name]` returns `value` for the object;
      * no value without a key is kept, since many short-lived objects would leave many empty entries.
    """

    __slots__ = ("indexers", "indices")

    def __init__(self, indexers: Indexers, indices: Indices) -> None:
        for name, index_func in indexers.items():
            require_function(index_func, f"the index function {name!r}", "obj", may_yield=True)
        self.indexers = indexers
        self.indices = indices

    def get_keys_from_index(self, index_name: str, obj: Any) -> Mapping[str, None]:
        """Return the keys of the objects that share an indexed value with `obj`."""
        index_func = self._index_func(index_name)
        indexed_values = index_func(obj) or ()
        index = self.indices.get(index_name, {})
        if len(indexed_values) == 1:
            return index.get(indexed_values[0], {})
        # A key may be under several values, and must occur only once.
        return {key: None for value in indexed_values for key in index.get(value, ())}

    def get_keys_by_index(self, index_name: str, indexed_value: str) -> Mapping[str, None]:
        """Return the keys of the objects with that value."""
        self._index_func(index_name)
        return self.indices.get(index_name, {}).get(indexed_value, {})

    def get_index_values(self, index_name: str) -> list[str]:
        """Return all values of the index."""
        return list(self.indices.get(index_name, ()))

    def add_indexers(self, new_indexers: Mapping[str, IndexFunc], items: Mapping[str, Any]) -> None:
        """Add indexes of `items`; all of them or none."""
        conflicts = sorted(self.indexers.keys() & new_indexers.keys())
        if conflicts:
            raise ValueError(f"indexer conflict: map[{' '.join(f'{name}:{{}}' for name in conflicts)}]")
        added = _StoreIndex(dict(new_indexers), {})
        for key, obj in items.items():
            added.update_indices(None, obj, key)
        self.indexers.update(added.indexers)
        self.indices.update(added.indices)

    def update_indices(self, old_obj: Any, new_obj: Any, key: str) -> None:
        """Move `key` from the values of `old_obj` to those of `new_obj`, in every index; None stands for no object.

        Calls all index functions before the first change: if one raises, all indexes stay as they were. Raises
        IndexingError then, but never for a removal (`new_obj` None).
        """
        changed: list[tuple[str, Iterable[str], Sequence[str]]] = []
        for name, index_func in self.indexers.items():
            try:
                # Go's functions return nil for no values, so None is allowed.
                new_values = () if new_obj is None else index_func(new_obj) or ()
                try:
                    old_values = () if old_obj is None else index_func(old_obj) or ()
                except BaseException as err:
                    if not is_crash(err):
                        raise
                    old_values = values_with_key(self, name, key)  # it did not raise when the object was stored
                if old_values != new_values:  # they are mostly equal
                    changed.append((name, old_values, checked_values(new_values, index_func) if new_values else ()))
            except BaseException as err:
                if not is_crash(err):
                    raise
                failure = err if isinstance(err, Exception) else crash_error("the index function", err)
                raise IndexingError(key, name, failure) from failure
        for name, gone, new in changed:
            self.update_single_index(name, gone, new, key)

    def update_single_index(self, name: str, old_values: Iterable[str], new_values: Iterable[str], key: str) -> None:
        """Move `key` from the old values of one index to the new values, and remove a value without keys."""
        index = self.indices.get(name)
        if index is None:
            index = self.indices[name] = {}
        for value in old_values:
            keys = index.get(value)
            if keys is not None:
                keys.pop(key, None)
                if not keys:
                    del index[value]
        for value in new_values:
            index.setdefault(value, {})[key] = None

    def _index_func(self, index_name: str) -> IndexFunc:
        index_func = self.indexers.get(index_name)
        if index_func is None:
            raise LookupError(f"Index with name {index_name} does not exist")
        return index_func


class _ThreadSafeMap(InspectableMap):
    """The ThreadSafeStore. Go: threadSafeMap.

    As in Go, index functions run with the lock held: they must be fast and must not call the store.

    Invariant (`_check` asserts it): every index agrees with its function for the stored objects, and has no empty
    entry.
    """

    __slots__ = ("_clock", "_index", "_items", "_lock", "_metrics", "_rv")

    def __init__(self, indexers: Mapping[str, IndexFunc], indices: Indices) -> None:
        self._clock: Clock = REAL_CLOCK
        # Guards everything below.
        self._lock = threading.Lock()
        self._items: dict[str, Any] = {}
        self._index = _StoreIndex(dict(indexers), indices)
        self._rv = ""
        # None without a provider, so that a write has no extra cost.
        self._metrics: StoreMetrics | None = None

    def transaction(self, *txns: ThreadSafeStoreTransaction) -> None:
        """See ThreadSafeStoreWithTransaction.transaction. Records the version of the last object written."""
        self.apply([txn.key for txn in txns], txns)

    def apply(self, keys: Sequence[str], txns: Sequence[Transaction]) -> None:
        """See CacheStorage.apply."""
        if not txns:
            return
        rv = _rv_from_object(txns[-1].object)
        started = self._clock.now()
        with self._lock:
            failures: dict[int, IndexingError] = {}
            for i, (key, txn) in enumerate(zip(keys, txns)):
                if txn.type == _DELETE:
                    self._delete_locked(key)
                    continue
                try:
                    self._update_locked(key, txn.object)
                except IndexingError as err:
                    failures[i] = err
            if failures:
                done = [i for i in range(len(txns)) if i not in failures]
                rv = _rv_from_object(txns[done[-1]].object) if done else None
            if rv is not None:
                self._set_rv_locked(rv)
            if self._clock.since(started) >= min(0.5 * len(txns), 5.0):
                _log_slow_transaction(len(txns), started, self._clock)
        _raise_failures(failures, len(txns))

    def update(self, key: str, obj: Any) -> None:
        """See ThreadSafeStore.update."""
        rv = _rv_from_object(obj)
        with self._lock:
            self._update_locked(key, obj)
            if rv is not None:
                self._rv = rv
                if self._metrics is not None:
                    self._publish_rv_locked(rv)

    add = update  # as in Go, where it only calls update

    @hop("indexer.update", go="(*threadSafeMap).updateLocked")
    def _update_locked(self, key: str, obj: Any) -> None:
        self._index.update_indices(self._items.get(key), obj, key)
        self._items[key] = obj

    def delete(self, key: str) -> None:
        """See ThreadSafeStore.delete."""
        self.delete_with_object(key, None)

    def delete_with_object(self, key: str, obj: Any) -> None:
        """See ThreadSafeStore.delete_with_object."""
        rv = None if obj is None else _rv_from_object(obj)
        with self._lock:
            self._delete_locked(key)
            if rv is not None:
                self._set_rv_locked(rv)

    @hop("indexer.delete", go="(*threadSafeMap).deleteLocked")
    def _delete_locked(self, key: str) -> None:
        if key in self._items:
            self._index.update_indices(self._items[key], None, key)
            del self._items[key]

    def get(self, key: str) -> tuple[Any, bool]:
        """See ThreadSafeStore.get."""
        with self._lock:
            try:
                return self._items[key], True
            except KeyError:
                return None, False

    def list(self) -> builtins.list[Any]:
        """See ThreadSafeStore.list."""
        with self._lock:
            return [*self._items.values()]

    def list_keys(self) -> builtins.list[str]:
        """See ThreadSafeStore.list_keys."""
        with self._lock:
            return [*self._items]

    @hop("indexer.replace", go="(*threadSafeMap).Replace")
    def replace(self, items: dict[str, Any], resource_version: str) -> None:
        """See ThreadSafeStore.replace."""
        total = len(items)
        with self._lock:
            # Rebuild all indexes.
            self._index, failures = rebuilt(self._index, self._items, items)
            self._items = items
            self._set_rv_locked(resource_version)
        _raise_failures(failures, total)

    def index(self, index_name: str, obj: Any) -> builtins.list[Any]:
        """See Indexer.index."""
        with self._lock:
            items = self._items
            return [items[key] for key in self._index.get_keys_from_index(index_name, obj)]

    def last_store_sync_resource_version(self) -> str:
        """See ThreadSafeStore.last_store_sync_resource_version."""
        if not features.feature_gates().enabled(features.ATOMIC_FIFO):
            return ""
        with self._lock:
            return self._rv

    def bookmark(self, rv: str) -> None:
        """See ThreadSafeStore.bookmark."""
        with self._lock:
            self._set_rv_locked(rv)

    def by_index(self, index_name: str, indexed_value: str) -> builtins.list[Any]:
        """See Indexer.by_index."""
        with self._lock:
            items = self._items
            return [items[key] for key in self._index.get_keys_by_index(index_name, indexed_value)]

    def index_keys(self, index_name: str, indexed_value: str) -> builtins.list[str]:
        """See Indexer.index_keys."""
        with self._lock:
            return sorted(self._index.get_keys_by_index(index_name, indexed_value))

    def list_index_func_values(self, name: str) -> builtins.list[str]:
        """See Indexer.list_index_func_values."""
        with self._lock:
            return self._index.get_index_values(name)

    def get_indexers(self) -> Indexers:
        """See Indexer.get_indexers."""
        return self._index.indexers

    def add_indexers(self, new_indexers: Mapping[str, IndexFunc]) -> None:
        """See Indexer.add_indexers."""
        with self._lock:
            self._index.add_indexers(new_indexers, self._items)

    def resync(self) -> None:
        """Do nothing."""

    def _set_rv_locked(self, rv: str) -> None:
        self._rv = rv
        if self._metrics is not None:
            self._publish_rv_locked(rv)

    def _publish_rv_locked(self, rv: str) -> None:
        assert self._metrics is not None
        value = _parse_rv_for_metrics_with_truncation(rv)
        if value is not None:
            self._metrics.store_resource_version.set(float(value))

    def _check(self) -> None:
        with self._lock:
            indexers, indices = self._index.indexers, self._index.indices
            assert indices.keys() <= indexers.keys(), (indices.keys(), indexers.keys())
            for name, index_func in indexers.items():
                expected: dict[str, set[str]] = {}
                for key, obj in self._items.items():
                    for value in index_func(obj) or ():
                        expected.setdefault(value, set()).add(key)
                actual = {value: set(keys) for value, keys in indices.get(name, {}).items()}
                assert actual == expected, (name, actual, expected)

    def __repr__(self) -> str:
        names = ", ".join(self._index.indexers) or "none"
        return f"<ThreadSafeStore {len(self._items)} objects, indexes: {names}, resourceVersion {self._rv!r}>"


_DELETE = TransactionType.DELETE

ThreadSafeStoreOption = Callable[[_ThreadSafeMap], None]
"""Changes a ThreadSafeStore under construction. Go: ThreadSafeStoreOption."""


def with_thread_safe_store_metrics(
    identifier: InformerNameAndResource, metrics_provider: InformerMetricsProvider | None
) -> ThreadSafeStoreOption:
    """Publish the store's resourceVersion as a metric. Go: WithThreadSafeStoreMetrics."""

    def option(store: _ThreadSafeMap) -> None:
        store._metrics = new_store_metrics(identifier, metrics_provider)

    return option


def with_thread_safe_store_clock(clock: Clock) -> ThreadSafeStoreOption:
    """Measure with `clock` how long a transaction takes; a slow one is logged. Beyond Go."""

    def option(store: _ThreadSafeMap) -> None:
        store._clock = clock

    return option


def _raise_failures(failures: Mapping[int, IndexingError], total: int) -> None:
    """Raise a TransactionError if some of `total` objects, given by position, could not be indexed."""
    if failures:
        raise TransactionError([i for i in range(total) if i not in failures], total, [*failures.values()])


def _log_slow_transaction(size: int, started: float, clock: Clock) -> None:
    trace.new(
        "ThreadSafeMap Transaction Process",
        trace.Field("Size", size),
        trace.Field("Reason", "Slow batch process due to too many items"),
        clock=clock,
        start_time=started,
    ).log()


def _rv_from_object(obj: Any) -> str | None:
    """Return the object's resourceVersion; None for an object without metadata."""
    if isinstance(obj, Identified):
        return obj.get_resource_version()
    try:
        return str(meta.accessor(obj).get_resource_version())
    except Exception:
        return None


def new_thread_safe_store(
    indexers: Mapping[str, IndexFunc], indices: Indices, *opts: ThreadSafeStoreOption
) -> CacheStorage:
    """Return an empty ThreadSafeStore with the given indexes; `indices` is normally {}. Go: NewThreadSafeStore."""
    store = _ThreadSafeMap(indexers, indices)
    for opt in opts:
        opt(store)
    return store


def _parse_rv_for_metrics_with_truncation(rv: str) -> int | None:
    """Return the number in the last 15 digits, which a float holds exactly; 0 for "", None for anything else."""
    if not rv:
        return 0
    try:
        return parse_int(rv[-15:])
    except ValueError:
        return None
