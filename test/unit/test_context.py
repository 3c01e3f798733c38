"""Contexts cancel downwards, carry values and know why they ended."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest
from patience import PATIENCE
from threadtools import eventually, in_thread

from clientgo import context
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock.testing import FakeClock


def test_background_is_never_done():
    ctx = context.background()
    assert ctx.err() is None
    assert ctx.deadline() is None
    assert not ctx.done().is_set()
    assert not ctx.done().wait(0.001)
    assert ctx.done() is context.todo().done()
    assert not ctx.add_done_callback(lambda: None)()


def test_cancel_reaches_everything_below_and_nothing_above():
    parent, cancel_parent = context.with_cancel(context.background())
    middle, cancel_middle = context.with_cancel(parent)
    leaf, _ = context.with_cancel(context.with_value(middle, "k", "v"))
    cancel_middle()
    assert isinstance(middle.err(), context.Canceled)
    assert isinstance(leaf.err(), context.Canceled)
    assert leaf.done().is_set()
    assert parent.err() is None
    cancel_parent()
    assert str(parent.err()) == "context canceled"


def test_a_child_of_a_done_parent_is_done():
    parent, cancel = context.with_cancel(context.background())
    cancel()
    child, _ = context.with_cancel(parent)
    assert child.done().is_set()


def test_a_cancelled_child_leaves_its_parent():
    parent, cancel = context.with_cancel(context.background())
    child, cancel_child = context.with_cancel(parent)
    kept = weakref.ref(child)
    cancel_child()
    del child, cancel_child
    gc.collect()
    assert kept() is None
    cancel()


def test_causes():
    reason = ValueError("enough")
    ctx, cancel = context.with_cancel_cause(context.background())
    child, _ = context.with_cancel(ctx)
    assert context.cause(ctx) is None
    cancel(reason)
    cancel(KeyError("later"))
    assert context.cause(ctx) is reason
    assert context.cause(child) is reason
    assert isinstance(child.err(), context.Canceled)
    other, cancel_other = context.with_cancel_cause(context.background())
    cancel_other(None)
    assert isinstance(context.cause(other), context.Canceled)


def test_err_is_a_fresh_exception_each_time():
    ctx, cancel = context.with_cancel(context.background())
    cancel()
    assert ctx.err() is not ctx.err()


def test_values_come_from_the_nearest_context():
    ctx = context.with_value(context.with_value(context.background(), "a", 1), "b", 2)
    inner, _ = context.with_cancel(context.with_value(ctx, "a", 3))
    assert (inner.value("a"), inner.value("b"), inner.value("c"), ctx.value("a")) == (3, 2, None, 1)


def test_without_cancel_keeps_values_only():
    ctx, cancel = context.with_cancel(context.with_value(context.background(), "k", "v"))
    detached = context.without_cancel(ctx)
    cancel()
    assert detached.err() is None
    assert detached.cause() is None
    assert not detached.done().is_set()
    assert detached.value("k") == "v"


def test_timeout_on_a_fake_clock():
    clock = FakeClock(1000.0)
    ctx, cancel = context.with_timeout(context.background(), 5.0, clock)
    child, _ = context.with_cancel(ctx)
    assert ctx.deadline() == 1005.0
    assert child.deadline() == 1005.0
    clock.step(4.9)
    assert ctx.err() is None
    clock.step(0.1)
    assert isinstance(child.err(), context.DeadlineExceeded)
    assert str(ctx.err()) == "context deadline exceeded"
    assert not clock.has_waiters()
    cancel()
    assert isinstance(ctx.err(), context.DeadlineExceeded)


def test_cancelling_stops_the_timer():
    clock = FakeClock()
    ctx, cancel = context.with_timeout(context.background(), 5.0, clock)
    assert clock.waiters() == 1
    cancel()
    assert clock.waiters() == 0
    assert isinstance(ctx.err(), context.Canceled)


def test_a_parent_that_ends_stops_the_timer_of_its_child():
    clock = FakeClock()
    parent, cancel = context.with_cancel(context.background())
    context.with_timeout(parent, 5.0, clock)
    cancel()
    assert clock.waiters() == 0


def test_the_earlier_deadline_wins():
    clock = FakeClock()
    parent, _ = context.with_deadline(context.background(), 5.0, clock)
    child, _ = context.with_deadline(parent, 7.0, clock)
    assert child.deadline() == 5.0
    assert clock.waiters() == 1
    earlier, _ = context.with_deadline(parent, 2.0, clock)
    assert earlier.deadline() == 2.0


def test_a_deadline_in_the_past_is_over_at_once():
    reason = ValueError("late")
    ctx, _ = context.with_timeout_cause(context.background(), -1.0, reason, FakeClock())
    assert isinstance(ctx.err(), context.DeadlineExceeded)
    assert context.cause(ctx) is reason


def test_timeout_on_the_real_clock_leaves_no_thread():
    ctx, _ = context.with_timeout(context.background(), 0.001)
    assert ctx.done().wait(PATIENCE)
    assert isinstance(ctx.err(), context.DeadlineExceeded)
    eventually(lambda: not [t for t in threading.enumerate() if t.name.startswith("clock-")])


def test_callbacks_run_in_the_cancelling_thread_in_order():
    ctx, cancel = context.with_cancel(context.background())
    calls: list[tuple[str, threading.Thread]] = []
    ctx.add_done_callback(lambda: calls.append(("a", threading.current_thread())))
    remove = ctx.add_done_callback(lambda: calls.append(("no", threading.current_thread())))
    ctx.add_done_callback(lambda: calls.append(("b", threading.current_thread())))
    assert remove()
    cancel()
    ctx.add_done_callback(lambda: calls.append(("c", threading.current_thread())))
    assert calls == [(name, threading.current_thread()) for name in "abc"]


def test_after_func_runs_in_a_thread_of_its_own():
    ctx, cancel = context.with_cancel(context.background())
    threads: list[threading.Thread] = []
    context.after_func(ctx, lambda: threads.append(threading.current_thread()))
    stop = context.after_func(ctx, lambda: threads.append(threading.current_thread()))
    assert stop()
    cancel()
    eventually(lambda: threads)
    assert threads[0] is not threading.current_thread()


@pytest.mark.parametrize("cancelled", [False, True])
def test_sleep(cancelled):
    clock = FakeClock()
    ctx, cancel = context.with_cancel(context.background())
    sleeping = in_thread(lambda: context.sleep(ctx, 2.0, clock))
    eventually(clock.has_waiters)
    clock.step(1.0)
    assert sleeping.running()
    if cancelled:
        cancel()
    else:
        clock.step(1.0)
    assert sleeping.result() is not cancelled
    assert not clock.has_waiters()


def test_sleep_when_already_done_or_without_duration():
    ctx, cancel = context.with_cancel(context.background())
    assert context.sleep(ctx, 0, REAL_CLOCK)
    cancel()
    assert not context.sleep(ctx, 100)


def test_repr_shows_the_state():
    ctx, cancel = context.with_cancel(context.background())
    assert repr(ctx) == "<Context with cancel, open>"
    cancel()
    assert repr(ctx) == "<Context with cancel, context canceled>"
