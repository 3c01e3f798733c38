"""A check runs later, keeps nothing alive, and never harms the checked object."""

from __future__ import annotations

import gc
import threading
import time

import pytest

from clientgo.utils.clock import REAL_CLOCK, RealClock, SystemTime
from clientgo.utils.clock.testing import FakeClock, IntervalClock
from clientgo.utils.clock.watchdog import check_later, checked_after


class Owner:
    def __init__(self, seen: list[str]) -> None:
        self._seen = seen

    def check(self) -> None:
        self._seen.append("looked")


def test_a_look_happens_once_when_it_is_due_and_is_no_waiter() -> None:
    clock, seen = FakeClock(), list[str]()
    owner = Owner(seen)
    check_later(clock, 10.0, owner.check)
    assert not clock.has_waiters()
    clock.step(9.0)
    assert seen == []
    clock.step(1.0)
    clock.step(60.0)
    assert seen == ["looked"]


def test_a_look_does_not_keep_its_object_alive() -> None:
    clock, seen = FakeClock(), list[str]()
    check_later(clock, 10.0, Owner(seen).check)
    gc.collect()
    clock.step(10.0)
    assert seen == []


def test_a_cancelled_look_does_not_happen() -> None:
    clock, seen = FakeClock(), list[str]()
    owner = Owner(seen)
    check_later(clock, 10.0, owner.check)()
    with checked_after(clock, 10.0, owner.check):
        clock.step(9.0)
    clock.step(60.0)
    assert seen == []


def test_a_block_that_takes_long_is_looked_at() -> None:
    clock, seen = FakeClock(), list[str]()
    with checked_after(clock, 10.0, lambda: seen.append("looked")):
        clock.step(10.0)
    assert seen == ["looked"]


def test_the_real_clock_looks_on_one_thread_that_ends() -> None:
    looked, threads = threading.Event(), list[str]()

    def check() -> None:
        threads.append(threading.current_thread().name)
        looked.set()

    with checked_after(REAL_CLOCK, 0.001, check):
        assert looked.wait(30)
    assert threads == ["clock-watchdog"]
    with checked_after(REAL_CLOCK, 3600.0, check):
        (thread,) = [each for each in threading.enumerate() if each.name == "clock-watchdog"]
    thread.join(30)
    assert not thread.is_alive()


def test_a_clock_that_cannot_call_later_makes_no_look() -> None:
    with checked_after(IntervalClock(), 10.0, lambda: pytest.fail("looked")):
        pass


def test_a_look_that_finds_no_thread_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    timers = SystemTime("timers")
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with checked_after(RealClock(), 10.0, lambda: pytest.fail("looked")):
            pass
        with pytest.raises(RuntimeError):
            timers.call_at(time.time(), lambda: None)
    called = threading.Event()
    timers.call_at(time.time(), called.set)
    assert called.wait(30)
