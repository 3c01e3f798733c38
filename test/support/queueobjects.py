"""Small objects, and what goes with them, for the tests of queues and stores."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from patience import PATIENCE

from clientgo.testing import synctest
from clientgo.tools import cache


@dataclass
class Item:
    """An object with a name, which is its key, and a value."""

    name: str
    val: Any = None


def key_of(obj: Any) -> str:
    """Return the key of an item. Raises an error for any other object."""
    if not isinstance(obj, Item):
        raise TypeError(f"no item: {obj!r}")
    return obj.name


class Known:
    """A KeyListerGetter over a fixed list of items."""

    def __init__(self, *items: Item) -> None:
        self.items = {item.name: item for item in items}

    def list_keys(self) -> list[str]:
        return list(self.items)

    def get_by_key(self, key: str) -> tuple[Any, bool]:
        return self.items.get(key), key in self.items


def ignore(popped: Any, is_in_initial_list: bool) -> None:
    """Do nothing, as a process function."""


def pop(queue: Any) -> Any:
    """Pop without doing anything."""
    return queue.pop(ignore)


def deltas(*pairs: tuple[str, Any]) -> cache.Deltas:
    """Return deltas from (type, object) pairs."""
    return cache.Deltas(cache.Delta(cache.DeltaType(type), obj) for type, obj in pairs)


def tombstone(obj: Any) -> cache.DeletedFinalStateUnknown:
    """Return the tombstone of an item."""
    return cache.DeletedFinalStateUnknown(obj.name, obj)


class EqualItem:
    """An item that equals every other one."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EqualItem)

    def __hash__(self) -> int:
        return 1


class EqualItems:
    """Items that are all equal. The number that is referred to shows how many entries of an item a queue keeps."""

    def __init__(self) -> None:
        self._made: list[weakref.ref[EqualItem]] = []

    def new(self) -> EqualItem:
        item = EqualItem()
        self._made.append(weakref.ref(item))
        return item

    def kept(self) -> int:
        """Return the number of items that something refers to."""
        return sum(each() is not None for each in self._made)


def in_threads(functions: Iterable[Callable[[], object]]) -> list[threading.Thread]:
    """Start each function in its own thread. The caller must join the threads with `join`."""
    threads = [
        threading.Thread(target=function, name=f"test thread {i}", daemon=True) for i, function in enumerate(functions)
    ]
    for thread in threads:
        thread.start()
    return threads


def join(threads: Iterable[threading.Thread]) -> None:
    """Wait for the threads to end."""
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), f"{thread.name} does not end"


def errors_of_closed_pops(new: Callable[[], Any], n: int) -> list[Exception]:
    """Return the errors of `n` threads that are blocked in pop when their new queue is closed."""
    errors: list[Exception] = []
    with synctest.bubble() as bubble:
        queue = new()

        def consume() -> None:
            try:
                pop(queue)
            except Exception as err:
                errors.append(err)

        threads = in_threads([consume] * n)
        bubble.wait()
        assert errors == []
        queue.close()
        join(threads)
    return errors
