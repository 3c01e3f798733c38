"""Copies of what other threads may be changing, without their lock. Has no Go file: there it would be a data race.

Whoever looks at a structure from outside (`contents()`) takes no lock, so that one that is stuck can be looked at too.
That is safe as long as a copy is one step. With the GIL every copy that runs no code of Python is. The free-threaded
build locks a container for one operation, so there it is some of them:

  * one step on both builds: `list`, `sorted`, `set` and `[*...]` of a list, set or dict or of a dict's `keys()`,
    `values()` or `items()`; `dict` of a dict; `tuple` of a list; to get, put or take one element of any of them or of a
    deque; `len`
  * one step only with the GIL: a deque as a whole, `tuple` of a dict or set, and all that goes through an iterator, as
    `islice` and `map` do

A deque and a dict notice when they are changed between two steps of an iterator, with a RuntimeError.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import Protocol, TypeVar

__all__ = ["Acquirable", "first_of", "in_one_go"]

T = TypeVar("T")

# Seconds to wait for a lock. A thread that changes the structure holds it for less, unless that thread is stuck.
_PATIENCE = 0.01

# How often a deque is copied from its beginning before it is read piece by piece.
_TRIES = 100


class Acquirable(Protocol):
    """The methods of a lock that `in_one_go` needs; threading.Lock and Condition have them."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...

    def release(self) -> None: ...


def in_one_go(copy: Callable[[], T], lock: Acquirable) -> T:
    """Return `copy()`, an atomic copy of data that `lock` guards. `copy` must raise no RuntimeError of its own.

    Takes no lock with the GIL. Without the GIL it takes the lock only if another thread was writing during the copy,
    which shows that this thread is not stuck.
    """
    while True:
        with suppress(RuntimeError):
            return copy()
        if lock.acquire(timeout=_PATIENCE):
            try:
                return copy()
            finally:
                lock.release()


def first_of(queue: deque[T], most: int = sys.maxsize) -> tuple[T, ...]:
    """The first so many of a deque that no lock guards. O(most).

    With the GIL they are from one moment. Without it those may not be that another thread takes faster than all this
    can be copied: some in between may then be missing.
    """
    for _ in range(_TRIES):
        with suppress(RuntimeError):
            return tuple(islice(queue, most))
    found: list[T] = []
    with suppress(IndexError):
        for place in range(min(most, len(queue))):
            found.append(queue[place])
    return tuple(found)
