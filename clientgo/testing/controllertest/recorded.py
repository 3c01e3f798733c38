"""A run as a recording for the informer tour."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clientgo.testing.synctest.scheduler import current
from clientgo.utils.clock import RealClock


class _RunClock(RealClock):
    """The virtual time of the run's bubble, from 0 on. Outside of the bubble it is the time last read inside.

    The recorder's own thread waits in real time, as it is not part of the bubble.
    """

    def __init__(self) -> None:
        super().__init__()
        self._last = 0.0

    def now(self) -> float:
        if current() is not None:
            self._last = time.monotonic()
        return self._last


@contextmanager
def recorded(path: Path) -> Iterator[None]:
    """Record what the reflectors in a bubble receive, and every hop, into a new file.

    Raises FileExistsError if the file exists.
    """
    # The tour is needed for a recording only, and a search must not load it.
    from clientgo.tour.recorder import Recorder

    with Recorder(path, program=path.stem, clock=_RunClock()):
        yield
