"""Locks and waits of the work queues that suit CPython. Has no Go file; both kinds of queue use it."""

from __future__ import annotations

import threading
import time
from typing import Protocol

__all__ = ["Acquirable", "Sleepers", "acquire_contended"]


class Acquirable(Protocol):
    """The methods of a lock that `acquire_contended` needs; threading.Lock has them."""

    def acquire(self, blocking: bool = True, /) -> bool: ...


# Attempts to take the lock before the thread queues for it. A holder that waits for something else is not worth more.
_TRIES = 10


def acquire_contended(lock: Acquirable) -> None:
    """Take `lock`, which another thread was just found to hold. Blocks until it is free.

    A thread may lose the interpreter (the GIL) while it holds a lock. A thread that then blocks on the lock becomes its
    waiter in the kernel. From then on every release wakes the waiter, which cannot run because the releasing thread
    still has the interpreter, takes the lock again and soon blocks in turn: a convoy, in which two threads trade places
    at every operation. A thread that yields the interpreter before it queues for the lock lets the holder finish its
    time slice. One attempt is not enough: with many threads the next one finds the lock taken too, and one queued
    thread makes every release a system call. On the free-threaded build yielding has no measurable effect.

        if not lock.acquire(False):
            acquire_contended(lock)
        try:
            ...
        finally:
            lock.release()

    Hot methods contain this code, because it is also faster than `with lock`: test/bench/workqueue/bench_queue.py. Like
    threading.Condition it keeps the lock if a signal handler raises in the main thread directly after `acquire`.
    """
    for _ in range(_TRIES):
        # Not a wait, and independent of any clock: it passes the interpreter to another thread that is ready.
        time.sleep(0)
        if lock.acquire(False):
            return
    lock.acquire()


class Sleepers:
    """The workers that wait in `get` for an item. The caller of each method holds the queue's lock.

    Go uses a sync.Cond, which each add signals. In Python a signal without a waiter costs as much as the rest of an
    add. So the waiters are counted, and an add notifies only if there is one.

    Invariant: `count` is the number of waiters that have not been notified yet.
    """

    __slots__ = ("_available", "count")

    def __init__(self, lock: threading.Lock) -> None:
        self._available = threading.Condition(lock)
        self.count = 0

    def sleep(self) -> None:
        """Wait until another thread calls `wake_one` or `wake_all`."""
        self.count += 1
        try:
            self._available.wait()
        except BaseException:
            # Ctrl-C interrupted this wait, maybe after another thread notified it: notify another waiter instead.
            if self.count:
                self.wake_one()
            raise

    def wake_one(self) -> None:
        """Wake one waiter. There must be at least one."""
        self.count -= 1
        self._available.notify()

    def wake_all(self) -> None:
        """Wake all waiters."""
        self.count = 0
        self._available.notify_all()
