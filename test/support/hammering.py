"""Several threads that do their worst to one structure, at the same time and not one step at a time.

What `synctest` tries in all orders, line by line, happens here as it may: inside a line too, and on the free-threaded
build on several cores at once. There it is done more often, since that build is what it is for.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from patience import PATIENCE

FREE_THREADED = not getattr(sys, "_is_gil_enabled", lambda: True)()

ROUNDS = 2000 if FREE_THREADED else 300

Job = Callable[[int], object]


@contextmanager
def impatient_interpreter() -> Iterator[None]:
    """Switch threads a thousand times more often than usual within the block, if Python has a GIL."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def hammer(*jobs: Job, rounds: int = ROUNDS) -> None:
    """Call each job with 0, 1, 2, ... in a thread of its own, all beginning together; raise what the first raises."""
    together = threading.Barrier(len(jobs))
    errors: list[BaseException] = []

    def run(job: Job) -> None:
        together.wait(PATIENCE)
        try:
            for number in range(rounds):
                if errors:
                    return
                job(number)
        except BaseException as err:
            errors.append(err)

    threads = [threading.Thread(target=run, args=(job,), name=f"hammer {n}") for n, job in enumerate(jobs)]
    with impatient_interpreter():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
