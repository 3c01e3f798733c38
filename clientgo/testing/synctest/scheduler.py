"""The scheduler of a bubble: the running thread, the waiting threads, and virtual time."""

from __future__ import annotations

import _thread
import itertools
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from types import FrameType, ModuleType, TracebackType
from typing import Any

from clientgo.golang.stop import WATCHER_NAME
from clientgo.testing.synctest import foreign, frames
from clientgo.testing.synctest.errors import (
    BubbleExit,
    DeadlockError,
    HangError,
    LeakError,
    LivelockError,
    ThreadError,
)
from clientgo.testing.synctest.schedule import Chooser, RandomSchedule, Schedule
from clientgo.testing.synctest.task import Task, Timer
from clientgo.testing.synctest.timeouts import Timeouts

# 2000-01-01T00:00:00Z, where Go's bubbles start too.
DEFAULT_START = 946_684_800.0
NANO, _MICRO = 1_000_000_000, 1_000

# Real seconds between two checks of a thread that does not switch; the second value is for threads that rarely check.
_LOOK_EVERY, _STAND_BY = 0.5, 5.0
# Real seconds that a thread may wait for an ordinary lock or condition, which an outside thread may release.
_PATIENCE = 5.0
# Real seconds, at the end of a bubble, for one thread to unwind, for one to end, and for all of them together.
_UNWINDS, _ENDS, _ALL_END = 5.0, 1.0, 5.0
# With fewer threads, dropping those that ended is not worthwhile.
_FEW = 64

# The originals of the standard library.
_real_thread_start = threading.Thread.start
_real_thread_join = threading.Thread.join
_real_event_is_set = threading.Event.is_set
_real_condition_wait = threading.Condition.wait
_real_monotonic = time.monotonic

_active: Bubble | None = None


def current() -> Bubble | None:
    """Return the bubble of the calling thread, or None."""
    b = _active
    if b is not None and b._running.ident == _thread.get_ident():
        return b
    return None


class Bubble:
    """The scheduler of one bubble, made by `bubble()`; the thread that enters it is its first thread.

    Invariants (only the running thread accesses the state, so there is no lock):
    * every thread is exactly one of: running, in `_ready`, parked, done
    * a parked thread has a pending timeout, or another thread will wake it, or it is part of a deadlock
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
        two_clocks: bool = False,
    ) -> None:
        """See `bubble`."""
        self._two_clocks = two_clocks
        if isinstance(schedule, Schedule | RandomSchedule):
            self._chooser: Chooser | None = schedule.chooser()
        else:
            self._chooser = schedule
        self._start_ns = round(start * NANO)
        self._elapsed_ns = 0
        self._traced_files = frozenset(m.__file__ for m in preempt_in)
        self._max_steps = max_steps
        self._hang_timeout = hang_timeout
        self._log = log

        self._main = self._running = Task(threading.current_thread())
        self._tasks = [self._main]
        self._by_thread = {self._main.thread: self._main}
        self._ended: weakref.WeakSet[threading.Thread] = weakref.WeakSet()  # the number of threads that were dropped
        self._forget_at = _FEW  # the number of tasks at which to drop those that ended
        self._ready: deque[Task] = deque()
        self._idle: list[Task] = []  # threads in wait(): ready as soon as no other thread can run
        self._timeouts = Timeouts()
        self._steps = 0
        self._switches = 0
        self._last_look: tuple[object, ...] = ()
        self._looked_at = self._stalled = 0.0  # its real time, and how long the running thread had not advanced by then
        self._ending = False
        self._stuck: Task | None = None  # the thread that ran when the first one continued out of turn
        self._interruption: BaseException | None = None  # the reason for that
        self._decisions = 0
        self._picks: dict[int, int] = {}  # the decisions that deviate from the default
        self._outermost: FrameType | None = None
        self.failures: list[tuple[threading.Thread, BaseException]] = []

    # ---- for the test

    @property
    def elapsed(self) -> float:
        """Virtual seconds since the bubble was opened."""
        return self._elapsed_ns / NANO

    def move_wall_clock(self, seconds: float) -> None:
        """Change the time of day, as an administrator does. It does not affect the end of any wait.

        Raises RuntimeError in a bubble without two clocks.
        """
        if not self._two_clocks:
            raise RuntimeError("this bubble has one clock alone: open it with two_clocks")
        self._start_ns += round(seconds * NANO)

    @property
    def trace(self) -> Schedule:
        """The choices so far; running the same body with this schedule repeats them exactly."""
        return Schedule(self._picks)

    def wait(self) -> None:
        """Wait until every other thread is blocked (or has ended) and none has a timeout due at the current time.

        Raises ThreadError if an exception has ended a thread of the bubble.
        """
        self._idle.append(self._running)
        self._park(None, "synctest.wait")
        self.raise_failures()

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass while the other threads run, then `wait()`."""
        self._park(seconds, "sleep")
        self.wait()

    advance = sleep

    @property
    def runnable(self) -> tuple[threading.Thread, ...]:
        """The threads that can run: the running one, then the others, longest ready first."""
        return (self._running.thread, *(task.thread for task in self._ready))

    def switch_to(self, thread: threading.Thread) -> bool:
        """Run `thread` now; the calling thread stays ready, behind all others. Returns False if `thread` cannot run.

        For tests that choose the next thread themselves instead of using a Chooser.
        """
        task = self._by_thread.get(thread)
        if task is None or task not in self._ready or self._ending:
            return False
        self._ready.remove(task)
        self._ready.append(self._running)
        self._switch_to(task)
        return True

    def raise_failures(self) -> None:
        """Raise ThreadError if an exception has ended a thread. A test that expects one empties `failures` first."""
        if self.failures:
            thread, error = self.failures[0]
            raise ThreadError(f"thread {thread.name!r} ended with {type(error).__name__}: {error}") from error

    def after_func(self, seconds: float, fn: Callable[[], object], name: str = "after-func") -> Timer:
        """Run `fn` in a new thread after `seconds` of virtual time. A pending timer does not count as a leak."""
        timer = Timer(fn, name)
        self._add_timeout(seconds, timer, 0)
        return timer

    def stacks(self) -> str:
        """Return a description of every living thread, with its stack and the reason why it waits."""
        alive = (task for task in self._tasks if not task.done)
        return "\n".join([f"at virtual time +{self.elapsed:.9g}s:", *frames.describe(alive, self._outermost)])

    def __repr__(self) -> str:
        alive = sum(not task.done for task in self._tasks)
        return f"<Bubble +{self.elapsed:.9g}s, {alive} threads alive, {len(self._ready)} ready, {self._steps} steps>"

    # ---- opening and closing

    def __enter__(self) -> Bubble:
        global _active
        # Imported here, since the replacements for `threading` import this module.
        from clientgo.testing.synctest import primitives

        if _active is not None:
            raise RuntimeError("a synctest bubble is open already; bubbles cannot be nested")
        self._outermost = sys._getframe(1)
        _active = self
        primitives.replace()
        if self._traced_files:
            self._outer_trace = sys.gettrace()
            sys.settrace(self._trace_calls)
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        global _active
        from clientgo.testing.synctest import primitives

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
            primitives.restore()
            _active = None
            self._outermost = None
            if exc is not None:
                self._annotate(exc)

    def _check_end(self) -> None:
        self.wait()
        if any(not task.done for task in self._tasks if task is not self._main and task.thread.name != WATCHER_NAME):
            raise LeakError(f"threads are still alive at the end of the bubble,\n{self.stacks()}")

    def _annotate(self, exc: BaseException) -> None:
        for thread, error in self.failures:
            if error is not exc.__cause__:
                exc.add_note(f"synctest: thread {thread.name!r} had ended with {type(error).__name__}: {error}")
        if self._picks:
            exc.add_note(f"synctest: replay with schedule={self.trace}")

    def _end_threads(self) -> None:
        """Unwind the remaining threads one by one, by raising BubbleExit where they are blocked."""
        self._ending = True
        for task in self._tasks:
            if task.done or task in (self._main, self._stuck) or task.error is not None:
                continue
            task.error = BubbleExit()
            self._running = task
            task.gate.release()
            # A thread that catches BubbleExit, or blocks for real, is left behind (it is a daemon).
            if not self._main.gate.acquire(timeout=_UNWINDS):
                break
        self._running = self._main
        give_up = _real_monotonic() + _ALL_END
        for thread in [*self._ended, *self._by_thread]:
            if thread is not self._main.thread:
                # The others may have released the object that the stuck thread waits for.
                _real_thread_join(thread, min(_ENDS, max(0.0, give_up - _real_monotonic())))

    # ---- switching

    def _point(self) -> None:
        """Allow a preemption of the running thread."""
        if self._ending:
            if self._main.ident == _thread.get_ident():
                self._raise_error_of(self._main)  # it was stuck, and the others have released it
            return
        self._count_step()
        if not self._ready:
            return
        # Near the limit the threads take turns: one that only polls for another's work is no livelock.
        pick = int(self._steps % self._max_steps > self._max_steps * 3 // 4)
        if self._chooser is not None and not pick:
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
        """Block the running thread until `_wake`. Returns False if `timeout` seconds pass first."""
        if self._ending:
            self._raise_instead_of_blocking()
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

    def _wake(self, task: Task) -> None:
        """Make a parked thread ready."""
        if task.parked:
            task.parked = False
            task.woken = True
            self._ready.append(task)

    def _switch_to(self, task: Task) -> None:
        """Let `task` run, and return when it is this thread's turn again."""
        me = self._running
        if task is not me:
            if self._log is not None:
                left = frames.place_in_program(sys._getframe(1))
                self._log(f"+{self.elapsed:.9g}s {me.name} -> {task.name}   left at {left}")
            self._switches += 1
            self._running = task
            task.gate.release()
            try:
                self._wait_for_turn(me)
            except BaseException as err:
                self._continue_out_of_turn(me, err)
                raise
        self._raise_error_of(me)

    def _raise_error_of(self, task: Task) -> None:
        if task.error is not None:
            error, task.error = task.error, None
            raise error

    # ---- detection of threads that do not switch

    def _wait_for_turn(self, me: Task) -> None:
        """Wait for this thread's turn. The longest-waiting thread checks the running one meanwhile.

        That is the first thread, or another one while the first runs. To limit the cost of hundreds of waiting threads,
        those that are unlikely to check wake rarely.
        """
        interval = _LOOK_EVERY
        while not me.gate.acquire(timeout=min(interval, self._hang_timeout)):
            interval = _LOOK_EVERY if self._may_watch(me) else _STAND_BY
            if me is self._watcher() and not self._ending:
                hang = self._look()
                if hang is not None:
                    self._give_up(me, hang)
                    return

    def _continue_out_of_turn(self, me: Task, error: BaseException) -> None:
        """Let the first thread continue out of turn, after a hang or an exception in a signal handler.

        Its cleanup, such as joining threads, must not wait for actions that other threads will not take any more.
        """
        if self._running is not me:
            self._stuck, self._interruption = self._running, error
            self._running, self._ending = me, True

    def _may_watch(self, me: Task) -> bool:
        """Report whether this thread is one of the two oldest ones."""
        return me in itertools.islice((task for task in self._tasks if not task.done), 2)

    def _watcher(self) -> Task | None:  # None while the last other thread ends and passes its turn to this one
        return next((task for task in self._tasks if not task.done and task is not self._running), None)

    def _look(self) -> HangError | None:
        """Return the error of a running thread that has not advanced for too long, or None."""
        running = self._running
        frame = frames.users_frame(frames.all_innermost().get(running.ident or 0))
        seen = (self._switches, self._steps, id(frame), frame and frame.f_lasti)
        late, self._looked_at = _real_monotonic() - self._looked_at, _real_monotonic()
        if self._last_look[:2] != seen[:2]:
            self._last_look, self._stalled = seen, 0.0
            return None
        # If a check is late, perhaps no thread ran: the process was stopped, or the machine is busy.
        self._stalled = stalled = self._stalled + min(late, 2 * _LOOK_EVERY)
        if frame is not None and seen == self._last_look and stalled >= min(_PATIENCE, self._hang_timeout / 2):
            blocked = foreign.blocks_on(frame)
            if blocked is not None:
                return self._hang(running, blocked)
        self._last_look = seen
        if stalled < self._hang_timeout:
            return None
        return HangError(
            f"thread {running.name!r} has not come back for {self._hang_timeout:g}s of real time: "
            f"it computes, or blocks on something made outside the bubble,\n{self.stacks()}"
        )

    def _hang(self, task: Task, blocked: foreign.Foreign) -> HangError:
        return HangError(
            f"thread {task.name!r} blocks on something that no thread of the bubble can give it:\n{blocked}\n"
            f"{self.stacks()}"
        )

    def _give_up(self, watcher: Task, hang: HangError) -> None:
        """Raise `hang` in the main thread. If that is the stuck one, unwind the others first."""
        if watcher is self._main:
            raise hang
        self._main.error = hang
        self._ending = True
        for task in self._tasks:
            if not task.done and task is not self._main:
                task.error = BubbleExit()
                if task is not watcher:
                    task.gate.release()

    def _wait_for_ordinary(self, condition: threading.Condition, timeout: float | None, made_at: Any) -> bool:
        """Wait on an ordinary Condition, which an outside thread may notify."""
        patience = 0.0 if made_at is not None else min(_PATIENCE, self._hang_timeout / 2)
        if timeout is not None and timeout <= patience:
            return _real_condition_wait(condition, timeout)
        if patience and _real_condition_wait(condition, patience):
            return True
        if self._ending:
            raise BubbleExit
        frame = frames.users_frame(sys._getframe(1))
        self._abort(self._hang(self._running, foreign.ordinary_condition(frame, made_at)))
        self._park(None, condition)
        return False

    def _next(self) -> Task:
        """Choose the next thread, since the running one cannot continue. Only this advances virtual time."""
        if self._ending:
            return self._main
        while True:
            if self._ready:
                count = len(self._ready)
                pick = self._choose(count, forced=True) if count > 1 and self._chooser is not None else 0
                task = self._ready[pick]
                del self._ready[pick]
                return task
            if self._wake_expired():
                continue
            if self._idle:
                for task in self._idle:
                    self._wake(task)
                self._idle.clear()
                continue
            if (earliest := self._timeouts.earliest()) is not None:
                self._elapsed_ns = earliest
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
        self._idle = [task for task in self._idle if task is not main]
        if main.parked:
            self._wake(main)
        self._ready.remove(main)
        self._ready.appendleft(main)

    def _count_step(self) -> None:
        self._steps += 1
        if self._steps % self._max_steps == 0:
            self._abort(LivelockError(f"no end after {self._max_steps} operations,\n{self.stacks()}"))

    def _raise_instead_of_blocking(self) -> None:
        """Raise an error, since no thread may block in a bubble that ends."""
        task = self._running
        self._raise_error_of(task)
        if task is self._main and self._interruption is not None:
            raise self._interruption
        task.parks += 1
        if task.parks > 100_000:  # it catches the exception and tries again: block it here
            self._main.gate.release()
            task.gate.acquire()
        raise BubbleExit

    # ---- virtual time

    def _add_timeout(self, seconds: float, waiter: Task | Timer, parks: int) -> None:
        # Whole microseconds, the resolution of floats for today's date. A smaller positive rest is the rounding error
        # of a deadline; it must advance the time a little, or a loop that waits for the rest would never end.
        delay = round(seconds * 1e6) * _MICRO
        if delay <= 0:
            delay = _MICRO // 4 if seconds > 0 else 0
        self._timeouts.add(self._elapsed_ns + delay, waiter, parks)

    def _wake_expired(self) -> bool:
        """Make all threads ready whose timeout has expired."""
        fired = False
        while (due := self._timeouts.pop_before(self._elapsed_ns + _MICRO)) is not None:
            when, waiter = due
            fired = True
            self._elapsed_ns = max(self._elapsed_ns, when)
            if isinstance(waiter, Timer):
                waiter.pending = False
                self._spawn(threading.Thread(target=waiter.fn, name=waiter.name, daemon=True))
            else:
                waiter.parked = False
                self._ready.append(waiter)
        return fired

    # ---- threads

    def _spawn(self, thread: threading.Thread) -> None:
        """Start the real thread, which waits for its turn first."""
        if self._ending:
            raise BubbleExit
        if _real_event_is_set(thread._started):  # type: ignore[attr-defined]
            raise RuntimeError("threads can only be started once")
        # The interpreter's own handshake with the new thread happens outside of the schedule.
        thread._started = foreign.handshake()  # type: ignore[attr-defined]
        task = Task(thread)
        run = thread.run
        thread.run = lambda: self._run_thread(task, run)  # type: ignore[method-assign]
        # A thread that is left behind must not keep the interpreter from exiting.
        thread._daemonic = True  # type: ignore[attr-defined]
        try:
            _real_thread_start(thread)
            task.ident = thread.ident
            if len(self._tasks) >= self._forget_at:
                self._forget_ended()
            self._tasks.append(task)
        except BaseException:  # an interrupt: `_end_threads` does not know the thread
            if task not in self._tasks:
                task.error = BubbleExit()
                task.gate.release()
            raise
        self._by_thread[thread] = task
        self._ready.append(task)

    def _forget_ended(self) -> None:
        """Release the memory of ended threads: a long bubble has thousands, which the garbage collector would traverse.
        """
        kept = []
        for task in self._tasks:
            if task.done:
                del self._by_thread[task.thread]
                self._ended.add(task.thread)
            else:
                kept.append(task)
        self._tasks = kept  # a new list, since another thread may be reading the old one
        self._forget_at = 2 * len(kept) + _FEW
        self._timeouts.forget()

    def _run_thread(self, task: Task, run: Callable[[], None]) -> None:
        task.gate.acquire()
        try:
            if task.error is not None:
                raise task.error
            if self._traced_files:
                sys.settrace(self._trace_calls)
            run()
        except (BubbleExit, SystemExit):
            pass
        except BaseException as err:
            if not self._ending:
                self.failures.append((task.thread, err))
        finally:
            if self._traced_files:
                sys.settrace(None)
            del task.thread.run  # break the reference cycle
            self._finish(task)

    def _finish(self, task: Task) -> None:
        task.done = True
        if task is not self._running:  # it was stuck outside, or unwound while the main thread was
            return
        for joiner in (joiner for joiner, parks in task.joiners if joiner.parks == parks):
            self._wake(joiner)
        successor = self._next()
        if self._log is not None:
            self._log(f"+{self.elapsed:.9g}s {task.name} ends -> {successor.name}")
        self._switches += 1
        self._running = successor
        successor.gate.release()

    def _join(self, task: Task, timeout: float | None) -> None:
        if task is self._running:
            raise RuntimeError("cannot join current thread")
        self._point()
        if not task.done:
            # Includes the parking's number: an error may end it, and the thread may be in another one when `task` ends.
            task.joiners.append((self._running, self._running.parks + 1))
            if not self._park(timeout, f"thread {task.name!r} to end"):
                return
        _real_thread_join(task.thread)  # only the interpreter's own clean-up remains

    # ---- looking at threads

    def _trace_calls(self, frame: FrameType, event: str, arg: object) -> Any:
        return self._trace_lines if frame.f_code.co_filename in self._traced_files else None

    def _trace_lines(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "line" and self._running.ident == _thread.get_ident():
            self._point()
        return self._trace_lines
