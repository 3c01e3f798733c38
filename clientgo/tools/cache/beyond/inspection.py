"""Methods that show the state of queues, stores and informers: base classes of their classes. Has no Go file.

`contents`, `peek` and `parts` take no lock (see `clientgo.snapshot`), so that a debugger can inspect a structure
that is stuck. Each method imports its record when it is called, since few programs inspect anything.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from clientgo.tools.cache.beyond.initial_population import InitialPopulation
    from clientgo.tools.cache.beyond.records import (
        FIFOContents,
        FIFOStatistics,
        InformerParts,
        StoreContents,
        StoreStatistics,
    )
    from clientgo.tools.cache.beyond.refusals import Refusal, Refusals
    from clientgo.tools.cache.beyond.storage import CacheStorage
    from clientgo.tools.cache.controller import Config, Controller
    from clientgo.tools.cache.delta_fifo import Delta, Deltas
    from clientgo.tools.cache.fifo import Queue
    from clientgo.tools.cache.index import Indexer
    from clientgo.tools.cache.reflector import Reflector
    from clientgo.tools.cache.thread_safe_store import _StoreIndex
    from clientgo.utils.clock import WithTickerAndDelayedExecution


class InspectableFIFO:
    """The inspection methods of FIFO."""

    _lock: threading.Lock
    _items: dict[str, Any]
    _initial: InitialPopulation
    _closed: bool

    def statistics(self) -> FIFOStatistics:
        """Return the queue's sizes. O(1). May wait while an item is processed. Beyond Go."""
        from clientgo.tools.cache.beyond.records import FIFOStatistics

        with self._lock:
            return FIFOStatistics(len(self._items), len(self._items), self._initial.left, self._closed)


class InspectableDeltaFIFO:
    """The inspection methods of DeltaFIFO."""

    _lock: threading.Lock
    _items: dict[str, Deltas]
    _queue: deque[str]
    _initial: InitialPopulation
    _closed: bool

    def statistics(self) -> FIFOStatistics:
        """Return the queue's sizes. O(n). May wait while an item is processed. Beyond Go."""
        from clientgo.tools.cache.beyond.records import FIFOStatistics

        with self._lock:
            deltas = sum(map(len, self._items.values()))
            return FIFOStatistics(len(self._items), deltas, self._initial.left, self._closed)

    def contents(self, most: int = sys.maxsize) -> FIFOContents:
        """Return the deltas of the first `most` keys. O(n). Takes no lock. Beyond Go."""
        from clientgo.snapshot import consistent_copy
        from clientgo.tools.cache.beyond.records import FIFOContents

        items, queue = dict(self._items), consistent_copy(lambda: tuple(self._queue), self._lock)
        deltas = tuple((key, tuple(items.get(key, ()))) for key in queue[:most])
        return FIFOContents(deltas, self._initial.left, self._initial.synced.is_set(), len(queue))

    def peek(self, key: str) -> tuple[Delta, ...]:
        """Return the queued deltas of one key. Takes no lock. Beyond Go."""
        return tuple(self._items.get(key, ()))


# Types of deltas that are not about one object, as strings: DeltaType's module imports this one.
_ABOUT_ALL_OBJECTS = frozenset({"ReplacedAll", "SyncAll", "Bookmark"})


class InspectableRealFIFO:
    """The inspection methods of RealFIFO."""

    _lock: threading.Lock
    _items: deque[Delta]
    _initial: InitialPopulation
    _closed: bool

    def statistics(self) -> FIFOStatistics:
        """Return the queue's sizes. O(1). May wait while a delta is processed. Beyond Go."""
        from clientgo.tools.cache.beyond.records import FIFOStatistics

        with self._lock:
            return FIFOStatistics(len(self._items), len(self._items), self._initial.left, self._closed)

    def contents(self, most: int = sys.maxsize) -> FIFOContents:
        """Return the first `most` deltas. O(n), mostly for these. Takes no lock. Beyond Go."""
        from clientgo.snapshot import consistent_copy
        from clientgo.tools.cache.beyond.records import FIFOContents

        items = consistent_copy(lambda: tuple(self._items), self._lock)
        deltas = tuple(
            ("" if delta.type in _ABOUT_ALL_OBJECTS else self._key_of(delta), (delta,)) for delta in items[:most]
        )
        return FIFOContents(deltas, self._initial.left, self._initial.synced.is_set(), len(items))

    def _key_of(self, obj: Any) -> str:
        raise NotImplementedError


class InspectableMap:
    """The inspection methods of the ThreadSafeStore, and its lookup for a whole batch."""

    __slots__ = ()

    _lock: threading.Lock
    _items: dict[str, Any]
    _index: _StoreIndex
    _rv: str

    def get_all(self, keys: Iterable[str]) -> list[Any]:
        """See CacheStorage.get_all."""
        with self._lock:
            return [*map(self._items.get, keys)]

    def statistics(self) -> StoreStatistics:
        """See ThreadSafeStore.statistics."""
        from clientgo.tools.cache.beyond.records import StoreStatistics

        with self._lock:
            indexes = {name: len(self._index.indices.get(name, ())) for name in self._index.indexers}
            return StoreStatistics(len(self._items), indexes, self._rv)

    def size(self) -> int:
        """See CacheStorage.size."""
        return len(self._items)

    def contents(self, most: int = sys.maxsize) -> StoreContents:
        """See CacheStorage.contents."""
        from clientgo.snapshot import consistent_copy
        from clientgo.tools.cache.beyond.records import StoreContents

        of = StoreContents.of
        return consistent_copy(lambda: of(self._items, self._index.indices, self._rv, most), self._lock)

    def peek(self, key: str) -> Any:
        """Return the object under `key`, or None. Takes no lock. Beyond Go."""
        return self._items.get(key)


class ReportingStorage:
    """A storage that calls a function before each read. It has all methods of the storage that it wraps."""

    _READS = frozenset(
        ("by_index", "get", "get_all", "index", "index_keys", "list", "list_index_func_values", "list_keys")
    )

    def __init__(self, storage: Any, report: Callable[[], None]) -> None:
        self.storage = storage
        self._report = report

    def __getattr__(self, name: str) -> Any:
        if name in self._READS:
            self._report()
        return getattr(self.storage, name)

    def __repr__(self) -> str:
        return repr(self.storage)


class InspectableCache:
    """The inspection methods of the Store and Indexer."""

    __slots__ = ()

    _cache_storage: CacheStorage

    def statistics(self) -> StoreStatistics:
        """Return the store's sizes. O(number of indexes). Beyond Go."""
        return self._cache_storage.statistics()

    def components(self) -> tuple[object, ...]:
        """Return the store's storage, at which the hops of the indexer happen. Beyond Go."""
        storage = self._cache_storage
        return (storage.storage if isinstance(storage, ReportingStorage) else storage,)

    def size(self) -> int:
        """Return the number of objects. Takes no lock. Beyond Go."""
        return self._cache_storage.size()

    def contents(self, most: int = sys.maxsize) -> StoreContents:
        """Return at most `most` objects, values of each index, and keys under each value. Takes no lock. Beyond Go."""
        return self._cache_storage.contents(most)


class CacheHealth(Protocol):
    """The methods by which a health check judges an informer's cache; see StalenessCheck. Beyond Go."""

    def last_contact(self) -> float | None:
        """Return the time at which the server last reported the current state, in seconds of the informer's clock.

        None if it has not. See Reflector.last_contact. Thread-safe. Beyond Go.
        """
        ...

    def refused(self) -> Mapping[str, Refusal]:
        """Return the objects that the cache rejects, by key, because an index or transform function raised for them.

        The cache lacks such an object or has an old state of it. Normally empty. The informer relists until it is
        empty, and has not synced before it was empty once. StalenessCheck reports an object that stays in it. Never
        blocks. Beyond Go.
        """
        ...


class InspectableInformer:
    """The inspection methods of the shared informer."""

    _started_lock: threading.Lock
    _controller: Controller | None
    _refusals: Refusals
    _type_string: str
    _object_description: str
    _indexer: Indexer
    _processor: Any
    _clock: WithTickerAndDelayedExecution

    def last_contact(self) -> float | None:
        """See CacheHealth."""
        with self._started_lock:
            controller = self._controller
        return None if controller is None else controller.last_contact()

    def refused(self) -> Mapping[str, Refusal]:
        """See CacheHealth."""
        return self._refusals.by_key()

    def type_name(self) -> str:
        """Return the name of the objects' type, for logs. Beyond Go."""
        return self._object_description or self._type_string

    def parts(self) -> InformerParts:
        """Return the parts of the informer. Takes no lock. Beyond Go."""
        from clientgo.tools.cache.beyond.records import InformerParts

        controller: Any = self._controller
        fifo, reflector = (None, None) if controller is None else controller.parts()
        # list() copies atomically; see clientgo.snapshot.
        handlers = tuple(list(self._processor._listeners))  # noqa: C414
        return InformerParts(self._type_string, self._indexer, fifo, reflector, handlers, self._clock)


class InspectableController:
    """The inspection methods of the Controller."""

    _config: Config
    _reflector: Reflector | None
    _refusals: Refusals

    def last_contact(self) -> float | None:
        """See CacheHealth."""
        return None if self._reflector is None else self._reflector.last_contact()

    def refused(self) -> Mapping[str, Refusal]:
        """See CacheHealth."""
        return self._refusals.by_key()

    def parts(self) -> tuple[Queue, Reflector | None]:
        """Return the queue, and the reflector once it runs. Takes no lock. Beyond Go."""
        return self._config.queue, self._reflector
