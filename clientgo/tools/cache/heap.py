"""Heap, a queue that returns the least object first.

Mirrors tools/cache/heap.go.

Differs from Go: the heap is implemented here, because Python's heapq cannot move or remove an object by key.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Iterable
from typing import Any

from clientgo.tools.cache.store import KeyError as CacheKeyError
from clientgo.tools.cache.store import KeyFunc, checked_key_func

LessFunc = Callable[[Any, Any], bool]
"""Reports whether the first object is less than the second. Go: LessFunc."""


class _HeapItem:
    """An object and its position in the queue of a _HeapData. Go: heapItem."""

    __slots__ = ("index", "key", "obj")

    def __init__(self, key: str, obj: Any, index: int) -> None:
        self.key = key
        self.obj = obj
        self.index = index


class _HeapData:
    """A binary heap with a dict of its objects by key. Not thread-safe. Go: heapData.

    Invariants (`_check` asserts them):
      * items and queue have the same items, each at its index;
      * no item is less than its parent at (index - 1) // 2.
    """

    __slots__ = ("items", "less_func", "queue")

    def __init__(self, less_func: LessFunc) -> None:
        self.items: dict[str, _HeapItem] = {}
        self.queue: list[_HeapItem] = []
        self.less_func = less_func

    def put(self, key: str, obj: Any) -> None:
        """Insert `obj`, or replace the object with its key. O(log n)."""
        item = self.items.get(key)
        if item is None:
            item = self.items[key] = _HeapItem(key, obj, len(self.queue))
            self.queue.append(item)
        else:
            item.obj = obj
        self._settle(item)

    def pop(self) -> Any:
        """Remove and return the least object. O(log n)."""
        return self.remove(self.queue[0].key)

    def remove(self, key: str) -> Any:
        """Remove and return the object with that key, which must exist. O(log n)."""
        item = self.items.pop(key)
        last = self.queue.pop()
        if last is not item:
            self._place(last, item.index)
            self._settle(last)
        return item.obj

    def _place(self, item: _HeapItem, index: int) -> None:
        self.queue[index] = item
        item.index = index

    def _settle(self, item: _HeapItem) -> None:
        """Move `item`, the only item that may be out of order, to its position."""
        if not self._sift_down(item):
            self._sift_up(item)

    def _sift_up(self, item: _HeapItem) -> None:
        index = item.index
        while index > 0:
            parent = self.queue[(index - 1) // 2]
            if not self.less_func(item.obj, parent.obj):
                break
            index, hole = parent.index, index
            self._place(parent, hole)
        self._place(item, index)

    def _sift_down(self, item: _HeapItem) -> bool:
        index = start = item.index
        while child := self._lesser_child(index):
            if not self.less_func(child.obj, item.obj):
                break
            index, hole = child.index, index
            self._place(child, hole)
        self._place(item, index)
        return index > start

    def _lesser_child(self, index: int) -> _HeapItem | None:
        children = self.queue[2 * index + 1 : 2 * index + 3]
        if not children:
            return None
        if len(children) == 2 and self.less_func(children[1].obj, children[0].obj):
            return children[1]
        return children[0]


class Heap:
    """A queue for producers and consumers that returns the least object first. Go: Heap.

    All methods are thread-safe. The less function runs with the lock held.
    """

    def __init__(self, key_func: KeyFunc, less_func: LessFunc) -> None:
        self._key_func = checked_key_func(key_func)
        # Guards the fields below. The condition is notified when an object is added and when the heap is closed.
        self._lock = threading.Lock()
        self._cond = threading.Condition(self._lock)
        self._data = _HeapData(less_func)
        self._closed = False

    def close(self) -> None:
        """Make `add` raise, and `pop` once the heap is empty, also in a thread that waits in it."""
        with self._lock:
            self._closed = True
            self._cond.notify_all()

    def add(self, obj: Any) -> None:
        """Insert `obj`, or replace the object with its key.

        Raises KeyError when it has none, RuntimeError when the heap is closed.
        """
        key = self._key_of(obj)
        with self._lock:
            self._raise_if_closed_locked()
            self._data.put(key, obj)
            self._cond.notify_all()

    def bulk_add(self, objs: Iterable[Any]) -> None:
        """Add all objects before a consumer wakes. Raises the exception of `add` for the first object that fails."""
        with self._lock:
            self._raise_if_closed_locked()
            for obj in objs:
                self._data.put(self._key_of(obj), obj)
            self._cond.notify_all()

    def add_if_not_present(self, obj: Any) -> None:
        """Add `obj` unless its key exists: for a consumer that returns an object after a failure."""
        key = self._key_of(obj)
        with self._lock:
            self._raise_if_closed_locked()
            if key not in self._data.items:
                self._data.put(key, obj)
            self._cond.notify_all()

    def update(self, obj: Any) -> None:
        """Insert or replace `obj`; see `add`."""
        self.add(obj)

    def delete(self, obj: Any) -> None:
        """Remove the object with the key of `obj`. Raises KeyError without a key, LookupError without an object."""
        key = self._key_of(obj)
        with self._lock:
            if key not in self._data.items:
                raise LookupError("object not found")
            self._data.remove(key)

    def pop(self) -> Any:
        """Remove and return the least object.

        Blocks while the heap is empty. Raises RuntimeError once it is closed and empty.
        """
        with self._lock:
            while not self._data.queue:
                self._raise_if_closed_locked()
                self._cond.wait()
            return self._data.pop()

    def list(self) -> builtins.list[Any]:
        """Return all objects, in no particular order."""
        with self._lock:
            return [item.obj for item in self._data.items.values()]

    def list_keys(self) -> builtins.list[str]:
        """Return all keys, in no particular order."""
        with self._lock:
            return [*self._data.items]

    def get(self, obj: Any) -> tuple[Any, bool]:
        """Return (the object with the key of `obj`, True), or (None, False). Raises KeyError when `obj` has no key."""
        return self.get_by_key(self._key_of(obj))

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        """Return (the object with that key, True), or (None, False)."""
        with self._lock:
            item = self._data.items.get(key)
            return (None, False) if item is None else (item.obj, True)

    def is_closed(self) -> bool:
        """Report whether `close` was called."""
        with self._lock:
            return self._closed

    def _key_of(self, obj: Any) -> str:
        try:
            return self._key_func(obj)
        except Exception as err:
            raise CacheKeyError(obj, err) from err

    def _raise_if_closed_locked(self) -> None:
        if self._closed:
            raise RuntimeError("heap is closed")

    def _check(self) -> None:
        with self._lock:
            data = self._data
            assert len(data.items) == len(data.queue)
            for index, item in enumerate(data.queue):
                assert item.index == index, (item.key, item.index, index)
                assert data.items[item.key] is item, item.key
                if index > 0:
                    assert not data.less_func(item.obj, data.queue[(index - 1) // 2].obj), item.key

    def __repr__(self) -> str:
        return f"<Heap {len(self._data.queue)} objects, {'closed' if self._closed else 'open'}>"


def new_heap(key_func: KeyFunc, less_func: LessFunc) -> Heap:
    """Return an empty Heap. Go: NewHeap."""
    return Heap(key_func, less_func)
