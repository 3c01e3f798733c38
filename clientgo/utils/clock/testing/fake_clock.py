"""Clocks that stand still until a test moves them. Mirrors k8s.io/utils/clock/testing/fake_clock.go.

Differs from Go: functions of `after_func` and waiting Conditions are run and notified after the clock's lock was
released, so they may use the clock; and the clock counts in whole nanoseconds, so that ten steps of 0.1 make 1.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NoReturn

from clientgo.golang.channel import Channel
from clientgo.utils.clock.clock import RESOLUTION, Ticker, Timer

__all__ = ["FakeClock", "FakePassiveClock", "IntervalClock", "new_fake_clock", "new_fake_passive_clock"]

_NS = 1_000_000_000


def _to_ns(seconds: float) -> int:
    # Not seconds * _NS: a float of that size is exact to 256 ns only.
    whole = int(seconds)
    return whole * _NS + round((seconds - whole) * _NS)


class FakePassiveClock:
    """A source of the time that it was set to. Go: testing.FakePassiveClock. Thread-safe."""

    def __init__(self, t: float = 0.0) -> None:
        # Guards all state, also that of FakeClock.
        self._lock = threading.Lock()
        self._time_ns = _to_ns(t)

    def now(self) -> float:
        """Return the time last set, in seconds since the Unix epoch. Go: FakePassiveClock.Now."""
        return self._time_ns / _NS

    def since(self, ts: float) -> float:
        """Return the seconds from `ts` until the time last set. Go: FakePassiveClock.Since."""
        return (self._time_ns - _to_ns(ts)) / _NS

    def set_time(self, t: float) -> None:
        """Set the time, backwards too. Go: FakePassiveClock.SetTime."""
        with self._lock:
            self._time_ns = _to_ns(t)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.now()}>"


class _Waiter:
    """An action that runs when the clock passes `target_ns`.

    It sends a value to `channel` (dropped if the channel is full) and calls `after_func` if there is one, or it
    notifies `cond`. With an interval it repeats.
    """

    __slots__ = ("after_func", "channel", "cond", "expired", "interval_ns", "target_ns")

    def __init__(
        self,
        target_ns: int,
        *,
        interval_ns: int = 0,
        after_func: Callable[[], None] | None = None,
        cond: threading.Condition | None = None,
    ) -> None:
        self.target_ns = target_ns
        self.interval_ns = interval_ns
        self.after_func = after_func
        self.cond = cond
        self.channel: Channel[float] = Channel(1)
        self.expired = False

    def fire(self, now: float) -> None:
        """Fire the waiter. The clock's lock must not be held."""
        if self.cond is not None:
            with self.cond:
                self.expired = True
                self.cond.notify_all()
            return
        self.channel.try_send(now)
        if self.after_func is not None:
            self.after_func()


class FakeClock(FakePassiveClock):
    """A clock whose waiters wake when a test moves it. Go: testing.FakeClock. Thread-safe.

    Everything that is due happens in the thread that calls `step` or `set_time`, in the order it was registered, before
    that call returns.

    Invariant (`_check`): after a step every waiter lies in the future or was made with a duration that is not positive.
    """

    def __init__(self, t: float = 0.0) -> None:
        super().__init__(t)
        self._waiters: list[_Waiter] = []
        # Fire like waiters, after them, but do not count as waiters.
        self._checks: list[_Waiter] = []

    def after(self, d: float) -> Channel[float]:
        """See `Clock.after`. Go: FakeClock.After."""
        return self._add(d).channel

    def new_timer(self, d: float) -> Timer:
        """See `Clock.new_timer`. A duration that is not positive fires at the next step, also one of 0.

        Go: FakeClock.NewTimer.
        """
        return _FakeTimer(self, self._add(d))

    def after_func(self, d: float, f: Callable[[], None]) -> Timer:
        """See `WithDelayedExecution.after_func`; `f` runs in the thread that moves the clock.

        Go: FakeClock.AfterFunc.
        """
        return _FakeTimer(self, self._add(d, after_func=f))

    def call_later(self, d: float, fn: Callable[[], None]) -> Callable[[], bool]:
        """See `WithWatchdog.call_later`; `fn` runs in the thread that moves the clock, and is no waiter."""
        with self._lock:
            check = _Waiter(self._time_ns + _to_ns(d), after_func=fn)
            self._checks.append(check)
        return lambda: self._cancel_check(check)

    def _cancel_check(self, check: _Waiter) -> bool:
        with self._lock:
            if check not in self._checks:
                return False
            self._checks.remove(check)
            return True

    def tick(self, d: float) -> Channel[float] | None:
        """See `Clock.tick`. Go: FakeClock.Tick."""
        return self._add(d, interval_ns=_to_ns(d)).channel if d > 0 else None

    def new_ticker(self, d: float) -> Ticker:
        """See `WithTicker.new_ticker`. Stopping it does nothing and it goes on counting as a waiter, as in Go.

        Go: FakeClock.NewTicker.
        """
        return _FakeTicker(self._add(d, interval_ns=_to_ns(d)).channel)

    def step(self, d: float) -> None:
        """Move the clock by `d` seconds in one jump and wake everything that is due. Go: FakeClock.Step."""
        with self._lock:
            now, due = self._advance(self._time_ns + _to_ns(d))
        for waiter in due:
            waiter.fire(now)

    def set_time(self, t: float) -> None:
        """Move the clock to `t` in one jump and wake everything that is due. Go: FakeClock.SetTime."""
        with self._lock:
            now, due = self._advance(_to_ns(t))
        for waiter in due:
            waiter.fire(now)

    def has_waiters(self) -> bool:
        """Report whether a timer, a ticker or a `wait` with a timeout is pending. Tests wait for this before a step.

        Go: FakeClock.HasWaiters.
        """
        return self.waiters() > 0

    def waiters(self) -> int:
        """Return the number of pending timers, tickers and waits with a timeout. Go: FakeClock.Waiters."""
        with self._lock:
            return len(self._waiters)

    def sleep(self, d: float) -> None:
        """Advance the clock instead of waiting. Go: FakeClock.Sleep."""
        self.step(d)

    def wait(self, cond: threading.Condition, timeout: float | None = None) -> bool:
        """Wait until `notify` or a step of this clock; see `Clock.wait`. Timeouts up to RESOLUTION expire at once.

        An expired timeout also wakes the other threads that wait on `cond`; for them it returns True. The thread that
        steps the clock must not hold `cond`, unless its lock is re-entrant.
        """
        if timeout is None:
            return cond.wait()
        if timeout <= RESOLUTION:
            return False
        waiter = self._add(timeout, cond=cond)
        try:
            cond.wait()
        finally:
            self._remove(waiter)
        return not waiter.expired

    def _add(
        self,
        d: float,
        *,
        interval_ns: int = 0,
        after_func: Callable[[], None] | None = None,
        cond: threading.Condition | None = None,
    ) -> _Waiter:
        with self._lock:
            target_ns = self._time_ns + _to_ns(d)
            waiter = _Waiter(target_ns, interval_ns=interval_ns, after_func=after_func, cond=cond)
            self._waiters.append(waiter)
            return waiter

    def _remove(self, waiter: _Waiter) -> bool:
        with self._lock:
            if waiter not in self._waiters:
                return False
            self._waiters.remove(waiter)
            return True

    def _reset(self, waiter: _Waiter, d: float) -> bool:
        with self._lock:
            waiter.target_ns = self._time_ns + _to_ns(d)
            if waiter in self._waiters:
                return True
            self._waiters.append(waiter)
            return False

    def _advance(self, time_ns: int) -> tuple[float, list[_Waiter]]:
        """Set the time and take out what is due. The lock is held."""
        self._time_ns = time_ns
        due = [waiter for waiter in self._waiters if waiter.target_ns <= time_ns]
        if due:
            self._waiters = [waiter for waiter in self._waiters if waiter.target_ns > time_ns or waiter.interval_ns]
        for waiter in due:
            if waiter.interval_ns:
                missed = (time_ns - waiter.target_ns) // waiter.interval_ns
                waiter.target_ns += (missed + 1) * waiter.interval_ns
        due += [check for check in self._checks if check.target_ns <= time_ns]
        self._checks = [check for check in self._checks if check.target_ns > time_ns]
        return self.now(), due

    def __repr__(self) -> str:
        return f"<FakeClock {self.now()}, {len(self._waiters)} waiters>"

    def _check(self) -> None:
        with self._lock:
            assert all(w.target_ns > self._time_ns for w in self._waiters if w.interval_ns)


def new_fake_passive_clock(t: float = 0.0) -> FakePassiveClock:
    """Return a passive clock that stands at a time. Go: testing.NewFakePassiveClock."""
    return FakePassiveClock(t)


def new_fake_clock(t: float = 0.0) -> FakeClock:
    """Return a clock that stands at a time. Go: testing.NewFakeClock."""
    return FakeClock(t)


class IntervalClock:
    """Moves on by `duration` whenever it is asked for the time (Go: testing.IntervalClock, deprecated).

    Use SimpleIntervalClock instead: everything here but `now` and `since` raises NotImplementedError.
    """

    def __init__(self, time: float = 0.0, duration: float = 0.0) -> None:
        self.time = time
        self.duration = duration

    def now(self) -> float:
        """Advance by `duration` and return the new time. Go: IntervalClock.Now."""
        self.time += self.duration
        return self.time

    def since(self, ts: float) -> float:
        """Return the seconds from `ts` until the last time returned. Go: IntervalClock.Since."""
        return self.time - ts

    def after(self, d: float) -> Channel[float]:
        """Raise an error: not supported. Go: IntervalClock.After."""
        self._refuse("After")

    def new_timer(self, d: float) -> Timer:
        """Raise an error: not supported. Go: IntervalClock.NewTimer."""
        self._refuse("NewTimer")

    def after_func(self, d: float, f: Callable[[], None]) -> Timer:
        """Raise an error: not supported. Go: IntervalClock.AfterFunc."""
        self._refuse("AfterFunc")

    def tick(self, d: float) -> Channel[float] | None:
        """Raise an error: not supported. Go: IntervalClock.Tick."""
        self._refuse("Tick")

    def new_ticker(self, d: float) -> Ticker:
        """Raise an error: not supported. Go: IntervalClock.NewTicker."""
        self._refuse("NewTicker")

    def sleep(self, d: float) -> None:
        """Raise an error: not supported. Go: IntervalClock.Sleep."""
        self._refuse("Sleep")

    def wait(self, cond: threading.Condition, timeout: float | None = None) -> bool:
        """Raise an error: not supported."""
        self._refuse("Wait")

    def _refuse(self, method: str) -> NoReturn:
        raise NotImplementedError(f"IntervalClock doesn't implement {method}")


class _FakeTimer:
    def __init__(self, clock: FakeClock, waiter: _Waiter) -> None:
        self._clock = clock
        self._waiter = waiter

    def c(self) -> Channel[float]:
        return self._waiter.channel

    def stop(self) -> bool:
        return self._clock._remove(self._waiter)

    def reset(self, d: float) -> bool:
        return self._clock._reset(self._waiter, d)


class _FakeTicker:
    def __init__(self, channel: Channel[float]) -> None:
        self._channel = channel

    def c(self) -> Channel[float]:
        return self._channel

    def stop(self) -> None:
        """Do nothing, as in Go."""
