"""Objects of the ordinary `threading` in a bubble: the error names the line that created them and the correction."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Condition, Event, Lock, RLock
from time import sleep
from typing import Any

import pytest
from hypothesis import given, settings
from simple_queue import SimpleQueue

from clientgo.testing import synctest
from clientgo.testing.workqueue_machine import QueueMachine, interleave

MADE_BY_THE_MODULE = threading.Event()


def line_of(text: str) -> str:
    """Return `file:line` of this file's first line with the text."""
    lines = Path(__file__).read_text().splitlines()
    return f"{__file__}:{1 + next(number for number, line in enumerate(lines) if text in line)} "


class Queue(SimpleQueue):
    """A correct queue, except that it creates its condition with an ordinary name."""

    def __init__(self, metrics_provider: Any = None) -> None:
        super().__init__(metrics_provider)
        self.make_locks()

    def make_locks(self) -> None:
        self.lock = self.changed = Condition()  # the line to blame


class QueueOnAnOrdinaryLock(Queue):
    def make_locks(self) -> None:
        self.lock = Lock()  # and this one
        self.changed = threading.Condition(self.lock)

    def push(self, item: str) -> None:
        super().push(item)
        time.sleep(0)


def hang(run: Callable[[], object]) -> str:
    with pytest.raises(synctest.HangError) as caught:
        run()
    return str(caught.value)


def test_a_from_imported_condition_is_reported_immediately_and_never_shrunk() -> None:
    runs = 0

    @settings(database=None)
    @given(schedule=synctest.schedules())
    def interleaved(schedule: synctest.Schedule) -> None:
        nonlocal runs
        runs += 1
        interleave(Queue, schedule)

    before = time.monotonic()
    text = hang(interleaved)

    assert runs == 1
    assert time.monotonic() - before < 25.0, "less than the 30 seconds of a hang that nobody can explain"
    assert f"made at {line_of('# the line to blame')}in Queue.make_locks" in text
    assert "in SimpleQueue.get: self.changed.wait()" in text
    assert "Write `threading.Condition()`" in text


def test_the_state_machine_reports_it_too() -> None:
    machine = QueueMachine.of(Queue).TestCase("runTest")

    assert "# the line to blame" in hang(machine.runTest)


def test_an_ordinary_lock_under_a_bubbles_condition_is_reported() -> None:
    def body() -> None:
        with synctest.bubble(hang_timeout=1.0):
            queue = QueueOnAnOrdinaryLock()
            threads = [threading.Thread(target=queue.add, args=(item,), name=item) for item in "ab"]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    text = hang(body)

    assert f"made at {line_of('# and this one')}in QueueOnAnOrdinaryLock.make_locks" in text
    assert "thread 'b' blocks" in text
    assert "Write `threading.Lock()`" in text


@pytest.mark.parametrize("make", [Lock, RLock])
def test_the_body_of_the_bubble_itself_gets_out_of_a_lock_that_another_thread_holds(make: Any) -> None:
    def body() -> None:
        with synctest.bubble(hang_timeout=1.0) as b:
            lock = make()

            def hold() -> None:
                with lock:
                    time.sleep(1)

            threading.Thread(target=hold, name="holder").start()
            b.wait()
            with lock:  # where the body stands
                time.sleep(1)

    text = hang(body)

    assert "thread 'MainThread' blocks" in text
    assert f"blocks at {line_of('# where the body stands')}" in text


def test_what_a_module_makes_has_to_be_made_inside() -> None:
    def body() -> None:
        with synctest.bubble(hang_timeout=0.5):
            MADE_BY_THE_MODULE.wait()

    text = hang(body)

    assert f"made at {line_of('MADE_BY_THE_MODULE = ')}in <module>" in text
    assert "Make it inside the bubble" in text


def test_a_from_imported_sleep_is_reported() -> None:
    def body() -> None:
        with synctest.bubble(hang_timeout=0.5):
            thread = threading.Thread(target=lambda: sleep(3), name="sleeper")
            thread.start()
            thread.join()

    assert "Write `time.sleep(...)`" in hang(body)


def test_an_event_of_a_from_import_is_the_bubbles_own() -> None:
    """Event is a class built on Condition, whose name it looks up when it is made."""
    with synctest.bubble() as b:
        event = Event()
        threading.Thread(target=event.wait, name="waiter").start()
        b.wait()
        event.set()


def test_no_thread_is_left_by_a_hang() -> None:
    """The other threads release the stuck thread when they unwind."""

    def body() -> None:
        with synctest.bubble(hang_timeout=0.5):
            lock = Lock()

            def hold() -> None:
                with lock:
                    time.sleep(1)

            def take() -> None:
                with lock:
                    pass

            threads = [threading.Thread(target=hold, name="holder"), threading.Thread(target=take, name="stuck")]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    assert "thread 'stuck' blocks" in hang(body)
    assert not {"holder", "stuck"} & {thread.name for thread in threading.enumerate()}


@pytest.fixture
def blocked_for_real() -> Iterator[threading.Thread]:
    """Return a thread, not started, that blocks until the end of the test."""
    lock = _thread.allocate_lock()
    lock.acquire()
    thread = threading.Thread(target=lock.acquire, name="stuck")
    yield thread
    lock.release()
    thread.join()


def way_out(thread: threading.Thread) -> None:
    """Stop and join the threads of a test, as in its cleanup."""
    thread.start()
    waits = threading.Thread(target=threading.Event().wait, name="waits")
    waits.start()
    lock = threading.Lock()
    try:
        with lock:
            thread.join()
    finally:
        with lock:
            waits.join()


def test_a_hang_is_reported_though_the_test_joins_other_threads_on_its_way_out(
    blocked_for_real: threading.Thread,
) -> None:
    with pytest.raises(synctest.HangError, match="'stuck'"), synctest.bubble(hang_timeout=0.2):
        way_out(blocked_for_real)


def test_what_a_signals_handler_raises_ends_a_bubble_that_is_stuck(blocked_for_real: threading.Thread) -> None:
    """A test's time limit and Ctrl-C raise in a signal handler."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt), synctest.bubble():
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            way_out(blocked_for_real)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_an_interrupt_while_a_thread_starts_leaves_no_thread_behind() -> None:
    class Interrupted(threading.Thread):
        @property
        def ident(self) -> int | None:
            accesses.append(None)
            if len(accesses) == 2:  # the first one precedes the start
                raise KeyboardInterrupt
            return super().ident

    accesses: list[None] = []

    thread = Interrupted(target=threading.Event().wait, name="interrupted")
    with pytest.raises(KeyboardInterrupt), synctest.bubble():
        thread.start()
    thread.join(10.0)
    assert not thread.is_alive()


def test_a_machine_that_stands_still_is_no_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was stopped, or got no turn, for a minute: its clock has gone on, and none of its threads."""
    lock, ordinary = _thread.allocate_lock(), time.monotonic
    lock.acquire()
    began = ordinary()
    monkeypatch.setattr(
        "clientgo.testing.synctest.scheduler._real_monotonic",
        lambda: ordinary() + (100.0 if ordinary() > began + 1.2 else 0.0),
    )
    giver = threading.Timer(2.5, lock.release)
    giver.start()
    with synctest.bubble():
        taker = threading.Thread(target=lock.acquire, name="taker")
        taker.start()
        taker.join()
    giver.join()
