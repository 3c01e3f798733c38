"""Stores: maps from keys to objects, and the functions that make a key out of an object.

Mirrors tools/cache/store.go. `Store` is what a Reflector fills and everybody else reads; `new_store` and `new_indexer`
build the ordinary one, a key function in front of a ThreadSafeStore.

Differs from Go where an error is a return value there: methods raise instead, and `transaction` raises the
TransactionError that Go returns.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, runtime_checkable

from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import Identified
from clientgo.tools.cache.object_names import ObjectName, parse_object_name

if TYPE_CHECKING:
    from clientgo.tools.cache import inspection
    from clientgo.tools.cache.delta_fifo import TransformFunc
    from clientgo.tools.cache.fifo_metrics import InformerMetricsProvider
    from clientgo.tools.cache.identity import InformerNameAndResource
    from clientgo.tools.cache.index import Indexer, Indexers, IndexFunc
    from clientgo.tools.cache.thread_safe_store import CacheStorage
    from clientgo.tools.cache.unsynced import EarlyReads


class Store(Protocol):
    """A map from string keys to what is known of the objects with that key; it finds the key itself. Go: Store.

    The plain stores keep the last object given. Queues such as FIFO keep more. All methods are safe to call from any
    thread. Objects handed out are shared with everybody else: never change one, call its `deep_copy()` first.
    """

    def add(self, obj: Any) -> None:
        """Put `obj` under its key. Raises KeyError when it has none."""
        ...

    def update(self, obj: Any) -> None:
        """Put `obj` under its key, in place of what is there. Raises KeyError when it has none."""
        ...

    def delete(self, obj: Any) -> None:
        """Remove what stands under the key of `obj`, if anything does. Raises KeyError when it has none."""
        ...

    def list(self) -> builtins.list[Any]:
        """Everything in the store, in a new list."""
        ...

    def list_keys(self) -> builtins.list[str]:
        """The keys of everything in the store, in a new list."""
        ...

    def last_store_sync_resource_version(self) -> str:
        """The resourceVersion last seen by a write, "" when none was (or when the gate AtomicFIFO is off)."""
        ...

    def bookmark(self, rv: str) -> None:
        """Note that everything up to `rv` has been seen."""
        ...

    def get(self, obj: Any) -> tuple[Any, bool]:
        """(what stands under the key of `obj`, True), or (None, False). Raises KeyError when `obj` has no key."""
        ...

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        """(what stands under `key`, True), or (None, False)."""
        ...

    def replace(self, objs: Sequence[Any], resource_version: str) -> None:
        """Make `objs` the whole content. Raises KeyError, and changes nothing then, when one of them has no key.

        Raises TransactionError when some cannot be indexed. The others are the content then, and with them what stood
        under the keys of those.
        """
        ...

    def resync(self) -> None:
        """Process everything known once more, in stores for which that means something (queues)."""
        ...


class TransactionType(StrEnum):
    """What one operation of a transaction does. Go: TransactionType."""

    ADD = "Add"
    UPDATE = "Update"
    DELETE = "Delete"


@dataclass(slots=True)
class Transaction:
    """One operation of a transaction: what to do with which object. Go: Transaction."""

    object: Any
    type: TransactionType


@runtime_checkable
class TransactionStore(Protocol):
    """A store that can apply many operations at once. Go: TransactionStore."""

    def transaction(self, *txns: Transaction) -> None:
        """Apply `txns` in order under one acquisition of the lock.

        Raises TransactionError when some have no key or cannot be indexed; all the others are applied.
        """
        ...


class BatchWriter(Store, TransactionStore, Protocol):
    """A Store that is a TransactionStore too."""


class BatchReader(Store, Protocol):
    """A Store that can look up many objects at once. Beyond Go."""

    def get_all(self, objs: Iterable[Any]) -> builtins.list[Any]:
        """What stands under the key of each of `objs`, None for nothing, all of one moment.

        Raises KeyError when one of them has no key.
        """
        ...


def writes_batches(store: Store) -> TypeGuard[BatchWriter]:
    """Whether it can take a whole batch; stores of users need not."""
    # Not isinstance, here and below: asking a protocol for its methods takes longer than storing a batch.
    return getattr(store, "transaction", None) is not None


def reads_batches(store: Store) -> TypeGuard[BatchReader]:
    """Whether it can look up a whole batch; stores of users need not."""
    return getattr(store, "get_all", None) is not None


# A transaction of thousands of objects that all fail is one line in the log, and one that can be read.
_MOST_NAMED = 10


class TransactionError(Exception):
    """Some operations of a transaction were not executed; all the others were. Go: TransactionError."""

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
"""Makes the key of an object, always the same one for the same object; raises when it has none. Go: KeyFunc."""


class KeyError(Exception):
    """A key function raised: `obj` is the object at fault, `err` what was raised. Go: KeyError.

    Not related to the builtin of that name, which it shadows where it is imported by name.
    """

    def __init__(self, obj: Any, err: Exception) -> None:
        super().__init__(obj, err)
        self.obj = obj
        self.err = err

    def __str__(self) -> str:
        return f"couldn't create key for object {self.obj!r}: {self.err}"

    def unwrap(self) -> Exception:
        """The error of the key function."""
        return self.err


class ExplicitKey(str):
    """A key to look up by, for `meta_namespace_key_func`, where the object itself is not at hand. Go: ExplicitKey."""

    __slots__ = ()


def meta_namespace_key_func(obj: Any) -> str:
    """The ordinary key of an API object: "namespace/name", or "name" where there is no namespace.

    Raises ValueError when `obj` has no metadata. Go: MetaNamespaceKeyFunc.
    """
    # Nearly every call brings an API object, which answers from its document without making a view.
    if isinstance(obj, Identified):
        return obj.object_key()
    if isinstance(obj, ExplicitKey):
        return str(obj)
    return str(object_to_name(obj))


def object_to_name(obj: Any) -> ObjectName:
    """The name of an API object in two parts. Raises ValueError when `obj` has no metadata. Go: ObjectToName."""
    try:
        metadata = meta.accessor(obj)
    except Exception as err:
        raise ValueError(f"object has no meta: {err}") from err
    return meta_object_to_name(metadata)


def meta_object_to_name(obj: Any) -> ObjectName:
    """The name of anything with `get_namespace()` and `get_name()` in two parts. Go: MetaObjectToName."""
    return ObjectName(obj.get_namespace(), obj.get_name())


def split_meta_namespace_key(key: str) -> tuple[str, str]:
    """(namespace, name) of a key that `meta_namespace_key_func` made.

    Raises ValueError for a key with two slashes or more. Go: SplitMetaNamespaceKey.
    """
    return parse_object_name(key).parts()


class _Cache:
    """An Indexer made of a ThreadSafeStore and a key function. Go: cache.

    Thread safety is the ThreadSafeStore's business; key and transform functions run before its lock is taken.
    """

    __slots__ = ("_cache_storage", "_identifier", "_key_func", "_metrics", "_transformer", "early_reads")

    _cache_storage: CacheStorage

    def __init__(self, key_func: KeyFunc) -> None:
        self._key_func = key_func
        self._transformer: TransformFunc | None = None
        self._identifier: InformerNameAndResource | None = None
        self._metrics: InformerMetricsProvider | None = None
        # Reports a lister's read, until the informer that owns the store has synced; see unsynced.py.
        self.early_reads: EarlyReads | None = None

    def transaction(self, *txns: Transaction) -> None:
        """Apply `txns` in order under one acquisition of the lock; see TransactionStore."""
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
        """The keys there are, the positions of what they belong to, and why the others have none."""
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
        """See BatchReader.get_all."""
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
        """See Store.replace; of several objects with one key the last one stays."""
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
            # What it counts are keys.
            positions = [*{key_func(obj): i for i, obj in enumerate(objs)}.values()]
            failed = set(positions) - {positions[i] for i in err.successful_indices}
            done = [i for i in range(len(objs)) if i not in failed]
            raise TransactionError(done, len(objs), err.errors) from None

    def resync(self) -> None:
        """Does nothing: a plain store has nobody to process its content."""

    def statistics(self) -> inspection.StoreStatistics:
        """How much it holds; see ThreadSafeStore.statistics."""
        return self._cache_storage.statistics()

    def size(self) -> int:
        """How many objects it holds. Takes no lock, as `contents`. Beyond Go."""
        return self._cache_storage.size()

    def contents(self, most: int = sys.maxsize) -> inspection.StoreContents:
        """What it holds, or so much of it, for inspection. Beyond Go."""
        return self._cache_storage.contents(most)

    def _transform(self, obj: Any) -> Any:
        assert self._transformer is not None
        try:
            return self._transformer(obj)
        except Exception as err:
            raise ValueError(f"transforming: {err}") from err

    def __repr__(self) -> str:
        return f"<Store over {self._cache_storage!r}>"


StoreOption = Callable[[_Cache], None]
"""Changes a store under construction. Go: StoreOption."""


def with_transformer(transformer: TransformFunc) -> StoreOption:
    """Every object written passes `transformer` first, after its key was made. Go: WithTransformer."""

    def option(store: _Cache) -> None:
        store._transformer = transformer

    return option


def with_store_metrics(identifier: InformerNameAndResource, metrics: InformerMetricsProvider) -> StoreOption:
    """Publish the store's resourceVersion as a metric. Go: WithStoreMetrics."""

    def option(store: _Cache) -> None:
        store._identifier = identifier
        store._metrics = metrics

    return option


def new_store(key_func: KeyFunc, *opts: StoreOption) -> Store:
    """An empty store: a dict and a lock, keyed by `key_func`. Go: NewStore."""
    return _new_cache(key_func, {}, opts)


def new_indexer(key_func: KeyFunc, indexers: Mapping[str, IndexFunc], *opts: StoreOption) -> Indexer:
    """An empty store that can also be searched by the given indexes. Go: NewIndexer."""
    return _new_cache(key_func, indexers, opts)


def _new_cache(key_func: KeyFunc, indexers: Mapping[str, IndexFunc], opts: Sequence[StoreOption]) -> _Cache:
    # Imported here since thread_safe_store builds on this module.
    from clientgo.tools.cache.identity import InformerNameAndResource
    from clientgo.tools.cache.thread_safe_store import new_thread_safe_store, with_thread_safe_store_metrics

    store = _Cache(key_func)
    for opt in opts:
        opt(store)
    storage_opts = []
    if store._metrics is not None:
        identifier = store._identifier or InformerNameAndResource()
        storage_opts.append(with_thread_safe_store_metrics(identifier, store._metrics))
    store._cache_storage = new_thread_safe_store(indexers, {}, *storage_opts)
    return store
