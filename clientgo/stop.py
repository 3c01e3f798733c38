"""Stop signals: Go's `chan struct{}` that is only ever closed.

Go's runtime has no file to mirror. A `StopChannel` is anything with `is_set` and `wait`, a threading.Event above all; a
`Signal` also calls back, which is how cancelling one context cancels those below it without a thread that waits.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Protocol, cast, runtime_checkable

__all__ = ["Done", "Signal", "StopChannel", "add_done_callback"]

# How often a thread that watches a foreign StopChannel looks whether anybody still wants to hear of it.
# The stop itself is noticed at once; this only bounds how long an abandoned watcher lives.
_WATCHER_IDLE_SECONDS = 1.0


@runtime_checkable
class StopChannel(Protocol):
    """What stands for Go's `stopCh <-chan struct{}`: a threading.Event, a `Signal` or `ctx.done()`.

    Once set it stays set.
    """

    def is_set(self) -> bool:
        """Whether the channel is closed. Never blocks."""
        ...

    def wait(self, timeout: float | None = None) -> bool:
        """Block until the channel is closed or `timeout` seconds have passed; return `is_set()`."""
        ...


class Done(StopChannel, Protocol):
    """A StopChannel that also calls back: what `Context.done()` returns."""

    def add_done_callback(self, fn: Callable[[], None]) -> Callable[[], bool]:
        """See `Signal.add_done_callback`."""
        ...


class Signal:
    """Go's `chan struct{}` that is closed once and never sent on.

    Thread-safe. Reading `is_set` takes no lock. The event behind `wait` is made by the first waiter, so a signal nobody
    waits for costs one lock and an empty dict.

    Invariants: once set it stays set and holds no callbacks; every callback runs exactly once or was removed.
    """

    __slots__ = ("__weakref__", "_callbacks", "_event", "_lock", "_set")

    def __init__(self) -> None:
        # Guards the other fields. Never held while callbacks run.
        self._lock = threading.Lock()
        self._set = False
        self._event: threading.Event | None = None
        self._callbacks: dict[object, Callable[[], None]] = {}

    def set(self) -> bool:
        """Close the channel (Go: `close(ch)`): wake the waiters, then run the callbacks in the order they were added.

        The callbacks run in this thread, without a lock held; one that raises is logged and does not keep the others
        from running. Returns False when the signal was set already (closing twice panics in Go, here it does nothing).
        """
        with self._lock:
            if self._set:
                return False
            self._set = True
            event = self._event
            callbacks, self._callbacks = self._callbacks, {}
        if event is not None:
            event.set()
        for fn in callbacks.values():
            _run_callback(fn)
        return True

    def is_set(self) -> bool:
        """Whether `set` was called. Never blocks."""
        return self._set

    def wait(self, timeout: float | None = None) -> bool:
        """Block until set or until `timeout` seconds of real time have passed; return whether it is set."""
        if self._set:
            return True
        with self._lock:
            if self._set:
                return True
            if self._event is None:
                self._event = threading.Event()
            event = self._event
        return event.wait(timeout)

    def add_done_callback(self, fn: Callable[[], None]) -> Callable[[], bool]:
        """Run `fn` once when the signal is set, in the thread that sets it; at once, in this one, if it is set already.

        Returns a function that removes the callback again: True when it was still waiting, False when it has run or is
        about to.
        """
        key = object()
        with self._lock:
            waiting = not self._set
            if waiting:
                self._callbacks[key] = fn
        if not waiting:
            _run_callback(fn)

        def remove() -> bool:
            with self._lock:
                return self._callbacks.pop(key, None) is not None

        return remove

    def __repr__(self) -> str:
        return f"<Signal {'set' if self._set else 'open'}, {len(self._callbacks)} callbacks>"

    def _check(self) -> None:
        with self._lock:
            assert not (self._set and self._callbacks)


def _run_callback(fn: Callable[[], None]) -> None:
    try:
        fn()
    except Exception:
        # The only logger this module may know: everything else, klog included, stands above it.
        logging.getLogger("clientgo").exception("A done callback failed")


def add_done_callback(stop: StopChannel, fn: Callable[[], None]) -> Callable[[], bool]:
    """`Signal.add_done_callback` for any StopChannel.

    A threading.Event gets a hook and calls back from the thread that sets it. For anything else one thread named
    "stop-watcher" waits on behalf of all callers, runs the callbacks, and ends then or within a second after the last
    callback was removed.
    """
    if hasattr(stop, "add_done_callback"):
        return cast(Done, stop).add_done_callback(fn)
    if stop.is_set():
        _run_callback(fn)
        return lambda: False
    if isinstance(stop, threading.Event) and hasattr(stop, "_cond"):
        return _hooked(stop).add_done_callback(fn)
    return _watch(stop, fn)


class _EventHook:
    """Stands in for the Condition inside a threading.Event, and sets a Signal when the event is set.

    An event has no way to call back, and a thread for every stop event of a program would be a high price. The
    Condition is what `set` looks up when it runs, however early somebody got hold of the bound method.
    """

    def __init__(self, inner: threading.Condition) -> None:
        self.signal = Signal()
        self._inner = inner
        # Guarded by the lock of `inner`: whether somebody is between __enter__ and __exit__ here, and what to do there.
        self._entered = False
        self._notified = False

    def __enter__(self) -> bool:
        self._inner.__enter__()
        self._entered = True
        return True

    def __exit__(self, *exc: Any) -> None:
        notified, self._notified = self._notified, False
        self._entered = False
        self._inner.__exit__(*exc)
        if notified:
            self.signal.set()

    def notify_all(self) -> None:
        self._inner.notify_all()
        if self._entered:
            self._notified = True
        else:
            # This `set` had looked the Condition up before the hook was there, and will leave by the old door. The
            # callbacks cannot run here, with the event's lock held.
            threading.Thread(target=self.signal.set, name="stop-watcher", daemon=True).start()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _hooked(event: Any) -> Signal:
    """The Signal that is set with the event."""
    inner = event._cond
    if isinstance(inner, _EventHook):
        return inner.signal
    with inner:  # a `set` under way is over before the hook is in place
        if not isinstance(event._cond, _EventHook):
            event._cond = _EventHook(inner)
            if event.is_set():
                event._cond.signal.set()
        hook: _EventHook = event._cond
        return hook.signal


class _Watcher:
    """Waits for one StopChannel in a thread of its own and passes it on to a Signal."""

    def __init__(self, stop: StopChannel) -> None:
        self.stop = stop
        self.users = 0
        self.signal = Signal()

    def start(self) -> None:
        threading.Thread(target=self._run, name="stop-watcher", daemon=True).start()

    def _run(self) -> None:
        while not self.stop.wait(_WATCHER_IDLE_SECONDS):
            with _watchers_lock:
                if self.users == 0:
                    _watchers.pop(id(self.stop), None)
                    return
        with _watchers_lock:
            _watchers.pop(id(self.stop), None)
        self.signal.set()


# Guards _watchers and the `users` of each watcher; held only for dict operations.
_watchers_lock = threading.Lock()
_watchers: dict[int, _Watcher] = {}  # by id(): the watcher keeps its channel alive, which need not be hashable


def _watch(stop: StopChannel, fn: Callable[[], None]) -> Callable[[], bool]:
    with _watchers_lock:
        watcher = _watchers.get(id(stop))
        fresh = watcher is None
        if watcher is None:
            watcher = _watchers[id(stop)] = _Watcher(stop)
        watcher.users += 1
    remove_callback = watcher.signal.add_done_callback(fn)
    if fresh:
        watcher.start()

    def remove() -> bool:
        if not remove_callback():
            return False
        with _watchers_lock:
            watcher.users -= 1
        return True

    return remove
