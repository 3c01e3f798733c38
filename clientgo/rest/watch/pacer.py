"""Pauses of a thread that makes many objects, for the threads that use them up. Has no Go file.

A goroutine that receives something runs at once, on another processor. A Python thread goes on for 5 ms while the
thread it woke waits for the interpreter, and in that time a reflector decodes a hundred objects ahead. So many new
dicts and lists start the cyclic garbage collector. It finds them alive, counts them as old, and soon traverses the
whole cache. If the decoding thread sleeps just before that, queue and handlers catch up, as many old objects die as
new ones are made, and the collector does not start (test/bench/wire measures it). The rarer its runs, the longer each:
it traverses everything made since the last one, which can be the whole cache. On a busy machine, where other processes
keep the handlers from running, one sleep is not enough.

The sleep is real also in a bubble of synctest, where one thread runs at a time and the schedule decides which.
"""

from __future__ import annotations

import gc
from time import sleep

__all__ = ["Pacer", "collection_is_near"]

# Seconds of the sleeps in a row. The first suffices for the system to start another thread; together they take 25 ms,
# less than one run of the collector.
_MOMENTS = tuple(0.0001 * 2**number for number in range(8))

# Seconds. Threads that used up no object for so long have nothing left to do.
_A_WHILE = 0.0005


def collection_is_near() -> bool:
    """Report whether the collector will run after a third as many new objects as now exist."""
    return 4 * gc.get_count()[0] > 3 * gc.get_threshold()[0] and gc.isenabled()


class Pacer:
    """The pauses of one thread that makes objects, for the threads that use them up."""

    __slots__ = ("_is_useless", "_moments")

    def __init__(self) -> None:
        # The last wait did not help: the objects are new in the cache and stay, or a handler is slow.
        self._is_useless = False
        # Sleeps of the next wait: a single one after a useless wait.
        self._moments = _MOMENTS

    def wait_for_consumers(self) -> None:
        """Let the other threads run if that avoids a collection. Call it for each object. Blocks for 25 ms at most."""
        if not collection_is_near():
            self._is_useless = False
        elif not self._is_useless:
            self._wait()

    def _wait(self) -> None:
        """Sleep until half of the new objects are used up, or no more are used up."""
        before = last = gc.get_count()[0]
        for moment in self._moments:
            sleep(moment)
            new = gc.get_count()[0]
            if 2 * new <= before:
                self._moments = _MOMENTS
                return
            if moment > _A_WHILE and new >= last < before:
                break
            last = new
        self._moments = _MOMENTS[:1]
        self._is_useless = collection_is_near()
