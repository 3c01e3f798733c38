"""Deterministic threads and virtual time for tests.

Mirrors the idea of Go's `testing/synctest` and adds what Go lacks: the choice of which thread runs next can be driven
by a seed, by Hypothesis, or by a recorded schedule, so that a race is found, shrunk and replayed instead of waited for.

Inside a *bubble* the code under test runs on real threads, but exactly one of them runs at a time. It hands over only
at operations of the `threading` module (locks, conditions, events, semaphores, barriers, starting and joining threads)
and when it sleeps. Time stands still while any thread can run; once all are blocked it jumps to the earliest timeout:

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

What a bubble reports, each with the stack of every thread: a deadlock (all threads blocked and no timeout pending,
which is also how a lost wake-up shows), a thread still alive at the end, an exception that ended a thread, a livelock
(no end after `max_steps` operations), and a thread that blocks on something the bubble does not control: on an ordinary
lock or condition, with the line that made it and what to write there, or on a socket.

Searching for races:

    for seed in range(200):
        synctest.run(scenario, schedule=synctest.RandomSchedule(seed))

    @synctest.explore()                             # Hypothesis: failures shrink to the fewest preemptions
    def test_no_lost_wake_up(schedule): synctest.run(scenario, schedule=schedule)

A failure carries a note with the exact `Schedule({...})` that replays it. `preempt_in=[module]` adds a possible switch
before every line of the named modules, for code that reads shared state without a lock.

Rules for code in a bubble: write `threading.Lock()` (never `from threading import Lock`), look the names up at call
time, and make the objects inside the bubble. Objects made outside work as long as nobody has to wait for them, except
for what a thread outside does within 5 seconds of real time; then HangError names them. While a
bubble is open, other threads of the process go on with the ordinary threading module. Time is virtual for
`clock.RealClock`, for the functions of the `time` module except `perf_counter`, and for every timeout of `threading`.
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

# Each thread of a bubble begins in its scheduler.
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
    """Open a bubble: `with synctest.bubble() as b: ...`. The body is the bubble's first thread.

    schedule: who runs next; None lets each thread run until it blocks, then the one that has been ready longest.
    start: the virtual time of day at the beginning, in seconds since the Unix epoch.
    preempt_in: modules before each of whose lines the running thread may be preempted too (slow).
    max_steps: after so many operations the bubble gives up with LivelockError.
    hang_timeout: real seconds without a switch after which the running thread counts as stuck (HangError). One that is
        seen to wait for an ordinary lock or condition counts as stuck after 5 seconds or half of this.
    log: called with a line for every switch, to read a failing schedule as a story: `log=print`.
    two_clocks: whether the real clock's instants have a monotonic reading, as outside of bubbles, so that
        `Bubble.move_wall_clock` can put the time of day forward and back. Otherwise they are plain floats.
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
    """Call `fn` in a bubble of its own and give back what it returns."""
    with Bubble(schedule, preempt_in=preempt_in, max_steps=max_steps):
        return fn()


def wait() -> None:
    """`Bubble.wait` of the bubble the calling thread is in."""
    b = current()
    if b is None:
        raise RuntimeError("synctest.wait called outside of a bubble")
    b.wait()
