"""Functions that return the delays of a loop. Mirrors apimachinery/pkg/util/wait/delay.go."""

from __future__ import annotations

import threading
from collections.abc import Callable

from clientgo.apimachinery.util.wait import timer as _timer
from clientgo.apimachinery.util.wait.loop import loop_condition_until_context
from clientgo.apimachinery.util.wait.timer import Timer
from clientgo.apimachinery.util.wait.wait import ConditionWithContextFunc
from clientgo.context import Context
from clientgo.utils.clock.clock import Clock

__all__ = ["DelayFunc"]


class DelayFunc:
    """A function that returns the seconds to wait before the next call. Not thread-safe: see `concurrent`.

    Go: wait.DelayFunc.
    """

    __slots__ = ("_fn",)

    def __init__(self, fn: Callable[[], float]) -> None:
        self._fn = fn

    def __call__(self) -> float:
        return self._fn()

    def timer(self, c: Clock) -> Timer:
        """Return a timer of clock `c` with these delays. Not thread-safe. Go: DelayFunc.Timer."""
        return _timer._VariableTimer(self._fn, c)

    def until(self, ctx: Context, immediate: bool, sliding: bool, condition: ConditionWithContextFunc) -> None:
        """Wait until `condition` returns True, with these delays in between.

        With `immediate` it checks before the first delay. With `sliding` the delay starts after the condition returned,
        otherwise before it is called. Raises the condition's errors, and `ctx.err()` when the context is done.
        Go: DelayFunc.Until.
        """
        loop_condition_until_context(ctx, self.timer(_timer._internal_clock), immediate, sliding, condition)

    def concurrent(self) -> DelayFunc:
        """Return a thread-safe version of this function, which one thread at a time calls. Go: DelayFunc.Concurrent."""
        lock = threading.Lock()
        fn = self._fn

        def locked() -> float:
            with lock:
                return fn()

        return DelayFunc(locked)
