"""Take a busy lock without forming a convoy. Has no Go file: the problem is CPython's.

A thread may lose the interpreter (the GIL) while it holds a lock. Whoever then blocks on that lock becomes its waiter
in the kernel, and from there on every release wakes the waiter, which fails to run because the releasing thread still
has the interpreter, takes the lock again and soon blocks in turn: two threads trade places at every operation. A queue
with four consumers does two context switches an item that way and a seventh of the work. Giving up the interpreter
before queueing for the lock lets the holder finish its time slice instead. Once is not enough: with many threads the
next one finds the lock taken too, and one that queues is enough to make every release a system call. On
the free-threaded build giving way costs and spares nothing that could be measured.

    if not lock.acquire(False):
        acquire_contended(lock)
    try:
        ...
    finally:
        lock.release()

Spelled out like this on hot paths: it is also faster than `with lock`. Like the locking of threading.Condition it
leaves the lock taken if a signal handler raises in the main thread in the very moment after `acquire`.
"""

from __future__ import annotations

import time
from typing import Protocol

__all__ = ["Acquirable", "acquire_contended"]


class Acquirable(Protocol):
    """The methods of a lock that `acquire_contended` needs; threading.Lock has them."""

    def acquire(self, blocking: bool = True, /) -> bool: ...


# How often a thread gives way before it queues. A holder that waits for something else is not waited for for long.
_TRIES = 10


def acquire_contended(lock: Acquirable) -> None:
    """Take `lock`, which was just found taken. Blocks until it is free.

    The sleep of zero seconds is no wait: it hands the interpreter to another thread that wants it, and takes no part
    in any clock.
    """
    for _ in range(_TRIES):
        time.sleep(0)
        if lock.acquire(False):
            return
    lock.acquire()
