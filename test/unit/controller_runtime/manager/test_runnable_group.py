"""Runnables that start together."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from functools import partial

import pytest

from clientgo import context
from clientgo.controller_runtime.log import LOG
from clientgo.controller_runtime.manager.runnable_group import (
    ErrorSink,
    ErrRunnableGroupStopped,
    RunnableGroup,
    Runnables,
)
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


def test_a_context_that_lasts_keeps_no_group_that_has_stopped() -> None:
    lasting, cancel = context.with_cancel(context.background())
    group = RunnableGroup("group", context.background, ErrorSink(LOG))
    group.add("obedient", lambda ctx: ctx.done().wait())
    group.start(context.background())
    group.stop_and_wait(lasting)

    stopped = weakref.ref(group)
    del group
    gc.collect()
    assert stopped() is None
    cancel()


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


def test_the_first_error_stops_the_manager_and_later_ones_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    sink = ErrorSink(LOG)
    first, second, third = OSError("first"), OSError("second"), OSError("third")
    sink.put(first)
    assert (sink.first, sink.failed.is_set()) == (first, True)
    sink.put(second)
    assert "second" not in caplog.text, "the stop logs it"
    sink.begin_stop()
    assert "second" in caplog.text
    sink.put(third)
    sink.put(context.Canceled())
    assert sink.first is first
    errors = [each for each in caplog.records if each.levelname == "ERROR"]
    assert len(errors) == 2
    assert all("error received after stop sequence was engaged" in each.getMessage() for each in errors)


def test_the_place_of_an_exit_that_ends_the_manager_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    # given
    caplog.set_level("INFO")
    sink = ErrorSink(LOG)
    # when
    try:
        sys.exit("no more work")
    except SystemExit as err:
        sink.put(err)
    # then
    [record] = caplog.records
    line = record.getMessage()
    assert "sys.exit in a reconciler or another runnable ends the manager" in line
    assert "no more work" in line and "test_runnable_group.py" in line
    assert isinstance(sink.first, SystemExit)


def test_an_error_after_the_end_is_logged_at_the_info_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    sink = ErrorSink(LOG)
    sink.begin_stop()
    sink.finish()
    sink.put(OSError("late"))
    assert sink.first is None and not sink.failed.is_set()
    [record] = caplog.records
    assert record.levelname == "INFO"
    assert "error dropped during shutdown to prevent goroutine leak" in record.getMessage()


def test_a_group_starts_once_and_what_is_added_later_starts_at_once() -> None:
    with synctest.bubble() as b:
        ran: list[str] = []
        group = RunnableGroup("group", context.background, ErrorSink(LOG))
        group.add("early", lambda ctx: ran.append("early"))
        assert not group.started()
        assert repr(group) == "<RunnableGroup group, 1 queued, 0 running, not started>"
        group.start(context.background())
        group.start(context.background())
        group.add("late", lambda ctx: (ran.append("late"), ctx.done().wait()))
        b.wait()
        assert (ran, group.started()) == (["early", "late"], True)
        assert repr(group) == "<RunnableGroup group, 0 queued, 1 running, started>"
        group.stop_and_wait(context.background())
        assert repr(group) == "<RunnableGroup group, 0 queued, 0 running, stopped>"


def test_nothing_starts_after_a_stop() -> None:
    with synctest.bubble() as b:
        ran: list[str] = []
        group = RunnableGroup("group", context.background, ErrorSink(LOG))
        group.add("early", lambda ctx: ran.append("early"))
        group.stop_and_wait(context.background())
        group.start(context.background())
        with pytest.raises(ErrRunnableGroupStopped, match="stop procedure is already engaged"):
            group.add("late", lambda ctx: ran.append("late"))
        b.wait()
        assert (ran, group.started()) == ([], False)


def test_a_runnable_that_raises_while_its_group_waits_for_it_ends_the_wait() -> None:
    def fail(ctx: context.Context) -> None:
        raise OSError("no start")

    with synctest.bubble() as b:
        errors = ErrorSink(LOG)
        group = RunnableGroup("group", context.background, errors)
        group.add("broken", fail, lambda ctx: (ctx.done().wait(), False)[1])
        group.start(context.background())
        assert b.elapsed == 0.0 and isinstance(errors.first, OSError)
        group.stop_and_wait(context.background())


def test_no_runnable_keeps_the_interpreter_alive() -> None:
    daemons: list[bool] = []
    group = RunnableGroup("group", context.background, ErrorSink(LOG))
    group.add("a", lambda ctx: daemons.append(threading.current_thread().daemon))
    group.start(context.background())
    group.stop_and_wait(context.background())
    assert daemons == [True]


class Named:
    """A runnable with a name."""

    name = "the name"

    def __init__(self, for_leaders: bool | None = None) -> None:
        if for_leaders is not None:
            self.need_leader_election = lambda: for_leaders

    def start(self, ctx: context.Context) -> None:
        ctx.done().wait()

    def warmup(self, ctx: context.Context) -> None:
        """Do nothing."""


def a_function(ctx: context.Context) -> None:
    ctx.done().wait()


def test_each_runnable_joins_the_group_for_its_type() -> None:
    with synctest.bubble() as b:
        runnables = Runnables(context.background, ErrorSink(LOG))
        for each in (Named(), Named(for_leaders=True), Named(for_leaders=False), a_function, partial(a_function)):
            runnables.add(each)
        for group in runnables.all():
            group.start(context.background())
        b.wait()
        threads = sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("manager-"))
        for group in runnables.all():
            group.stop_and_wait(context.background())
    assert threads == [
        "manager-leader-election-a_function",
        "manager-leader-election-partial",
        "manager-leader-election-the name",
        "manager-leader-election-the name",
        "manager-others-the name",
    ]
    assert runnables.all() == [
        runnables.others,
        runnables.leader_election,
        runnables.caches,
        runnables.webhooks,
        runnables.http_servers,
        runnables.warmup,
    ]


def test_what_cannot_run_is_no_runnable() -> None:
    with pytest.raises(TypeError, match=r"a Runnable has a method start\(ctx\), or is a function: 5"):
        Runnables(context.background, ErrorSink(LOG)).add(5)
