"""Requests for a new list, which end the watch of a reflector after a delay. Beyond Go.

An object that could not be stored is missing from the cache until its next change, or for good. A new list brings it
again. One object that can never be stored must not cost the server a list a minute: the delay is 1.3 seconds at first
and doubles with each list, up to ten minutes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from clientgo.apimachinery.util import wait
from clientgo.klog.exceptions import operational_error
from clientgo.utils.clock import Timer, WithTickerAndDelayedExecution

_BACKOFF = wait.Backoff(duration=4 / 3, cap=600.0, steps=10, factor=2.0, jitter=0.2)
# Seconds without a request after which the delay is short again.
_RESET = 60 * 60.0


@operational_error
class RelistRequested(Exception):
    """The watch was ended for a new list."""

    def __init__(self) -> None:
        super().__init__("what came before could not be taken in")


class RelistRequests:
    """The relist requests of one reflector. Thread-safe; no method blocks."""

    def __init__(self, clock: WithTickerAndDelayedExecution) -> None:
        self._clock = clock
        # Guards the fields below. Never held while a watch is ended.
        self._lock = threading.Lock()
        self._delay = _BACKOFF.delay_with_reset(clock, _RESET)
        self._timer: Timer | None = None
        self._is_due = False
        # Ends the open watch with an error; None while there is none.
        self._end_watch: Callable[[BaseException], None] | None = None

    def request(self) -> None:
        """End the watch with RelistRequested after the delay. Has no effect while an earlier request is pending."""
        with self._lock:
            if self._timer is None:
                self._timer = self._clock.after_func(self._delay(), self._fire)

    def clear(self) -> None:
        """Drop the pending request, because the reflector is about to list."""
        with self._lock:
            timer, self._timer, self._is_due = self._timer, None, False
        if timer is not None:
            timer.stop()

    @contextmanager
    def ending(self, end_watch: Callable[[BaseException], None]) -> Iterator[None]:
        """Call `end_watch` with RelistRequested when a request falls due inside the `with` block.

        Calls it immediately if a request is already due.
        """
        with self._lock:
            self._end_watch, is_due = end_watch, self._is_due
        try:
            if is_due:
                end_watch(RelistRequested())
            yield
        finally:
            with self._lock:
                self._end_watch = None

    def _fire(self) -> None:
        with self._lock:
            self._is_due, end_watch = True, self._end_watch
        if end_watch is not None:
            end_watch(RelistRequested())

    def __repr__(self) -> str:
        return f"<RelistRequests: {'due' if self._is_due else 'none' if self._timer is None else 'waiting'}>"


__all__ = ["RelistRequested", "RelistRequests"]
