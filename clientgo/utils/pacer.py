"""How a thread that makes many objects lets those run that use them up. Has no Go file: goroutines need not give way.

A goroutine that something is handed to runs at once, on a processor of its own. A thread of Python goes on for 5 ms
while the one it woke waits for the interpreter, and in that time a reflector decodes a hundred objects ahead. So many
new dicts and lists make the cyclic garbage collector run, which finds them all alive, counts them as old, and soon goes
through the whole cache once more: that took a third of the time of an event (test/bench/wire). If the decoding thread
sleeps for a moment before that happens, queue and handlers catch up, as many old objects die as new ones are made, and
the collector has no reason to run. The fewer its runs, the dearer is each: it goes through all that was made since the
last one, which by then is the whole cache. So on a busy machine, where others keep the handlers from running for a
while, one sleep is not enough.

The sleep is real also in a bubble of synctest, where it changes nothing: one thread runs there at a time, and which one
is decided otherwise.
"""

from __future__ import annotations

import gc
from time import sleep

__all__ = ["Pacer", "collection_is_near"]

# Seconds, one after the other. The first is long enough for the system to start another thread; all together are 25 ms,
# less than such a run of the collector takes.
_MOMENTS = tuple(0.0001 * 2**number for number in range(8))

# Threads that began to use objects up, and used up none for so long, have no more to do.
_A_WHILE = 0.0005


def collection_is_near() -> bool:
    """Report whether the collector will run after a third as many new objects as now exist."""
    return 4 * gc.get_count()[0] > 3 * gc.get_threshold()[0] and gc.isenabled()


class Pacer:
    """For one thread that makes objects, and threads that use them up."""

    __slots__ = ("_in_vain", "_moments")

    def __init__(self) -> None:
        # Whether the last wait did not help: the objects are new in the cache and stay, or a handler is slow.
        self._in_vain = False
        # How long to wait next time: not for long, when the last time was in vain.
        self._moments = _MOMENTS

    def give_way(self) -> None:
        """Called after each object: let the other threads run if that spares a collection. Blocks for 25 ms at most."""
        if not collection_is_near():
            self._in_vain = False
        elif not self._in_vain:
            self._wait_for_the_others()

    def _wait_for_the_others(self) -> None:
        """Sleep until half of the new objects are used up, or as many as will be."""
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
        self._in_vain = collection_is_near()
