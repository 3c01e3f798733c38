"""Waiting for caches. Go: wait_test.go."""

from __future__ import annotations

import logging
import os
import threading

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.golang.channel import Signal, StopChannel
from clientgo.testing import synctest
from clientgo.tools import cache

FOREVER = -1.0


class Checker:
    """Done after some seconds."""

    def __init__(self, bubble: synctest.Bubble, name: str, seconds: float) -> None:
        self._name = name
        self._signal = Signal()
        if seconds == 0:
            self._signal.set()
        elif seconds > 0:
            bubble.after_func(seconds, self._signal.set)

    def name(self) -> str:
        return self._name

    def done(self) -> StopChannel:
        return self._signal


def limited(bubble: synctest.Bubble, timeout: float, reason: str) -> context.Context:
    if timeout == 0:
        return context.background()
    if timeout < 0:
        ctx, cancel = context.with_cancel(context.background())
        cancel()
    elif reason:
        ctx, cancel_cause = context.with_cancel_cause(context.background())
        bubble.after_func(timeout, lambda: cancel_cause(RuntimeError(reason)))
    else:
        ctx, _ = context.with_timeout(context.background(), timeout)
    return ctx


@pytest.mark.parametrize(
    ("what", "checkers", "timeout", "reason", "done", "lines"),
    [
        # Go: TestWaitFor/empty
        pytest.param("", {}, 0, "", True, [], id="empty"),
        # Go: TestWaitFor/no-caches
        pytest.param("my-caches", {}, 0, "", True, ['0 "Waiting" for="my-caches"'], id="no-caches"),
        # Go: TestWaitFor/no-logging
        pytest.param("", {"first": 10, "second": 5, "last": 0}, 0, "", True, [], id="no-logging"),
        # Go: TestWaitFor/with-logging
        pytest.param(
            "my-caches",
            {"first": 10, "second": 5, "last": 0},
            0,
            "",
            True,
            [
                '0 "Waiting" for="my-caches"',
                '0 "Done waiting" for="my-caches" instance="last"',
                '5 "Done waiting" for="my-caches" instance="second"',
                '10 "Done waiting" for="my-caches" instance="first"',
            ],
            id="with-logging",
        ),
        # Go: TestWaitFor/some-timeout
        pytest.param(
            "my-caches",
            {"first": 10, "second": FOREVER, "last": 0},
            60,
            "",
            False,
            [
                '0 "Waiting" for="my-caches"',
                '0 "Done waiting" for="my-caches" instance="last"',
                '10 "Done waiting" for="my-caches" instance="first"',
                '60 "Timed out waiting" for="my-caches" cause="context deadline exceeded" instances=["second"]',
            ],
            id="some-timeout",
        ),
        # Go: TestWaitFor/some-canceled
        pytest.param(
            "my-caches",
            {"first": FOREVER, "second": FOREVER, "last": 0},
            -1,
            "",
            False,
            [
                '0 "Waiting" for="my-caches"',
                '0 "Done waiting" for="my-caches" instance="last"',
                '0 "Timed out waiting" for="my-caches" cause="context canceled" instances=["first","second"]',
            ],
            id="some-canceled",
        ),
        # Go: TestWaitFor/more
        pytest.param(
            "my-caches",
            {"first": 10, "second": FOREVER, "last": 0},
            5,
            "go fish",
            False,
            [
                '0 "Waiting" for="my-caches"',
                '0 "Done waiting" for="my-caches" instance="last"',
                '5 "Timed out waiting" for="my-caches" cause="go fish" instances=["first","second"]',
            ],
            id="more",
        ),
        # Go: TestWaitFor/all
        pytest.param(
            "my-caches",
            {"first": FOREVER, "second": FOREVER, "last": FOREVER},
            60,
            "",
            False,
            [
                '0 "Waiting" for="my-caches"',
                '60 "Timed out waiting" for="my-caches" cause="context deadline exceeded" '
                'instances=["first","last","second"]',
            ],
            id="all",
        ),
    ],
)
def test_waiting_for_checkers(
    what: str, checkers: dict[str, float], timeout: float, reason: str, done: bool, lines: list[str]
) -> None:
    """Go: TestWaitFor"""
    with synctest.bubble() as bubble:
        seen: list[str] = []
        places: list[str] = []

        class Listener(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                seen.append(f"{round(bubble.elapsed)} {record.getMessage()}")
                places.append(record.filename)

        listener = Listener()
        logging.getLogger("clientgo").addHandler(listener)
        try:
            waited_for = [Checker(bubble, name, seconds) for name, seconds in checkers.items()]
            assert cache.wait_for(limited(bubble, timeout, reason), what, *waited_for) is done
        finally:
            logging.getLogger("clientgo").removeHandler(listener)
        assert seen == lines
        assert set(places) <= {os.path.basename(__file__)}, "the lines are the caller's"
        bubble.sleep(100.0)


@pytest.mark.parametrize(
    ("unsynced", "message"),
    [
        # Go: TestSyncResult/one
        ([corev1.Pod], "failed to sync all caches: *v1.Pod: go fish"),
        # Go: TestSyncResult/many
        ([corev1.Service, corev1.Pod], "failed to sync all caches: *v1.Pod, *v1.Service: go fish"),
    ],
)
def test_a_sync_result_names_what_did_not_sync(unsynced: list[type], message: str) -> None:
    """Go: TestSyncResult"""
    cause = RuntimeError("go fish")
    synced = dict.fromkeys(unsynced, False) | {corev1.ConfigMap: True}
    err = cache.SyncResult(cause, synced).as_error()
    assert str(err) == message
    assert err is not None and err.__cause__ is cause


def test_a_good_sync_result_is_no_error() -> None:
    """Go: TestSyncResult/empty"""
    assert cache.SyncResult().as_error() is None


def test_waiting_by_asking(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with synctest.bubble() as bubble:
        synced: list[int] = []
        bubble.after_func(0.95, lambda: synced.append(1))
        stop = threading.Event()
        assert cache.wait_for_cache_sync(stop, lambda: True, lambda: bool(synced))
        assert 0.95 <= bubble.elapsed <= 1.1
        assert cache.wait_for_named_cache_sync("foo", stop, lambda: True)
        assert cache.wait_for_named_cache_sync_with_context(context.background(), lambda: True)
        bubble.after_func(1.0, stop.set)
        assert not cache.wait_for_cache_sync(stop, lambda: False)
        assert not cache.wait_for_named_cache_sync("foo", stop, lambda: False)
        ctx, cancel = context.with_cancel(context.background())
        cancel()
        assert not cache.wait_for_named_cache_sync_with_context(ctx, lambda: False)
        bubble.sleep(2.0)
    assert [record.getMessage() for record in caplog.records] == [
        '"Waiting for caches to sync" controller="foo"',
        '"Caches are synced" controller="foo"',
        '"Waiting for caches to sync"',
        '"Caches are synced"',
        '"Waiting for caches to sync" controller="foo"',
        '"Unable to sync caches" logger="UnhandledError" controller="foo"',
        '"Waiting for caches to sync"',
        '"Unable to sync caches" logger="UnhandledError"',
    ]


def test_asking_a_checker() -> None:
    with synctest.bubble() as bubble:
        assert cache.is_done(Checker(bubble, "done", 0))
        assert not cache.is_done(Checker(bubble, "not done", FOREVER))
