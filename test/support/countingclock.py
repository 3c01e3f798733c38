"""A clock that only the test moves, and that counts waits."""

from __future__ import annotations

import threading

from clientgo.utils.clock.testing import FakeClock


class CountingClock(FakeClock):
    """A fake clock that counts how often a thread begins to wait: a thread that is woken too early waits again."""

    waits = 0

    def wait(self, cond: threading.Condition, timeout: float | None = None) -> bool:
        self.waits += 1
        return super().wait(cond, timeout)
