"""How the producer of a buffer gives way to its consumer. Has no Go file: goroutines need not take turns.

A goroutine that something is handed to runs at once, on a processor of its own. A thread of Python goes on for 5 ms
while the one it woke waits for the interpreter, and in that time a reflector decodes a hundred objects ahead. So many
new dicts and lists make the cyclic garbage collector run, which finds them all alive, counts them as old, and soon goes
through the whole cache once more: that took two thirds of the time of an event (test/bench/wire). With a turn for the
consumer before that happens, as many old objects die as new ones are made, and the collector has no reason to run.
"""

from __future__ import annotations

import gc
import threading

__all__ = ["Turn", "collection_is_near"]

# How long a consumer may take, in seconds: much longer than a busy machine needs to let its thread run.
_PATIENCE = 0.05


def collection_is_near(left_over: int) -> bool:
    """Whether the collector is half way to a run, not counting the new objects that the last turn `left_over`."""
    threshold, new = gc.get_threshold()[0], gc.get_count()[0]
    return 2 * new > threshold and not 0 <= new - left_over < threshold // 16 and gc.isenabled()


class Turn:
    """The turns of the one consumer of a buffer. All methods are called with the buffer's lock held.

    Only a consumer that keeps up gets turns: one that did not finish in time gets no more until it has caught up, so
    that no producer goes at the pace of a slow consumer. Nobody waits for a consumer that has not come yet, or that has
    nothing to do.
    """

    __slots__ = ("_finished", "_has_work", "_is_awaited", "_keeps_up", "_left_over")

    def __init__(self, lock: threading.Lock) -> None:
        self._finished = threading.Condition(lock)
        # Whether something was put in since the consumer last finished.
        self._has_work = False
        # Whether the consumer has finished since it last ran out of time.
        self._keeps_up = False
        # Whether a producer waits for it to finish.
        self._is_awaited = False
        # How many new objects there were after the last turn.
        self._left_over = 0

    def add_work(self) -> None:
        """Called by a producer that has put something in."""
        self._has_work = True

    def give(self) -> None:
        """Called by a producer: if that spares a collection, wait for the consumer to finish, for 50 ms at most."""
        if not (self._has_work and self._keeps_up and collection_is_near(self._left_over)):
            return
        self._is_awaited = True
        self._keeps_up = self._finished.wait(_PATIENCE)
        self._left_over = gc.get_count()[0]

    def finish(self) -> None:
        """Called by the consumer when it is through with all there was and goes to wait for more."""
        self._has_work = False
        self._keeps_up = True
        if self._is_awaited:
            self._is_awaited = False
            self._finished.notify_all()

    def __repr__(self) -> str:
        state = "has work" if self._has_work else "has nothing to do"
        return f"<Turn of a consumer that {'keeps up' if self._keeps_up else 'lags behind'} and {state}>"
