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
(no end after `max_steps` operations), and a thread that blocks on something the bubble does not control (a socket, or
an object made before the bubble).

Searching for races:

    for seed in range(200):
        synctest.run(scenario, schedule=synctest.RandomSchedule(seed))

    @given(schedule=synctest.schedules())           # Hypothesis: failures shrink to the fewest preemptions
    def test_no_lost_wake_up(schedule): synctest.run(scenario, schedule=schedule)

A failure carries a note with the exact `Schedule({...})` that replays it. `preempt_in=[module]` adds a possible switch
before every line of the named modules, for code that reads shared state without a lock.

Rules for code in a bubble: write `threading.Lock()` (never `from threading import Lock`), look the names up at call
time, and make the objects inside the bubble. Locks made outside work as long as nobody has to wait for them. While a
bubble is open, other threads of the process go on with the ordinary threading module. Time is virtual for
`clock.RealClock`, for the functions of the `time` module except `perf_counter`, and for every timeout of `threading`.
"""

from __future__ import annotations

import _thread
import contextlib
import heapq
import itertools
import queue
import random
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import FrameType, ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from clientgo.utils.clock import clock

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

R = TypeVar("R")

# 2000-01-01T00:00:00Z, where Go's bubbles start too.
DEFAULT_START = 946_684_800.0
_NANO = 1_000_000_000
_MICRO = 1_000


class BubbleError(AssertionError):
    """A bubble found something wrong with the threads inside it."""


class DeadlockError(BubbleError):
    """Every thread is blocked and no timeout is pending."""


class LeakError(BubbleError):
    """The body of the bubble ended while other threads were still alive."""


class ThreadError(BubbleError):
    """An exception ended a thread of the bubble; it is the `__cause__`."""


class LivelockError(BubbleError):
    """The bubble went through `max_steps` operations without coming to an end."""


class HangError(BubbleError):
    """The running thread made no progress in real time: it blocks on something the bubble does not control."""


class _BubbleExit(BaseException):
    """Unwinds a thread that outlived its bubble."""


# ---------------------------------------------------------------------------------------------------------- schedules


class Chooser(Protocol):
    """Decides who runs next."""

    def __call__(self, candidates: int, forced: bool) -> int:
        """Pick one of `candidates` (at least 2) threads.

        0 is what would happen without a chooser: the running thread goes on or, when `forced` (it is blocked or has
        ended), the one that has been ready longest.
        """


class Schedule:
    """An explicit list of deviations from the default order: replays a run exactly.

    A decision is a moment with at least two threads that can run. `picks` maps the number of a decision, from 0, to the
    candidate to take there; all other decisions take their default.
    """

    def __init__(self, picks: Mapping[int, int] | None = None) -> None:
        self.picks = dict(picks or {})

    def chooser(self) -> Chooser:
        decisions = itertools.count()

        def choose(candidates: int, forced: bool) -> int:
            return self.picks.get(next(decisions), 0) % candidates

        return choose

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self.picks == other.picks

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Schedule({self.picks})"


class RandomSchedule:
    """Random choices from a seed: preempt the running thread with probability `preempt`, else uniformly.

    When `preempt` is None it is drawn from the seed as well, since some races need many switches and some need few.
    """

    def __init__(self, seed: int, preempt: float | None = None) -> None:
        self.seed = seed
        self.preempt = preempt

    def chooser(self) -> Chooser:
        rng = random.Random(self.seed)
        preempt = rng.choice((0.02, 0.1, 0.3, 0.6)) if self.preempt is None else self.preempt

        def choose(candidates: int, forced: bool) -> int:
            if forced:
                return rng.randrange(candidates)
            return rng.randrange(1, candidates) if rng.random() < preempt else 0

        return choose

    def __repr__(self) -> str:
        return f"RandomSchedule({self.seed}{'' if self.preempt is None else f', preempt={self.preempt}'})"


def schedules(decisions: int = 100) -> SearchStrategy[Schedule]:
    """Hypothesis strategy of schedules for the first so many decisions; they shrink to the fewest deviations."""
    from hypothesis import strategies as st

    def of_calmness(zeros: int) -> SearchStrategy[Schedule]:
        pick = st.sampled_from((0,) * zeros + (1, 2, 3))
        # A list of fixed length: one that may be short mostly is, and many races need many switches.
        picks = st.lists(pick, min_size=decisions, max_size=decisions)
        return picks.map(lambda picks: Schedule({number: pick for number, pick in enumerate(picks) if pick}))

    return st.sampled_from((2, 8, 30)).flatmap(of_calmness)


# ------------------------------------------------------------------------------------------------------- the scheduler

# What the standard library had before anything was replaced.
_RealLock = _thread.allocate_lock
_RealCondition = threading.Condition
_real_rlock = threading.RLock
_real_thread_init = threading.Thread.__init__
_real_thread_start = threading.Thread.start
_real_thread_join = threading.Thread.join
_real_thread_is_alive = threading.Thread.is_alive
_real_event_is_set = threading.Event.is_set
_real_time, _real_time_ns = time.time, time.time_ns
_real_monotonic, _real_monotonic_ns = time.monotonic, time.monotonic_ns
_real_sleep = time.sleep

_active: Bubble | None = None


def _current() -> Bubble | None:
    """The bubble of the calling thread; None for every thread that is not in one."""
    b = _active
    if b is not None and b._running.ident == _thread.get_ident():
        return b
    return None


class _Task:
    """A thread of the bubble, as the scheduler sees it."""

    __slots__ = ("done", "error", "gate", "ident", "joiners", "parked", "parks", "thread", "waiting_for", "woken")

    def __init__(self, thread: threading.Thread) -> None:
        self.thread = thread
        self.ident = thread.ident
        # Held whenever it is not this thread's turn: giving the turn is one release, waiting for it one acquire.
        self.gate = _RealLock()
        self.gate.acquire()
        self.parked = False
        self.parks = 0  # how often it parked: tells a pending timeout from one that no longer matters
        self.woken = False
        self.waiting_for: object = ""
        self.error: BaseException | None = None  # to be raised in this thread when it gets its turn
        self.done = False
        self.joiners: list[_Task] = []

    @property
    def name(self) -> str:
        return self.thread.name


class Timer:
    """A function that a new thread of the bubble runs when virtual time has come; see `Bubble.after_func`."""

    def __init__(self, fn: Callable[[], object], name: str) -> None:
        self.fn = fn
        self.name = name
        self.pending = True

    def stop(self) -> bool:
        """Cancel; True when it had neither fired nor been stopped."""
        was_pending, self.pending = self.pending, False
        return was_pending


class Bubble:
    """The scheduler of one bubble. Make it with `bubble()`; the thread that enters it is its first thread.

    Invariants (all state is touched only by the one running thread, so there is no lock):
      * every thread is exactly one of: running, in `_ready`, parked, done
      * a parked thread has a pending timeout, or somebody else will wake it, or it is part of a deadlock
    """

    def __init__(
        self,
        schedule: Schedule | RandomSchedule | Chooser | None = None,
        *,
        start: float = DEFAULT_START,
        preempt_in: Sequence[ModuleType] = (),
        max_steps: int = 2_000_000,
        hang_timeout: float = 30.0,
        log: Callable[[str], object] | None = None,
    ) -> None:
        """See `bubble`."""
        if isinstance(schedule, Schedule | RandomSchedule):
            self._chooser: Chooser | None = schedule.chooser()
        else:
            self._chooser = schedule
        self._start_ns = round(start * _NANO)
        self._elapsed_ns = 0
        self._traced_files = frozenset(m.__file__ for m in preempt_in)
        self._max_steps = max_steps
        self._hang_timeout = hang_timeout
        self._log = log

        self._main = self._running = _Task(threading.current_thread())
        self._tasks = [self._main]
        self._by_thread = {self._main.thread: self._main}
        self._ready: deque[_Task] = deque()
        self._idle: list[_Task] = []  # those in wait(): ready as soon as nobody else can run
        self._timeouts: list[tuple[int, int, _Task | Timer, int]] = []  # heap of (when, order, whom, its park number)
        self._timeout_order = 0
        self._steps = 0
        self._switches = 0
        self._ending = False
        self._decisions = 0
        self._picks: dict[int, int] = {}  # the decisions that were not the default
        self._outermost: FrameType | None = None
        self.failures: list[tuple[threading.Thread, BaseException]] = []

    # ---- for the test

    @property
    def elapsed(self) -> float:
        """Virtual seconds since the bubble was opened."""
        return self._elapsed_ns / _NANO

    @property
    def trace(self) -> Schedule:
        """The choices made so far; running the same body under it repeats them exactly."""
        return Schedule(self._picks)

    def wait(self) -> None:
        """Block until every other thread is blocked (or has ended) and none has a timeout due at the current time.

        Raises ThreadError when an exception has ended a thread of the bubble.
        """
        self._idle.append(self._running)
        self._park(None, "synctest.wait")
        self.raise_failures()

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass while the other threads run, then `wait()`."""
        self._park(seconds, "sleep")
        self.wait()

    advance = sleep

    def raise_failures(self) -> None:
        """Raise ThreadError when an exception has ended a thread. A test that expects one empties `failures` first."""
        if self.failures:
            thread, error = self.failures[0]
            raise ThreadError(f"thread {thread.name!r} ended with {type(error).__name__}: {error}") from error

    def after_func(self, seconds: float, fn: Callable[[], object], name: str = "after-func") -> Timer:
        """Run `fn` in a thread of its own once `seconds` of virtual time have passed. A pending one is no leak."""
        timer = Timer(fn, name)
        self._add_timeout(seconds, timer, 0)
        return timer

    def stacks(self) -> str:
        """What every living thread waits for, and its stack."""
        frames = sys._current_frames()
        lines = [f"at virtual time +{self.elapsed:.9g}s:"]
        for task in self._tasks:
            if task.done:
                continue
            state = f"waits for {task.waiting_for}" if task.parked else "can run"
            lines.append(f"  thread {task.name!r} {state}")
            frame = frames.get(task.ident or 0)
            lines += [f"    {line}" for line in self._stack(frame)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        alive = sum(not task.done for task in self._tasks)
        return f"<Bubble +{self.elapsed:.9g}s, {alive} threads alive, {len(self._ready)} ready, {self._steps} steps>"

    # ---- opening and closing

    def __enter__(self) -> Bubble:
        global _active
        if _active is not None:
            raise RuntimeError("a synctest bubble is open already; bubbles cannot be nested")
        self._outermost = sys._getframe(1)
        _active = self
        _replace_threading()
        if self._traced_files:
            self._outer_trace = sys.gettrace()
            sys.settrace(self._trace_calls)
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        global _active
        try:
            if exc is None:
                self._check_end()
        except BaseException as err:
            exc = err
            raise
        finally:
            self._end_threads()
            if self._traced_files:
                sys.settrace(self._outer_trace)
            _restore_threading()
            _active = None
            self._outermost = None
            if exc is not None:
                self._annotate(exc)

    def _check_end(self) -> None:
        self.wait()
        if any(not task.done for task in self._tasks if task is not self._main):
            raise LeakError(f"threads are still alive at the end of the bubble,\n{self.stacks()}")

    def _annotate(self, exc: BaseException) -> None:
        for thread, error in self.failures:
            if error is not exc.__cause__:
                exc.add_note(f"synctest: thread {thread.name!r} had ended with {type(error).__name__}: {error}")
        if self._picks:
            exc.add_note(f"synctest: replay with schedule={self.trace}")

    def _end_threads(self) -> None:
        """Unwind whoever is left, one after the other, by raising _BubbleExit where it is blocked."""
        self._ending = True
        stuck = self._running  # after HangError or KeyboardInterrupt; else the main thread
        for task in self._tasks:
            if task.done or task in (self._main, stuck):
                continue
            task.error = _BubbleExit()
            self._running = task
            task.gate.release()
            # A thread that swallows _BubbleExit, or blocks for real, is left behind (it is a daemon).
            if not self._main.gate.acquire(timeout=5.0):
                break
        self._running = self._main
        for task in self._tasks:
            if task.done:
                _real_thread_join(task.thread, 1.0)

    # ---- handing over

    def _point(self) -> None:
        """A place where the running thread may be preempted."""
        if self._ending:
            return
        self._count_step()
        if not self._ready:
            return
        pick = 0
        if self._chooser is not None:
            pick = self._choose(len(self._ready) + 1, forced=False)
        if self._main.error is not None:
            pick = 1  # an abort has put the main thread first
        if pick == 0:
            return
        task = self._ready[pick - 1]
        del self._ready[pick - 1]
        self._ready.append(self._running)
        self._switch_to(task)

    def _park(self, timeout: float | None, waiting_for: object) -> bool:
        """Block the running thread until `_wake`; False when `timeout` seconds passed first."""
        if self._ending:
            self._refuse_to_block()
        self._count_step()
        me = self._running
        me.parked = True
        me.woken = False
        me.parks += 1
        me.waiting_for = waiting_for
        if timeout is not None:
            self._add_timeout(timeout, me, me.parks)
        self._switch_to(self._next())
        return me.woken

    def _wake(self, task: _Task) -> None:
        """Make a parked thread ready."""
        if task.parked:
            task.parked = False
            task.woken = True
            self._ready.append(task)

    def _switch_to(self, task: _Task) -> None:
        """Give the turn away and come back when it is this thread's turn again."""
        me = self._running
        if task is not me:
            if self._log is not None:
                self._log(f"+{self.elapsed:.9g}s {me.name} -> {task.name}   left at {self._where()}")
            self._switches += 1
            self._running = task
            task.gate.release()
            self._await_turn(me)
        if me.error is not None:
            error, me.error = me.error, None
            raise error

    def _await_turn(self, me: _Task) -> None:
        if me is not self._main:
            me.gate.acquire()
            return
        switches = self._switches
        while not me.gate.acquire(timeout=self._hang_timeout):
            if switches == self._switches:
                raise HangError(
                    f"thread {self._running.name!r} has not come back for {self._hang_timeout:g}s of real time: "
                    f"it computes, or blocks on something made outside the bubble,\n{self.stacks()}"
                )
            switches = self._switches

    def _next(self) -> _Task:
        """Choose who runs next, now that the running thread cannot; virtual time passes only here."""
        if self._ending:
            return self._main
        while True:
            if self._ready:
                count = len(self._ready)
                pick = self._choose(count, forced=True) if count > 1 and self._chooser is not None else 0
                task = self._ready[pick]
                del self._ready[pick]
                return task
            if self._fire_due_timeouts():
                continue
            if self._idle:
                for task in self._idle:
                    self._wake(task)
                self._idle.clear()
                continue
            if self._timeouts:
                self._elapsed_ns = self._timeouts[0][0]
                continue
            self._abort(DeadlockError(f"all threads are blocked and no timeout is pending,\n{self.stacks()}"))

    def _choose(self, candidates: int, forced: bool) -> int:
        assert self._chooser is not None
        try:
            pick = self._chooser(candidates, forced)
        except BaseException as err:  # a Hypothesis strategy may end the test case here
            self._abort(err)
            return 0
        if pick:
            self._picks[self._decisions] = pick
        self._decisions += 1
        return pick

    def _abort(self, error: BaseException) -> None:
        """Raise `error` in the main thread as soon as possible."""
        self._chooser = None
        main = self._main
        if main is self._running and not main.parked:
            raise error
        main.error = error
        if main.parked:
            self._wake(main)
        self._ready.remove(main)
        self._ready.appendleft(main)

    def _count_step(self) -> None:
        self._steps += 1
        if self._steps % self._max_steps == 0:
            self._abort(LivelockError(f"no end after {self._max_steps} operations,\n{self.stacks()}"))

    def _refuse_to_block(self) -> None:
        """In a bubble that ends nobody may block any more."""
        task = self._running
        task.parks += 1
        if task.parks > 100_000:  # it swallows the exception and tries again: stop it where it stands
            self._main.gate.release()
            task.gate.acquire()
        raise _BubbleExit

    # ---- virtual time

    def _add_timeout(self, seconds: float, whom: _Task | Timer, parks: int) -> None:
        # Whole microseconds: what floats of today's date can tell apart. A positive rest below that is the rounding
        # error of a deadline; it must let a little time pass, or a loop that waits for the rest would never end.
        delay = round(seconds * 1e6) * _MICRO
        if delay <= 0:
            delay = _MICRO // 4 if seconds > 0 else 0
        when = self._elapsed_ns + delay
        self._timeout_order += 1
        heapq.heappush(self._timeouts, (when, self._timeout_order, whom, parks))

    def _fire_due_timeouts(self) -> bool:
        """Make everybody ready whose time has come; also forget timeouts that no longer matter."""
        fired = False
        heap = self._timeouts
        while heap:
            when, _, whom, parks = heap[0]
            if isinstance(whom, Timer):
                matters = whom.pending
            else:
                matters = whom.parked and whom.parks == parks
            if matters and when >= self._elapsed_ns + _MICRO:
                break
            heapq.heappop(heap)
            if not matters:
                continue
            fired = True
            self._elapsed_ns = max(self._elapsed_ns, when)
            if isinstance(whom, Timer):
                whom.pending = False
                self._spawn(threading.Thread(target=whom.fn, name=whom.name, daemon=True))
            else:
                whom.parked = False
                self._ready.append(whom)
        return fired

    # ---- threads

    def _spawn(self, thread: threading.Thread) -> None:
        """Start the real thread; it waits for its turn before it does anything."""
        if self._ending:
            raise _BubbleExit
        if _real_event_is_set(thread._started):  # type: ignore[attr-defined]
            raise RuntimeError("threads can only be started once")
        task = _Task(thread)
        run = thread.run
        thread.run = lambda: self._run_thread(task, run)  # type: ignore[method-assign]
        # Should it be left behind, it must not keep the interpreter from exiting.
        thread._daemonic = True  # type: ignore[attr-defined]
        _real_thread_start(thread)
        task.ident = thread.ident
        self._tasks.append(task)
        self._by_thread[thread] = task
        self._ready.append(task)

    def _run_thread(self, task: _Task, run: Callable[[], None]) -> None:
        task.gate.acquire()
        try:
            if task.error is not None:
                raise task.error
            if self._traced_files:
                sys.settrace(self._trace_calls)
            run()
        except (_BubbleExit, SystemExit):
            pass
        except BaseException as err:
            if not self._ending:
                self.failures.append((task.thread, err))
        finally:
            if self._traced_files:
                sys.settrace(None)
            del task.thread.run  # break the reference cycle
            self._finish(task)

    def _finish(self, task: _Task) -> None:
        task.done = True
        for joiner in task.joiners:
            self._wake(joiner)
        successor = self._next()
        if self._log is not None:
            self._log(f"+{self.elapsed:.9g}s {task.name} ends -> {successor.name}")
        self._switches += 1
        self._running = successor
        successor.gate.release()

    def _join(self, task: _Task, timeout: float | None) -> None:
        if task is self._running:
            raise RuntimeError("cannot join current thread")
        self._point()
        if not task.done:
            me = self._running
            task.joiners.append(me)
            if not self._park(timeout, f"thread {task.name!r} to end"):
                task.joiners.remove(me)
                return
        _real_thread_join(task.thread)  # only the interpreter's own clean-up is left of it

    # ---- looking at threads

    def _trace_calls(self, frame: FrameType, event: str, arg: object) -> Any:
        return self._trace_lines if frame.f_code.co_filename in self._traced_files else None

    def _trace_lines(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "line" and self._running.ident == _thread.get_ident():
            self._point()
        return self._trace_lines

    def _stack(self, frame: FrameType | None) -> list[str]:
        """File, line, function and source line of each frame, outermost first, without the scheduler's own."""
        entries = []
        while frame is not None:
            code = frame.f_code
            if code.co_filename not in _OWN_FILES:
                summary = traceback.extract_stack(frame, limit=1)[0]
                entries.append(f"{code.co_filename}:{frame.f_lineno} in {code.co_qualname}: {summary.line}")
            if frame is self._outermost:
                break
            frame = frame.f_back
        return entries[::-1]

    def _where(self) -> str:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename in _OWN_FILES:
            frame = frame.f_back
        return "?" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_qualname}"


_OWN_FILES = frozenset((__file__, threading.__file__))


# ------------------------------------------------------------------------------------- what stands in for `threading`


class _InBubbleOnly(type):
    """Calling the class gives a cooperative object inside a bubble and the ordinary one elsewhere."""

    _real: Any

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if _current() is None:
            return cls._real(*args, **kwargs)
        return super().__call__(*args, **kwargs)


class Lock(metaclass=_InBubbleOnly):
    """`threading.Lock`. Used outside its bubble (say, as part of a cached object) it is an ordinary lock."""

    _real: Any = staticmethod(threading.Lock)

    def __init__(self) -> None:
        # Always free to the thread that finds it unlocked, so a real lock can hold the state.
        self._state = _RealLock()
        self._owner: _Task | None = None
        self._waiters: deque[_Task] = deque()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        b = _current()
        if b is None:
            return self._state.acquire(blocking, timeout)
        if timeout != -1 and (timeout < 0 or not blocking):
            raise ValueError("timeout must be positive, and only for a blocking call")
        b._point()
        return self._acquire(b, blocking, None if timeout == -1 else timeout)

    def _acquire(self, b: Bubble, blocking: bool, timeout: float | None) -> bool:
        deadline = None if timeout is None else b.elapsed + timeout
        while not self._state.acquire(False):
            if b._ending:
                return True  # unwinding: whatever it guards is about to go
            if not blocking:
                return False
            me = b._running
            self._waiters.append(me)
            if not b._park(None if deadline is None else deadline - b.elapsed, self):
                self._waiters.remove(me)
                return False
        self._owner = b._running
        return True

    def release(self) -> None:
        b = _current()
        if b is None:
            self._state.release()
            return
        self._release(b)
        b._point()

    def _release(self, b: Bubble) -> None:
        if b._ending and not self._state.locked():
            return
        self._state.release()
        self._owner = None
        if self._waiters:
            b._wake(self._waiters.popleft())

    def locked(self) -> bool:
        if (b := _current()) is not None:
            b._point()
        return self._state.locked()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *exc: object) -> None:
        self.release()

    # What Condition uses: without a preemption point, since a waiter has to enqueue and unlock in one go.

    def _release_save(self) -> None:
        b = _current()
        assert b is not None
        self._release(b)

    def _acquire_restore(self, state: None) -> None:
        b = _current()
        assert b is not None
        self._acquire(b, True, None)

    def _is_owned(self) -> bool:
        return self._state.locked()

    def __repr__(self) -> str:
        owner = f"held by {self._owner.name!r}" if self._owner else "locked" if self._state.locked() else "unlocked"
        return f"<{type(self).__name__} {id(self):#x} {owner}, {len(self._waiters)} waiting>"


class RLock(Lock):
    """`threading.RLock`."""

    _real = staticmethod(_real_rlock)

    def __init__(self) -> None:
        super().__init__()
        self._owner_ident = 0
        self._depth = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        ident = _thread.get_ident()
        if self._owner_ident != ident:
            if not super().acquire(blocking, timeout):
                return False
            self._owner_ident = ident
        self._depth += 1
        return True

    def release(self) -> None:
        if self._owner_ident != _thread.get_ident():
            if (b := _current()) is not None and b._ending:
                return
            raise RuntimeError("cannot release un-acquired lock")
        self._depth -= 1
        if self._depth == 0:
            self._owner_ident = 0
            super().release()

    def _release_save(self) -> Any:
        depth, self._depth, self._owner_ident = self._depth, 0, 0
        super()._release_save()
        return depth

    def _acquire_restore(self, state: Any) -> None:
        super()._acquire_restore(None)
        self._depth, self._owner_ident = state, _thread.get_ident()

    def _is_owned(self) -> bool:
        return self._owner_ident == _thread.get_ident()


class _InBubbleOnlyCondition(_InBubbleOnly):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _RealCondition)


class Condition(_RealCondition, metaclass=_InBubbleOnlyCondition):
    """`threading.Condition`. Waiters are woken in the order they came; there are no spurious wake-ups.

    Event, Semaphore and Barrier of the standard library are built on Condition and need no counterpart here.
    """

    _real = _RealCondition
    _lock: Any
    _waiters: deque[_Task]
    _is_owned: Callable[[], bool]
    _release_save: Callable[[], Any]
    _acquire_restore: Callable[[Any], None]

    def wait(self, timeout: float | None = None) -> bool:
        b = _current()
        if b is None:
            raise RuntimeError("this Condition was made in a synctest bubble; only threads of a bubble can wait on it")
        if not self._is_owned() and not b._ending:
            raise RuntimeError("cannot wait on un-acquired lock")
        me = b._running
        self._waiters.append(me)
        state = self._release_save()
        woken = False
        try:
            woken = b._park(timeout, self)
            return woken
        finally:
            if not woken:
                with contextlib.suppress(ValueError):
                    self._waiters.remove(me)
            self._acquire_restore(state)

    def notify(self, n: int = 1) -> None:
        b = _current()
        if b is None:
            if self._waiters:
                raise RuntimeError("threads of a synctest bubble wait on this Condition; notify it from that bubble")
            return
        if not self._is_owned() and not b._ending:
            raise RuntimeError("cannot notify on un-acquired lock")
        for _ in range(min(n, len(self._waiters))):
            b._wake(self._waiters.popleft())

    def __repr__(self) -> str:
        return f"<Condition {id(self):#x} on {self._lock!r}, {len(self._waiters)} waiting>"


def _thread_init(self: threading.Thread, *args: Any, **kwargs: Any) -> None:
    _real_thread_init(self, *args, **kwargs)
    # The interpreter's own handshake with the new thread happens outside of the schedule.
    self._started = _real_event()  # type: ignore[attr-defined]


def _real_event() -> threading.Event:
    event = threading.Event.__new__(threading.Event)
    event._cond = _RealCondition(_RealLock())  # type: ignore[attr-defined]
    event._flag = False  # type: ignore[attr-defined]
    return event


def _thread_start(self: threading.Thread) -> None:
    b = _current()
    if b is None:
        _real_thread_start(self)
        return
    b._spawn(self)
    b._point()


def _thread_join(self: threading.Thread, timeout: float | None = None) -> None:
    b = _current()
    task = b._by_thread.get(self) if b is not None else None
    if b is None or task is None:
        _real_thread_join(self, timeout)
    else:
        b._join(task, timeout)


def _thread_is_alive(self: threading.Thread) -> bool:
    b = _current()
    task = b._by_thread.get(self) if b is not None else None
    if b is None or task is None:
        return _real_thread_is_alive(self)
    b._point()
    return not task.done


def _event_is_set(self: threading.Event) -> bool:
    if (b := _current()) is not None:
        b._point()
    return _real_event_is_set(self)


def _time() -> float:
    b = _current()
    return _real_time() if b is None else (b._start_ns + b._elapsed_ns) / _NANO


def _time_ns() -> int:
    b = _current()
    return _real_time_ns() if b is None else b._start_ns + b._elapsed_ns


def _monotonic() -> float:
    b = _current()
    return _real_monotonic() if b is None else b._elapsed_ns / _NANO


def _monotonic_ns() -> int:
    b = _current()
    return _real_monotonic_ns() if b is None else b._elapsed_ns


class _VirtualTime:
    """The TimeSource under RealClock while a bubble is open; other threads keep the one of before."""

    def __init__(self, outside: clock.TimeSource) -> None:
        self._outside = outside

    def now(self) -> float:
        b = _current()
        return self._outside.now() if b is None else (b._start_ns + b._elapsed_ns) / _NANO

    def wait(self, cond: threading.Condition, timeout: float | None) -> bool:
        return cond.wait(timeout)

    def call_at(self, when: float, fn: Callable[[], None]) -> Callable[[], bool]:
        b = _current()
        if b is None:
            return self._outside.call_at(when, fn)
        return b.after_func(when - self.now(), fn, name="clock-timers").stop


def _sleep(seconds: float) -> None:
    b = _current()
    if b is None:
        _real_sleep(seconds)
    else:
        b._park(seconds, "sleep")


_REPLACEMENTS: list[tuple[object, str, object]] = [
    (threading, "Lock", Lock),
    (threading, "RLock", RLock),
    (threading, "Condition", Condition),
    (threading, "_time", _monotonic),
    (threading.Event, "is_set", _event_is_set),
    (threading.Thread, "__init__", _thread_init),
    (threading.Thread, "start", _thread_start),
    (threading.Thread, "join", _thread_join),
    (threading.Thread, "is_alive", _thread_is_alive),
    (time, "time", _time),
    (time, "time_ns", _time_ns),
    (time, "monotonic", _monotonic),
    (time, "monotonic_ns", _monotonic_ns),
    (time, "sleep", _sleep),
    (queue, "time", _monotonic),
    (queue, "SimpleQueue", queue._PySimpleQueue),  # type: ignore[attr-defined]  # the C one blocks for real
]
_originals: list[tuple[object, str, object]] = []


def _replace_threading() -> None:
    for owner, name, replacement in _REPLACEMENTS:
        _originals.append((owner, name, getattr(owner, name)))
        setattr(owner, name, replacement)
    outside = clock.set_time_source(_VirtualTime(clock._source))
    _originals.append((clock, "_source", outside))


def _restore_threading() -> None:
    while _originals:
        setattr(*_originals.pop())


# ----------------------------------------------------------------------------------------------------------- interface


def bubble(
    schedule: Schedule | RandomSchedule | Chooser | None = None,
    *,
    start: float = DEFAULT_START,
    preempt_in: Sequence[ModuleType] = (),
    max_steps: int = 2_000_000,
    hang_timeout: float = 30.0,
    log: Callable[[str], object] | None = None,
) -> Bubble:
    """Open a bubble: `with synctest.bubble() as b: ...`. The body is the bubble's first thread.

    schedule: who runs next; None lets each thread run until it blocks, then the one that has been ready longest.
    start: the virtual time of day at the beginning, in seconds since the Unix epoch.
    preempt_in: modules before each of whose lines the running thread may be preempted too (slow).
    max_steps: after so many operations the bubble gives up with LivelockError.
    hang_timeout: real seconds without a switch after which the running thread counts as stuck (HangError).
    log: called with a line for every switch, to read a failing schedule as a story: `log=print`.
    """
    return Bubble(schedule, start=start, preempt_in=preempt_in, max_steps=max_steps, hang_timeout=hang_timeout, log=log)


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


def current() -> Bubble | None:
    """The bubble the calling thread is in, if any."""
    return _current()


def wait() -> None:
    """`Bubble.wait` of the bubble the calling thread is in."""
    b = _current()
    if b is None:
        raise RuntimeError("synctest.wait called outside of a bubble")
    b.wait()
