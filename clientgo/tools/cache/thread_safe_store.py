"""The store under all stores: a dict, its indexes, and one lock.

Mirrors tools/cache/thread_safe_store.go. It is told the key of each object; `new_store` and `new_indexer` put a key
function in front of it.

Differs from Go in that one Lock stands in for the RWMutex (under the interpreter lock readers do not run side by side
anyway), that the store keeps its own copy of the indexers it is given, and that lists come in a defined order: the
order in which keys were first inserted.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from clientgo import features
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import ResourceObject
from clientgo.apimachinery.util.strconv import parse_int, quote
from clientgo.tools.cache.fifo_metrics import InformerMetricsProvider, _new_store_metrics, _StoreMetrics
from clientgo.tools.cache.identity import InformerNameAndResource
from clientgo.tools.cache.index import Indexers, IndexFunc, Indices, _Index
from clientgo.tools.cache.store import Transaction, TransactionType
from clientgo.utils import clock, trace


@runtime_checkable
class ThreadSafeStore(Protocol):
    """Indexed storage by key for any number of threads (Go: ThreadSafeStore).

    Objects are handed out as they were put in. Changing one in place is not thread-safe and leaves the indexes stale:
    never change what `get` or `list` returned.
    """

    def add(self, key: str, obj: Any) -> None:
        """The same as `update`."""

    def update(self, key: str, obj: Any) -> None:
        """Put `obj` under `key`, in place of what is there. Raises RuntimeError when an index function fails."""

    def delete(self, key: str) -> None:
        """Remove what stands under `key`, if anything does; prefer `delete_with_object`, which notes its version."""

    def delete_with_object(self, key: str, obj: Any) -> None:
        """Remove what stands under `key`, if anything does; `obj` is its final state, with the version to note."""

    def get(self, key: str) -> tuple[Any, bool]:
        """(the object under `key`, True), or (None, False)."""

    def list(self) -> builtins.list[Any]:
        """All objects, in a new list."""

    def list_keys(self) -> builtins.list[str]:
        """All keys, in a new list."""

    def replace(self, items: dict[str, Any], resource_version: str) -> None:
        """Make `items` the whole content. The store takes over the dict: do not use it afterwards."""

    def index(self, index_name: str, obj: Any) -> builtins.list[Any]:
        """See Indexer.index; `index_keys`, `by_index` and so on likewise."""

    def index_keys(self, index_name: str, indexed_value: str) -> builtins.list[str]:
        """See Indexer.index_keys."""

    def bookmark(self, rv: str) -> None:
        """Note that everything up to `rv` has been seen."""

    def last_store_sync_resource_version(self) -> str:
        """The resourceVersion of the last write that had one, or of the last bookmark; "" with AtomicFIFO off."""

    def list_index_func_values(self, name: str) -> builtins.list[str]:
        """See Indexer.list_index_func_values."""

    def by_index(self, index_name: str, indexed_value: str) -> builtins.list[Any]:
        """See Indexer.by_index."""

    def get_indexers(self) -> Indexers:
        """See Indexer.get_indexers."""

    def add_indexers(self, new_indexers: Mapping[str, IndexFunc]) -> None:
        """See Indexer.add_indexers."""

    def resync(self) -> None:
        """Does nothing; deprecated in Go."""


@runtime_checkable
class ThreadSafeStoreWithTransaction(ThreadSafeStore, Protocol):
    """A ThreadSafeStore that can apply many writes at once (Go: ThreadSafeStoreWithTransaction)."""

    def transaction(self, *txns: ThreadSafeStoreTransaction) -> None:
        """Apply `txns` in order under one acquisition of the lock."""


@dataclass(slots=True)
class ThreadSafeStoreTransaction(Transaction):
    """A Transaction and the key of its object (Go: ThreadSafeStoreTransaction)."""

    key: str


class _StoreIndex:
    """The indexes of one store; not thread-safe, the store's lock guards it (Go: storeIndex).

    Invariants:
      * an object stands under `indices[name][value]` exactly if `value` is among what `indexers[name]` gives for it
      * no value without an object is kept: many short-lived objects would leave as many empty entries behind
    """

    __slots__ = ("indexers", "indices")

    def __init__(self, indexers: Indexers, indices: Indices) -> None:
        self.indexers = indexers
        self.indices = indices

    def reset(self) -> None:
        """Forget all keys; the indexers stay."""
        self.indices = {}

    def get_keys_from_index(self, index_name: str, obj: Any) -> Mapping[str, None]:
        """The keys of the objects that share an indexed value with `obj`."""
        index_func = self._index_func(index_name)
        indexed_values = index_func(obj) or ()
        index = self.indices.get(index_name, {})
        if len(indexed_values) == 1:
            return index.get(indexed_values[0], {})
        # An object may stand under several of the values, and shall come only once.
        return {key: None for value in indexed_values for key in index.get(value, ())}

    def get_keys_by_index(self, index_name: str, indexed_value: str) -> Mapping[str, None]:
        """The keys of the objects with that value."""
        self._index_func(index_name)
        return self.indices.get(index_name, {}).get(indexed_value, {})

    def get_index_values(self, index_name: str) -> list[str]:
        """All values some object has."""
        return list(self.indices.get(index_name, ()))

    def add_indexers(self, new_indexers: Mapping[str, IndexFunc]) -> None:
        """Take the new ones over, all or none."""
        conflicts = sorted(self.indexers.keys() & new_indexers.keys())
        if conflicts:
            raise ValueError(f"indexer conflict: map[{' '.join(f'{name}:{{}}' for name in conflicts)}]")
        self.indexers.update(new_indexers)

    def update_single_index(self, name: str, index_func: IndexFunc, old_obj: Any, new_obj: Any, key: str) -> None:
        """Move `key` from the values of `old_obj` to those of `new_obj`; None stands for no object.

        Both objects are asked for their values before anything moves: an index function that fails leaves this index
        as it was.
        """
        try:
            # None is what Go's functions return for no values.
            old_values = () if old_obj is None else index_func(old_obj) or ()
            new_values = () if new_obj is None else index_func(new_obj) or ()
            if type(new_values) is str:
                raise TypeError("the index function returns a string, not a list of strings")
        except Exception as err:
            raise RuntimeError(
                f"unable to calculate an index entry for key {quote(key)} on index {quote(name)}: {err}"
            ) from err
        if old_values == new_values:
            return  # by far the most frequent case
        index = self.indices.get(name)
        if index is None:
            index = self.indices[name] = {}
        for value in old_values:
            self.delete_key_from_index(key, value, index)
        for value in new_values:
            self.add_key_to_index(key, value, index)

    def update_indices(self, old_obj: Any, new_obj: Any, key: str) -> None:
        """`update_single_index` for every index."""
        for name, index_func in self.indexers.items():
            self.update_single_index(name, index_func, old_obj, new_obj, key)

    def add_key_to_index(self, key: str, indexed_value: str, index: _Index) -> None:
        """Note `key` under the value."""
        keys = index.get(indexed_value)
        if keys is None:
            keys = index[indexed_value] = {}
        keys[key] = None

    def delete_key_from_index(self, key: str, indexed_value: str, index: _Index) -> None:
        """Forget `key` under the value, and the value with its last key."""
        keys = index.get(indexed_value)
        if keys is None:
            return
        keys.pop(key, None)
        if not keys:
            del index[indexed_value]

    def _index_func(self, index_name: str) -> IndexFunc:
        index_func = self.indexers.get(index_name)
        if index_func is None:
            raise LookupError(f"Index with name {index_name} does not exist")
        return index_func


class _ThreadSafeMap:
    """The ThreadSafeStore (Go: threadSafeMap).

    Index functions run under the lock, as in Go: they must be fast and must not come back to the store.

    An index function that fails during a write does so after the object was stored; its resourceVersion is not noted
    then, and the indexes not yet reached do not know the object.

    Invariants (`_check` asserts them):
      * every index agrees with what its function gives for the stored objects, and has no empty entry
    """

    __slots__ = ("_index", "_items", "_lock", "_metrics", "_rv")

    def __init__(self, indexers: Mapping[str, IndexFunc], indices: Indices) -> None:
        # Guards everything below.
        self._lock = threading.Lock()
        self._items: dict[str, Any] = {}
        self._index = _StoreIndex(dict(indexers), indices)
        self._rv = ""
        # None when there is nobody to publish to, which spares every write the trouble.
        self._metrics: _StoreMetrics | None = None

    def transaction(self, *txns: ThreadSafeStoreTransaction) -> None:
        """See ThreadSafeStoreWithTransaction.transaction; the version noted is that of the last object."""
        if not txns:
            return
        rv = _rv_from_object(txns[-1].object)
        started = _CLOCK.now()
        with self._lock:
            try:
                for txn in txns:
                    if txn.type == _DELETE:
                        self._delete_locked(txn.key)
                    else:
                        self._update_locked(txn.key, txn.object)
                if rv is not None:
                    self._set_rv_locked(rv)
            finally:
                if _CLOCK.now() - started >= min(0.5 * len(txns), 5.0):
                    _log_slow_transaction(len(txns), started)

    def add(self, key: str, obj: Any) -> None:
        """See ThreadSafeStore.add."""
        self.update(key, obj)

    def update(self, key: str, obj: Any) -> None:
        """See ThreadSafeStore.update."""
        rv = _rv_from_object(obj)
        with self._lock:
            self._update_locked(key, obj)
            if rv is not None:
                self._set_rv_locked(rv)

    def _update_locked(self, key: str, obj: Any) -> None:
        old_obj = self._items.get(key)
        self._items[key] = obj
        self._index.update_indices(old_obj, obj, key)

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

    def replace(self, items: dict[str, Any], resource_version: str) -> None:
        """See ThreadSafeStore.replace."""
        with self._lock:
            self._items = items
            self._set_rv_locked(resource_version)
            self._index.reset()
            if self._index.indexers:
                for key, obj in items.items():
                    self._index.update_indices(None, obj, key)

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
            self._index.add_indexers(new_indexers)
            for key, obj in self._items.items():
                for name, index_func in new_indexers.items():
                    self._index.update_single_index(name, index_func, None, obj, key)

    def resync(self) -> None:
        """Does nothing."""

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

_CLOCK = clock.RealClock()

ThreadSafeStoreOption = Callable[[_ThreadSafeMap], None]
"""Changes a ThreadSafeStore under construction (Go: ThreadSafeStoreOption)."""


def with_thread_safe_store_metrics(
    identifier: InformerNameAndResource, metrics_provider: InformerMetricsProvider | None
) -> ThreadSafeStoreOption:
    """Publish the store's resourceVersion as a metric (Go: WithThreadSafeStoreMetrics)."""

    def option(store: _ThreadSafeMap) -> None:
        store._metrics = _new_store_metrics(identifier, metrics_provider)

    return option


def _log_slow_transaction(size: int, started: float) -> None:
    trace.new(
        "ThreadSafeMap Transaction Process",
        trace.Field("Size", size),
        trace.Field("Reason", "Slow batch process due to too many items"),
        start_time=started,
    ).log()


def _rv_from_object(obj: Any) -> str | None:
    """The object's resourceVersion, None when it has no metadata."""
    if isinstance(obj, ResourceObject):
        return obj.get_resource_version()
    try:
        return str(meta.accessor(obj).get_resource_version())
    except Exception:
        return None


def new_thread_safe_store(
    indexers: Mapping[str, IndexFunc], indices: Indices, *opts: ThreadSafeStoreOption
) -> ThreadSafeStore:
    """An empty ThreadSafeStore with the given indexes; `indices` is ordinarily {}. Go: NewThreadSafeStore."""
    store = _ThreadSafeMap(indexers, indices)
    for opt in opts:
        opt(store)
    return store


def _parse_rv_for_metrics_with_truncation(rv: str) -> int | None:
    """The number in the last 15 digits, which a float holds exactly; 0 for "", None for what is no number."""
    if not rv:
        return 0
    try:
        return parse_int(rv[-15:])
    except ValueError:
        return None
