"""Hangs of a bubble: a thread that does not proceed, a thread that cannot be unwound, and an error from outside."""

from __future__ import annotations

import gc
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from threading import Condition, Lock
from types import FrameType
from typing import Any

import pytest
from synctesttools import REAL_JOIN

from clientgo.testing import synctest
from clientgo.testing.synctest import frames, scheduler
from clientgo.testing.synctest.errors import BubbleExit
from clientgo.testing.synctest.task import Task


def spawn(target: Callable[[], object], name: str) -> threading.Thread:
    thread = threading.Thread(target=target, name=name)
    thread.start()
    return thread


class FakeTime:
    """Real time for the scheduler's looks: each look comes so many seconds after the one before."""

    def __init__(self, between_looks: float) -> None:
        self.now, self.between_looks = 100.0, between_looks

    def __call__(self) -> float:
        return self.now

    def looks(self, b: synctest.Bubble, at_most: int = 50) -> tuple[int, str]:
        """Return the number of looks until the bubble reports a hang, and its text."""
        for number in range(at_most):
            if (hang := b._look()) is not None:
                return number, str(hang)
            self.now += self.between_looks
        return at_most, ""


# ---- a thread that stands still


@pytest.mark.parametrize(("between_looks", "looks"), [(0.5, 6), (1.0, 3), (60.0, 3)])
def test_a_hang_is_reported_once_looks_that_came_in_time_add_up(
    monkeypatch: pytest.MonkeyPatch, between_looks: float, looks: int
) -> None:
    """A look counts for at most a second: the process may have been stopped meanwhile."""
    now = FakeTime(between_looks)
    monkeypatch.setattr(scheduler, "_real_monotonic", now)
    with synctest.bubble(hang_timeout=3.0) as b:
        number, text = now.looks(b)

    assert number == looks
    assert "has not come back for 3s of real time" in text


def test_a_step_or_a_switch_between_two_looks_is_no_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    now = FakeTime(1.0)
    monkeypatch.setattr(scheduler, "_real_monotonic", now)
    with synctest.bubble(hang_timeout=3.0) as b:
        for _ in range(20):
            assert b._look() is None
            now.now += 1.0
            threading.Lock().locked()
        assert now.looks(b)[0] == 3


def test_a_thread_on_an_ordinary_lock_is_reported_after_half_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = FakeTime(1.0)
    monkeypatch.setattr(scheduler, "_real_monotonic", now)
    lock, found = Lock(), list[tuple[int, str]]()

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        if event == "c_call" and getattr(arg, "__name__", "") == "acquire" and not found:
            monkeypatch.setattr(frames, "users_frame", lambda _: frame)
            found.append(now.looks(b))

    with synctest.bubble(hang_timeout=8.0) as b:
        b._look()  # it stood elsewhere before
        sys.setprofile(profile)
        try:
            lock.acquire()
        finally:
            sys.setprofile(None)

    number, text = found[0]
    assert number == 4
    assert "blocks on something that no thread of the bubble can give it" in text


def test_the_first_thread_raises_a_hang_at_once_and_lets_no_thread_go() -> None:
    hang = synctest.HangError("stands")
    with synctest.bubble() as b:
        sleeper = spawn(lambda: time.sleep(1.0), "sleeper")
        b.wait()
        with pytest.raises(synctest.HangError, match="stands"):
            b._give_up(b._main, hang)
        assert not b._ending
        sleeper.join()


def test_all_other_threads_are_unwound_when_the_first_is_stuck() -> None:
    unwound: list[str] = []
    lock = Lock()

    def wait(held: Lock | None) -> None:
        if held is not None:
            held.acquire()
        try:
            threading.Event().wait()
        except BubbleExit:
            unwound.append(threading.current_thread().name)
            raise
        finally:
            if held is not None:
                held.release()

    went_on = []
    with pytest.raises(synctest.HangError, match="'MainThread'"), synctest.bubble(hang_timeout=0.2) as b:
        threads = [spawn(lambda: wait(lock), "holder"), *(spawn(lambda: wait(None), name) for name in ("b", "c"))]
        b.wait()
        with lock:
            threading.Lock().locked()
            went_on.append("the first operation after it raises")

    assert sorted(unwound) == ["b", "c", "holder"]
    assert went_on == []
    assert not any(thread.is_alive() for thread in threads)


def test_the_first_thread_cannot_block_again_after_a_hang_was_reported_to_it() -> None:
    lock = Lock()

    def hold() -> None:
        with lock:
            threading.Event().wait()

    with pytest.raises(ZeroDivisionError), synctest.bubble(hang_timeout=0.2) as b:
        spawn(hold, "holder")
        b.wait()
        with pytest.raises(synctest.HangError), lock:
            time.sleep(1.0)
        with pytest.raises(BubbleExit):
            time.sleep(1.0)
        raise ZeroDivisionError


def test_a_condition_made_inside_is_reported_without_waiting_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def made() -> Condition:
        return Condition()  # the place

    waits: list[float] = []
    monkeypatch.setattr(scheduler, "_real_condition_wait", lambda condition, timeout: bool(waits.append(timeout)))
    with pytest.raises(synctest.HangError, match=r"made at .* in .*made: return Condition\(\)  # the place"):
        synctest.run(lambda: made().__enter__() and made_and_entered(made).wait())
    assert waits == []

    outside = Condition()
    with pytest.raises(synctest.HangError), outside, synctest.bubble(hang_timeout=3.0):
        outside.wait(2.0)
    assert waits == [1.5]


def made_and_entered(make: Callable[[], Condition]) -> Condition:
    condition = make()
    condition.acquire()
    return condition


# ---- a thread that cannot be unwound


def test_threads_that_swallow_their_end_are_stopped_one_after_the_other() -> None:
    swallowed = {"a": 0, "b": 0}
    free = False

    def stubborn(name: str) -> None:
        while not free:
            try:
                time.sleep(1)
            except BubbleExit:
                swallowed[name] += 1

    b = synctest.bubble()
    began = time.perf_counter()
    with pytest.raises(ZeroDivisionError), b:
        threads = [spawn(lambda name=name: stubborn(name), name) for name in swallowed]  # type: ignore[misc]
        b.wait()
        raise ZeroDivisionError
    took = time.perf_counter() - began
    free = True
    for thread in threads:
        b._by_thread[thread].gate.release()
        thread.join()

    assert all(99_000 < count < 101_000 for count in swallowed.values())
    assert took < 60.0


def test_no_other_thread_is_unwound_beside_one_that_blocks_for_real(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "_UNWINDS", 0.05)
    monkeypatch.setattr(scheduler, "_ENDS", 0.01)
    outside, ended = Lock(), list[str]()
    outside.acquire()

    def blocks() -> None:
        try:
            time.sleep(60.0)
        finally:
            outside.acquire()

    b = synctest.bubble()
    with pytest.raises(ZeroDivisionError), b:
        blocking = spawn(blocks, "blocks")
        second = spawn(lambda: ended.append("second") if time.sleep(60.0) else None, "second")
        b.wait()
        raise ZeroDivisionError
    left = second.is_alive()
    outside.release()
    blocking.join()
    b._by_thread[second].gate.release()
    second.join()

    assert left
    assert ended == []


def test_a_thread_that_unwinds_lets_no_other_run() -> None:
    """It is unwound alone: another one would start or go on with what the test has given up."""
    ran: list[str] = []
    is_ending = False

    def unwinds() -> None:
        try:
            time.sleep(60.0)
        finally:
            threading.Lock().locked()
            ran.append("unwound")

    b = synctest.bubble(lambda candidates, forced: int(is_ending and not forced))
    with pytest.raises(ZeroDivisionError), b:
        spawn(unwinds, "unwinds")
        b.wait()
        spawn(lambda: ran.append("started"), "ready")
        is_ending, steps = True, b._steps
        raise ZeroDivisionError

    assert ran == ["unwound"]
    assert b._steps == steps


def test_the_end_of_a_bubble_waits_for_each_thread_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    join = REAL_JOIN

    def recorded(thread: threading.Thread, timeout: float | None = None) -> None:
        if timeout is not None:
            waits.append(timeout)
        join(thread, timeout)

    monkeypatch.setattr(scheduler, "_real_thread_join", recorded)
    with synctest.bubble():
        threads = [spawn(lambda: None, "short") for _ in range(3)]

    assert not any(thread.is_alive() for thread in threads)
    assert len(waits) == 3
    assert all(0.5 < wait <= 1.0 for wait in waits)


# ---- an error from outside


@pytest.fixture
def alarm() -> Iterator[None]:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    yield
    signal.signal(signal.SIGALRM, before)


def test_an_interrupt_ends_the_operation_that_the_first_thread_is_in(alarm: None) -> None:
    went_on = []
    stuck = Lock()
    stuck.acquire()
    with pytest.raises(KeyboardInterrupt), synctest.bubble():
        thread = threading.Thread(target=stuck.acquire, name="stuck")
        thread.start()
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        thread.join()
        went_on.append("after the join")
    stuck.release()
    REAL_JOIN(thread)

    assert went_on == []


def test_an_error_of_another_thread_goes_to_the_first_before_any_other_runs() -> None:
    ran: list[str] = []

    def choose(candidates: int, forced: bool) -> int:
        if threading.current_thread().name == "breaks":
            raise ZeroDivisionError
        return 0

    with synctest.bubble(choose) as b:
        others = [spawn(lambda name=name: ran.append(name), name) for name in ("second", "third")]  # type: ignore[misc]
        breaks = threading.Thread(target=lambda: threading.Lock().locked(), name="breaks")
        breaks.start()
        with pytest.raises(ZeroDivisionError):
            b.switch_to(breaks)
        assert ran == []
        for thread in (breaks, *others):
            thread.join()


def test_a_report_names_a_thread_that_has_lived_through_very_many_others() -> None:
    with synctest.bubble() as b:
        waiting = threading.Event()
        old = spawn(lambda: waiting.wait(1800.0), "old")
        for _ in range(300):
            event = threading.Event()
            thread = spawn(lambda event=event: event.wait(3600.0), "short")  # type: ignore[misc]
            b.wait()
            event.set()
            thread.join()
        assert "thread 'old' waits for" in b.stacks()
        pending = re.fullmatch(r"<Timeouts (\d+)>", repr(b._timeouts))
        assert pending and int(pending[1]) < 150, "those of threads that ended are forgotten"
        waiting.set()
        old.join()


def test_the_stacks_are_read_without_a_garbage_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collection there can stop CPython forever: see `frames.all_innermost`."""
    was_enabled: list[bool] = []
    read = sys._current_frames

    def noting() -> Any:
        was_enabled.append(gc.isenabled())
        return read()

    monkeypatch.setattr(sys, "_current_frames", noting)
    assert gc.isenabled()

    with synctest.bubble() as bubble:
        assert "MainThread" in bubble.stacks()

    assert was_enabled == [False]
    assert gc.isenabled()


# ---- looks at the thread that runs


class Gate:
    """A gate that opens at the given attempt; keeps how long each attempt was willing to wait."""

    def __init__(self, opens_at: int) -> None:
        self.opens_at, self.timeouts = opens_at, list[float]()

    def acquire(self, timeout: float) -> bool:
        self.timeouts.append(timeout)
        return len(self.timeouts) >= self.opens_at


OFTEN, RARELY = scheduler._LOOK_EVERY, scheduler._STAND_BY


@pytest.mark.parametrize(
    ("position", "hang_timeout", "timeouts"),
    [
        (0, 30.0, [OFTEN, OFTEN, OFTEN]),
        (1, 30.0, [OFTEN, OFTEN, OFTEN]),
        (2, 30.0, [OFTEN, RARELY, RARELY]),
        (3, 30.0, [OFTEN, RARELY, RARELY]),
        (0, 0.2, [0.2, 0.2, 0.2]),  # never later than a hang has to be reported
        (2, 0.2, [0.2, 0.2, 0.2]),
        (2, 2.0, [OFTEN, 2.0, 2.0]),
    ],
)
def test_the_two_oldest_threads_look_often_and_none_later_than_a_hang(
    position: int, hang_timeout: float, timeouts: list[float]
) -> None:
    b = synctest.bubble(hang_timeout=hang_timeout)
    b._tasks += [Task(threading.Thread(name=name)) for name in ("second", "third", "fourth")]
    b._running = b._tasks[-1] if position == 0 else b._tasks[0]
    me = b._tasks[position]
    me.gate = gate = Gate(opens_at=3)  # type: ignore[assignment]

    b._wait_for_turn(me)

    assert gate.timeouts == timeouts


@pytest.mark.parametrize(
    ("running", "waiting", "is_ending", "looks"),
    [
        ("second", "first", False, 1),  # the first thread looks at any other one
        ("first", "second", False, 1),  # the next one looks at the first
        ("second", "third", False, 0),  # the first does that
        ("first", "third", False, 0),
        ("second", "first", True, 0),  # threads are unwound one by one, with a limit of its own
        ("first", "second", True, 0),
    ],
)
def test_one_of_the_waiting_threads_looks_at_the_running_one(
    running: str, waiting: str, is_ending: bool, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    b = synctest.bubble()
    b._tasks += [Task(threading.Thread(name=name)) for name in ("second", "third")]
    tasks = dict(zip(("first", "second", "third"), b._tasks, strict=True))
    b._running, b._ending = tasks[running], is_ending
    seen: list[None] = []
    monkeypatch.setattr(b, "_look", lambda: seen.append(None))
    tasks[waiting].gate = Gate(opens_at=2)  # type: ignore[assignment]

    b._wait_for_turn(tasks[waiting])

    assert len(seen) == looks


@pytest.mark.parametrize("is_daemon", [False, True])
def test_a_thread_of_a_bubble_never_keeps_the_interpreter_from_exiting(is_daemon: bool) -> None:
    """It may be left behind, blocked forever."""
    with synctest.bubble():
        thread = threading.Thread(target=lambda: None, daemon=is_daemon)
        thread.start()
        assert thread.daemon
        thread.join()
