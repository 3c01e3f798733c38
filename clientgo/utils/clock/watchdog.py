"""Checks that run later and find code that hangs. Has no Go file.

Go's client is silent about most mistakes that make a program hang. Here a log line names them: the code that may hang
schedules a check. A scheduled check costs almost nothing: all checks share one thread, and a check does not keep its
object alive. A clock without `call_later` runs no checks.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator

from clientgo.utils.clock.clock import PassiveClock

__all__ = ["check_later", "checked_after"]


def check_later(clock: PassiveClock, seconds: float, check: Callable[[], None]) -> Callable[[], object]:
    """Call the bound method `check` in `seconds` unless its object is gone by then. Return a function that cancels.

    `check` must be quick; its exceptions are ignored. The caller may hold locks that `check` takes.
    """
    method = weakref.WeakMethod(check)

    def call_if_alive() -> None:
        if (found := method()) is not None:
            found()

    return _call_later(clock, seconds, call_if_alive)


@contextlib.contextmanager
def checked_after(clock: PassiveClock, seconds: float, check: Callable[[], None]) -> Iterator[None]:
    """Call `check`, which must be quick, if the block takes longer than `seconds`."""
    cancel = _call_later(clock, seconds, check)
    try:
        yield
    finally:
        cancel()


def _call_later(clock: PassiveClock, seconds: float, fn: Callable[[], None]) -> Callable[[], object]:
    def call() -> None:
        # A check that fails, such as in the program's own logger, must not end the thread of all checks.
        with contextlib.suppress(Exception):
            fn()

    # Not `isinstance(clock, WithWatchdog)`, which is slow before Python 3.12 and happens for each request.
    call_later: Callable[[float, Callable[[], None]], Callable[[], object]]
    call_later = getattr(clock, "call_later", _never)
    try:
        return call_later(seconds, call)
    except RuntimeError:  # no further thread can be started: the checked code matters more than the check
        return _nothing


def _never(seconds: float, call: Callable[[], None]) -> Callable[[], object]:
    """Return a function that cancels nothing: the clock calls no functions later."""
    return _nothing


def _nothing() -> None:
    """Cancel nothing."""
