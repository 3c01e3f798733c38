"""Replacements for `threading` and `time` while a bubble is open.

Threads of the bubble get cooperative locks and conditions and virtual time; all other threads get the real ones. Event,
Semaphore, Barrier and Timer of the standard library are built on these and need no replacement.
"""

from __future__ import annotations

import _thread
import contextlib
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from clientgo.golang import stop
from clientgo.golang.time import Time
from clientgo.testing.synctest.frames import Place, users_frame
from clientgo.testing.synctest.scheduler import NANO, Bubble, current
from clientgo.testing.synctest.task import Task
from clientgo.utils.clock import clock

# The originals of the standard library.
_RealLock = _thread.allocate_lock
_RealCondition = threading.Condition
_real_rlock = threading.RLock
_real_condition_init = _RealCondition.__init__
_real_condition_wait = _RealCondition.wait
_real_thread_start = threading.Thread.start
_real_thread_join = threading.Thread.join
_real_thread_is_alive = threading.Thread.is_alive
_real_event_is_set = threading.Event.is_set
_real_time, _real_time_ns = time.time, time.time_ns
_real_monotonic, _real_monotonic_ns = time.monotonic, time.monotonic_ns
_real_sleep = time.sleep


# Real seconds that an unwinding thread has to release a lock.
_LET_GO = 5.0


class _InBubbleOnly(type):
    """A metaclass: calling the class returns a cooperative object inside a bubble and an ordinary one elsewhere."""

    _real: Any

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if current() is None:
            return cls._real(*args, **kwargs)
        return super().__call__(*args, **kwargs)


class Lock(metaclass=_InBubbleOnly):
    """A `threading.Lock`. Outside its bubble, for example in a cached object, it is an ordinary lock."""

    _real: Any = staticmethod(threading.Lock)

    def __init__(self) -> None:
        # A real lock can hold the state, since a thread that finds it unlocked can always acquire it.
        self._state = _RealLock()
        self._owner: Task | None = None
        self._waiters: deque[Task] = deque()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        b = current()
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
                return True  # unwinding: the guarded state is about to be dropped
            if not blocking:
                return False
            me = b._running
            self._waiters.append(me)
            try:
                woken = b._park(None if deadline is None else deadline - b.elapsed, self)
            except BaseException:
                self._leave_line(b, me)
                raise
            # Not woken but no longer waiting: a release chose this thread when its timeout expired. Retry, so that the
            # turn is not lost.
            if not woken and me in self._waiters:
                self._waiters.remove(me)
                return False
        self._owner = b._running
        return True

    def _leave_line(self, b: Bubble, me: Task) -> None:
        """Stop waiting because of an error, and pass a turn that a release has already granted to the next waiter."""
        if me in self._waiters:
            self._waiters.remove(me)
        elif self._waiters and not self._state.locked():
            b._wake(self._waiters.popleft())

    def release(self) -> None:
        b = current()
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
        if (b := current()) is not None:
            b._point()
        return self._state.locked()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *exc: object) -> None:
        self.release()

    # Condition uses these. They are no preemption points, since a waiter must enqueue and unlock atomically.

    def _release_save(self) -> None:
        b = current()
        assert b is not None
        self._release(b)

    def _acquire_restore(self, state: None) -> None:
        b = current()
        if b is None:  # all threads are unwound at once, because the first one is stuck
            self._state.acquire(timeout=_LET_GO)
        else:
            self._acquire(b, True, None)

    def _is_owned(self) -> bool:
        return self._state.locked()

    def __repr__(self) -> str:
        owner = f"held by {self._owner.name!r}" if self._owner else "locked" if self._state.locked() else "unlocked"
        return f"<{type(self).__name__} {id(self):#x} {owner}, {len(self._waiters)} waiting>"


class RLock(Lock):
    """A `threading.RLock`."""

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
            if (b := current()) is not None and b._ending:
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
    """A `threading.Condition` that wakes waiters in FIFO order, without spurious wake-ups.

    Event, Semaphore and Barrier of the standard library are built on Condition and need no replacement.
    """

    _real = _RealCondition
    _lock: Any
    _waiters: deque[Task]
    _is_owned: Callable[[], bool]
    _release_save: Callable[[], Any]
    _acquire_restore: Callable[[Any], None]

    def wait(self, timeout: float | None = None) -> bool:
        b = current()
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
        b = current()
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


def _ordinary_condition_init(self: threading.Condition, lock: Any = None) -> None:
    """Record where an ordinary Condition was created inside a bubble, as after `from threading import Condition`."""
    _real_condition_init(self, lock)
    if type(self) is _RealCondition and current() is not None:
        frame = users_frame(sys._getframe(1))
        vars(self)["_made_at"] = frame and Place.of(frame)


def _ordinary_condition_wait(self: Any, timeout: float | None = None) -> bool:
    b = current()
    if b is None:
        return _real_condition_wait(self, timeout)
    return b._wait_for_ordinary(self, timeout, getattr(self, "_made_at", None))


def _thread_start(self: threading.Thread) -> None:
    b = current()
    if b is None:
        _real_thread_start(self)
        return
    b._spawn(self)
    b._point()


def _thread_join(self: threading.Thread, timeout: float | None = None) -> None:
    b = current()
    if b is None:
        _real_thread_join(self, timeout)
    elif (task := b._by_thread.get(self)) is not None:
        b._join(task, timeout)
    else:
        if self in b._ended:
            b._point()
        _real_thread_join(self, timeout)


def _thread_is_alive(self: threading.Thread) -> bool:
    b = current()
    task = b._by_thread.get(self) if b is not None else None
    if b is None or (task is None and self not in b._ended):
        return _real_thread_is_alive(self)
    b._point()
    return task is not None and not task.done


def _event_is_set(self: threading.Event) -> bool:
    if (b := current()) is not None:
        b._point()
    return _real_event_is_set(self)


def _time() -> float:
    b = current()
    return _real_time() if b is None else (b._start_ns + b._elapsed_ns) / NANO


def _time_ns() -> int:
    b = current()
    return _real_time_ns() if b is None else b._start_ns + b._elapsed_ns


def _monotonic() -> float:
    b = current()
    return _real_monotonic() if b is None else b._elapsed_ns / NANO


def _monotonic_ns() -> int:
    b = current()
    return _real_monotonic_ns() if b is None else b._elapsed_ns


class _VirtualTime:
    """The TimeSource of RealClock while a bubble is open; other threads keep the previous one."""

    def __init__(self, outside: clock.TimeSource) -> None:
        self._outside = outside

    def now(self) -> float:
        b = current()
        if b is None:
            return self._outside.now()
        wall = (b._start_ns + b._elapsed_ns) / NANO
        return Time.of(wall, b._elapsed_ns / NANO) if b._two_clocks else wall

    def wait(self, cond: threading.Condition, timeout: float | None) -> bool:
        return cond.wait(timeout)

    def call_at(self, when: float, fn: Callable[[], None]) -> Callable[[], bool]:
        b = current()
        if b is None:
            return self._outside.call_at(when, fn)
        return b.after_func(when - self.now(), fn, name="clock-timers").stop


def _sleep(seconds: float) -> None:
    b = current()
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
    (_RealCondition, "__init__", _ordinary_condition_init),
    (_RealCondition, "wait", _ordinary_condition_wait),
    (threading.Thread, "start", _thread_start),
    (threading.Thread, "join", _thread_join),
    (threading.Thread, "is_alive", _thread_is_alive),
    (time, "time", _time),
    (time, "time_ns", _time_ns),
    (time, "monotonic", _monotonic),
    (time, "monotonic_ns", _monotonic_ns),
    (time, "sleep", _sleep),
    # A thread that polls each second would hide a deadlock.
    (stop, "WATCHER_IDLE_SECONDS", None),
    (queue, "time", _monotonic),
    (queue, "SimpleQueue", queue._PySimpleQueue),  # type: ignore[attr-defined]  # the C one blocks for real
]
_originals: list[tuple[object, str, object]] = []


def replace() -> None:
    """Install all replacements. Called when a bubble opens."""
    for owner, name, replacement in _REPLACEMENTS:
        _originals.append((owner, name, getattr(owner, name)))
        setattr(owner, name, replacement)
    outside = clock.set_time_source(_VirtualTime(clock._source))
    _originals.append((clock, "_source", outside))


def restore() -> None:
    """Restore the originals. Called when the bubble closes."""
    while _originals:
        setattr(*_originals.pop())
