"""Calls that look, some time later, whether something hangs. Has no Go file.

Go's client is silent about most mistakes that make a program hang. Here a log line names them, and the code that may
hang schedules a look for that. A look costs nothing until it is due: it shares one thread with all others, it does not
keep alive what it looks at, and a clock without `call_later` makes none.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator

from clientgo.utils.clock import PassiveClock, WithLookouts

__all__ = ["look_later", "looking_after"]


def look_later(clock: PassiveClock, seconds: float, look: Callable[[], None]) -> Callable[[], object]:
    """Call the bound method `look` in `seconds`, unless its object is gone by then. Return a function that cancels.

    `look` must be quick; what it raises is ignored. May be called with locks held that `look` takes.
    """
    method = weakref.WeakMethod(look)

    def call_if_alive() -> None:
        if (found := method()) is not None:
            found()

    return _call_later(clock, seconds, call_if_alive)


@contextlib.contextmanager
def looking_after(clock: PassiveClock, seconds: float, look: Callable[[], None]) -> Iterator[None]:
    """Call `look`, which must be quick, once the block has taken so many seconds."""
    cancel = _call_later(clock, seconds, look)
    try:
        yield
    finally:
        cancel()


def _call_later(clock: PassiveClock, seconds: float, fn: Callable[[], None]) -> Callable[[], object]:
    def call() -> None:
        # A look that fails, such as in the program's own logger, must not end the thread of all looks.
        with contextlib.suppress(Exception):
            fn()

    if not isinstance(clock, WithLookouts):
        return _nothing
    try:
        return clock.call_later(seconds, call)
    except RuntimeError:  # no further thread can be started: what is being looked at matters more than the look
        return _nothing


def _nothing() -> None:
    """Cancel nothing."""
