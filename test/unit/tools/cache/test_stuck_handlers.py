"""A handler that does not return costs one log line, which states the remedy. Beyond Go."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from clientgo import context, features, klog
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.features.testing import set_feature_during_test
from clientgo.golang.channel import Signal
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tools.cache import testing as framework
from clientgo.tools.cache.beyond.stuck_handlers import StuckHandlers, holding
from clientgo.tools.cache.notifications import AddNotification
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock.testing import FakeClock

Warnings = Callable[[], list[str]]


@pytest.fixture(autouse=True)
def list_mode() -> Iterator[None]:
    with set_feature_during_test(features.WATCH_LIST_CLIENT, False):
        yield


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Warnings:
    """Return the warnings logged so far."""
    caplog.set_level(logging.INFO)
    return lambda: [each.getMessage() for each in caplog.records if "Warning" in each.getMessage()]


def pod(name: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="default"))


class World:
    """A running informer, whose handlers may hang until the world ends."""

    def __init__(self, bubble: synctest.Bubble) -> None:
        self.bubble = bubble
        self.source = framework.new_fake_controller_source()
        self.informer = cache.new_shared_index_informer(self.source, corev1.Pod(), 0.0, {})
        self.may_return = Signal()
        self.ctx, self.cancel = context.with_cancel(context.background())
        self.thread = threading.Thread(target=self.informer.run_with_context, args=(self.ctx,), name="informer")
        self.thread.start()
        bubble.wait()

    def hang(self, *_: Any) -> None:
        self.may_return.wait()

    def add_hanging(self, **options: Any) -> cache.ResourceEventHandlerRegistration:
        handler = cache.ResourceEventHandlerFuncs(add_func=self.hang)
        return self.informer.add_event_handler_with_options(handler, cache.HandlerOptions(**options))

    def add_sleeping(self, seconds: float) -> cache.ResourceEventHandlerRegistration:
        handler = cache.ResourceEventHandlerFuncs(add_func=lambda obj: REAL_CLOCK.sleep(seconds))
        return self.informer.add_event_handler(handler)


@contextmanager
def world() -> Iterator[World]:
    with synctest.bubble() as bubble:
        made = World(bubble)
        try:
            yield made
        finally:
            made.may_return.set()
            made.cancel()
            made.thread.join()
            made.source.shutdown()


def test_a_handler_that_blocks_for_ten_seconds_is_reported_once(warnings: Warnings) -> None:
    with world() as w:
        w.add_hanging()
        w.source.add(pod("a"))
        w.bubble.sleep(5.0)
        w.source.add(pod("b"))
        w.bubble.sleep(4.9)
        assert warnings() == []
        w.bubble.sleep(2.2)
        (line,) = warnings()
        w.source.add(pod("c"))
        w.bubble.sleep(3600.0)
        assert len(warnings()) == 1

    assert "let it only add a key to a work queue, and do the work in a worker" in line
    assert f'handler="{__name__}.World"' in line
    assert "pendingNotifications=2" in line
    assert re.search(r'oldest="1[0-2](\.\d+)?s"', line), line


def test_the_time_for_which_a_debugger_holds_a_notification_does_not_count(warnings: Warnings) -> None:
    with world() as w:
        may_be_called = Signal()

        def deliver(notification: AddNotification, handler: Any) -> None:
            with holding():
                may_be_called.wait()
            w.hang()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(AddNotification, "deliver", deliver)
            w.add_hanging()
            w.source.add(pod("a"))
            w.bubble.sleep(60.0)
            assert warnings() == []
            may_be_called.set()
            w.bubble.sleep(9.9)
            assert warnings() == []
            w.bubble.sleep(2.2)
            assert len(warnings()) == 1


def test_the_end_of_one_handlers_hold_ends_no_other_one(warnings: Warnings) -> None:
    """Both handlers get the same notification."""
    with world() as w:
        releases = [Signal(), Signal()]
        waiting = iter(releases)

        def deliver(notification: AddNotification, handler: Any) -> None:
            with holding():
                next(waiting).wait()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(AddNotification, "deliver", deliver)
            w.add_sleeping(0.0)
            w.add_sleeping(0.0)
            w.source.add(pod("a"))
            w.bubble.sleep(1.0)
            releases[0].set()
            w.bubble.sleep(60.0)
            releases[1].set()
            w.bubble.sleep(1.0)
    assert warnings() == []


def test_a_call_right_before_a_check_has_ten_seconds_too(warnings: Warnings) -> None:
    with world() as w:
        w.add_sleeping(9.5)  # its notification waits, so the checks run
        hangs = cache.ResourceEventHandlerFuncs(add_func=lambda obj: obj.get_name() == "b" and w.hang())
        w.informer.add_event_handler(hangs)
        w.source.add(pod("a"))
        w.bubble.sleep(1.9)
        w.source.add(pod("b"))
        w.bubble.sleep(9.9)
        assert warnings() == []
        w.bubble.sleep(0.4)
        assert len(warnings()) == 1


def test_each_handler_that_blocks_is_reported_through_its_own_logger(warnings: Warnings) -> None:
    with world() as w:
        w.source.add(pod("a"))
        w.bubble.wait()
        w.add_hanging(logger=klog.background().with_name("late"))  # hears of what is in the cache only
        w.bubble.sleep(30.0)
        w.add_hanging(logger=klog.background().with_name("later"))
        w.bubble.sleep(30.0)

    assert [re.findall(r'logger="(\w+)"', line) for line in warnings()] == [["late"], ["later"]]


def test_a_handler_that_is_slow_but_returns_is_not_reported(warnings: Warnings) -> None:
    with world() as w:
        w.add_sleeping(9.5)
        w.add_sleeping(0.0)
        for number in range(20):
            w.source.add(pod(f"p{number}"))
        w.bubble.sleep(300.0)

        assert warnings() == []


def test_a_stop_that_waits_for_a_handler_is_reported_once(warnings: Warnings) -> None:
    with world() as w:
        removed = w.add_hanging(logger=klog.background().with_name("removed"))
        w.add_hanging(logger=klog.background().with_name("kept"))
        w.add_sleeping(9.0)
        w.source.add(pod("a"))
        w.bubble.sleep(1.0)
        w.informer.remove_event_handler(removed)
        w.cancel()
        w.bubble.sleep(9.9)
        assert warnings() == []
        w.bubble.sleep(0.2)
        assert len(warnings()) == 2
        w.bubble.sleep(3600.0)

    lines = warnings()
    assert sorted(re.findall(r'logger="(\w+)"', line)[0] for line in lines) == ["kept", "removed"]
    for line in lines:
        assert "the informer cannot stop before its event handler returns" in line
        assert f'handler="{__name__}.World"' in line


class BetweenTwoNotifications:
    """A listener whose notification is neither waiting nor being handled, for the instant between the two."""

    logger = klog.background()

    def __init__(self) -> None:
        self.now_handling: AddNotification | None = None

    def delivering(self) -> AddNotification | None:
        return self.now_handling

    def waiting(self) -> int:
        return int(self.now_handling is not None)

    def statistics(self) -> cache.HandlerStatistics:
        return cache.HandlerStatistics(handler="slow", pending=1, oldest_age=10.0, failed=0, merged=0, closed=False)

    def thread_ident(self) -> int | None:
        return None

    def is_alive(self) -> bool:
        return True


def test_a_notification_between_buffer_and_handler_is_not_overlooked(warnings: Warnings) -> None:
    clock, listener = FakeClock(), BetweenTwoNotifications()
    stuck = StuckHandlers(clock)
    stuck.watch([listener])
    clock.step(2.0)
    listener.now_handling = AddNotification(pod("a"), False)
    for _ in range(6):
        assert warnings() == []
        clock.step(2.0)

    (line,) = warnings()
    assert 'handler="slow"' in line
    stuck.end()


class CountingClock(FakeClock):
    """A clock that counts the scheduled checks."""

    def __init__(self) -> None:
        super().__init__()
        self.pending = 0

    def call_later(self, d: float, fn: Callable[[], None]) -> Callable[[], bool]:
        self.pending += 1

        def call() -> None:
            self.pending -= 1
            fn()

        cancel = super().call_later(d, call)

        def count_cancelled() -> bool:
            cancelled = cancel()
            self.pending -= cancelled
            return cancelled

        return count_cancelled


def test_looks_end_with_the_notifications_and_with_the_informer() -> None:
    clock, notified = CountingClock(), threading.Semaphore(0)
    source = framework.new_fake_controller_source()
    informer = cache.new_shared_index_informer_with_options(
        source, corev1.Pod(), cache.SharedIndexInformerOptions(clock=clock)
    )
    informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=lambda obj: notified.release()))
    ctx, cancel = context.with_cancel(context.background())
    thread = threading.Thread(target=informer.run_with_context, args=(ctx,))
    thread.start()
    try:
        for name in "abc":
            source.add(pod(name))
            assert notified.acquire(timeout=30)
        assert clock.pending == 1
        for _ in range(10):
            clock.step(2.0)
        assert clock.pending == 0
        source.add(pod("d"))
        assert notified.acquire(timeout=30)
    finally:
        cancel()
        thread.join()
        source.shutdown()
    assert clock.pending == 0


def test_a_handler_of_an_informer_that_is_not_shared_is_reported_too(warnings: Warnings) -> None:
    with synctest.bubble() as bubble:
        source, may_return = framework.new_fake_controller_source(), Signal()
        handler = cache.ResourceEventHandlerFuncs(
            add_func=lambda obj: may_return.wait(), update_func=lambda old, new: REAL_CLOCK.sleep(9.0)
        )
        _, controller = cache.new_informer(source, corev1.Pod(), 0.0, handler)
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=controller.run_with_context, args=(ctx,), name="informer")
        thread.start()
        source.add(pod("a"))
        bubble.sleep(9.9)
        assert warnings() == []
        bubble.sleep(2.2)
        (line,) = warnings()
        may_return.set()
        source.modify(pod("a"))
        bubble.sleep(3600.0)
        assert len(warnings()) == 1
        cancel()
        thread.join()
        source.shutdown()

    assert "let it only add a key to a work queue, and do the work in a worker" in line
    assert " at test_stuck_handlers.py:" in line
