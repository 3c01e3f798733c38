"""Clocks to inject: the interfaces of k8s.io/utils/clock and the real clock. Mirrors utils/clock/clock.go.

A point in time is a float, seconds since the Unix epoch; a duration is a float in seconds; a channel of times is a
`Channel[float]`. The real clock's floats are `golang.time.Time`: as dates they follow the wall clock, whatever happens
to it, and among each other they are compared and subtracted by the monotonic clock, as what Go's time.Now gives.

Beyond Go there is `Clock.wait`, a Condition wait that a fake clock can end: loops built on a Condition use it instead
of a timer.

Deadlines added up in floats can miss the clock's own value by one unit in the last place. Treat what is left as nothing
when it is at most `RESOLUTION`, as the fake clock does.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import Protocol, runtime_checkable

from clientgo.golang.channel import Channel
from clientgo.golang.stop import call_in_thread
from clientgo.golang.time import Time
from clientgo.golang.time import now as time_now

__all__ = [
    "REAL_CLOCK",
    "RESOLUTION",
    "Clock",
    "PassiveClock",
    "RealClock",
    "SystemTime",
    "Ticker",
    "TimeSource",
    "Timer",
    "WithDelayedExecution",
    "WithTicker",
    "WithTickerAndDelayedExecution",
    "WithWatchdog",
    "set_time_source",
]

RESOLUTION = 1e-6
"""Seconds; differences up to this are rounding, not waiting time (a float of today's date resolves 0.24 µs)."""


class PassiveClock(Protocol):
    """A source of time. Go: clock.PassiveClock."""

    def now(self) -> float:
        """Return the seconds since the Unix epoch. Go: PassiveClock.Now."""
        ...

    def since(self, ts: float, /) -> float:
        """Return the seconds from `ts` until now. Go: PassiveClock.Since."""
        ...


class Timer(Protocol):
    """Fires once, after the duration it was made with or last reset to. Go: clock.Timer."""

    def c(self) -> Channel[float]:
        """Return the channel that receives the time when the timer fires; it has room for that value and is never
        closed.

        Go: Timer.C.
        """
        ...

    def stop(self) -> bool:
        """Keep the timer from firing; False when it has fired or was stopped already. Go: Timer.Stop."""
        ...

    def reset(self, d: float, /) -> bool:
        """Fire `d` seconds from now instead; True when the timer had been active. Go: Timer.Reset."""
        ...


class Ticker(Protocol):
    """Fires again and again. Go: clock.Ticker."""

    def c(self) -> Channel[float]:
        """Return the channel of the ticks. Its capacity is one; further ticks are dropped. Go: Ticker.C."""
        ...

    def stop(self) -> None:
        """End the ticks. The channel stays open. Go: Ticker.Stop."""
        ...


class Clock(PassiveClock, Protocol):
    """A source of time with timers. Go: clock.Clock."""

    def after(self, d: float, /) -> Channel[float]:
        """Return the channel of a new timer that cannot be stopped. Go: Clock.After."""
        ...

    def new_timer(self, d: float, /) -> Timer:
        """Return a timer that fires in `d` seconds; at once if `d` is not positive. Go: Clock.NewTimer."""
        ...

    def sleep(self, d: float, /) -> None:
        """Block for `d` seconds. Nothing can wake it: prefer `context.sleep`. Go: Clock.Sleep."""
        ...

    def tick(self, d: float, /) -> Channel[float] | None:
        """Return the channel of a new ticker that cannot be stopped; None when `d` is not positive. Go: Clock.Tick."""
        ...

    def wait(self, cond: threading.Condition, timeout: float | None = None, /) -> bool:
        """Wait on `cond`, which the caller holds, until notified or until this clock has advanced by `timeout` seconds.

        Returns False only when the time ran out. As with any Condition, check again what you waited for.
        """
        ...


@runtime_checkable
class WithTicker(Clock, Protocol):
    """A Clock that makes tickers. Go: clock.WithTicker."""

    def new_ticker(self, d: float, /) -> Ticker:
        """Return a ticker with period `d` seconds. Raises ValueError when `d` is not positive. Go:
        WithTicker.NewTicker.
        """
        ...


@runtime_checkable
class WithDelayedExecution(Clock, Protocol):
    """A Clock that runs functions later. Go: clock.WithDelayedExecution."""

    def after_func(self, d: float, f: Callable[[], None], /) -> Timer:
        """Run `f` in a thread of its own in `d` seconds, unless the returned timer is stopped before.

        Go: WithDelayedExecution.AfterFunc.
        """
        ...


@runtime_checkable
class WithTickerAndDelayedExecution(WithTicker, Protocol):
    """A Clock with tickers that also runs functions later. Go: clock.WithTickerAndDelayedExecution."""

    def after_func(self, d: float, f: Callable[[], None], /) -> Timer:
        """Call `f` after `d` seconds. Go: WithTickerAndDelayedExecution.AfterFunc."""
        ...


@runtime_checkable
class WithWatchdog(Protocol):
    """A clock that can call a function later without a timer that counts. Beyond Go: see `watchdog`."""

    def call_later(self, d: float, fn: Callable[[], None], /) -> Callable[[], bool]:
        """Call `fn` in `d` seconds, never in the calling thread of a real clock; `fn` must be quick and not raise.

        Returns a function that cancels the call: True if it prevented the call. Takes no lock of the caller.
        """
        ...


class TimeSource(Protocol):
    """The source of time for every RealClock. Replaces the time of the whole library.

    `set_time_source` exchanges it; a deterministic scheduler supplies virtual time this way.
    """

    def now(self) -> float:
        """Return the seconds since the Unix epoch, as a `Time` if the wall clock can be set. Locks may be held."""
        ...

    def wait(self, cond: threading.Condition, timeout: float | None, /) -> bool:
        """See `Clock.wait`."""
        ...

    def call_at(self, when: float, fn: Callable[[], None], /) -> Callable[[], bool]:
        """Run `fn`, which must be quick and not raise, once `now()` reaches `when`; never in the calling thread.

        Returns a function that cancels the call: True if it will not happen, False if it has or is happening.
        """
        ...


class _Call:
    """An entry of the timer heap; `fn` is None once it was run or cancelled."""

    __slots__ = ("fn", "order", "when")

    def __init__(self, when: float, order: int, fn: Callable[[], None]) -> None:
        self.when = when
        self.order = order
        self.fn: Callable[[], None] | None = fn

    def __lt__(self, other: _Call) -> bool:
        return (self.when, self.order) < (other.when, other.order)


class SystemTime:
    """The computer's time: the wall clock, with the monotonic clock for every length of time.

    All timers share one daemon thread, `thread_name`; it starts with the first timer and ends with the last.
    A subclass that overrides `now` and `wait` gets timers in its own time.

    Invariants (`_check`): `_live` counts the heap's entries that still have a function; while there is one, the thread
    runs; cancelled entries are at most half of a large heap.
    """

    def __init__(self, thread_name: str = "clock-timers") -> None:
        self._thread_name = thread_name
        # Guards everything below; notified when the thread has to look at the heap again.
        self._changed = threading.Condition(threading.Lock())
        self._heap: list[_Call] = []
        self._live = 0
        # Which of two calls at one time goes first. To take the next is one step: it needs no lock.
        self._order = count()
        self._thread: threading.Thread | None = None

    def now(self) -> float:
        """See `TimeSource.now`."""
        return time_now()

    def wait(self, cond: threading.Condition, timeout: float | None) -> bool:
        """See `Clock.wait`."""
        # Longer waits are an OverflowError, and a server may ask for any.
        return cond.wait(timeout if timeout is None else min(timeout, threading.TIMEOUT_MAX))

    def call_at(self, when: float, fn: Callable[[], None]) -> Callable[[], bool]:
        """See `TimeSource.call_at`."""
        call = _Call(when, next(self._order), fn)
        with self._changed:
            if (is_idle := self._thread is None):
                # First, so that a start that fails leaves no call; the thread waits for the lock.
                thread = threading.Thread(target=self._run, name=self._thread_name, daemon=True)
                thread.start()
                self._thread = thread
            heapq.heappush(self._heap, call)
            self._live += 1
            if not is_idle and self._heap[0] is call:
                self._changed.notify()
        return lambda: self._cancel(call)

    def _cancel(self, call: _Call) -> bool:
        with self._changed:
            if call.fn is None:
                return False
            call.fn = None
            self._live -= 1
            if self._live == 0:
                self._heap.clear()
                self._changed.notify()
            elif len(self._heap) > 64 and self._live < len(self._heap) // 2:
                self._heap = [kept for kept in self._heap if kept.fn is not None]
                heapq.heapify(self._heap)
            return True

    def _run(self) -> None:
        while (fn := self._next()) is not None:
            fn()

    def _next(self) -> Callable[[], None] | None:
        """Block until a call is due and take it; None, and the thread is over, when there is none left."""
        with self._changed:
            while self._live:
                call = self._heap[0]
                if call.fn is None:
                    heapq.heappop(self._heap)
                    continue
                remaining = call.when - self.now()
                if remaining > 0:
                    self.wait(self._changed, remaining)
                    continue
                heapq.heappop(self._heap)
                fn, call.fn = call.fn, None
                self._live -= 1
                return fn
            self._heap.clear()
            self._thread = None
            return None

    def __repr__(self) -> str:
        return f"<SystemTime {self._live} timers, thread {'running' if self._thread else 'not running'}>"

    def _check(self) -> None:
        with self._changed:
            assert self._live == sum(call.fn is not None for call in self._heap)
            assert self._live == 0 or self._thread is not None
            assert len(self._heap) <= 64 or 2 * self._live >= len(self._heap) - 1


_source: TimeSource = SystemTime()

# Checks of the watchdog have a thread of their own: the end of "clock-timers" shows that no timer was forgotten.
_watchdog = SystemTime("clock-watchdog")


def set_time_source(source: TimeSource) -> TimeSource:
    """Put `source` under every RealClock of the process and return the one it replaces.

    Timers made before keep running on the source they were made with. For schedulers and tests.
    """
    global _source
    previous, _source = _source, source
    return previous


class RealClock:
    """The real time. Go: clock.RealClock. Has no state of its own: all instances are equal.

    Every method goes to the current `TimeSource` and nowhere else.
    """

    __slots__ = ()

    def now(self) -> float:
        """Return the wall clock's time as a `golang.time.Time`: seconds since the Unix epoch. Go: RealClock.Now."""
        return time_now() if type(_source) is SystemTime else _source.now()  # the same, one call less

    def since(self, ts: float) -> float:
        """Return the seconds from `ts` until now. Go: RealClock.Since."""
        if type(ts) is Time and type(_source) is SystemTime:
            return time.monotonic() - ts.monotonic  # the same as below, for half the price
        return _source.now() - ts

    def after(self, d: float) -> Channel[float]:
        """See `Clock.after`. Go: RealClock.After."""
        return self.new_timer(d).c()

    def new_timer(self, d: float) -> Timer:
        """See `Clock.new_timer`. Go: RealClock.NewTimer."""
        return _RealTimer(d, None)

    def after_func(self, d: float, f: Callable[[], None]) -> Timer:
        """See `WithDelayedExecution.after_func`; the thread is a daemon named "clock-after-func".

        `sys.exit` in `f` is logged, since it does not end the program. If `f` raises, the thread's name says which
        function it was. Go: RealClock.AfterFunc.
        """
        return _RealTimer(d, f)

    def call_later(self, d: float, fn: Callable[[], None]) -> Callable[[], bool]:
        """See `WithWatchdog.call_later`; all calls share the thread "clock-watchdog", which ends with the last one."""
        source = _watchdog if type(_source) is SystemTime else _source
        return source.call_at(source.now() + d, fn)

    def tick(self, d: float) -> Channel[float] | None:
        """See `Clock.tick`. Go: RealClock.Tick."""
        return self.new_ticker(d).c() if d > 0 else None

    def new_ticker(self, d: float) -> Ticker:
        """See `WithTicker.new_ticker`. Go: RealClock.NewTicker."""
        return _RealTicker(d)

    def sleep(self, d: float) -> None:
        """See `Clock.sleep`. Go: RealClock.Sleep."""
        deadline = self.now() + d
        woken = threading.Condition()
        with woken:
            while (remaining := deadline - self.now()) > 0:
                self.wait(woken, remaining)

    def wait(self, cond: threading.Condition, timeout: float | None = None) -> bool:
        """See `Clock.wait`."""
        return _source.wait(cond, timeout)

    def __eq__(self, other: object) -> bool:
        return type(other) is RealClock

    def __hash__(self) -> int:
        return hash(RealClock)

    def __repr__(self) -> str:
        return "RealClock()"


REAL_CLOCK = RealClock()
"""The RealClock used where a caller passes no clock."""


class _RealTimer:
    """A timer that fills a channel, or starts a thread for a function.

    Once stopped or reset its channel never shows a value of the time before, as in Go since 1.23.
    """

    def __init__(self, d: float, f: Callable[[], None] | None) -> None:
        self._source = _source
        self._f = f
        self._c: Channel[float] = Channel(1)
        # Guards the rest. Firing is decided here and not by the source, which may just have begun to call.
        self._lock = threading.Lock()
        self._pending = False
        self._round = 0
        self._cancel: Callable[[], bool] = lambda: False
        self._start(d)

    def c(self) -> Channel[float]:
        return self._c

    def stop(self) -> bool:
        with self._lock:
            was_pending, self._pending = self._pending, False
            self._round += 1
            _, _, unread = self._c.try_receive()
            cancel = self._cancel
        cancel()
        return was_pending or unread

    def reset(self, d: float) -> bool:
        was_active = self.stop()
        self._start(d)
        return was_active

    def _start(self, d: float) -> None:
        with self._lock:
            self._pending = True
            started_round = self._round
            if d > 0:
                self._cancel = self._source.call_at(self._source.now() + d, lambda: self._fire(started_round))
        if d <= 0:
            self._fire(started_round)

    def _fire(self, started_round: int) -> None:
        with self._lock:
            if self._round != started_round:
                return
            self._pending = False
            if self._f is None:
                self._c.try_send(self._source.now())
                return
        call_in_thread(self._f, "clock-after-func")


class _RealTicker:
    def __init__(self, d: float) -> None:
        if d <= 0:
            raise ValueError("non-positive interval for NewTicker")
        self._source = _source
        self._period = d
        self._c: Channel[float] = Channel(1)
        # Guards _stopped and _cancel: a tick that is under way must not start the next one after stop.
        self._lock = threading.Lock()
        self._stopped = False
        self._next = self._source.now() + d
        with self._lock:
            self._cancel = self._source.call_at(self._next, self._fire)

    def c(self) -> Channel[float]:
        return self._c

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            cancel = self._cancel
        cancel()

    def _fire(self) -> None:
        now = self._source.now()
        with self._lock:
            if self._stopped:
                return
            self._c.try_send(now)
            missed = max(0, int((now - self._next) / self._period))
            self._next += (missed + 1) * self._period
            self._cancel = self._source.call_at(self._next, self._fire)
