"""How a thread that makes many objects lets those run that use them up. Has no Go file: goroutines need not give way.

A goroutine that something is handed to runs at once, on a processor of its own. A thread of Python goes on for 5 ms
while the one it woke waits for the interpreter, and in that time a reflector decodes a hundred objects ahead. So many
new dicts and lists make the cyclic garbage collector run, which finds them all alive, counts them as old, and soon goes
through the whole cache once more: that took a third of the time of an event (test/bench/wire). If the decoding thread
sleeps for a moment before that happens, queue and handlers catch up, as many old objects die as new ones are made, and
the collector has no reason to run.

The sleep is real also in a bubble of synctest, where it changes nothing: one thread runs there at a time, and which one
is decided otherwise.
"""

from __future__ import annotations

import gc
from time import sleep

__all__ = ["Pacer", "collection_is_near"]

# Seconds; long enough for the system to start another thread.
_MOMENT = 0.0001


def collection_is_near(left_over: int) -> bool:
    """Whether the collector is half way to a run, not counting the new objects that `left_over` the last pause."""
    threshold, new = gc.get_threshold()[0], gc.get_count()[0]
    return 2 * new > threshold and not 0 <= new - left_over < threshold // 16 and gc.isenabled()


class Pacer:
    """For one thread that makes objects, and threads that use them up."""

    __slots__ = ("_left_over",)

    def __init__(self) -> None:
        # How many new objects there were after the last pause.
        self._left_over = 0

    def give_way(self) -> None:
        """Called after each object: if that spares a collection, let the other threads run. Blocks for 0.1 ms then."""
        if collection_is_near(self._left_over):
            sleep(_MOMENT)
            self._left_over = gc.get_count()[0]
