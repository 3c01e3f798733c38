"""Loops, polls, groups and contexts for channels, in virtual time."""

from __future__ import annotations

import random
import threading

import pytest
from patience import PATIENCE
from threadtools import eventually, in_thread

from clientgo import context
from clientgo.apimachinery.util import wait
from clientgo.apimachinery.util.wait import Backoff, DelayFunc, ErrWaitTimeout
from clientgo.golang.channel import Signal
from clientgo.testing import synctest
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock.testing import FakeClock


class Calls:
    """Recorder of the virtual second of each call. The call number `answer_at` returns True."""

    def __init__(self, b: synctest.Bubble, takes: float = 0.0, answer_at: int = -1) -> None:
        self.at: list[float] = []
        self._b = b
        self._takes = takes
        self._answer_at = answer_at

    def __call__(self, *_: object) -> bool:
        self.at.append(round(self._b.elapsed, 6))
        if self._takes:
            REAL_CLOCK.sleep(self._takes)
        return len(self.at) == self._answer_at


def stop_after(seconds: float) -> Signal:
    stop = Signal()
    REAL_CLOCK.after_func(seconds, lambda: stop.set())
    return stop


def test_until_waits_the_period_after_each_call():
    """Go: TestUntil."""
    with synctest.bubble() as b:
        calls = Calls(b, takes=0.25)
        wait.until(calls, 1.0, stop_after(3.0))
        assert calls.at == [0, 1.25, 2.5]
        assert b.elapsed == pytest.approx(3.0)


def test_non_sliding_until_counts_the_period_from_the_start():
    """Go: TestNonSlidingUntil."""
    with synctest.bubble() as b:
        calls = Calls(b, takes=0.25)
        wait.non_sliding_until(calls, 1.0, stop_after(3.5))
        assert calls.at == [0, 1, 2, 3]


def test_until_does_nothing_once_stopped():
    """Go: TestUntil, TestNonSlidingUntil."""
    stop = threading.Event()
    stop.set()
    wait.until(lambda: pytest.fail("called"), 0.0, stop)


def test_until_without_a_period_stops_too():
    stop = threading.Event()
    calls: list[int] = []

    def work() -> None:
        calls.append(1)
        if len(calls) == 5:
            stop.set()

    wait.until(work, 0.0, stop)
    assert len(calls) == 5


def test_until_goes_on_after_an_exception(caplog):
    """Go: TestJitterUntilRecoversPanic."""
    with synctest.bubble() as b:
        calls = Calls(b)
        wait.until(lambda: calls() or 1 / 0, 1.0, stop_after(1.5))
        assert calls.at == [0, 1]
    assert caplog.text.count("Observed a panic") == 2


def test_until_with_context_hands_the_context_on():
    """Go: TestUntilWithContext, TestNonSlidingUntilWithContext."""
    ctx, cancel = context.with_cancel(context.background())
    seen: list[context.Context] = []

    def work(inner: context.Context) -> None:
        seen.append(inner)
        cancel()

    wait.until_with_context(ctx, work, 3600)
    wait.non_sliding_until_with_context(ctx, work, 3600)
    assert seen == [ctx]


def test_forever_runs_until_it_is_stopped(monkeypatch):
    class Enough(BaseException):
        pass

    calls: list[int] = []

    def work() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise Enough

    with pytest.raises(Enough):
        wait.forever(work, 0.0)


def test_jitter(monkeypatch):
    """Go: TestJitterUntilNegativeFactor, TestJitteredBackoffManagerGetNextBackoff, TestBackoffDelayWithResetJitter."""
    monkeypatch.setattr(random, "random", lambda: 0.5)
    assert wait.jitter(10.0, 0.2) == 11.0
    assert wait.jitter(10.0, 0.0) == 15.0
    assert wait.jitter(10.0, -1.0) == 15.0


def test_jitter_until(monkeypatch):
    """Go: TestJitterUntil."""
    monkeypatch.setattr(random, "random", lambda: 0.5)
    with synctest.bubble() as b:
        calls = Calls(b)
        wait.jitter_until(calls, 1.0, 1.0, True, stop_after(4.0))
        assert calls.at == [0, 1.5, 3]


def test_backoff_until_uses_the_managers_timer():
    """Go: TestExponentialBackoffManagerWithRealClock."""
    with synctest.bubble() as b:
        calls = Calls(b)
        manager = wait.new_exponential_backoff_manager(1.0, 4.0, 100.0, 2.0, 0.0, REAL_CLOCK)
        wait.backoff_until(calls, manager, True, stop_after(12.0))
        assert calls.at == [0, 1, 3, 7, 11]


def test_exponential_backoff_manager_starts_anew_after_a_quiet_time():
    """Go: TestExponentialBackoffManagerGetNextBackoff."""
    clock = FakeClock()
    manager = wait.new_exponential_backoff_manager(1.0, 10.0, 30.0, 2.0, 0.0, clock)

    def delay() -> float:
        start = clock.now()
        timer = manager.backoff()
        while not (fired := timer.c().try_receive())[2]:
            clock.step(0.5)
        return fired[0] - start

    assert [delay() for _ in range(5)] == [1, 2, 4, 8, 10]
    clock.step(30.5)
    assert delay() == 1


def test_jittered_backoff_manager_reuses_its_timer():
    """Go: TestJitterBackoffManagerWithRealClock."""
    clock = FakeClock()
    manager = wait.new_jittered_backoff_manager(1.0, 0.0, clock)
    first = manager.backoff()
    clock.step(1.0)
    assert first.c().try_receive()[2]
    assert manager.backoff() is first
    assert clock.waiters() == 1


def test_backoff_delay_func_leaves_the_backoff_alone():
    backoff = Backoff(duration=1.0, factor=2.0, steps=5)
    delay = backoff.delay_func()
    assert [delay(), delay(), delay()] == [1, 2, 4]
    assert backoff == Backoff(duration=1.0, factor=2.0, steps=5)


def test_backoff_jitter_does_not_add_up(monkeypatch):
    """Go: TestBackoff_Step."""
    monkeypatch.setattr(random, "random", lambda: 0.5)
    backoff = Backoff(duration=1.0, factor=2.0, jitter=1.0, steps=2)
    assert [backoff.step() for _ in range(4)] == [1.5, 3.0, 6.0, 6.0]


def test_delay_with_reset():
    """Go: TestBackoffDelayWithResetExponential, TestBackoffDelayWithResetWithRealClockExponential."""
    clock = FakeClock()
    delay = Backoff(duration=1.0, factor=2.0, steps=10, cap=8.0).delay_with_reset(clock, 60.0)
    assert [delay() for _ in range(5)] == [1, 2, 4, 8, 8]
    clock.step(60.5)
    assert delay() == 1
    clock.step(30)
    assert delay() == 2


def test_delay_with_reset_without_interval_or_factor():
    """Go: TestBackoffDelayWithResetEmpty, TestBackoffDelayWithResetWithRealClockJitter."""
    clock = FakeClock()
    always_first = Backoff(duration=1.0, factor=2.0, steps=10).delay_with_reset(clock, 0.0)
    assert [always_first() for _ in range(3)] == [1, 1, 1]
    flat = Backoff(duration=1.0, steps=10).delay_with_reset(clock, 60.0)
    assert [flat() for _ in range(3)] == [1, 1, 1]


def test_concurrent_delay_func():
    calls: list[int] = []
    delay = DelayFunc(lambda: calls.append(1) or float(len(calls))).concurrent()
    assert (delay(), delay()) == (1.0, 2.0)


def test_delay_func_until():
    """Go: Test_loopConditionUntilContext_timings, Test_loopConditionWithContextImmediateDelay."""
    with synctest.bubble() as b:
        calls = Calls(b, answer_at=4)
        Backoff(duration=1.0, factor=2.0, steps=10).delay_func().until(context.background(), True, True, calls)
        assert calls.at == [0, 1, 3, 7]


@pytest.mark.parametrize(
    ("immediate", "sliding", "at"),
    [
        (True, True, [0, 1.25, 2.5]),
        (True, False, [0, 1, 2]),
        (False, True, [1, 2.25, 3.5]),
        (False, False, [1, 2, 3]),
    ],
)
def test_delay_func_until_immediate_and_sliding(immediate, sliding, at):
    """Go: Test_loopConditionUntilContext_timings, Test_loopConditionUntilContext_Elapsed."""
    with synctest.bubble() as b:
        calls = Calls(b, takes=0.25, answer_at=3)
        DelayFunc(lambda: 1.0).until(context.background(), immediate, sliding, calls)
        assert calls.at == at


@pytest.mark.parametrize("immediate", [True, False])
def test_poll_until_context_cancel(immediate):
    with synctest.bubble() as b:
        calls = Calls(b, answer_at=3)
        wait.poll_until_context_cancel(context.background(), 1.0, immediate, calls)
        assert calls.at == ([0, 1, 2] if immediate else [1, 2, 3])


def test_poll_until_context_cancel_raises_the_contexts_error():
    ctx, cancel = context.with_cancel(context.background())
    cancel()
    with pytest.raises(context.Canceled):
        wait.poll_until_context_cancel(ctx, 1.0, False, lambda _: pytest.fail("called"))
    calls: list[int] = []
    with pytest.raises(context.Canceled):
        wait.poll_until_context_cancel(ctx, 1.0, True, lambda _: bool(calls.append(1)))
    assert calls == [1]


def test_poll_until_context_timeout():
    with synctest.bubble() as b:
        calls = Calls(b)
        with pytest.raises(context.DeadlineExceeded):
            wait.poll_until_context_timeout(context.background(), 1.0, 2.5, True, calls)
        assert calls.at == [0, 1, 2]


def test_poll_without_interval():
    calls: list[int] = []

    def condition(_: context.Context) -> bool:
        calls.append(1)
        return len(calls) == 10

    wait.poll_until_context_cancel(context.background(), 0.0, False, condition)
    assert len(calls) == 10


def test_a_condition_that_raises_ends_the_poll():
    """Go: TestPollError, TestPollImmediateError, Test_waitFor."""
    with pytest.raises(ZeroDivisionError):
        wait.poll_until_context_cancel(context.background(), 1.0, True, lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        wait.poll_immediate(1.0, 1.0, lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        wait.exponential_backoff(Backoff(steps=1), lambda: 1 / 0)


def test_poll_asks_once_more_when_time_is_over():
    """Go: TestPoller, Test_waitFor."""
    with synctest.bubble() as b:
        calls = Calls(b)
        with pytest.raises(ErrWaitTimeout, match="timed out waiting for the condition"):
            wait.poll(1.0, 2.5, calls)
        assert calls.at == [1, 2, 2.5]


def test_poll_drops_ticks_that_pass_while_the_condition_is_busy():
    """Go: TestPoller."""
    with synctest.bubble() as b:
        calls = Calls(b, takes=1.5, answer_at=3)
        wait.poll(1.0, 0, calls)
        assert calls.at == [1, 3, 5]


@pytest.mark.parametrize(
    ("poll", "at"),
    [
        (lambda c: wait.poll(1.0, 10.0, c), [1, 2]),
        (lambda c: wait.poll_infinite(1.0, c), [1, 2]),
        (lambda c: wait.poll_immediate(1.0, 10.0, c), [0, 1]),
        (lambda c: wait.poll_immediate_infinite(1.0, c), [0, 1]),
        (lambda c: wait.poll_until(1.0, c, Signal()), [1, 2]),
        (lambda c: wait.poll_immediate_until(1.0, c, Signal()), [0, 1]),
        (lambda c: wait.poll_with_context(context.background(), 1.0, 10.0, c), [1, 2]),
        (lambda c: wait.poll_infinite_with_context(context.background(), 1.0, c), [1, 2]),
        (lambda c: wait.poll_until_with_context(context.background(), 1.0, c), [1, 2]),
        (lambda c: wait.poll_immediate_with_context(context.background(), 1.0, 10.0, c), [0, 1]),
        (lambda c: wait.poll_immediate_infinite_with_context(context.background(), 1.0, c), [0, 1]),
        (lambda c: wait.poll_immediate_until_with_context(context.background(), 1.0, c), [0, 1]),
    ],
)
def test_the_older_polls(poll, at):
    """Go: TestPoll, TestPollImmediate, TestPollForever, TestPollUntil, TestPollImmediateUntilWithContext,
    Test_poll, Test_waitForWithContext.
    """
    with synctest.bubble() as b:
        calls = Calls(b, answer_at=2)
        poll(calls)
        assert calls.at == at


def test_older_polls_hide_why_they_ended():
    """Go: TestPollUntil, Test_waitForWithClosedChannel."""
    with synctest.bubble() as b:
        calls = Calls(b)
        with pytest.raises(ErrWaitTimeout):
            wait.poll_until(1.0, calls, stop_after(2.5))
        assert calls.at == [1, 2]
    ctx, cancel = context.with_cancel(context.background())
    cancel()
    with pytest.raises(ErrWaitTimeout):
        wait.poll_immediate_with_context(ctx, 1.0, 10.0, lambda _: False)


def test_exponential_backoff():
    """Go: TestExponentialBackoff."""
    with synctest.bubble() as b:
        calls = Calls(b)
        backoff = Backoff(duration=1.0, factor=2.0, steps=4)
        with pytest.raises(ErrWaitTimeout):
            wait.exponential_backoff(backoff, calls)
        assert calls.at == [0, 1, 3, 7]
        assert b.elapsed == pytest.approx(7.0)
        assert backoff.steps == 4
        wait.exponential_backoff(backoff, lambda: True)


def test_exponential_backoff_with_context():
    """Go: TestExponentialBackoffWithContext."""
    with synctest.bubble() as b:
        calls = Calls(b)
        ctx, cancel = context.with_timeout(context.background(), 2.0)
        with pytest.raises(context.DeadlineExceeded):
            wait.exponential_backoff_with_context(ctx, Backoff(duration=1.0, factor=2.0, steps=4), calls)
        assert calls.at == [0, 1]
        with pytest.raises(context.DeadlineExceeded):
            wait.exponential_backoff_with_context(ctx, Backoff(steps=4), calls)
        with pytest.raises(ErrWaitTimeout):
            wait.exponential_backoff_with_context(context.background(), Backoff(steps=2), lambda _: False)
        cancel()


def test_interrupted():
    """Go: TestInterrupted."""

    def chained(err: BaseException) -> BaseException:
        outer = RuntimeError("outer")
        outer.__cause__ = err
        return outer

    for err in (ErrWaitTimeout(), context.Canceled(), context.DeadlineExceeded(), wait.error_interrupted(None)):
        assert wait.interrupted(err)
        assert wait.interrupted(chained(err))
    assert not wait.interrupted(None)
    assert not wait.interrupted(RuntimeError("other"))


def test_error_interrupted_prints_as_its_cause_and_wraps_once():
    """Go: TestErrorInterrupted."""
    cause = ValueError("because")
    err = wait.error_interrupted(cause)
    assert str(err) == "because"
    assert err.__cause__ is cause
    assert wait.error_interrupted(err) is err
    assert str(wait.error_interrupted(None)) == "timed out waiting for the condition"


def test_group_waits_for_all_also_for_those_started_meanwhile():
    group = wait.Group()
    stop = threading.Event()
    ctx, cancel = context.with_cancel(context.background())
    ended: list[str] = []

    def second() -> None:
        stop.wait()
        ended.append("second")

    def first() -> None:
        group.start(second, name="second")
        ended.append("first")

    group.start(first)
    group.start_with_channel(stop, lambda stop_ch: stop_ch.wait())
    group.start_with_context(ctx, lambda inner: inner.done().wait())
    waiting = in_thread(group.wait)
    eventually(lambda: "first" in ended)
    stop.set()
    cancel()
    waiting.result()
    assert ended == ["first", "second"]
    assert repr(group) == "<Group []>"


def test_group_logs_a_function_that_raises(caplog):
    group = wait.Group()
    group.start(lambda: 1 / 0)
    group.wait()
    assert "division by zero" in caplog.text


@pytest.mark.parametrize("make", [Signal, threading.Event], ids=["signal", "event"])
def test_context_for_channel(make):
    """Go: TestContextForChannel."""
    stop = make()
    ctx = wait.context_for_channel(stop)
    child, _ = context.with_cancel(ctx)
    assert ctx.done() is ctx.done()
    assert ctx.err() is None
    assert not ctx.done().wait(0.001)
    assert (ctx.deadline(), ctx.value("k")) == (None, None)
    stop.set()
    assert isinstance(ctx.err(), context.Canceled)
    assert child.done().wait(PATIENCE)


def test_context_for_channel_needs_no_thread_by_itself():
    before = threading.active_count()
    ctx = wait.context_for_channel(threading.Event())
    assert not ctx.done().is_set()
    assert threading.active_count() == before


def test_condition_func():
    assert wait.ConditionFunc(lambda: True)()
    assert wait.ConditionFunc(lambda: True).with_context()(context.background())


def test_real_timer():
    timer = wait.REAL_TIMER(3600)
    assert timer.stop()
