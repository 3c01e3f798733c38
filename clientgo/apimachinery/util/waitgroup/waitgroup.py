"""A counter of work in progress that rejects new work during a wait. Mirrors util/waitgroup/waitgroup.go."""

from __future__ import annotations

import threading

__all__ = ["SafeWaitGroup"]


class SafeWaitGroup:
    """A counter of work in progress. Thread-safe. Go: waitgroup.SafeWaitGroup."""

    def __init__(self) -> None:
        # Guards the fields below; notified when the count reaches 0.
        self._changed = threading.Condition()
        self._count = 0
        self._is_waited_for = False

    def __repr__(self) -> str:
        return f"<SafeWaitGroup {self._count}{', waited for' if self._is_waited_for else ''}>"

    def add(self, delta: int) -> None:
        """Add to the counter. Raises RuntimeError for a positive delta after `wait`, ValueError below zero.

        Go: waitgroup.SafeWaitGroup.Add.
        """
        with self._changed:
            if self._is_waited_for and delta > 0:
                raise RuntimeError("add with positive delta after Wait is forbidden")
            self._add_locked(delta)

    def done(self) -> None:
        """Decrement the counter. Raises ValueError below zero. Go: waitgroup.SafeWaitGroup.Done."""
        with self._changed:
            self._add_locked(-1)

    def wait(self) -> None:
        """Block until the counter is zero. Go: waitgroup.SafeWaitGroup.Wait."""
        with self._changed:
            self._is_waited_for = True
            while self._count:
                self._changed.wait()

    def _add_locked(self, delta: int) -> None:
        if self._count + delta < 0:
            raise ValueError("sync: negative WaitGroup counter")
        self._count += delta
        if not self._count:
            self._changed.notify_all()
