"""The replacements of `threading` and `time` in a bubble: results, misuse, the end, and threads outside."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from threading import Condition
from typing import Any

import pytest
from patience import PATIENCE
from synctesttools import REAL_JOIN

from clientgo.testing import synctest
from clientgo.utils.clock import clock


def spawn(target: Callable[[], object], name: str) -> threading.Thread:
    thread = threading.Thread(target=target, name=name)
    thread.start()
    return thread


def beside_a_bubble(target: Callable[[], object]) -> None:
    """Run the function in a thread outside, while a bubble is open."""
    go = threading.Event()
    failures: list[BaseException] = []

    def outside() -> None:
        go.wait(PATIENCE)
        try:
            target()
        except BaseException as err:
            failures.append(err)

    thread = spawn(outside, "outside")
    with synctest.bubble():
        go.set()
        REAL_JOIN(thread, PATIENCE)
    assert not thread.is_alive()
    for failure in failures:
        raise failure


# ---- locks


@pytest.mark.parametrize("kind", ["Lock", "RLock"])
def test_acquire_reports_whether_it_has_the_lock(kind: str) -> None:
    with synctest.bubble():
        lock = getattr(threading, kind)()
        answers: list[object] = [lock.acquire()]
        thread = spawn(lambda: answers.extend((lock.acquire(timeout=1.0), lock.acquire(blocking=False))), "other")
        thread.join()
        lock.release()
        with lock as held:
            answers.append(held)

    assert answers == [True, False, False, True]


def test_a_lock_prints_its_state_and_its_owner() -> None:
    with synctest.bubble():
        lock = threading.Lock()
        assert " unlocked, 0 waiting>" in repr(lock)
        lock.acquire()
        assert f" held by {threading.current_thread().name!r}, 0 waiting>" in repr(lock)
        lock.release()
        assert " unlocked, 0 waiting>" in repr(lock)
    lock.acquire()
    assert " locked, 0 waiting>" in repr(lock)


def test_releasing_a_lock_is_a_place_to_hand_over() -> None:
    order: list[str] = []

    def choose(candidates: int, forced: bool) -> int:
        return int(not forced and "released" in order)

    with synctest.bubble(choose):
        lock = threading.Lock()
        lock.acquire()
        other = threading.Thread(target=lambda: order.append("other"))
        other.start()
        order.append("released")
        lock.release()
        order.append("after")
        other.join()

    assert order == ["released", "other", "after"]


@pytest.mark.parametrize(
    ("operation", "places"),
    [
        (lambda: threading.Lock().acquire(), 1),
        (lambda: threading.Lock().acquire(blocking=False), 1),
        (lambda: threading.Lock().acquire(timeout=1.0), 1),
        (lambda: threading.Lock().locked(), 1),
        (lambda: threading.Lock().__enter__(), 1),
        (lambda: threading.RLock().acquire(), 1),
        (lambda: threading.Event().is_set(), 1),
        (lambda: threading.current_thread().is_alive(), 1),
        (lambda: threading.Condition().__enter__(), 1),
        (lambda: time.monotonic(), 0),
        (lambda: threading.Lock(), 0),
    ],
    ids=[
        *("acquire", "try", "acquire within", "locked", "enter", "acquire a reentrant lock", "is_set"),
        *("is_alive", "enter a condition", "monotonic", "make a lock"),
    ],
)
def test_an_operation_is_one_place_to_switch(operation: Callable[[], object], places: int) -> None:
    asked = 0

    def choose(candidates: int, forced: bool) -> int:
        nonlocal asked
        asked += 1
        return 0

    with synctest.bubble(choose):
        other = spawn(lambda: None, "other")
        asked = 0
        operation()
        assert asked == places
        other.join()


def test_a_second_acquire_of_a_reentrant_lock_is_no_place_to_switch() -> None:
    asked: list[int] = []

    def choose(candidates: int, forced: bool) -> int:
        asked.append(candidates)
        return 0

    with synctest.bubble(choose):
        lock = threading.RLock()
        other = spawn(lambda: None, "other")
        lock.acquire()
        before = len(asked)
        lock.acquire()
        lock.release()
        assert len(asked) == before
        lock.release()
        assert len(asked) == before + 1
        other.join()


def test_a_reentrant_lock_that_was_not_got_counts_no_depth() -> None:
    with synctest.bubble():
        lock = threading.RLock()
        lock.acquire()

        def other() -> None:
            assert not lock.acquire(timeout=1.0)
            with pytest.raises(RuntimeError, match="un-acquired"):
                lock.release()

        spawn(other, "other").join()
        lock.release()
        spawn(lambda: lock.acquire() and lock.release(), "next").join()


# ---- conditions


def test_a_condition_of_a_bubble_has_waiters_and_notifiers_inside_only() -> None:
    condition: Any = None
    go, caught = threading.Event(), list[str]()

    def use() -> None:
        go.wait(PATIENCE)
        for call in (condition.wait, condition.notify):
            try:
                call()
            except RuntimeError as err:
                caught.append(str(err))

    outside = spawn(use, "outside")
    with synctest.bubble() as b:
        condition = threading.Condition()
        waiter = spawn(lambda: condition.__enter__() and condition.wait() and condition.release(), "waiter")
        b.wait()
        go.set()
        REAL_JOIN(outside, PATIENCE)
        with condition:
            condition.notify()
        waiter.join()

    assert caught == [
        "this Condition was made in a synctest bubble; only threads of a bubble can wait on it",
        "threads of a synctest bubble wait on this Condition; notify it from that bubble",
    ]
    condition.notify()  # no thread waits any more


def test_a_wait_that_an_error_ends_leaves_no_waiter_behind() -> None:
    condition: Any = None

    def choose(candidates: int, forced: bool) -> int:
        if condition is not None and repr(condition).endswith(", 1 waiting>"):
            raise ZeroDivisionError
        return 0

    with synctest.bubble(choose):
        condition = threading.Condition()
        threads = [threading.Thread(target=time.sleep, args=(1.0,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        with condition, pytest.raises(ZeroDivisionError):
            condition.wait()
        assert repr(condition).endswith(", 0 waiting>")
        for thread in threads:
            thread.join()


def test_a_waiter_takes_its_lock_back_before_it_goes_on() -> None:
    order: list[str] = []
    with synctest.bubble() as b:
        condition = threading.Condition(threading.Lock())

        def wait() -> None:
            with condition:
                condition.wait()
                order.append("woken")

        waiter = spawn(wait, "waiter")
        b.wait()
        with condition:
            condition.notify()
            b.sleep(5.0)
            order.append("released")
        waiter.join()

    assert order == ["released", "woken"]


@pytest.mark.parametrize("timeout", [0.001, 1.0, None])
def test_an_ordinary_condition_reports_a_timeout_and_a_notification_of_a_thread_outside(timeout: float | None) -> None:
    condition, waits = Condition(), threading.Event()

    def notify() -> None:
        waits.wait(PATIENCE)
        with condition:
            condition.notify()

    answers = []
    outside = threading.Thread(target=notify)
    outside.start()
    with synctest.bubble(hang_timeout=60.0), condition:
        if timeout != 0.001:
            waits.set()
        answers.append(condition.wait(timeout))
    waits.set()
    outside.join()

    assert answers == [timeout != 0.001]


# ---- while the threads of a bubble are unwound


def test_a_lock_that_another_thread_holds_is_no_obstacle_on_the_way_out() -> None:
    seen: list[object] = []

    def hold(lock: Any) -> None:
        try:
            with lock:
                time.sleep(60.0)
        except RuntimeError as err:
            seen.append(err)

    def need(lock: Any) -> None:
        try:
            time.sleep(60.0)
        finally:
            seen.append(lock.acquire())
            lock.release()

    for kind in ("Lock", "RLock"):
        with pytest.raises(KeyboardInterrupt), synctest.bubble() as b:
            lock = getattr(threading, kind)()
            spawn(lambda lock=lock: need(lock), "needs it")  # type: ignore[misc]
            spawn(lambda lock=lock: hold(lock), "holds it")  # type: ignore[misc]
            b.wait()
            raise KeyboardInterrupt

    assert seen == [True, True]


def test_nothing_blocks_and_no_thread_starts_on_the_way_out() -> None:
    seen: list[str] = []

    def work() -> None:
        try:
            time.sleep(60.0)
        finally:
            for name, call in (
                ("sleep", lambda: time.sleep(1.0)),
                ("wait", lambda: threading.Event().wait()),
                ("start", lambda: threading.Thread(target=seen.append, args=("ran",)).start()),
            ):
                try:
                    call()
                except BaseException as err:
                    seen.append(f"{name}: {type(err).__name__}")

    with pytest.raises(synctest.LeakError), synctest.bubble():
        spawn(work, "worker")

    assert seen == ["sleep: BubbleExit", "wait: BubbleExit", "start: BubbleExit"]


# ---- time, and the threads outside


def test_every_clock_goes_forward_by_the_virtual_time_that_passed() -> None:
    with synctest.bubble(start=1000.0) as b:
        b.sleep(2.5)
        assert (time.time(), time.time_ns()) == (1002.5, 1_002_500_000_000)
        assert (time.monotonic(), time.monotonic_ns()) == (2.5, 2_500_000_000)
        assert clock.RealClock().now() == 1002.5


def test_a_thread_outside_sleeps_joins_and_waits_for_real() -> None:
    def outside() -> None:
        began = time.perf_counter()
        time.sleep(0.002)
        assert time.perf_counter() - began >= 0.002

        ended, condition = threading.Event(), threading.Condition()
        inner = threading.Thread(target=ended.wait, args=(PATIENCE,))
        inner.start()
        assert inner.is_alive() is True
        inner.join(0.001)
        assert inner.is_alive()
        ended.set()
        inner.join()
        assert inner.is_alive() is False
        with condition:
            assert condition.wait(0.001) is False
            threading.Timer(0.001, lambda: condition.__enter__() and (condition.notify(), condition.release())).start()
            assert condition.wait(PATIENCE) is True

    beside_a_bubble(outside)


def test_a_thread_of_before_is_joined_and_asked_for_real() -> None:
    stop = threading.Event()
    before = threading.Thread(target=stop.wait, args=(PATIENCE,))
    before.start()
    with synctest.bubble():
        assert before.is_alive() is True
        before.join(0.001)
        assert before.is_alive() is True
        stop.set()
        before.join()
        assert before.is_alive() is False
