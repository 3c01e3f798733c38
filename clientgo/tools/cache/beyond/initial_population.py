"""How far a queue is with the first batch that was put in. Go repeats this in fifo.go, delta_fifo.go, the_real_fifo.go.

The first batch is that of the first `replace`; if something else comes before, there is none, and the queue has synced
at once.
"""

from __future__ import annotations

from clientgo.golang.channel import Signal


class InitialPopulation:
    """What is left of a queue's first batch. All methods are called with the queue's lock held.

    Invariant (`_check` asserts it): synced is set exactly if something was put in and nothing of the first batch is
    left or being processed.
    """

    __slots__ = ("has_begun", "left", "synced")

    def __init__(self) -> None:
        # Whether something was put in.
        self.has_begun = False
        # How many items are still to process.
        self.left = 0
        # Set once.
        self.synced = Signal()

    def begin(self, count: int = 0) -> None:
        """Something was put in: a batch of so many items, or anything else. Only the first time counts."""
        if self.has_begun:
            return
        self.has_begun = True
        self.left = count
        if not count:
            self.synced.set()

    def processed(self, count: int = 1) -> None:
        """So many items were processed, not only taken out; the last of them may be no part of the batch."""
        if self.left > 0:
            self.left = max(self.left - count, 0)
            if self.left == 0:
                self.synced.set()

    def _check(self) -> None:
        assert self.left >= 0
        assert self.synced.is_set() == (self.has_begun and self.left == 0)

    def __repr__(self) -> str:
        return f"initial {self.left} left"
