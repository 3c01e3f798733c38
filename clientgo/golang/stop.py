"""Stop signals: Go's `chan struct{}` that is only ever closed.

Mirrors no Go file. A `StopChannel` is any object with `is_set` and `wait`, usually a threading.Event. A `Signal` can
also call functions: so a cancelled context cancels its children without a waiting thread.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from typing import Protocol, cast, runtime_checkable

from clientgo.golang.functions import describe_function

__all__ = [
    "Done",
    "Signal",
    "StopChannel",
    "add_done_callback",
    "call_in_thread",
]

# Seconds between two checks whether the watcher of a foreign StopChannel is still needed; None disables them. The stop
# itself is noticed at once; this only bounds the lifetime of an abandoned watcher.
WATCHER_IDLE_SECONDS: float | None = 1.0

WATCHER_NAME = "stop-watcher"


@runtime_checkable
class StopChannel(Protocol):
    """The counterpart of Go's `stopCh <-chan struct{}`: a threading.Event, a `Signal` or `ctx.done()`.

    Once set it stays set.
    """

    def is_set(self) -> bool:
        """Report whether the channel is closed. Never blocks."""
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

    Thread-safe. Reading `is_set` takes no lock. The first waiter creates the event behind `wait`, so a signal without
    waiters costs one lock and an empty dict.

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
        """Report whether `set` was called. Never blocks."""
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


def is_crash(err: BaseException) -> bool:
    """Report whether an exception of the user's code in this thread corresponds to a panic in Go.

    In the main thread these are the subclasses of Exception. Another thread would end without notice to the rest of
    the program, so that all others count there too, such as `sys.exit` and asyncio's CancelledError. KeyboardInterrupt
    never counts, nor do exceptions whose class has a true `ends_thread`, with which a test ends its threads.
    """
    if isinstance(err, Exception):
        return True
    if threading.current_thread() is threading.main_thread():
        return False
    return not isinstance(err, KeyboardInterrupt) and not getattr(type(err), "ends_thread", False)


def call_in_thread(fn: Callable[[], object], name: str) -> None:
    """Call `fn` in a new daemon thread. If it raises, the thread is named after it too, where its error is reported.

    Python reports the error on stderr and goes on, or as `threading.excepthook` says. A panic ends a Go program.
    """
    threading.Thread(target=_run_named, args=(fn,), name=name, daemon=True).start()


def _run_named(fn: Callable[[], object]) -> None:
    try:
        _run_logging_exit(fn)
    except Exception:
        threading.current_thread().name += f" of {describe_function(fn)}"
        raise


def _run_logging_exit(fn: Callable[[], object]) -> None:
    """Call `fn` as the body of a thread. Logs `sys.exit`, which Python ignores there without a message, with its stack.

    Go's runtime.Goexit ends only the goroutine too, and os.Exit the process; `sys.exit` is meant as the latter.
    """
    try:
        fn()
    except SystemExit:
        if threading.current_thread() is threading.main_thread():
            raise
        # The only logger this module may know: everything else, klog included, stands above it.
        logging.getLogger("clientgo").exception(
            "sys.exit ends the program only in the main thread: cancel the program's context instead"
        )


def _run_callback(fn: Callable[[], None]) -> None:
    try:
        _run_logging_exit(fn)
    except Exception as err:
        try:
            text = str(err).partition("\n")[0]
        except Exception as broken:
            text = f"<no text: {type(broken).__name__}>"
        logging.getLogger("clientgo").exception(
            "A done callback failed: %s at %s", f"{type(err).__qualname__}: {text}".rstrip(": "), _place(err, fn)
        )


def _place(err: BaseException, fn: Callable[[], object]) -> str:
    """Return the line of the callback, which is the third frame, or its description if it is a builtin function."""
    at = err.__traceback__
    for _ in range(2):
        at = at.tb_next if at is not None else at
    if at is None:
        return describe_function(fn)
    code = at.tb_frame.f_code
    return f"{os.path.basename(code.co_filename)}:{at.tb_lineno} in {code.co_name}"


def add_done_callback(stop: StopChannel, fn: Callable[[], None]) -> Callable[[], bool]:
    """Call `fn` when any StopChannel is done, like `Signal.add_done_callback`.

    For one that cannot call back, as a threading.Event, one thread named "stop-watcher" waits on behalf of all callers
    and runs the callbacks. It ends then, or within a second after the last callback was removed. Programs that make
    very many stop events make each a `Signal`, which takes no thread.
    """
    if hasattr(stop, "add_done_callback"):
        return cast(Done, stop).add_done_callback(fn)
    if stop.is_set():
        _run_callback(fn)
        return lambda: False
    return _watch(stop, fn)


class _Watcher:
    """Waits for one StopChannel in a thread of its own and passes it on to a Signal."""

    def __init__(self, stop: StopChannel) -> None:
        self.stop = stop
        self.users = 0
        self.signal = Signal()

    def start(self) -> None:
        threading.Thread(target=self._run, name=WATCHER_NAME, daemon=True).start()

    def _run(self) -> None:
        try:
            while not self.stop.wait(WATCHER_IDLE_SECONDS):
                with _watchers_lock:
                    if self.users == 0:
                        self._leave()
                        return
        finally:
            with _watchers_lock:
                self._leave()
        self.signal.set()

    def _leave(self) -> None:
        """Stop being the current watcher, so that a later caller makes another one. Called with _watchers_lock held."""
        if _watchers.get(id(self.stop)) is self:
            del _watchers[id(self.stop)]


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
