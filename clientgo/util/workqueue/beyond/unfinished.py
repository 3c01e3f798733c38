"""Logs an item that was not marked done within a minute after `get`. Has no Go file: Go does not log this.

`get` does not return an item that another worker still processes. So an item without its `done` is never processed
again, and a worker that never returns blocks its share of the work. One log line per queue names the first such item.

`get` and `done` neither read the clock nor keep a time for each item. A timer runs only while items are in progress.
At the end of each period it notes the items in progress that it has not noted yet; `done` drops the note of its item.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable
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

    The queue holds its lock for `watch`, `idle` and `noted`. `get` calls `watch` with its item if `idle`. `done`
    removes its item from `noted`. Invariant: each noted item has been in progress since its note.
    """

    __slots__ = (
        "__weakref__",
        "_cancel",
        "_clock",
        "_in_progress",
        "_lock",
        "_log",
        "_name",
        "_period",
        "idle",
        "noted",
    )

    def __init__(
        self,
        name: str,
        lock: threading.Lock,
        in_progress: Collection[T],
        clock: PassiveClock,
        log: klog.Logger | None = None,
    ) -> None:
        """Create the monitor of the items `in_progress`, which the queue guards by `lock`.

        `log` defaults to klog's background logger.
        """
        self._name = name
        self._lock = lock
        self._in_progress = in_progress
        self._clock = clock
        self._log = log
        self._cancel: Callable[[], object] = _nothing
        # The number of the current period. It counts while the timer runs.
        self._period = 0
        # No timer runs, and the next item starts one.
        self.idle = True
        # Each item with the period at whose end it was noted, in the order of the notes.
        self.noted: dict[T, int] = {}

    def watch(self, item: T) -> None:
        """Start the timer and note `item`, the first item in progress."""
        self.idle = False
        self.noted[item] = self._period
        self._cancel = check_later(self._clock, _PERIOD, self._check_items)

    def end(self) -> None:
        """Stop the timer, after the queue was shut down and no drain waits. The caller does not hold the lock."""
        with self._lock:
            self.idle = False
            self._cancel()

    def _check_items(self) -> None:
        with self._lock:
            if not self._in_progress:
                self.idle = True
                return
            self._period += 1
            noted = next(iter(self.noted.values()), self._period)
            if self._period - noted < _PERIODS:
                for each in self._in_progress:
                    self.noted.setdefault(each, self._period)
                self._cancel = check_later(self._clock, _PERIOD, self._check_items)
                return
            # From here on the monitor is not idle, and the timer never runs again.
            oldest = [item for item, period in self.noted.items() if period == noted]
            in_progress = len(self._in_progress)
        (self._log or klog.background()).info(
            "Warning: an item is in progress a minute after get, and until its done no worker gets it again: call done "
            "for each item, also when its work fails; let long work return early, and add the item again for the rest",
            queue=self._name or "(without a name)",
            # A set has no order: name the same item in every run.
            item=min(oldest, key=repr),
            itemsInProgress=in_progress,
        )


def _nothing() -> None:
    """Cancel nothing."""
