"""A bubble in which very many threads start and end."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import pytest
from synctesttools import steps_of

from clientgo.testing import synctest

MANY = 500


def start(thread: threading.Thread) -> threading.Thread:
    thread.start()
    return thread


def pass_through(count: int) -> list[threading.Thread]:
    """Return `count` threads that have ended."""
    threads = [start(threading.Thread(target=lambda: None)) for _ in range(count)]
    for thread in threads:
        thread.join()
    return threads


def test_an_ended_thread_is_freed_without_the_garbage_collector() -> None:
    gc.disable()
    try:
        with synctest.bubble():
            (thread,) = pass_through(1)
            seen = weakref.ref(thread)
            del thread
        assert seen() is None
    finally:
        gc.enable()


def test_what_ended_threads_held_is_let_go_while_the_bubble_goes_on() -> None:
    class Held:
        pass

    seen: list[weakref.ref[Held]] = []

    def hold() -> None:
        held = Held()
        seen.append(weakref.ref(held))
        threading.current_thread().held = held  # type: ignore[attr-defined]

    with synctest.bubble():
        for _ in range(MANY):
            start(threading.Thread(target=hold)).join()
        gc.collect()
        assert sum(each() is not None for each in seen) < MANY / 2


def test_a_thread_that_ended_long_ago_can_be_joined_and_asked() -> None:
    with synctest.bubble():
        first = start(threading.Thread(target=lambda: None))
        pass_through(MANY)
        assert not first.is_alive()
        first.join()
        with pytest.raises(RuntimeError, match="once"):
            first.start()


def test_joining_one_that_ended_long_ago_is_a_place_to_hand_over() -> None:
    """Joining a thread that has just ended is a switch point, and a schedule must mean the same in a longer bubble."""
    for ask in (threading.Thread.join, threading.Thread.is_alive):
        steps = []
        for before in (0, MANY):
            with synctest.bubble() as b:
                first = pass_through(1)[0]
                pass_through(before)
                so_far = steps_of(b)
                getattr(first, ask.__name__)()
                steps.append(steps_of(b) - so_far)
        assert steps[0] == steps[1] > 0


def test_sleepers_wake_in_order_even_if_some_have_ended() -> None:
    woken: list[int] = []

    def sleep(seconds: int) -> None:
        time.sleep(seconds)
        woken.append(seconds)

    with synctest.bubble() as b:
        # Those that end leave the timeouts that they no longer wait for among those of the sleepers.
        waiting = threading.Event()
        leaving = [start(threading.Thread(target=waiting.wait, args=(5.0 + n % 7,))) for n in range(MANY)]
        sleepers = [start(threading.Thread(target=sleep, args=(seconds,))) for seconds in (9, 3, 7, 1, 5)]
        waiting.set()
        for thread in leaving:
            thread.join()
        pass_through(2 * MANY)
        assert b.elapsed == 0
        for thread in sleepers:
            thread.join()
        assert (woken, b.elapsed) == ([1, 3, 5, 7, 9], 9.0)


def test_timers_that_fire_while_threads_are_forgotten_all_fire_in_order() -> None:
    fired: list[int] = []
    with synctest.bubble() as b:
        for n in range(MANY):
            b.after_func(1.0 + n % 3, lambda n=n: fired.append(n))  # type: ignore[misc]
        b.sleep(3.5)
        assert fired == sorted(range(MANY), key=lambda n: n % 3)


def test_no_thread_is_left_when_the_bubble_closes() -> None:
    before = set(threading.enumerate())
    with synctest.bubble() as b:
        for _ in range(MANY):
            start(threading.Thread(target=lambda: None))
        b.wait()
        pass_through(MANY)
    assert set(threading.enumerate()) == before
