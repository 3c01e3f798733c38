"""The pending timeouts of a bubble."""

from __future__ import annotations

import heapq

from clientgo.testing.synctest.task import Task, Timer


class Timeouts:
    """A heap of timeouts in virtual nanoseconds; equal ones keep the order of their addition.

    A timeout is obsolete once its timer is stopped, or its thread has left the parking that it was for.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Task | Timer, int]] = []  # (time, order, task or timer, park number)
        self._order = 0

    def __repr__(self) -> str:
        return f"<Timeouts {len(self._heap)}>"

    def add(self, when: int, waiter: Task | Timer, parks: int) -> None:
        """Add a timeout. `parks` is the thread's number of parkings; it has no meaning for a timer."""
        self._order += 1
        heapq.heappush(self._heap, (when, self._order, waiter, parks))

    def earliest(self) -> int | None:
        """Return the time of the earliest timeout, or None."""
        return self._heap[0][0] if self._heap else None

    def pop_before(self, end: int) -> tuple[int, Task | Timer] | None:
        """Remove and return the earliest valid timeout if it is before `end`; drops obsolete ones before it."""
        heap = self._heap
        while heap:
            when, _, waiter, parks = heap[0]
            matters = _matters(waiter, parks)
            if matters and when >= end:
                return None
            heapq.heappop(heap)
            if matters:
                return when, waiter
        return None

    def forget(self) -> None:
        """Drop all obsolete timeouts."""
        self._heap = [each for each in self._heap if _matters(each[2], each[3])]
        heapq.heapify(self._heap)


def _matters(waiter: Task | Timer, parks: int) -> bool:
    return waiter.pending if isinstance(waiter, Timer) else waiter.parked and waiter.parks == parks
