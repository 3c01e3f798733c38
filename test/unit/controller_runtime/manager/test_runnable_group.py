"""Runnables that start together."""

from __future__ import annotations

import threading

import pytest

from clientgo import context
from clientgo.controller_runtime.log import LOG
from clientgo.controller_runtime.manager.runnable_group import ErrorSink, RunnableGroup
from clientgo.golang.stop import Signal
from clientgo.testing import synctest


def test_a_group_has_started_when_all_of_it_is_ready() -> None:
    with synctest.bubble() as b:
        group = RunnableGroup("group", context.background, ErrorSink(LOG))
        for seconds in (5.0, 2.0):
            group.add(f"slow-{seconds}", lambda ctx: ctx.done().wait(), lambda ctx, s=seconds: context.sleep(ctx, s))
        group.start(context.background())
        assert b.elapsed == 5.0
        group.stop_and_wait(context.background())


def test_a_group_waits_for_its_runnables_no_longer_than_it_may() -> None:
    with synctest.bubble() as b:
        group = RunnableGroup("group", context.background, ErrorSink(LOG))
        group.add("slow", lambda ctx: ctx.done().wait(), lambda ctx: context.sleep(ctx, 60.0))
        ctx, cancel = context.with_timeout(context.background(), 3.0)
        with pytest.raises(context.DeadlineExceeded):
            group.start(ctx)
        assert b.elapsed == 3.0
        cancel()
        group.stop_and_wait(context.background())


def test_a_runnable_whose_check_fails_delays_no_other() -> None:
    def check(ctx: context.Context) -> bool:
        raise OSError("never ready")

    with synctest.bubble() as b:
        errors = ErrorSink(LOG)
        group = RunnableGroup("group", context.background, errors)
        group.add("broken", lambda ctx: ctx.done().wait(), check)
        group.start(context.background())
        assert b.elapsed == 0.0 and isinstance(errors.first, OSError)
        group.stop_and_wait(context.background())


SLOW = "The manager waits for runnables that still run although their context is done"


@pytest.mark.parametrize(("grace", "logged_at"), [(30.0, 10.0), (None, 10.0), (4.0, 4.0)])
def test_a_stop_logs_once_which_runnables_ignore_their_context(caplog, grace, logged_at) -> None:
    with synctest.bubble() as b:
        go_on = Signal()
        group = RunnableGroup("others", context.background, ErrorSink(LOG.with_name("manager")))
        group.add("stubborn", lambda ctx: go_on.wait())
        group.add("obedient", lambda ctx: ctx.done().wait())
        group.start(context.background())
        ctx, cancel = context.background(), lambda: None
        if grace is not None:
            ctx, cancel = context.with_timeout(ctx, grace)
        stop = threading.Thread(target=group.stop_and_wait, args=(ctx,), name="stop")
        with caplog.at_level("INFO"):
            stop.start()
            b.sleep(logged_at - 0.1)
            assert SLOW not in caplog.text
            b.sleep(0.2)
            [line] = [record.getMessage() for record in caplog.records if SLOW in record.getMessage()]
            assert "stubborn" in line and "obedient" not in line
            assert "others" in line
            b.sleep(600.0)
            assert caplog.text.count(SLOW) == 1
        go_on.set()
        stop.join()
        cancel()


@pytest.mark.parametrize("grace", [30.0, 0.0])
def test_a_stop_that_need_not_wait_logs_nothing(caplog, grace) -> None:
    with synctest.bubble() as b:
        group = RunnableGroup("others", context.background, ErrorSink(LOG))
        group.add("slow", lambda ctx: b.sleep(9.0) if ctx.done().wait() else None)
        group.start(context.background())
        ctx, cancel = context.with_timeout(context.background(), grace)
        with caplog.at_level("INFO"):
            group.stop_and_wait(ctx)
            b.sleep(60.0)
        assert SLOW not in caplog.text
        cancel()
