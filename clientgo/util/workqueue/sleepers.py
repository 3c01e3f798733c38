"""The workers that wait in `get` for an item. Has no Go file; both kinds of queue use it.

Go uses a sync.Cond, which each add signals. In Python a signal without a waiter costs as much as the rest of an add. So
the waiters are counted, and an add notifies only if there is one.
"""

from __future__ import annotations

import threading

__all__ = ["Sleepers"]


class Sleepers:
    """Getters that wait for an item. All methods are called with the queue's lock held.

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
