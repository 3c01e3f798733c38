"""Running code in threads from tests: `in_thread` starts it, `eventually` waits for what it does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from patience import PATIENCE


class Running:
    """A function running in a daemon thread."""

    def __init__(self, fn: Callable[[], Any], name: str) -> None:
        self._fn = fn
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._result = self._fn()
        except BaseException as err:
            self._error = err

    def running(self) -> bool:
        return self._thread.is_alive()

    def result(self, timeout: float = PATIENCE) -> Any:
        """Join the thread; what the function returned, or raise what it raised."""
        self._thread.join(timeout)
        assert not self._thread.is_alive(), f"{self._thread.name} is still running"
        if self._error is not None:
            raise self._error
        return self._result


def threads_of(name: str) -> list[threading.Thread]:
    """Return the living threads with `name` in their names."""
    return [thread for thread in threading.enumerate() if name in thread.name]


def in_thread(fn: Callable[[], Any], name: str = "test-thread") -> Running:
    """Start `fn` in a thread; ask the returned object for its `result()`."""
    return Running(fn, name)


def eventually(predicate: Callable[[], object], description: str = "", timeout: float = PATIENCE) -> None:
    """Return as soon as `predicate()` is true; fail after `timeout` seconds."""
    pause = threading.Event()
    ends = time.monotonic() + timeout
    while not predicate():
        assert time.monotonic() < ends, f"never became true: {description or predicate}"
        pause.wait(0.001)
