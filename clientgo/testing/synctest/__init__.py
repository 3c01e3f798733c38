"""Deterministic threads and virtual time for tests.

Mirrors the idea of Go's `testing/synctest` and adds a feature that Go lacks: the next thread can be chosen by a seed,
by Hypothesis, or by a recorded schedule, so that a race is found, shrunk and replayed instead of waited for.

Inside a *bubble* the code under test runs on real threads, but exactly one of them runs at a time. The running thread
changes only at operations of the `threading` module (locks, conditions, events, semaphores, barriers, starting and
joining threads) and during a sleep. Time stands still while any thread can run; once all are blocked, it jumps to the
earliest timeout:

    def test_worker_gets_the_item() -> None:
        with synctest.bubble() as b:
            queue = workqueue.new_typed_delaying_queue()
            got: list[str] = []
            worker = threading.Thread(target=lambda: got.append(queue.get()[0]), name="worker")
            worker.start()
            queue.add_after("a", 60.0)
            b.wait()                    # every other thread is blocked now, at virtual time 0
            assert got == []
            b.sleep(60.0)               # takes no real time
            assert got == ["a"]
            worker.join()
            queue.shut_down()

A bubble reports the following problems, with the stacks of all threads: a deadlock (all threads blocked and no timeout
pending, which is also the symptom of a lost wake-up); a thread still alive at the end; an exception that ended a
thread; a livelock (no end after `max_steps` operations); and a thread that blocks outside of the bubble's control,
either on an ordinary lock or condition, with the line that created it and its replacement, or on a socket.

Searching for races:

    for seed in range(200):
        synctest.run(scenario, schedule=synctest.RandomSchedule(seed))

    @synctest.explore()                             # Hypothesis: failures shrink to the fewest preemptions
    def test_no_lost_wake_up(schedule): synctest.run(scenario, schedule=schedule)

A failure has a note with the exact `Schedule({...})` that replays it. `preempt_in=[module]` adds a possible switch
before every line of these modules, for code that reads shared state without a lock.

Rules for code in a bubble: write `threading.Lock()` (never `from threading import Lock`), look the names up at call
time, and create the objects inside the bubble. Objects from outside work as long as no thread has to wait for them,
except for an action of an outside thread within 5 seconds of real time; otherwise HangError names them. While a bubble
is open, other threads of the process use the ordinary threading module. Time is virtual for `clock.RealClock`, for the
functions of the `time` module except `perf_counter`, and for every timeout of `threading`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TypeVar

from clientgo.apimachinery.util import naming
from clientgo.testing.synctest.errors import (
    BubbleError,
    DeadlockError,
    HangError,
    LeakError,
    LivelockError,
    ThreadError,
)
from clientgo.testing.synctest.schedule import Chooser, RandomSchedule, Schedule, explore, schedules
from clientgo.testing.synctest.scheduler import DEFAULT_START, Bubble, current
from clientgo.testing.synctest.task import Timer

__all__ = [
    "DEFAULT_START",
    "Bubble",
    "BubbleError",
    "Chooser",
    "DeadlockError",
    "HangError",
    "LeakError",
    "LivelockError",
    "RandomSchedule",
    "Schedule",
    "ThreadError",
    "Timer",
    "bubble",
    "current",
    "explore",
    "run",
    "schedules",
    "wait",
]

R = TypeVar("R")

# Each thread of a bubble starts in its scheduler.
naming.never_name_after(__name__)


def bubble(
    schedule: Schedule | RandomSchedule | Chooser | None = None,
    *,
    start: float = DEFAULT_START,
    preempt_in: Sequence[ModuleType] = (),
    max_steps: int = 2_000_000,
    hang_timeout: float = 30.0,
    log: Callable[[str], object] | None = None,
    two_clocks: bool = False,
) -> Bubble:
    """Return a new bubble: `with synctest.bubble() as b: ...`. The body is the bubble's first thread.

    schedule: the choice of the next thread; None lets each thread run until it blocks, then the longest-ready thread.
    start: the virtual time of day at the beginning, in seconds since 1970. preempt_in: modules in which the running
    thread may be preempted before each line (slow). max_steps: the number of operations after which the bubble raises
    LivelockError; in the last quarter of them, the threads that can run take turns. hang_timeout: real seconds without
    a switch after which the running thread counts as stuck (HangError). A thread that waits for an ordinary lock or
    condition counts as stuck after 5 seconds or half of this, whichever is less. log: called with a line for every
    switch, to trace a failing schedule: `log=print`. two_clocks: give times of the real clock a monotonic reading, as
    outside of bubbles, so that `Bubble.move_wall_clock` can change the time of day. Otherwise they are plain floats.
    """
    return Bubble(
        schedule,
        start=start,
        preempt_in=preempt_in,
        max_steps=max_steps,
        hang_timeout=hang_timeout,
        log=log,
        two_clocks=two_clocks,
    )


def run(
    fn: Callable[[], R],
    schedule: Schedule | RandomSchedule | Chooser | None = None,
    *,
    preempt_in: Sequence[ModuleType] = (),
    max_steps: int = 2_000_000,
) -> R:
    """Call `fn` in a new bubble and return its result."""
    with Bubble(schedule, preempt_in=preempt_in, max_steps=max_steps):
        return fn()


def wait() -> None:
    """Call `Bubble.wait` of the calling thread's bubble. Raises RuntimeError outside of a bubble."""
    b = current()
    if b is None:
        raise RuntimeError("synctest.wait called outside of a bubble")
    b.wait()
