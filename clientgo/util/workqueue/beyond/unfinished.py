"""Logs an item that was not marked done within a minute after `get`. Has no Go file: Go does not log this.

`get` does not return an item that another worker still processes. So an item without its `done` is never processed
again, and a worker that never returns blocks its share of the work. One log line per queue names the first such item.

`get` does not read the clock. It stamps each item with the number of the current period. At the end of each period a
timer compares the stamp of the oldest item. The timer runs only while items are in progress.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

from clientgo import klog
from clientgo.utils.clock import PassiveClock
from clientgo.utils.clock.watchdog import check_later

__all__ = ["Unfinished"]

_PERIOD = 5.0
# With the length of a period this makes a minute.
_PERIODS = 12


T = TypeVar("T", bound=Hashable)


class Unfinished(Generic[T]):
    """A monitor that logs the first item of a queue that is in progress for a minute, at most five seconds later.

    `get` stores `stamp or watch()` for the item in `stamps`, and `done` removes it: the oldest item comes first.
    """

    __slots__ = ("__weakref__", "_cancel", "_clock", "_lock", "_log", "_name", "_stamps", "stamp")

    def __init__(
        self,
        name: str,
        lock: threading.Lock,
        stamps: Mapping[T, int],
        clock: PassiveClock,
        log: klog.Logger | None = None,
    ) -> None:
        """Create the watcher. The queue's `lock` is held for `stamp`, `watch` and `stamps`.

        `log` defaults to klog's background logger.
        """
        self._name = name
        self._lock = lock
        self._stamps = stamps
        self._clock = clock
        self._log = log
        self._cancel: Callable[[], object] = _nothing
        # The stamp of the next item; 0 while the timer is not running.
        self.stamp = 0

    def watch(self) -> int:
        """Start the timer and return the stamp of the first item. The caller holds the lock."""
        self.stamp = 2
        self._cancel = check_later(self._clock, _PERIOD, self._check_items)
        return 1

    def end(self) -> None:
        """Stop the timer, after the queue was shut down and no drain waits. The caller does not hold the lock."""
        with self._lock:
            self.stamp = self.stamp or 1
            self._cancel()

    def _check_items(self) -> None:
        with self._lock:
            if not self._stamps:
                self.stamp = 0
                return
            self.stamp += 1
            item, stamp = next(iter(self._stamps.items()))
            if self.stamp - stamp <= _PERIODS:
                self._cancel = check_later(self._clock, _PERIOD, self._check_items)
                return
            # From here on `stamp` does not change, and the timer never runs again.
            in_progress = len(self._stamps)
        (self._log or klog.background()).info(
            "Warning: an item is in progress a minute after get, and until its done no worker gets it again: call done "
            "for each item, also when its work fails; let long work return early, and add the item again for the rest",
            queue=self._name or "(without a name)",
            item=item,
            itemsInProgress=in_progress,
        )


def _nothing() -> None:
    """Cancel nothing."""
