"""Loops whose context ends before the start, during the function, or during a wait.

Go: apimachinery/pkg/util/wait/{loop,backoff,wait}_test.go, where the same tables stand function by function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from clientgo import context
from clientgo.apimachinery.util import wait
from clientgo.apimachinery.util.wait import Backoff, DelayFunc
from clientgo.testing import synctest
from clientgo.utils.clock import REAL_CLOCK

Condition = Callable[[context.Context], bool]


class Loop(NamedTuple):
    """A function that loops once a second, and its reaction to the end of its context."""

    run: Callable[[context.Context, Condition], object]
    # How often the function is called with a context that is done from the start.
    when_done: int
    raises: type[Exception] | None
    # The seconds of the calls before 2.5 seconds are over.
    calls: tuple[float, ...] = (0, 1, 2)


STEADY = DelayFunc(lambda: 1.0)


def manager() -> wait.BackoffManager:
    return wait.new_jittered_backoff_manager(1.0, 0.0, REAL_CLOCK)


LOOPS = {
    "poll_until_context_cancel": Loop(
        lambda ctx, f: wait.poll_until_context_cancel(ctx, 1.0, False, f), 0, context.Canceled, (1, 2)
    ),
    "poll_until_context_cancel at once": Loop(
        lambda ctx, f: wait.poll_until_context_cancel(ctx, 1.0, True, f), 1, context.Canceled
    ),
    "poll_until_context_timeout at once": Loop(
        lambda ctx, f: wait.poll_until_context_timeout(ctx, 1.0, 60.0, True, f), 1, context.Canceled
    ),
    "poll_with_context": Loop(lambda ctx, f: wait.poll_with_context(ctx, 1.0, 60.0, f), 0, wait.ErrWaitTimeout, (1, 2)),
    "poll_until_with_context": Loop(
        lambda ctx, f: wait.poll_until_with_context(ctx, 1.0, f), 0, wait.ErrWaitTimeout, (1, 2)
    ),
    "poll_infinite_with_context": Loop(
        lambda ctx, f: wait.poll_infinite_with_context(ctx, 1.0, f), 0, wait.ErrWaitTimeout, (1, 2)
    ),
    "poll_immediate_with_context": Loop(
        lambda ctx, f: wait.poll_immediate_with_context(ctx, 1.0, 60.0, f), 1, wait.ErrWaitTimeout
    ),
    "poll_immediate_until_with_context": Loop(
        lambda ctx, f: wait.poll_immediate_until_with_context(ctx, 1.0, f), 1, wait.ErrWaitTimeout
    ),
    "poll_immediate_infinite_with_context": Loop(
        lambda ctx, f: wait.poll_immediate_infinite_with_context(ctx, 1.0, f), 1, wait.ErrWaitTimeout
    ),
    "DelayFunc.until": Loop(lambda ctx, f: STEADY.until(ctx, False, False, f), 0, context.Canceled, (1, 2)),
    "DelayFunc.until at once": Loop(lambda ctx, f: STEADY.until(ctx, True, False, f), 1, context.Canceled),
    "DelayFunc.until at once, sliding": Loop(lambda ctx, f: STEADY.until(ctx, True, True, f), 1, context.Canceled),
    "exponential_backoff_with_context": Loop(
        lambda ctx, f: wait.exponential_backoff_with_context(ctx, Backoff(duration=1.0, steps=60), f),
        0,
        context.Canceled,
    ),
    "until_with_context": Loop(lambda ctx, f: wait.until_with_context(ctx, f, 1.0), 0, None),
    "non_sliding_until_with_context": Loop(lambda ctx, f: wait.non_sliding_until_with_context(ctx, f, 1.0), 0, None),
    "jitter_until_with_context": Loop(lambda ctx, f: wait.jitter_until_with_context(ctx, f, 1.0, 0.0, True), 0, None),
    "backoff_until_with_context": Loop(
        lambda ctx, f: wait.backoff_until_with_context(ctx, f, manager(), True), 0, None
    ),
    "backoff_until_with_context, not sliding": Loop(
        lambda ctx, f: wait.backoff_until_with_context(ctx, f, manager(), False), 0, None
    ),
    "until": Loop(lambda ctx, f: wait.until(lambda: f(ctx), 1.0, ctx.done()), 0, None),
    "poll_until": Loop(lambda ctx, f: wait.poll_until(1.0, lambda: f(ctx), ctx.done()), 0, wait.ErrWaitTimeout, (1, 2)),
    "poll_immediate_until": Loop(
        lambda ctx, f: wait.poll_immediate_until(1.0, lambda: f(ctx), ctx.done()), 1, wait.ErrWaitTimeout
    ),
}
every_loop = pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())


def run(loop: Loop, ctx: context.Context, condition: Condition) -> type[Exception] | None:
    """Return the class of the loop's exception, which must be an interruption."""
    try:
        loop.run(ctx, condition)
    except Exception as err:
        assert wait.interrupted(err)
        return type(err)
    return None


@every_loop
def test_a_context_that_is_done_already(loop: Loop):
    """Go: Test_loopConditionUntilContext_semantic, TestPollImmediateUntilWithContext, Test_waitForWithContext,
    Test_poll.
    """
    with synctest.bubble() as b:
        ctx, cancel = context.with_cancel(context.background())
        cancel()
        calls: list[float] = []
        raised = run(loop, ctx, lambda _: bool(calls.append(b.elapsed)))
        assert (len(calls), raised, b.elapsed) == (loop.when_done, loop.raises, 0)


@every_loop
def test_a_context_that_ends_while_the_loop_waits(loop: Loop):
    """Go: Test_loopConditionUntilContext_semantic, Test_waitForWithEarlyClosing_waitFunc."""
    with synctest.bubble() as b:
        ctx, cancel = context.with_cancel(context.background())
        REAL_CLOCK.after_func(2.5, cancel)
        calls: list[float] = []
        raised = run(loop, ctx, lambda _: bool(calls.append(round(b.elapsed, 6))))
        assert (tuple(calls), raised) == (loop.calls, loop.raises)
        assert b.elapsed == pytest.approx(2.5), "it does not wait the interval out"


@every_loop
def test_a_context_that_ends_while_the_function_runs(loop: Loop):
    """Go: TestUntilReturnsImmediately, TestJitterUntilReturnsImmediately, TestJitterUntilWithContext,
    Test_waitForWithContextCancelsContext.
    """
    with synctest.bubble() as b:
        ctx, cancel = context.with_cancel(context.background())
        calls: list[float] = []

        def second_ends_it(_: context.Context) -> bool:
            calls.append(round(b.elapsed, 6))
            if len(calls) == 2:
                cancel()
            return False

        raised = run(loop, ctx, second_ends_it)
        assert (tuple(calls), raised) == (loop.calls[:2], loop.raises)
        assert b.elapsed == pytest.approx(calls[-1]), "and not a moment longer"


@pytest.mark.parametrize("loop", [each for each in LOOPS.values() if each.raises is not None])
def test_a_condition_that_is_met_counts_more_than_a_context_that_is_done(loop: Loop):
    with synctest.bubble():
        ctx, cancel = context.with_cancel(context.background())

        def met(_: context.Context) -> bool:
            cancel()
            return True

        assert run(loop, ctx, met) is None


def test_only_older_polls_confuse_a_deadline_with_a_cancellation():
    with synctest.bubble():
        ctx, cancel = context.with_timeout(context.background(), 1.5)
        with pytest.raises(context.DeadlineExceeded):
            wait.poll_until_context_cancel(ctx, 1.0, True, lambda _: False)
        with pytest.raises(context.DeadlineExceeded):
            wait.exponential_backoff_with_context(ctx, Backoff(duration=1.0, steps=5), lambda _: False)
        with pytest.raises(wait.ErrWaitTimeout):
            wait.poll_with_context(ctx, 1.0, 0.0, lambda _: False)
        cancel()


def test_the_last_step_of_a_backoff_times_out_even_if_the_context_has_ended_meanwhile():
    with synctest.bubble():
        ctx, cancel = context.with_cancel(context.background())
        with pytest.raises(wait.ErrWaitTimeout):
            wait.exponential_backoff_with_context(ctx, Backoff(duration=1.0, steps=1), lambda _: bool(cancel()))


def test_a_manager_may_be_used_again_after_it_was_interrupted():
    """The timer that had just fired must not make the next turn come at once."""
    with synctest.bubble() as b:
        reused = manager()
        for start in (0.0, 1.0):
            ctx, cancel = context.with_cancel(context.background())
            REAL_CLOCK.after_func(1.0, cancel)
            calls: list[float] = []
            wait.backoff_until_with_context(ctx, lambda _: calls.append(b.elapsed), reused, False)  # noqa: B023
            assert calls[0] == start
            assert len(calls) <= 2
