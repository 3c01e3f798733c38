"""Runnables that start together."""

from __future__ import annotations

import pytest

from clientgo import context
from clientgo.controller_runtime.log import LOG
from clientgo.controller_runtime.manager.runnable_group import ErrorSink, RunnableGroup
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


def test_a_runnable_whose_check_fails_holds_up_nobody() -> None:
    def check(ctx: context.Context) -> bool:
        raise OSError("never ready")

    with synctest.bubble() as b:
        errors = ErrorSink(LOG)
        group = RunnableGroup("group", context.background, errors)
        group.add("broken", lambda ctx: ctx.done().wait(), check)
        group.start(context.background())
        assert b.elapsed == 0.0 and isinstance(errors.first, OSError)
        group.stop_and_wait(context.background())
