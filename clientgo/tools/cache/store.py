"""Stores, which map keys to objects, and the key functions.

Mirrors tools/cache/store.go. A Reflector or a controller fills a `Store`, and all others read it. `new_store` and
`new_indexer` return the usual one: a key function in front of a ThreadSafeStore.

Differs from Go: a method raises where Go returns an error. `transaction` raises the TransactionError.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import Identified
from clientgo.golang.functions import describe_function, require_function
from clientgo.golang.stop import is_crash
from clientgo.klog.exceptions import crash_error
from clientgo.tools.cache.beyond.inspection import InspectableCache, ReportingStorage
from clientgo.tools.cache.object_names import ObjectName, parse_object_name

if TYPE_CHECKING:
    from clientgo.tools.cache.beyond.storage import CacheStorage
    from clientgo.tools.cache.beyond.unsynced import EarlyReads
    from clientgo.tools.cache.delta_fifo import TransformFunc
    from clientgo.tools.cache.fifo_metrics import InformerMetricsProvider
    from clientgo.tools.cache.identity import InformerNameAndResource
    from clientgo.tools.cache.index import Indexer, Indexers, IndexFunc


class Store(Protocol):
    """A map from keys to objects, which computes each object's key. Go: Store.

    The plain stores keep the last object of each key. Queues such as FIFO keep more. All methods are thread-safe. The
    returned objects are shared: never change one, change its `deep_copy()`.
    """

    def add(self, obj: Any, /) -> None:
        """Store `obj` under its key. Raises KeyError when it has none."""
        ...

    def update(self, obj: Any, /) -> None:
        """Store `obj` in place of the object with its key. Raises KeyError when it has none."""
        ...

    def delete(self, obj: Any, /) -> None:
        """Remove the object with the key of `obj`, if there is one. Raises KeyError when `obj` has no key."""
        ...

    def list(self) -> builtins.list[Any]:
        """Return all objects, in a new list."""
        ...

    def list_keys(self) -> builtins.list[str]:
        """Return all keys, in a new list."""
        ...

    def last_store_sync_resource_version(self) -> str:
        """Return the resourceVersion of the last write; "" if there was none, or with the gate AtomicFIFO off."""
        ...

    def bookmark(self, rv: str, /) -> None:
        """Record that the store has seen all changes up to `rv`."""
        ...

    def get(self, obj: Any, /) -> tuple[Any, bool]:
        """Return (the object with the key of `obj`, True), or (None, False). Raises KeyError when `obj` has no key."""
        ...

    def get_by_key(self, key: str, /) -> tuple[Any, bool]:
        """Return (the object with that key, True), or (None, False)."""
        ...

    def replace(self, objs: Sequence[Any], resource_version: str, /) -> None:
        """Replace the whole contents by `objs`. Raises KeyError, without a change, when an object has no key.

        Raises TransactionError when some objects cannot be indexed. The others are stored, and the objects that had the
        keys of the failed ones stay.
        """
        ...

    def resync(self) -> None:
        """Process all known objects again. Only queues do anything here."""
        ...


class TransactionType(StrEnum):
    """The kinds of operation in a transaction. Go: TransactionType."""

    ADD = "Add"
    UPDATE = "Update"
    DELETE = "Delete"


@dataclass(slots=True)
class Transaction:
    """One operation of a transaction: its kind and its object. Go: Transaction."""

    object: Any
    type: TransactionType


@runtime_checkable
class TransactionStore(Protocol):
    """A store that applies many operations at once. Go: TransactionStore."""

    def transaction(self, *txns: Transaction) -> None:
        """Apply `txns` in order with one acquisition of the lock.

        Raises TransactionError when some objects have no key or cannot be indexed; the others are stored.
        """
        ...


# An error about thousands of operations stays readable.
_MOST_NAMED = 10


class TransactionError(Exception):
    """Some operations of a transaction failed; all the others were executed. Go: TransactionError."""

    def __init__(self, successful_indices: list[int], total_transactions: int, errors: list[Exception]) -> None:
        super().__init__(successful_indices, total_transactions, errors)
        self.successful_indices = successful_indices
        self.total_transactions = total_transactions
        self.errors = errors

    def __str__(self) -> str:
        failed = self.total_transactions - len(self.successful_indices)
        errors = " ".join(str(err) for err in self.errors[:_MOST_NAMED])
        if len(self.errors) > _MOST_NAMED:
            errors += f" and {len(self.errors) - _MOST_NAMED} more"
        return f"failed to execute ({failed}/{self.total_transactions}) transactions failed due to: [{errors}]"


KeyFunc = Callable[[Any], str]
"""Returns the key of an object, always the same for the same object. Raises when the object has none. Go: KeyFunc."""


class KeyError(Exception):
    """A key function raised `err` for `obj`. Not related to the builtin of that name. Go: KeyError.

    Modules of this package import it as CacheKeyError, so that they can still use the builtin.
    """

    def __init__(self, obj: Any, err: Exception) -> None:
        super().__init__(obj, err)
        self.obj = obj
        self.err = err

    def __str__(self) -> str:
        return f"couldn't create key for object {self.obj!r}: {self.err}"

    def unwrap(self) -> Exception:
        """Return the error of the key function."""
        return self.err


class ExplicitKey(str):
    """A key in place of an object, for `meta_namespace_key_func`. Go: ExplicitKey."""

    __slots__ = ()


def checked_key_func(key_func: KeyFunc) -> KeyFunc:
    """Return a key function that raises TypeError in place of returning None, which would be the key of every object.

    The library's own functions stay as they are.
    """
    if (getattr(key_func, "__module__", None) or "").startswith("clientgo."):
        return key_func
    require_function(key_func, "a key function", "obj")

    @functools.wraps(key_func)
    def checked(obj: Any) -> str:
        key = key_func(obj)
        if key is None:
            raise TypeError(f"{describe_function(key_func)} returned None: a key function returns the object's key")
        return key

    return checked


def meta_namespace_key_func(obj: Any) -> str:
    """Return the usual key of an API object: "namespace/name", or "name" without a namespace.

    Raises ValueError when `obj` has no metadata. Go: MetaNamespaceKeyFunc.
    """
    # Nearly every call has an API object, which needs no view of its metadata.
    if isinstance(obj, Identified):
        return obj.object_key()
    if isinstance(obj, ExplicitKey):
        return str(obj)
    return str(object_to_name(obj))


def object_to_name(obj: Any) -> ObjectName:
    """Return the namespace and name of an API object. Raises ValueError when `obj` has no metadata. Go: ObjectToName.
    """
    try:
        metadata = meta.accessor(obj)
    except Exception as err:
        raise ValueError(f"object has no meta: {err}") from err
    return meta_object_to_name(metadata)


def meta_object_to_name(obj: Any) -> ObjectName:
    """Return the results of `get_namespace()` and `get_name()` as an ObjectName. Go: MetaObjectToName."""
    return ObjectName(obj.get_namespace(), obj.get_name())


def split_meta_namespace_key(key: str) -> tuple[str, str]:
    """Return (namespace, name) of a key of `meta_namespace_key_func`.

    Raises ValueError for a key with two slashes or more. Go: SplitMetaNamespaceKey.
    """
    return parse_object_name(key).parts()


class _Cache(InspectableCache):
    """An Indexer made of a ThreadSafeStore and a key function. Go: cache.

    The ThreadSafeStore makes it thread-safe. Key and transform functions run before the lock is taken.
    """

    __slots__ = ("_cache_storage", "_identifier", "_key_func", "_metrics", "_transformer", "early_reads")

    _cache_storage: CacheStorage

    def __init__(self, key_func: KeyFunc) -> None:
        self._key_func = checked_key_func(key_func)
        self._transformer: TransformFunc | None = None
        self._identifier: InformerNameAndResource | None = None
        self._metrics: InformerMetricsProvider | None = None
        # Reports a read by a lister before the informer that owns the store has synced; see beyond/unsynced.py.
        self.early_reads: EarlyReads | None = None

    def report_reads(self, report: Callable[[], None] | None) -> None:
        """Call `report` before each read from now on; None ends that. Beyond Go."""
        storage = self._cache_storage
        if isinstance(storage, ReportingStorage):
            storage = storage.storage
        self._cache_storage = storage if report is None else cast("CacheStorage", ReportingStorage(storage, report))

    def transaction(self, *txns: Transaction) -> None:
        """See TransactionStore."""
        if not hasattr(self._cache_storage, "transaction"):
            raise TransactionError([], len(txns), [RuntimeError("transaction not supported")])
        key_func = self._key_func
        done: Sequence[int] = range(len(txns))
        errors: builtins.list[Exception] = []
        try:
            keys = [key_func(txn.object) for txn in txns]
        except Exception:
            keys, done, errors = self._keys_of(txns)
        try:
            self._cache_storage.apply(keys, [txns[i] for i in done] if errors else txns)
        except TransactionError as err:
            done = [done[i] for i in err.successful_indices]
            errors += err.errors
        if errors:
            raise TransactionError([*done], len(txns), errors)

    def _keys_of(
        self, txns: Sequence[Transaction]
    ) -> tuple[builtins.list[str], builtins.list[int], builtins.list[Exception]]:
        """Return the keys, the positions of their objects in `txns`, and the errors of the objects without a key."""
        keys, positions = [], []
        errors: builtins.list[Exception] = []
        for i, txn in enumerate(txns):
            try:
                keys.append(self._key_func(txn.object))
                positions.append(i)
            except Exception as err:
                errors.append(KeyError(txn.object, err))
        return keys, positions, errors

    def add(self, obj: Any) -> None:
        """See Store.add."""
        try:
            key = self._key_func(obj)
        except Exception as err:
            raise KeyError(obj, err) from err
        if self._transformer is not None:
            obj = self._transform(obj)
        self._cache_storage.add(key, obj)

    def update(self, obj: Any) -> None:
        """See Store.update."""
        try:
            key = self._key_func(obj)
        except Exception as err:
            raise KeyError(obj, err) from err
        if self._transformer is not None:
            obj = self._transform(obj)
        self._cache_storage.update(key, obj)

    def delete(self, obj: Any) -> None:
        """See Store.delete."""
        try:
            key = self._key_func(obj)
        except Exception as err:
            raise KeyError(obj, err) from err
        self._cache_storage.delete_with_object(key, obj)

    def list(self) -> builtins.list[Any]:
        """See Store.list."""
        return self._cache_storage.list()

    def list_keys(self) -> builtins.list[str]:
        """See Store.list_keys."""
        return self._cache_storage.list_keys()

    def last_store_sync_resource_version(self) -> str:
        """See Store.last_store_sync_resource_version."""
        return self._cache_storage.last_store_sync_resource_version()

    def bookmark(self, rv: str) -> None:
        """See Store.bookmark."""
        self._cache_storage.bookmark(rv)

    def get_indexers(self) -> Indexers:
        """See Indexer.get_indexers."""
        return self._cache_storage.get_indexers()

    def index(self, index_name: str, obj: Any) -> builtins.list[Any]:
        """See Indexer.index."""
        return self._cache_storage.index(index_name, obj)

    def index_keys(self, index_name: str, indexed_value: str) -> builtins.list[str]:
        """See Indexer.index_keys."""
        return self._cache_storage.index_keys(index_name, indexed_value)

    def list_index_func_values(self, index_name: str) -> builtins.list[str]:
        """See Indexer.list_index_func_values."""
        return self._cache_storage.list_index_func_values(index_name)

    def by_index(self, index_name: str, indexed_value: str) -> builtins.list[Any]:
        """See Indexer.by_index."""
        return self._cache_storage.by_index(index_name, indexed_value)

    def add_indexers(self, new_indexers: Mapping[str, IndexFunc]) -> None:
        """See Indexer.add_indexers."""
        self._cache_storage.add_indexers(new_indexers)

    def get(self, obj: Any) -> tuple[Any, bool]:
        """See Store.get."""
        try:
            key = self._key_func(obj)
        except Exception as err:
            raise KeyError(obj, err) from err
        return self._cache_storage.get(key)

    def get_all(self, objs: Iterable[Any]) -> builtins.list[Any]:
        """Return the stored state of each object, None for none, all from one moment. Beyond Go."""
        key_func = self._key_func
        keys = []
        for obj in objs:
            try:
                keys.append(key_func(obj))
            except Exception as err:
                raise KeyError(obj, err) from err
        return self._cache_storage.get_all(keys)

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        """See Store.get_by_key."""
        return self._cache_storage.get(key)

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """See Store.replace. Of several objects with the same key the last one is stored."""
        key_func = self._key_func
        items: dict[str, Any] = {}
        for obj in objs:
            try:
                key = key_func(obj)
            except Exception as err:
                raise KeyError(obj, err) from err
            items[key] = obj if self._transformer is None else self._transform(obj)
        try:
            self._cache_storage.replace(items, resource_version)
        except TransactionError as err:
            # The error counts keys, and several objects may have the same key.
            positions = [*{key_func(obj): i for i, obj in enumerate(objs)}.values()]
            failed = set(positions) - {positions[i] for i in err.successful_indices}
            done = [i for i in range(len(objs)) if i not in failed]
            raise TransactionError(done, len(objs), err.errors) from None

    def resync(self) -> None:
        """Do nothing: a plain store has no consumer."""

    def _transform(self, obj: Any) -> Any:
        assert self._transformer is not None
        try:
            return self._transformer(obj)
        except BaseException as err:
            if not is_crash(err):
                raise
            failure = err if isinstance(err, Exception) else crash_error("the transform function", err)
            raise ValueError(f"transforming: {failure}") from failure

    def __repr__(self) -> str:
        return f"<Store over {self._cache_storage!r}>"


StoreOption = Callable[[_Cache], None]
"""Changes a store under construction. Go: StoreOption."""


def with_transformer(transformer: TransformFunc) -> StoreOption:
    """Transform every object before it is stored, after its key was computed. Go: WithTransformer."""

    def option(store: _Cache) -> None:
        store._transformer = transformer

    return option


def with_store_metrics(identifier: InformerNameAndResource, metrics: InformerMetricsProvider | None) -> StoreOption:
    """Publish the store's resourceVersion as a metric. Go: WithStoreMetrics.

    None selects the provider of `set_informer_metrics_provider`; in Go the store then publishes nothing.
    """

    def option(store: _Cache) -> None:
        store._identifier = identifier
        store._metrics = metrics

    return option


def new_store(key_func: KeyFunc, *opts: StoreOption) -> Store:
    """Return an empty store with keys from `key_func`. Go: NewStore."""
    return _new_cache(key_func, {}, opts)


def new_indexer(key_func: KeyFunc, indexers: Mapping[str, IndexFunc], *opts: StoreOption) -> Indexer:
    """Return an empty store with the given indexes. Go: NewIndexer."""
    return _new_cache(key_func, indexers, opts)


def _new_cache(key_func: KeyFunc, indexers: Mapping[str, IndexFunc], opts: Sequence[StoreOption]) -> _Cache:
    # Imported here because thread_safe_store imports this module.
    from clientgo.tools.cache.thread_safe_store import new_thread_safe_store, with_thread_safe_store_metrics

    store = _Cache(key_func)
    for opt in opts:
        opt(store)
    storage_opts = []
    if store._identifier is not None:
        storage_opts.append(with_thread_safe_store_metrics(store._identifier, store._metrics))
    store._cache_storage = new_thread_safe_store(indexers, {}, *storage_opts)
    return store
