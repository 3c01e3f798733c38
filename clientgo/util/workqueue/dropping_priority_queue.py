"""The priority queue that does as controller-runtime. Mirrors its pkg/controller/priorityqueue/priorityqueue.go.

What is common to it and the other queues' way stands in priority_queue.py.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import ClassVar, TypeVar

from clientgo.util.workqueue.priority_options import AddOpts
from clientgo.util.workqueue.priority_queue import PriorityQueue

__all__ = ["DroppingPriorityQueue"]

T = TypeVar("T", bound=Hashable)


class DroppingPriorityQueue(PriorityQueue[T]):
    """A priority queue that keeps controller-runtime's promises instead of the other queues'. What differs:

    * once a shutdown has begun `get` only reports it: what is left is dropped, as a controller that starts again
      lists everything anyway. Dropped items still count in `len`;
    * `len` counts what is due, also what is being processed at the moment and comes again after `done`;
    * without a priority it is always 0, and only an addition that really waits counts as a retry.
    """

    _DROPS: ClassVar[bool] = True

    def len(self) -> int:
        """How many items are due, those that have to wait for their `done` included."""
        with self._lock:
            return self._ready_count + self._held_count()

    def add_after(self, item: T, duration: float) -> None:
        """Add `item` in `duration` seconds, with priority 0."""
        self._add_delayed(item, duration, 0)

    def add_rate_limited(self, item: T) -> None:
        """Add `item` when the rate limiter says so, with priority 0."""
        self.add_with_opts(AddOpts(rate_limited=True), item)

    def add_with_opts(self, opts: AddOpts, *items: T) -> None:
        """Add `items` with a priority, after a delay or rate limited. Never blocks."""
        priority = opts.priority or 0
        for item in items:
            after = opts.after
            if opts.rate_limited:
                if self.shutting_down():
                    return
                limited = self._rate_limiter.when(item)
                after = min(after, limited) if after else limited
            self._add_delayed(item, after, priority)

    def _add_delayed(self, item: T, duration: float, priority: int | None) -> None:
        if duration > 0:
            super()._add_delayed(item, duration, priority)
        else:
            self._add(item, -math.inf, priority)

    def shut_down_with_drain(self) -> None:
        """`shut_down`: there is nothing to wait for, since nothing is handed out any more. As in controller-runtime."""
        self.shut_down()
