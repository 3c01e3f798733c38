"""Growing delays, and loops with such delays. Mirrors apimachinery/pkg/util/wait/backoff.go."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from clientgo import context
from clientgo.apimachinery.util import runtime
from clientgo.apimachinery.util.wait import timer as _timer
from clientgo.apimachinery.util.wait.delay import DelayFunc
from clientgo.apimachinery.util.wait.error import ErrWaitTimeout
from clientgo.apimachinery.util.wait.timer import Timer
from clientgo.apimachinery.util.wait.wait import ConditionWithContextFunc, context_for_channel, jitter
from clientgo.context import Context
from clientgo.golang.channel import StopChannel, select
from clientgo.golang.functions import require_function
from clientgo.golang.time import require_seconds
from clientgo.klog.answers import is_true
from clientgo.utils.clock.clock import REAL_CLOCK, Clock, PassiveClock
from clientgo.utils.clock.clock import Timer as ClockTimer

__all__ = [
    "Backoff",
    "BackoffManager",
    "backoff_until",
    "backoff_until_with_context",
    "exponential_backoff",
    "exponential_backoff_with_context",
    "jitter_until",
    "jitter_until_with_context",
    "new_exponential_backoff_manager",
    "new_jittered_backoff_manager",
    "non_sliding_until",
    "non_sliding_until_with_context",
    "until",
    "until_with_context",
]

_NS = 1_000_000_000
_MAX_STEPS = 2**31 - 1


@dataclass
class Backoff:
    """A series of delays, each `factor` times the previous one. Not thread-safe. Go: wait.Backoff.

    Every field may keep its zero value, as in a Go literal.
    """

    duration: float = 0.0
    """The next delay, in seconds."""
    factor: float = 0.0
    """Factor by which each step multiplies `duration`; zero disables it. Must not be negative."""
    jitter: float = 0.0
    """Each delay grows by a random part of up to `jitter` times itself. Does not change `duration`."""
    steps: int = 0
    """Number of remaining steps that may change `duration`."""
    cap: float = 0.0
    """Maximum of `duration` in seconds, if positive. When it is reached, `steps` becomes zero."""

    def __post_init__(self) -> None:
        """Raise TypeError for a duration or cap that is no number: a text times a factor could fill the memory."""
        require_seconds(self.duration, "duration")
        require_seconds(self.cap, "cap")

    def step(self) -> float:
        """Return the delay to wait now in seconds, and advance this backoff. Go: Backoff.Step."""
        delay, self.duration, self.steps = _delay(self.steps, self.duration, self.cap, self.factor, self.jitter)
        return delay

    def delay_func(self) -> DelayFunc:
        """Return a function that steps a copy of this backoff. Go: Backoff.DelayFunc."""
        return DelayFunc(dataclasses.replace(self).step)

    def timer(self) -> Timer:
        """Return a timer with the delays of `delay_func`, of the simplest suitable type. Go: Backoff.Timer."""
        if self.steps > 1 or self.jitter != 0:
            return _timer._VariableTimer(self.delay_func(), _timer._internal_clock)
        if self.duration > 0:
            return _timer._FixedTimer(self.duration, _timer._internal_clock)
        return _timer._NoopTimer()

    def delay_with_reset(self, c: PassiveClock, reset_interval: float) -> DelayFunc:
        """Return a function that returns one delay after the other, and starts again after `reset_interval` seconds.

        If the interval is 0 or less, every delay is the first one. Without a factor it never starts again, since its
        delays do not grow. The function is thread-safe and does not change this Backoff. Go: Backoff.DelayWithReset.
        """
        if self.factor <= 0:
            return self.delay_func()
        if reset_interval <= 0:
            return dataclasses.replace(self, steps=0, factor=0.0).delay_func()
        return DelayFunc(_ResettingBackoff(self, c, reset_interval).step)


def _delay(steps: int, duration: float, cap: float, factor: float, jitter_factor: float) -> tuple[float, float, int]:
    """Return the delay to wait now, the duration of the next step, and the number of remaining steps."""
    now = jitter(duration, jitter_factor) if jitter_factor > 0 else duration
    if steps < 1:
        return now, duration, 0
    steps -= 1
    if factor == 0:
        return now, duration, steps
    # Rounded to whole nanoseconds, as Go's Duration.
    following = int(round(duration * _NS) * factor) / _NS
    if 0 < cap < following:
        return now, cap, 0
    return now, following, steps


class _ResettingBackoff:
    def __init__(self, backoff: Backoff, clock: PassiveClock, reset_interval: float) -> None:
        self._initial = dataclasses.replace(backoff)
        self._backoff = dataclasses.replace(backoff)
        self._reset_interval = reset_interval
        self._clock = clock
        # Guards _backoff and _last_start.
        self._lock = threading.Lock()
        self._last_start = clock.now()

    def step(self) -> float:
        with self._lock:
            if self._clock.since(self._last_start) > self._reset_interval:
                self._backoff = dataclasses.replace(self._initial)
                self._last_start = self._clock.now()
            return self._backoff.step()


def until(f: Callable[[], object], period: float, stop_ch: StopChannel) -> None:
    """Call `f` repeatedly until `stop_ch` is set, with `period` seconds between the end of one call and the next.

    Blocks. Logs an exception of `f` and continues. Go: wait.Until.
    """
    jitter_until(f, period, 0.0, True, stop_ch)


def until_with_context(ctx: Context, f: Callable[[Context], object], period: float) -> None:
    """Call `f` every `period` seconds until the context is done; see `until`. Go: wait.UntilWithContext."""
    jitter_until_with_context(ctx, f, period, 0.0, True)


def non_sliding_until(f: Callable[[], object], period: float, stop_ch: StopChannel) -> None:
    """Call `f` like `until`, with `period` counted from the start of each call. Go: wait.NonSlidingUntil."""
    jitter_until(f, period, 0.0, False, stop_ch)


def non_sliding_until_with_context(ctx: Context, f: Callable[[Context], object], period: float) -> None:
    """Call `f` like `until_with_context`, with `period` counted from the start of each call.

    Go: wait.NonSlidingUntilWithContext.
    """
    jitter_until_with_context(ctx, f, period, 0.0, False)


def jitter_until(
    f: Callable[[], object], period: float, jitter_factor: float, sliding: bool, stop_ch: StopChannel
) -> None:
    """Call `f` until `stop_ch` is set, every `period` seconds plus a random part of up to `jitter_factor` times it.

    A factor that is not positive disables jitter. With `sliding` the period starts when `f` has returned, otherwise
    before it is called. Blocks. Go: wait.JitterUntil.
    """
    backoff_until(f, new_jittered_backoff_manager(period, jitter_factor, REAL_CLOCK), sliding, stop_ch)


def jitter_until_with_context(
    ctx: Context, f: Callable[[Context], object], period: float, jitter_factor: float, sliding: bool
) -> None:
    """Call `f` like `jitter_until`, until the context is done. Go: wait.JitterUntilWithContext."""
    backoff_until_with_context(ctx, f, new_jittered_backoff_manager(period, jitter_factor, REAL_CLOCK), sliding)


def backoff_until(f: Callable[[], object], backoff: BackoffManager, sliding: bool, stop_ch: StopChannel) -> None:
    """Call `f` until `stop_ch` is set, with the delays of `backoff`; `sliding` as in `jitter_until`. Blocks.

    Go: wait.BackoffUntil.
    """
    backoff_until_with_context(context_for_channel(stop_ch), lambda _ctx: f(), backoff, sliding)


def backoff_until_with_context(
    ctx: Context, f: Callable[[Context], object], backoff: BackoffManager, sliding: bool
) -> None:
    """Call `f` like `backoff_until`, until the context is done. Go: wait.BackoffUntilWithContext."""
    require_function(f, "the function to repeat", "ctx")
    done = ctx.done()
    while not done.is_set():
        timer = None if sliding else backoff.backoff()
        with runtime.handle_crash_with_context(ctx, go_on=True):
            f(ctx)
        if timer is None:
            timer = backoff.backoff()
        if select([done, timer.c()]).case == 0:
            timer.stop()
            timer.c().try_receive()  # the manager may reuse its timer: leave no old value in it
            return


class BackoffManager(Protocol):
    """A source of delays between calls. Not thread-safe. Go: wait.BackoffManager."""

    def backoff(self) -> ClockTimer:
        """Return the manager's only timer after a reset; receive from it before the next call.

        Go: BackoffManager.Backoff.
        """
        ...


class _TimerBackoffManager:
    """A manager with one timer, which it resets to the result of `next_backoff`."""

    def __init__(self, clock: Clock, next_backoff: Callable[[], float]) -> None:
        self._clock = clock
        self._next_backoff = next_backoff
        self._timer: ClockTimer | None = None

    def backoff(self) -> ClockTimer:
        delay = self._next_backoff()
        if self._timer is None:
            self._timer = self._clock.new_timer(delay)
        else:
            self._timer.reset(delay)
        return self._timer


def new_exponential_backoff_manager(
    init_backoff: float,
    max_backoff: float,
    reset_duration: float,
    backoff_factor: float,
    jitter_factor: float,
    c: Clock,
) -> BackoffManager:
    """Return a manager of delays from `init_backoff` to `max_backoff` seconds, each `backoff_factor` times the
    previous.

    Adds jitter. The delays start again if more than `reset_duration` seconds have passed since the last one was
    requested. Deprecated in Go: use `Backoff.delay_with_reset`, which measures from the first one instead.
    """
    series = Backoff(init_backoff, backoff_factor, jitter_factor, _MAX_STEPS, max_backoff)
    last_start = c.now()

    def next_backoff() -> float:
        nonlocal last_start
        if c.now() - last_start > reset_duration:
            series.steps = _MAX_STEPS
            series.duration = init_backoff
        last_start = c.now()
        return series.step()

    return _TimerBackoffManager(c, next_backoff)


def new_jittered_backoff_manager(duration: float, jitter_factor: float, c: Clock) -> BackoffManager:
    """Return a manager of a constant `duration`, plus jitter if the factor is positive. Deprecated in Go.

    Go: wait.NewJitteredBackoffManager.
    """
    return _TimerBackoffManager(c, lambda: jitter(duration, jitter_factor) if jitter_factor > 0.0 else duration)


def exponential_backoff(backoff: Backoff, condition: Callable[[], bool]) -> None:
    """Call `condition` at most `backoff.steps` times, until it returns True, with the backoff's delays in between.

    Blocks; does not change `backoff`. Raises the condition's errors, and ErrWaitTimeout after the last step.
    Go: wait.ExponentialBackoff.
    """
    backoff = dataclasses.replace(backoff)
    while backoff.steps > 0:
        if is_true(condition):
            return
        if backoff.steps == 1:
            break
        _timer._internal_clock.sleep(backoff.step())
    raise ErrWaitTimeout()


def exponential_backoff_with_context(ctx: Context, backoff: Backoff, condition: ConditionWithContextFunc) -> None:
    """Retry like `exponential_backoff`. Raises `ctx.err()` when the context is done, also while waiting.

    Go: wait.ExponentialBackoffWithContext.
    """
    backoff = dataclasses.replace(backoff)
    while backoff.steps > 0:
        err = ctx.err()
        if err is not None:
            raise err
        if is_true(condition, ctx):
            return
        if backoff.steps == 1:
            break
        context.sleep(ctx, backoff.step(), _timer._internal_clock)
        if (err := ctx.err()) is not None:
            raise err
    raise ErrWaitTimeout()
