"""Polling for a condition. Mirrors apimachinery/pkg/util/wait/poll.go.

The functions without "until_context" in their name are deprecated in Go and kept because tutorials use them. They raise
ErrWaitTimeout for any reason; the newer ones raise the context's error.
"""

from __future__ import annotations

from collections.abc import Callable

from clientgo import context
from clientgo.apimachinery.util.wait import timer as _timer
from clientgo.apimachinery.util.wait.backoff import Backoff
from clientgo.apimachinery.util.wait.error import ErrWaitTimeout
from clientgo.apimachinery.util.wait.loop import loop_condition_until_context
from clientgo.apimachinery.util.wait.wait import ConditionWithContextFunc, context_for_channel
from clientgo.context import Context
from clientgo.golang.channel import StopChannel, select
from clientgo.klog.answers import is_true

__all__ = [
    "poll",
    "poll_immediate",
    "poll_immediate_infinite",
    "poll_immediate_infinite_with_context",
    "poll_immediate_until",
    "poll_immediate_until_with_context",
    "poll_immediate_with_context",
    "poll_infinite",
    "poll_infinite_with_context",
    "poll_until",
    "poll_until_context_cancel",
    "poll_until_context_timeout",
    "poll_until_with_context",
    "poll_with_context",
]

_Condition = Callable[[], bool]


def poll_until_context_cancel(
    ctx: Context, interval: float, immediate: bool, condition: ConditionWithContextFunc
) -> None:
    """Call `condition` every `interval` seconds until it returns True, first at once if `immediate`. Blocks.

    Raises the condition's errors, and `ctx.err()` when the context is done. Go: wait.PollUntilContextCancel.
    """
    loop_condition_until_context(ctx, Backoff(duration=interval).timer(), immediate, False, condition)


def poll_until_context_timeout(
    ctx: Context, interval: float, timeout: float, immediate: bool, condition: ConditionWithContextFunc
) -> None:
    """Poll like `poll_until_context_cancel`, for at most `timeout` seconds; then raise DeadlineExceeded.

    Go: wait.PollUntilContextTimeout.
    """
    deadline_ctx, cancel = context.with_timeout(ctx, timeout)
    try:
        poll_until_context_cancel(deadline_ctx, interval, immediate, condition)
    finally:
        cancel()


def poll(interval: float, timeout: float, condition: _Condition) -> None:
    """Call `condition` every `interval` seconds until it returns True. Raises ErrWaitTimeout after `timeout` seconds.

    A timeout of 0 is unlimited. Calls the condition once more at the timeout. Go: wait.Poll.
    """
    poll_with_context(context.background(), interval, timeout, lambda _ctx: is_true(condition))


def poll_with_context(ctx: Context, interval: float, timeout: float, condition: ConditionWithContextFunc) -> None:
    """Poll like `poll`. Raises ErrWaitTimeout when the context is done, too. Go: wait.PollWithContext."""
    _poll(ctx, False, interval, timeout, condition)


def poll_until(interval: float, condition: _Condition, stop_ch: StopChannel) -> None:
    """Poll like `poll`, without a timeout, until `stop_ch` is set. Go: wait.PollUntil."""
    poll_until_with_context(context_for_channel(stop_ch), interval, lambda _ctx: is_true(condition))


def poll_until_with_context(ctx: Context, interval: float, condition: ConditionWithContextFunc) -> None:
    """Poll like `poll_with_context`, without a timeout. Go: wait.PollUntilWithContext."""
    _poll(ctx, False, interval, 0.0, condition)


def poll_infinite(interval: float, condition: _Condition) -> None:
    """Poll like `poll`, without a timeout. Go: wait.PollInfinite."""
    poll_infinite_with_context(context.background(), interval, lambda _ctx: is_true(condition))


def poll_infinite_with_context(ctx: Context, interval: float, condition: ConditionWithContextFunc) -> None:
    """Poll like `poll_with_context`, without a timeout. Go: wait.PollInfiniteWithContext."""
    _poll(ctx, False, interval, 0.0, condition)


def poll_immediate(interval: float, timeout: float, condition: _Condition) -> None:
    """Poll like `poll`, with the first call immediately. Go: wait.PollImmediate."""
    poll_immediate_with_context(context.background(), interval, timeout, lambda _ctx: is_true(condition))


def poll_immediate_with_context(
    ctx: Context, interval: float, timeout: float, condition: ConditionWithContextFunc
) -> None:
    """Poll like `poll_with_context`, with the first call immediately, even if the context is done.

    Go: wait.PollImmediateWithContext.
    """
    _poll(ctx, True, interval, timeout, condition)


def poll_immediate_until(interval: float, condition: _Condition, stop_ch: StopChannel) -> None:
    """Poll like `poll_until`, with the first call immediately. Go: wait.PollImmediateUntil."""
    poll_immediate_until_with_context(context_for_channel(stop_ch), interval, lambda _ctx: is_true(condition))


def poll_immediate_until_with_context(ctx: Context, interval: float, condition: ConditionWithContextFunc) -> None:
    """Poll like `poll_until_with_context`, with the first call immediately. Go: wait.PollImmediateUntilWithContext."""
    _poll(ctx, True, interval, 0.0, condition)


def poll_immediate_infinite(interval: float, condition: _Condition) -> None:
    """Poll like `poll_infinite`, with the first call immediately. Go: wait.PollImmediateInfinite."""
    poll_immediate_infinite_with_context(context.background(), interval, lambda _ctx: is_true(condition))


def poll_immediate_infinite_with_context(ctx: Context, interval: float, condition: ConditionWithContextFunc) -> None:
    """Poll like `poll_infinite_with_context`, with the first call immediately.

    Go: wait.PollImmediateInfiniteWithContext.
    """
    _poll(ctx, True, interval, 0.0, condition)


def _poll(ctx: Context, immediate: bool, interval: float, timeout: float, condition: ConditionWithContextFunc) -> None:
    if immediate and is_true(condition, ctx):
        return
    if ctx.done().is_set():
        raise ErrWaitTimeout()
    clock = _timer._internal_clock
    ticker = clock.new_ticker(interval)
    over = clock.new_timer(timeout) if timeout != 0 else None
    try:
        cases = [ctx.done(), None if over is None else over.c(), ticker.c()]
        while (chosen := select(cases).case) != 0:
            if condition(ctx):
                return
            if chosen == 1:
                break
            # Go's poller drops the ticks during a call of the condition.
            ticker.c().try_receive()
        raise ErrWaitTimeout()
    finally:
        ticker.stop()
        if over is not None:
            over.stop()
