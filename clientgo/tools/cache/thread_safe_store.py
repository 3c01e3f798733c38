"""The store under all stores: a dict, its indexes, and one lock.

Mirrors tools/cache/thread_safe_store.go. Callers pass the key of each object; `new_store` adds a key function.
Differs from Go: a Lock takes the place of the RWMutex (under the interpreter lock readers do not run side by side
anyway), the store keeps its own copy of the indexers, and lists are in order of insertion.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from clientgo import features, klog
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import Identified
from clientgo.golang.strconv import parse_int, quote
from clientgo.hops import hop
from clientgo.tools.cache import inspection
from clientgo.tools.cache.fifo_metrics import InformerMetricsProvider, StoreMetrics, new_store_metrics
from clientgo.tools.cache.identity import InformerNameAndResource
from clientgo.tools.cache.store import Transaction, TransactionError, TransactionType
from clientgo.utils import trace
from clientgo.utils.clock import REAL_CLOCK, Clock
from clientgo.utils.snapshot import in_one_go

if TYPE_CHECKING:
    from clientgo.tools.cache.index import Indexers, IndexFunc, Indices


@runtime_checkable
class ThreadSafeStore(Protocol):
    """Indexed storage by key for any number of threads. Go: ThreadSafeStore.

    Objects are handed out as they were put in. Changing one in place is not thread-safe and leaves the indexes stale:
    never change what `get` or `list` returned.
    """

    def add(self, key: str, obj: Any) -> None:
        """The same as `update`."""
        ...

    def update(self, key: str, obj: Any) -> None:
        """Put `obj` under `key`, new or again. Raises IndexingError, changing nothing, when an index function fails."""
        ...

    def delete(self, key: str) -> None:
        """Remove what stands under `key`, if anything does; prefer `delete_with_object`, which notes its version."""
        ...

    def delete_with_object(self, key: str, obj: Any) -> None:
        """Remove what stands under `key`, if anything does; `obj` is its final state, with the version to note."""
        ...

    def get(self, key: str) -> tuple[Any, bool]:
        """(the object under `key`, True), or (None, False)."""
        ...

    def list(self) -> builtins.list[Any]:
        """All objects, in a new list."""
        ...

    def list_keys(self) -> builtins.list[str]:
        """All keys, in a new list."""
        ...

    def replace(self, items: dict[str, Any], resource_version: str) -> None:
        """Make `items` the whole content. The store takes over the dict: do not use it afterwards.

        Raises TransactionError when some cannot be indexed; the others are the content then, and with them what stands
        under the keys of those.
        """
        ...

    def index(self, index_name: str, obj: Any) -> builtins.list[Any]:
        """See Indexer.index; `index_keys`, `by_index` and so on likewise."""
        ...

    def index_keys(self, index_name: str, indexed_value: str) -> builtins.list[str]:
        """See Indexer.index_keys."""
        ...

    def bookmark(self, rv: str) -> None:
        """Note that everything up to `rv` has been seen."""
        ...

    def last_store_sync_resource_version(self) -> str:
        """The resourceVersion of the last write that had one, or of the last bookmark; "" with AtomicFIFO off."""
        ...

    def list_index_func_values(self, name: str) -> builtins.list[str]:
        """See Indexer.list_index_func_values."""
        ...

    def by_index(self, index_name: str, indexed_value: str) -> builtins.list[Any]:
        """See Indexer.by_index."""
        ...

    def get_indexers(self) -> Indexers:
        """See Indexer.get_indexers."""
        ...

    def add_indexers(self, new_indexers: Mapping[str, IndexFunc]) -> None:
        """See Indexer.add_indexers."""
        ...

    def statistics(self) -> inspection.StoreStatistics:
        """How much it holds. O(number of indexes). Beyond Go."""
        ...

    def resync(self) -> None:
        """Does nothing; deprecated in Go."""
        ...


@runtime_checkable
class ThreadSafeStoreWithTransaction(ThreadSafeStore, Protocol):
    """A ThreadSafeStore that can apply many writes at once. Go: ThreadSafeStoreWithTransaction."""

    def transaction(self, *txns: ThreadSafeStoreTransaction) -> None:
        """Apply `txns` in order under one acquisition of the lock. Raises TransactionError when some cannot be indexed;
        all the others are applied."""
        ...


class CacheStorage(ThreadSafeStoreWithTransaction, Protocol):
    """What `new_store` and `new_indexer` put their key functions in front of. Beyond Go."""

    def apply(self, keys: Sequence[str], txns: Sequence[Transaction]) -> None:
        """`transaction`, with the keys apart."""
        ...

    def get_all(self, keys: Iterable[str]) -> builtins.list[Any]:
        """What stands under each of `keys`, None for nothing, under one acquisition of the lock."""
        ...

    def size(self) -> int:
        """How many objects it holds. Takes no lock, as `contents`."""
        ...

    def contents(self, most: int = sys.maxsize) -> inspection.StoreContents:
        """What it holds; or at most so many objects, values of each index and keys under each value. O(that).

        Takes no lock, so that one can look at a store that is stuck.
        """
        ...


class IndexingError(RuntimeError):
    """An index function failed for the object `key`, which was not stored for that reason. Beyond Go, which panics."""

    def __init__(self, key: str, index_name: str, err: Exception) -> None:
        why = klog.cause_text(err)
        super().__init__(f"unable to calculate an index entry for key {quote(key)} on index {quote(index_name)}: {why}")
        self.key = key
        self.index_name = index_name


@dataclass(slots=True)
class ThreadSafeStoreTransaction(Transaction):
    """A Transaction and the key of its object. Go: ThreadSafeStoreTransaction."""

    key: str


class _StoreIndex:
    """The indexes of one store; not thread-safe, the store's lock guards it. Go: storeIndex.

    Invariants:
      * an object stands under `indices[name][value]` exactly if `value` is among what `indexers[name]` gives for it
      * no value without an object is kept: many short-lived objects would leave as many empty entries behind
    """

    __slots__ = ("indexers", "indices")

    def __init__(self, indexers: Indexers, indices: Indices) -> None:
        self.indexers = indexers
        self.indices = indices

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

    def add_indexers(self, new_indexers: Mapping[str, IndexFunc], items: Mapping[str, Any]) -> None:
        """Take the new ones over, with what they say of `items`; all or none."""
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

        Every index function is asked before anything moves: one that fails leaves all indexes as they were. Raises
        IndexingError then. Taking an object out (`new_obj` None) never fails.
        """
        changed: list[tuple[str, Iterable[str], Sequence[str]]] = []
        for name, index_func in self.indexers.items():
            try:
                # None is what Go's functions return for no values.
                new_values = () if new_obj is None else index_func(new_obj) or ()
                try:
                    old_values = () if old_obj is None else index_func(old_obj) or ()
                except Exception:
                    old_values = self.values_with(key, name)  # it did not fail when the object was stored
                if old_values != new_values:  # by far they are mostly the same
                    changed.append((name, old_values, _checked(new_values) if new_values else ()))
            except Exception as err:
                raise IndexingError(key, name, err) from err
        for name, gone, new in changed:
            self.update_single_index(name, gone, new, key)

    def index_all(self, items: Mapping[str, Any]) -> None:
        """Index `items`, as long as nothing is indexed. Raises at the first that cannot be, without saying which."""
        for name, index_func in self.indexers.items():
            index = self.indices[name] = {}
            for key, obj in items.items():
                values = index_func(obj) or ()
                if isinstance(values, str):
                    raise TypeError
                for value in values:
                    index.setdefault(value, {})[key] = None
            if not all(isinstance(value, str) for value in index):
                raise TypeError

    def values_with(self, key: str, name: str) -> list[str]:
        """Under which values of one index `key` stands: for an object whose index function fails now. O(values)."""
        return [value for value, keys in self.indices.get(name, {}).items() if key in keys]

    def copy_key(self, key: str, obj: Any, other: _StoreIndex) -> None:
        """Put `key`, under which `obj` stands, where it is in `other`."""
        for name, index_func in self.indexers.items():
            try:
                values = index_func(obj) or ()
            except Exception:
                values = other.values_with(key, name)
            self.update_single_index(name, (), values, key)

    def update_single_index(self, name: str, old_values: Iterable[str], new_values: Iterable[str], key: str) -> None:
        """Move `key` from the old values of one index to the new ones; a value goes with its last key."""
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


class _ThreadSafeMap:
    """The ThreadSafeStore. Go: threadSafeMap.

    Index functions run under the lock, as in Go: they must be fast and must not come back to the store.

    What cannot be indexed is not stored: the write raises IndexingError with its key, what stood there stays, and the
    other objects of the same call are written all the same. In Go it is stored, and then the index function's error is
    a panic.

    Invariants (`_check` asserts them):
      * every index agrees with what its function gives for the stored objects, and has no empty entry
    """

    __slots__ = ("_clock", "_index", "_items", "_lock", "_metrics", "_rv")

    def __init__(self, indexers: Mapping[str, IndexFunc], indices: Indices) -> None:
        self._clock: Clock = REAL_CLOCK
        # Guards everything below.
        self._lock = threading.Lock()
        self._items: dict[str, Any] = {}
        self._index = _StoreIndex(dict(indexers), indices)
        self._rv = ""
        # None without a provider, so that a write costs nothing more.
        self._metrics: StoreMetrics | None = None

    def transaction(self, *txns: ThreadSafeStoreTransaction) -> None:
        """See ThreadSafeStoreWithTransaction.transaction; the version noted is that of the last object written."""
        self.apply([txn.key for txn in txns], txns)

    def apply(self, keys: Sequence[str], txns: Sequence[Transaction]) -> None:
        """See CacheStorage.apply."""
        if not txns:
            return
        rv = _rv_from_object(txns[-1].object)
        started = self._clock.now()
        with self._lock:
            failures: dict[int, Exception] = {}
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
        if failures:
            raise TransactionError(done, len(txns), [*failures.values()])

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

    def get_all(self, keys: Iterable[str]) -> builtins.list[Any]:
        """See CacheStorage.get_all."""
        with self._lock:
            return [*map(self._items.get, keys)]

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
            failures = self._index_anew_locked(items) if self._index.indexers else {}
            self._items = items
            self._set_rv_locked(resource_version)
        if failures:
            raise TransactionError([i for i in range(total) if i not in failures], total, [*failures.values()])

    def _index_anew_locked(self, items: dict[str, Any]) -> dict[int, IndexingError]:
        """Index `items` in place of what there was; the failures by position.

        What cannot be indexed leaves its place in `items` to what stands under its key until now, if anything.
        """
        old_items, old_index = self._items, self._index
        self._index = _StoreIndex(old_index.indexers, {})
        try:
            self._index.index_all(items)
            return {}
        except Exception:  # begin again, one object after the other
            self._index = _StoreIndex(old_index.indexers, {})
        failures: dict[int, IndexingError] = {}
        for i, (key, obj) in enumerate(items.items()):
            try:
                self._index.update_indices(None, obj, key)
            except IndexingError as err:
                failures[i] = err
        for failure in failures.values():
            key = failure.key
            if key in old_items:
                items[key] = old_items[key]
                self._index.copy_key(key, items[key], old_index)
            else:
                del items[key]
        return failures

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
        """Does nothing."""

    def statistics(self) -> inspection.StoreStatistics:
        """See ThreadSafeStore.statistics."""
        with self._lock:
            indexes = {name: len(self._index.indices.get(name, ())) for name in self._index.indexers}
            return inspection.StoreStatistics(len(self._items), indexes, self._rv)

    def size(self) -> int:
        """See CacheStorage.size."""
        return len(self._items)

    def contents(self, most: int = sys.maxsize) -> inspection.StoreContents:
        """See CacheStorage.contents."""
        of = inspection.StoreContents.of
        return in_one_go(lambda: of(self._items, self._index.indices, self._rv, most), self._lock)

    def peek(self, key: str) -> Any:
        """The object, or None. Takes no lock, as `contents`. Beyond Go."""
        return self._items.get(key)

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
    """Tell by `clock` whether a transaction takes so long that it is logged. Beyond Go."""

    def option(store: _ThreadSafeMap) -> None:
        store._clock = clock

    return option


def _checked(values: Sequence[str]) -> Sequence[str]:
    """What an index function gave, as it can be indexed. Raises TypeError."""
    kind = type(values)
    if (kind is list or kind is tuple) and len(values) == 1 and type(values[0]) is str:
        return values  # as mostly
    if isinstance(values, str):
        raise TypeError("the index function returns a string, not a list of strings")
    for value in (values := tuple(values)):  # it may be a generator
        if not isinstance(value, str):
            raise TypeError(f"the index function returns {value!r} among the values, which is not a string")
    return values


def _log_slow_transaction(size: int, started: float, clock: Clock) -> None:
    trace.new(
        "ThreadSafeMap Transaction Process",
        trace.Field("Size", size),
        trace.Field("Reason", "Slow batch process due to too many items"),
        clock=clock,
        start_time=started,
    ).log()


def _rv_from_object(obj: Any) -> str | None:
    """The object's resourceVersion, None when it has no metadata."""
    if isinstance(obj, Identified):
        return obj.get_resource_version()
    try:
        return str(meta.accessor(obj).get_resource_version())
    except Exception:
        return None


def new_thread_safe_store(
    indexers: Mapping[str, IndexFunc], indices: Indices, *opts: ThreadSafeStoreOption
) -> CacheStorage:
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
