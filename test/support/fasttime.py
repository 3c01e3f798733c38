"""Time that runs faster than the computer's, for tests whose pauses must be real because their sockets are."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from clientgo.utils.clock.clock import SystemTime, set_time_source


class FastTime(SystemTime):
    """Begins now and passes `speed` times as fast. Timeouts of sockets stay as they are."""

    def __init__(self, speed: float) -> None:
        super().__init__()
        self._speed = speed
        self._began_at = super().now()
        self._began = time.monotonic()

    def now(self) -> float:
        return self._began_at + (time.monotonic() - self._began) * self._speed

    def wait(self, cond: threading.Condition, timeout: float | None) -> bool:
        return cond.wait(None if timeout is None else timeout / self._speed)


@contextlib.contextmanager
def fast_time(speed: float) -> Iterator[None]:
    """Make RealClock run `speed` times as fast for everything that starts within the block."""
    previous = set_time_source(FastTime(speed))
    try:
        yield
    finally:
        set_time_source(previous)
