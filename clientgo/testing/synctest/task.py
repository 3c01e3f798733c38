"""The items of a bubble's scheduler: threads and timers."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable


class Task:
    """A thread of the bubble."""

    __slots__ = ("done", "error", "gate", "ident", "joiners", "parked", "parks", "thread", "waiting_for", "woken")

    def __init__(self, thread: threading.Thread) -> None:
        self.thread = thread
        self.ident = thread.ident
        # Held while it is not this thread's turn: one release passes the turn, one acquire waits for it.
        self.gate = _thread.allocate_lock()
        self.gate.acquire()
        self.parked = False
        self.parks = 0  # the number of parkings, which distinguishes a pending timeout from an obsolete one
        self.woken = False
        self.waiting_for: object = ""
        self.error: BaseException | None = None  # to be raised in this thread when it gets its turn
        self.done = False
        self.joiners: list[tuple[Task, int]] = []  # with the number of the parking in which they wait for its end

    @property
    def name(self) -> str:
        return self.thread.name


class Timer:
    """A function that a new thread of the bubble runs at a virtual time; see `Bubble.after_func`."""

    def __init__(self, fn: Callable[[], object], name: str) -> None:
        self.fn = fn
        self.name = name
        self.pending = True

    def stop(self) -> bool:
        """Cancel the timer. Returns True if it had neither fired nor been stopped."""
        was_pending, self.pending = self.pending, False
        return was_pending
