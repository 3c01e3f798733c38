"""The priority queue with controller-runtime's behaviour. Mirrors its pkg/controller/priorityqueue/priorityqueue.go.

priority_queue.py holds the common code and the variant that behaves like the other queues.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import ClassVar, TypeVar

from clientgo.util.workqueue.beyond.priority_options import AddOpts
from clientgo.util.workqueue.beyond.priority_queue import PriorityQueue

__all__ = ["DroppingPriorityQueue"]

T = TypeVar("T", bound=Hashable)


class DroppingPriorityQueue(PriorityQueue[T]):
    """A priority queue with controller-runtime's guarantees. It differs from `PriorityQueue`:

    * After a shutdown `get` only reports the shutdown. The remaining items are dropped, because a restarted controller
      lists all objects again. Dropped items still count in `len`.
    * `len` counts all due items, including those that are being processed and were added again.
    * An item without a priority has priority 0, and only an addition with a real delay counts as a retry.
    """

    _DROPS: ClassVar[bool] = True

    def len(self) -> int:
        """Return the number of due items, including those that wait for their `done`."""
        with self._lock:
            return self._ready_count + self._held_count()

    def add_after(self, item: T, duration: float) -> None:
        """Add `item` after `duration` seconds, with priority 0."""
        self._add_delayed(item, duration, 0)

    def add_rate_limited(self, item: T) -> None:
        """Add `item` after the rate limiter's delay, with priority 0."""
        self.add_with_opts(AddOpts(rate_limited=True), item)

    def add_with_opts(self, opts: AddOpts, *items: T) -> None:
        """Add `items` with a priority, a delay, or a rate limit. Never blocks."""
        priority = opts.priority or 0
        for item in items:
            after = opts.after
            if opts.rate_limited:
                if self.shutting_down():
                    return
                limited = self._limit(item)
                after = min(after, limited) if after else limited
            self._add_delayed(item, after, priority)

    def _add_delayed(self, item: T, duration: float, priority: int | None) -> None:
        if not isinstance(duration, (int, float)) or not duration <= 0:  # also a NaN, which is an error
            super()._add_delayed(item, duration, priority)
        else:
            self._add(item, -math.inf, priority)

    def shut_down_with_drain(self) -> None:
        """Shut down like `shut_down`. Does not wait, since `get` returns no further items. As in controller-runtime."""
        self.shut_down()
