"""The times that the threads of a bubble wait for."""

from __future__ import annotations

import heapq

from clientgo.testing.synctest.task import Task, Timer


class Timeouts:
    """Whose time comes when, in virtual nanoseconds; equal ones in the order they were added.

    A timeout matters no more once its timer was stopped, or its thread is no longer in the parking that it was for.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Task | Timer, int]] = []  # (when, order, whom, its park number)
        self._order = 0

    def __repr__(self) -> str:
        return f"<Timeouts {len(self._heap)}>"

    def add(self, when: int, whom: Task | Timer, parks: int) -> None:
        """`parks`: how often the thread has parked by now; of no meaning for a timer."""
        self._order += 1
        heapq.heappush(self._heap, (when, self._order, whom, parks))

    def earliest(self) -> int | None:
        """Of those that may still matter."""
        return self._heap[0][0] if self._heap else None

    def pop_before(self, end: int) -> tuple[int, Task | Timer] | None:
        """Take the earliest that matters, if it is before `end`; what does not matter before it is forgotten."""
        heap = self._heap
        while heap:
            when, _, whom, parks = heap[0]
            matters = _matters(whom, parks)
            if matters and when >= end:
                return None
            heapq.heappop(heap)
            if matters:
                return when, whom
        return None

    def forget(self) -> None:
        """Let go of all that do not matter."""
        self._heap = [each for each in self._heap if _matters(each[2], each[3])]
        heapq.heapify(self._heap)


def _matters(whom: Task | Timer, parks: int) -> bool:
    return whom.pending if isinstance(whom, Timer) else whom.parked and whom.parks == parks
