"""The log line about an item that was not marked done a minute after `get`. Has no Go file: there it is silent.

A queue hands out no item that a worker still has. So an item without its `done` is lost, however often it is added, and
a worker that never returns stops its share of the work. One line for each queue names the first such item.

`get` reads no clock: it stamps the item with the number of the period that it falls into, and a look at the end of each
period compares the oldest item's stamp. There are looks only while items are in progress.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

from clientgo import klog
from clientgo.utils.clock import PassiveClock
from clientgo.utils.lookout import look_later

__all__ = ["Unfinished"]

_PERIOD = 5.0
# This makes a minute.
_PERIODS = 12


T = TypeVar("T", bound=Hashable)


class Unfinished(Generic[T]):
    """Reports the first item of a queue that is in progress for a minute, less than five seconds after that.

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
        """`lock` is the queue's, held for `stamp`, `watch` and `stamps`; `log` is klog's background logger if None."""
        self._name = name
        self._lock = lock
        self._stamps = stamps
        self._clock = clock
        self._log = log
        self._cancel: Callable[[], object] = _nothing
        # The stamp of the next item; 0 while no look is due.
        self.stamp = 0

    def watch(self) -> int:
        """Begin to look, and return the stamp of the first item. The caller holds the lock."""
        self.stamp = 2
        self._cancel = look_later(self._clock, _PERIOD, self._look)
        return 1

    def end(self) -> None:
        """Look no more: the queue was shut down, and no drain waits. The caller does not hold the lock."""
        with self._lock:
            self.stamp = self.stamp or 1
            self._cancel()

    def _look(self) -> None:
        with self._lock:
            if not self._stamps:
                self.stamp = 0
                return
            self.stamp += 1
            item, stamp = next(iter(self._stamps.items()))
            if self.stamp - stamp <= _PERIODS:
                self._cancel = look_later(self._clock, _PERIOD, self._look)
                return
            # From here on `stamp` stays as it is, and no look is due ever again.
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
