"""Copies of data that other threads may be changing, without the lock. Has no Go file: in Go that is a data race.

The inspection methods (`contents`) take no lock, so that a debugger can inspect a structure that is stuck. That is safe
if a copy is one atomic operation. With the GIL, every copy that runs no Python code is atomic. The free-threaded build
locks a container for one operation, so fewer copies are atomic there:

  * atomic on both builds: `list`, `sorted`, `set` and `[*...]` of a list, set or dict or of a dict's `keys()`,
    `values()` or `items()`; `dict` of a dict; `tuple` of a list; reading, writing or removing one element of any of
    them or of a deque; `len`
  * atomic only with the GIL: a copy of a whole deque, `tuple` of a dict or set, and everything that uses an iterator,
    such as `islice` and `map`

The iterator of a deque or dict raises RuntimeError when another thread changes it between two steps.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import Protocol, TypeVar

__all__ = ["Acquirable", "consistent_copy", "first_items"]

T = TypeVar("T")

# Seconds to wait for a lock. A thread that changes the structure holds it for less, unless that thread is stuck.
_PATIENCE = 0.01

# Attempts to copy a deque from its beginning before it is read element by element.
_TRIES = 100


class Acquirable(Protocol):
    """The methods of a lock that `consistent_copy` needs; threading.Lock and Condition have them."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...

    def release(self) -> None: ...


def consistent_copy(copy: Callable[[], T], lock: Acquirable) -> T:
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


def first_items(queue: deque[T], most: int = sys.maxsize) -> tuple[T, ...]:
    """Return the first `most` elements of a deque that no lock guards. O(most).

    With the GIL they are from one moment. Without it elements may be missing if another thread removes them faster than
    this function copies them.
    """
    for _ in range(_TRIES):
        with suppress(RuntimeError):
            return tuple(islice(queue, most))
    found: list[T] = []
    with suppress(IndexError):
        for place in range(min(most, len(queue))):
            found.append(queue[place])
    return tuple(found)
