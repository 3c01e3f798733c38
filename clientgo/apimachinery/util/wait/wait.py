"""Groups of threads, jitter and conditions. Mirrors apimachinery/pkg/util/wait/wait.go.

Differs from Go: a condition returns a bool and raises its error. There is thus no telling an error from a crash, and a
condition that raises ends the loop and is raised to its caller, where Go would recover a panic and go on.
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
"""Seconds; what tests wait for something that should happen at once."""

NEVER_STOP: StopChannel = Signal()
"""A stop channel that is never set."""


class Group:
    """Starts threads and waits for all of them. Go: wait.Group. Thread-safe.

    The threads are daemons. A function that raises is logged and ends only its own thread.

    Invariant: `_threads` holds exactly the threads that were started and not yet joined.
    """

    def __init__(self) -> None:
        # Guards _threads. Never held while joining.
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def wait(self) -> None:
        """Block until every thread has ended, also those started meanwhile. Not to be called by one of them.

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
            # Started under the lock: a thread in the list that does not run yet would look as if it had ended.
            thread.start()
            self._threads.append(thread)

    def __repr__(self) -> str:
        return f"<Group {[thread.name for thread in self._threads]}>"


def _name_of(f: Callable[..., object]) -> str:
    return getattr(f, "__qualname__", None) or type(f).__qualname__


def forever(f: Callable[[], object], period: float) -> None:
    """Call `f` every `period` seconds and never return. Prefer `until`, which can be stopped. Go: wait.Forever."""
    from clientgo.apimachinery.util.wait.backoff import until  # backoff.py stands on this module

    until(f, period, NEVER_STOP)


# Tests put a function of their own here.
_jitter_rand: Callable[[], float] = random.random


def jitter(duration: float, max_factor: float) -> float:
    """`duration` plus a random part of up to `max_factor` times it; a factor that is not positive counts as 1.

    Go: wait.Jitter.
    """
    if max_factor <= 0.0:
        max_factor = 1.0
    return duration + _jitter_rand() * max_factor * duration


class ConditionFunc:
    """A function that says whether the condition is met. Go: wait.ConditionFunc.

    Wherever one is expected a plain function does as well; this class only adds `with_context`.
    """

    __slots__ = ("_fn",)

    def __init__(self, fn: Callable[[], bool]) -> None:
        self._fn = fn

    def __call__(self) -> bool:
        return self._fn()

    def with_context(self) -> ConditionWithContextFunc:
        """Return a condition that receives a context and ignores it. Go: ConditionFunc.WithContext."""
        fn = self._fn
        return lambda _ctx: fn()


ConditionWithContextFunc = Callable[[Context], bool]
"""A condition that gets the context of its loop. Go: wait.ConditionWithContextFunc."""


def context_for_channel(parent_ch: StopChannel) -> Context:
    """A context that is cancelled when `parent_ch` is set, for functions that take only a context.

    Needs no thread of its own, except for a StopChannel that cannot call back, as a threading.Event, once somebody asks
    for a callback, as deriving another context does: see `channel.add_done_callback`.

    Raises TypeError for something else, such as a context: the threads it would have been for could not say so.

    Go: wait.ContextForChannel.
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
