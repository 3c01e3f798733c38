"""The workers that sleep in `get` until there is an item. Has no Go file; both kinds of queue have theirs.

In Go that is a sync.Cond, and each add signals it. Here a signal that wakes nobody costs as much as the rest of an add,
so the sleepers are counted.
"""

from __future__ import annotations

import threading

__all__ = ["Sleepers"]


class Sleepers:
    """Getters that wait for an item. All methods are called with the queue's lock held.

    Invariant: `count` is how many wait and have not been woken yet.
    """

    __slots__ = ("_available", "count")

    def __init__(self, lock: threading.Lock) -> None:
        self._available = threading.Condition(lock)
        self.count = 0

    def sleep(self) -> None:
        """Wait to be woken."""
        self.count += 1
        try:
            self._available.wait()
        except BaseException:
            # Ctrl-C in the main thread, perhaps after another thread chose this one to wake: pass that on.
            if self.count:
                self.wake_one()
            raise

    def wake_one(self) -> None:
        """Wake a sleeper; there must be one."""
        self.count -= 1
        self._available.notify()

    def wake_all(self) -> None:
        """Wake everybody."""
        self.count = 0
        self._available.notify_all()
