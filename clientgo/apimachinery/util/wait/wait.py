"""Groups of threads, jitter and conditions. Mirrors apimachinery/pkg/util/wait/wait.go.

Difference: a condition returns a bool and raises its error. Errors and crashes can therefore not be distinguished: a
condition that raises ends the loop, and its caller gets the exception. Go would recover a panic and continue.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any, cast

from clientgo.apimachinery.util import runtime
from clientgo.context import Canceled, Context
from clientgo.golang import channel
from clientgo.golang.channel import Done, Signal, StopChannel
from clientgo.klog.answers import is_true

__all__ = [
    "FOREVER_TEST_TIMEOUT",
    "NEVER_STOP",
    "ConditionFunc",
    "ConditionWithContextFunc",
    "Group",
    "context_for_channel",
    "forever",
    "jitter",
]

FOREVER_TEST_TIMEOUT = 30.0
"""Seconds that tests wait for an event that should happen at once."""

NEVER_STOP: StopChannel = Signal()
"""A stop channel that is never set."""


class Group:
    """A group of threads that are awaited together. Thread-safe. Go: wait.Group.

    The threads are daemons. An exception of a function is logged and ends only its own thread.

    Invariant: `_threads` contains exactly the threads that were started and not yet joined.
    """

    def __init__(self) -> None:
        # Guards _threads. Never held while joining.
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def wait(self) -> None:
        """Wait until every thread has ended, including those started meanwhile. Must not be called by one of them.

        Go: Group.Wait.
        """
        while True:
            with self._lock:
                if not self._threads:
                    return
                thread = self._threads[0]
            thread.join()
            with self._lock:
                if thread in self._threads:
                    self._threads.remove(thread)

    def start_with_channel(self, stop_ch: StopChannel, f: Callable[[StopChannel], object]) -> None:
        """Start `f(stop_ch)` in a new thread. Go: Group.StartWithChannel."""
        self._start(lambda: f(stop_ch), _name_of(f))

    def start_with_context(self, ctx: Context, f: Callable[[Context], object]) -> None:
        """Start `f(ctx)` in a new thread. Go: Group.StartWithContext."""
        self._start(lambda: f(ctx), _name_of(f))

    def start(self, f: Callable[[], object], name: str | None = None) -> None:
        """Start `f` in a new thread, named after the function unless `name` is given. Go: Group.Start."""
        self._start(f, name or _name_of(f))

    def _start(self, f: Callable[[], object], name: str) -> None:
        def run() -> None:
            with runtime.handle_crash(go_on=True):
                f()

        thread = threading.Thread(target=run, name=name, daemon=True)
        with self._lock:
            self._threads = [started for started in self._threads if started.is_alive()]
            # Started under the lock: a thread in the list that does not run yet would look like one that has ended.
            thread.start()
            self._threads.append(thread)

    def __repr__(self) -> str:
        return f"<Group {[thread.name for thread in self._threads]}>"


def _name_of(f: Callable[..., object]) -> str:
    return getattr(f, "__qualname__", None) or type(f).__qualname__


def forever(f: Callable[[], object], period: float) -> None:
    """Call `f` every `period` seconds and never return. Prefer `until`, which can be stopped. Go: wait.Forever."""
    from clientgo.apimachinery.util.wait.backoff import until  # backoff.py imports this module

    until(f, period, NEVER_STOP)


def jitter(duration: float, max_factor: float) -> float:
    """Return `duration` plus a random part of up to `max_factor` times it; a factor that is not positive means 1.

    Go: wait.Jitter.
    """
    if max_factor <= 0.0:
        max_factor = 1.0
    return duration + random.random() * max_factor * duration


class ConditionFunc:
    """A function that reports whether the condition is met. Go: wait.ConditionFunc.

    Functions that expect one accept a plain function too; this class only adds `with_context`.
    """

    __slots__ = ("_fn",)

    def __init__(self, fn: Callable[[], bool]) -> None:
        self._fn = fn

    def __call__(self) -> bool:
        return is_true(self._fn)

    def with_context(self) -> ConditionWithContextFunc:
        """Return a condition that receives a context and ignores it. Go: ConditionFunc.WithContext."""
        fn = self._fn
        return lambda _ctx: is_true(fn)


ConditionWithContextFunc = Callable[[Context], bool]
"""A condition that receives the context of its loop. Go: wait.ConditionWithContextFunc."""


def context_for_channel(parent_ch: StopChannel) -> Context:
    """Return a context that is cancelled when `parent_ch` is set, for functions that need a context.

    It needs a thread only for a StopChannel without callbacks, such as a threading.Event, once another context is
    derived from it: see `channel.add_done_callback`. Raises TypeError for other types, such as a context, since the
    threads that use the result could not report it. Go: wait.ContextForChannel.
    """
    if not callable(getattr(parent_ch, "is_set", None)):
        raise TypeError(f"expected a stop channel, as a threading.Event or ctx.done(), got {parent_ch!r}")
    return _ChannelContext(parent_ch)


class _ChannelContext(Context):
    def __init__(self, stop_ch: StopChannel) -> None:
        self._done = cast(Done, stop_ch) if hasattr(stop_ch, "add_done_callback") else _EventDone(stop_ch)

    def done(self) -> Done:
        return self._done

    def err(self) -> Canceled | None:
        return Canceled() if self._done.is_set() else None

    def value(self, key: object) -> Any:
        return None

    def __repr__(self) -> str:
        return f"<Context for channel, {self.err() or 'open'}>"


class _EventDone:
    """A plain event with callbacks."""

    def __init__(self, stop_ch: StopChannel) -> None:
        self._stop_ch = stop_ch

    def is_set(self) -> bool:
        return self._stop_ch.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        return self._stop_ch.wait(timeout)

    def add_done_callback(self, fn: Callable[[], None]) -> Callable[[], bool]:
        return channel.add_done_callback(self._stop_ch, fn)
