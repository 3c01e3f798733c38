"""Small objects, and what goes with them, for the tests of queues and stores."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from patience import PATIENCE

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


def errors_of_blocked_pops(queue: Any, n: int, act: Callable[[], None]) -> list[Exception]:
    """Return the errors of `n` threads that are blocked in pop during `act`."""
    errors: list[Exception] = []

    def consume() -> None:
        try:
            pop(queue)
        except Exception as err:
            errors.append(err)

    threads = in_threads([consume] * n)
    wait_until_blocked(queue, n)
    act()
    join(threads)
    return errors


def wait_until_blocked(queue: Any, n: int) -> None:
    """Return as soon as `n` threads wait on the condition of the queue."""
    pause = threading.Event()
    while True:
        with queue._lock:
            if len(queue._cond._waiters) >= n:
                return
        pause.wait(0.001)
