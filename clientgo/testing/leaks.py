"""Checks that a test leaves no thread and no socket behind. No Go file; in the manner of go.uber.org/goleak.

    before = leaks.Snapshot()
    run()
    assert before.leaked(grace=5.0) == []

The pytest plugin makes them for tests with the marker `leaks`, or for all tests with `--clientgo-leaks`. Sockets are
found on Linux only.
"""

from __future__ import annotations

import gc
import os
import stat
import threading
import time
from collections.abc import Callable

__all__ = ["Snapshot", "open_sockets"]

# The thread of the watchdog holds nothing of a test, and ends a few seconds after the last check.
_UNRELATED = ("clock-watchdog",)
# Seconds between two looks at the open sockets.
_INTERVAL = 0.25


class Snapshot:
    """The threads and the sockets that exist now.

    ignore: reports whether a thread's name belongs to something that outlives the test.
    """

    def __init__(self, ignore: Callable[[str], bool] = lambda name: False) -> None:
        self._ignore = ignore
        self._threads = set(threading.enumerate())
        self._sockets = open_sockets()

    def allow(self, since: Snapshot) -> None:
        """Add the threads and the sockets that now exist in addition to another snapshot."""
        self._threads |= set(threading.enumerate()) - since._threads
        self._sockets |= open_sockets() - since._sockets

    def leaked(self, grace: float) -> list[str]:
        """Return the new threads and sockets that do not end. Blocks for at most about `grace` seconds."""
        pause = threading.Event()
        deadline = time.monotonic() + grace
        for thread in self._new_threads():
            thread.join(max(deadline - time.monotonic(), 0.0))
        left = [f"thread {thread.name}" for thread in self._new_threads()]
        if sockets := self._new_sockets():
            # A socket that was dropped without close causes a ResourceWarning. This is for sockets with a reference.
            # Most are young garbage, found in a fraction of the time of a full collection.
            gc.collect(1)
            if self._new_sockets():
                gc.collect()
            while (sockets := self._new_sockets()) and time.monotonic() < deadline:
                pause.wait(_INTERVAL)
        return sorted(left) + sorted(sockets)

    def _new_threads(self) -> list[threading.Thread]:
        return [
            thread
            for thread in set(threading.enumerate()) - self._threads
            if thread.is_alive() and thread.name not in _UNRELATED and not self._ignore(thread.name)
        ]

    def _new_sockets(self) -> set[str]:
        return open_sockets() - self._sockets


def open_sockets() -> set[str]:
    """Return the names of this process's open sockets; an empty set where /proc does not exist."""
    found: set[str] = set()
    try:
        descriptors = os.listdir("/proc/self/fd")
    except FileNotFoundError:
        return found
    for descriptor in descriptors:
        try:
            status = os.fstat(int(descriptor))  # cheaper than reading the link
        except OSError:
            continue
        if stat.S_ISSOCK(status.st_mode):
            found.add(f"socket:[{status.st_ino}]")
    return found
