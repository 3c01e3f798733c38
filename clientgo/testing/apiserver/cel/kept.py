"""A cache of values that are compiled from stored objects. An entry is valid until the store replaces the object."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

V = TypeVar("V")


class Kept(Generic[V]):
    """A cache of one computed value per object, for objects that never change. Thread-safe.

    Objects are compared by identity. The cache drops the entry that was read least recently when it has more than
    `most`.
    """

    def __init__(self, make: Callable[[Any], V], most: int = 64) -> None:
        self._make = make
        self._most = most
        # Guards _made. Not held while a value is made: two threads may both make one.
        self._lock = threading.Lock()
        # The object is kept too, so that no other one gets its id.
        self._made: OrderedDict[int, tuple[Any, V]] = OrderedDict()

    def __repr__(self) -> str:
        return f"<Kept {len(self._made)}/{self._most}>"

    def of(self, obj: Any) -> V:
        """Return the object's value; compute it if the cache has none.

        Two threads may compute the same value at once. Raises what `make` raises.
        """
        with self._lock:
            known = self._made.get(id(obj))
            if known is not None:
                self._made.move_to_end(id(obj))
                return known[1]
        value = self._make(obj)
        with self._lock:
            self._made[id(obj)] = (obj, value)
            if len(self._made) > self._most:
                self._made.popitem(last=False)
        return value
