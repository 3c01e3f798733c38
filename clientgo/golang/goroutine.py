"""Go's `go` statement for a call whose result or error another thread waits for: `go`.

Go's runtime has no file to mirror. A goroutine that ends by closing a channel is `call.done` in a `select`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from clientgo.golang.stop import Signal

__all__ = ["Call", "go"]

R = TypeVar("R")


class Call(Generic[R]):
    """A call in a daemon thread of its own. Thread-safe. Made by `go`."""

    def __init__(self, fn: Callable[[], R], name: str) -> None:
        self.done = Signal()
        self._fn = fn
        # One of the two is filled before `done` is set.
        self._results: list[R] = []
        self._errors: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._fn())
        except BaseException as err:
            self._errors.append(err)
        self.done.set()

    def join(self, timeout: float | None = None) -> None:
        """Block until the thread has ended or `timeout` seconds have passed."""
        self._thread.join(timeout)

    def result(self) -> R:
        """Block until the thread has ended, and return the result or raise the error of the call."""
        self._thread.join()
        if self._errors:
            raise self._errors[0]
        return self._results[0]


def go(fn: Callable[[], R], name: str) -> Call[R]:
    """Call `fn` in a new thread named `name`. Go: the `go` statement."""
    return Call(fn, name)
