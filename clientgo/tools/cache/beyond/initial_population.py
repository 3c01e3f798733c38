"""The progress of a queue with its first batch. Go repeats this code in fifo.go, delta_fifo.go and the_real_fifo.go.

The first `replace` adds the first batch. A queue to which anything else was added before has no first batch, and has
synced at once.
"""

from __future__ import annotations

from clientgo.golang.channel import Signal


class InitialPopulation:
    """The items of a queue's first batch that are not processed yet. The caller of each method holds the queue's lock.

    Invariant (`_check` asserts it): `synced` is set exactly if an item was added and no item of the first batch is
    queued or being processed.
    """

    __slots__ = ("has_begun", "left", "synced")

    def __init__(self) -> None:
        # True once anything was added.
        self.has_begun = False
        # Number of items of the first batch that are not processed yet.
        self.left = 0
        # Set once.
        self.synced = Signal()

    def begin(self, count: int = 0) -> None:
        """Record that a first batch of `count` items, or anything else (0), was added. Only the first call counts."""
        if self.has_begun:
            return
        self.has_begun = True
        self.left = count
        if not count:
            self.synced.set()

    def processed(self, count: int = 1) -> None:
        """Record that `count` items were processed. Items after the first batch have no effect."""
        if self.left > 0:
            self.left = max(self.left - count, 0)
            if self.left == 0:
                self.synced.set()

    def _check(self) -> None:
        assert self.left >= 0
        assert self.synced.is_set() == (self.has_begun and self.left == 0)

    def __repr__(self) -> str:
        return f"initial {self.left} left"
