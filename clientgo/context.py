"""Cancellation, deadlines and request-scoped values: Go's standard package `context` for threads.

A Context is a node of a tree; cancelling one cancels everything below it. Differences from Go: `done()` returns an
event-like object (`is_set`, `wait`, `add_done_callback`) instead of a channel, `err()` returns an exception to raise,
deadlines are float seconds of an injected clock, and `sleep` replaces the common select over a timer and Done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from clientgo.golang.channel import Done, Signal, StopChannel
from clientgo.golang.stop import call_in_thread
from clientgo.golang.time import require_seconds
from clientgo.utils.clock.clock import REAL_CLOCK, Clock, WithDelayedExecution

__all__ = [
    "CancelCauseFunc",
    "CancelFunc",
    "Canceled",
    "Context",
    "DeadlineExceeded",
    "Done",
    "StopChannel",
    "after_func",
    "background",
    "cause",
    "sleep",
    "todo",
    "with_cancel",
    "with_cancel_cause",
    "with_deadline",
    "with_deadline_cause",
    "with_timeout",
    "with_timeout_cause",
    "with_value",
    "without_cancel",
]

CancelFunc = Callable[[], None]
CancelCauseFunc = Callable[[BaseException | None], None]


class Canceled(Exception):
    """Returned by `err()` of a cancelled context. Go: context.Canceled."""

    def __init__(self, message: str = "context canceled") -> None:
        super().__init__(message)


class DeadlineExceeded(TimeoutError):
    """Returned by `err()` of a context whose deadline has passed. Go: context.DeadlineExceeded."""

    def __init__(self, message: str = "context deadline exceeded") -> None:
        super().__init__(message)


class Context:
    """A node in a tree of cancel scopes. Go: context.Context. Immutable for its users; every method is thread-safe.

    This base is the root: never done, without values or a deadline. Get one from `background()` or `todo()` and derive
    others with the `with_*` functions.
    """

    def done(self) -> Done:
        """Return the signal that is set when the context is cancelled: `ctx.done().wait(timeout)`.

        Always the same object.
        """
        return _NEVER

    def err(self) -> Canceled | DeadlineExceeded | None:
        """Return a new exception with the reason why the context is done, or None while it is not. Never blocks."""
        return None

    def cause(self) -> BaseException | None:
        """Return the reason given to the cancel function, otherwise `err()` (Go: context.Cause(ctx))."""
        return self.err()

    def value(self, key: object) -> Any:
        """Return the value that `with_value` stored for an equal key in this context or a parent; None if there is
        none.
        """
        return None

    def deadline(self) -> float | None:
        """Return the latest time at which the context will be done, in seconds of its clock, or None."""
        return None

    def add_done_callback(self, fn: Callable[[], None]) -> Callable[[], bool]:
        """Run `fn` once when the context is done, in the cancelling thread; at once if it is done already.

        The callbacks run in the order they were added; contexts below are cancelled in the same sequence. Returns a
        function that removes the callback, True if it had not run. (Go's AfterFunc uses a goroutine: see `after_func`.)
        """
        return self.done().add_done_callback(fn)

    def __repr__(self) -> str:
        return "<Context background>"

    def _describe(self, kind: str) -> str:
        return f"<Context {kind}, {self.err() or 'open'}>"


class _Never:
    """The done signal of contexts that are never cancelled."""

    __slots__ = ()

    def is_set(self) -> bool:
        return False

    def wait(self, timeout: float | None = None) -> bool:
        return threading.Event().wait(timeout)

    def add_done_callback(self, fn: Callable[[], None]) -> Callable[[], bool]:
        return lambda: False


_NEVER = _Never()
_BACKGROUND = Context()
_TODO = Context()


def background() -> Context:
    """Return the root of all contexts: never done. Go: context.Background."""
    return _BACKGROUND


def todo() -> Context:
    """Return a background context, for code that does not receive a context yet. Go: context.TODO."""
    return _TODO


def _require_context(parent: object) -> None:
    if not isinstance(parent, Context):
        text = "cannot create context from nil parent" if parent is None else f"the parent {parent!r} is no context"
        raise TypeError(f"{text}: the first argument is a context, such as context.background()")


class _ChildContext(Context):
    """A context that delegates everything to its parent."""

    def __init__(self, parent: Context) -> None:
        _require_context(parent)
        self._parent = parent

    def done(self) -> Done:
        return self._parent.done()

    def err(self) -> Canceled | DeadlineExceeded | None:
        return self._parent.err()

    def cause(self) -> BaseException | None:
        return self._parent.cause()

    def value(self, key: object) -> Any:
        return self._parent.value(key)

    def deadline(self) -> float | None:
        return self._parent.deadline()


class _ValueContext(_ChildContext):
    def __init__(self, parent: Context, key: object, value: object) -> None:
        super().__init__(parent)
        self._key = key
        self._value = value

    def value(self, key: object) -> Any:
        ctx: Context = self
        while isinstance(ctx, _ValueContext):  # a loop, since chains of values may be long
            if ctx._key is key or ctx._key == key:
                return ctx._value
            ctx = ctx._parent
        return ctx.value(key)

    def __repr__(self) -> str:
        return self._describe(f"with value {self._key!r}")


class _DetachedContext(_ChildContext):
    """A context with the parent's values but not its cancellation."""

    def done(self) -> Done:
        return _NEVER

    def err(self) -> Canceled | DeadlineExceeded | None:
        return None

    def cause(self) -> BaseException | None:
        return None

    def deadline(self) -> float | None:
        return None

    def __repr__(self) -> str:
        return self._describe("without cancel")


class _CancelContext(_ChildContext):
    """A context with a cancel function of its own.

    Invariants: `_err` is set before `_signal`; both once. The parent holds a callback on this context only while
    neither is done.
    """

    def __init__(self, parent: Context) -> None:
        super().__init__(parent)
        # Serializes cancellation; guards _err and _cause. Not held while callbacks run.
        self._lock = threading.Lock()
        self._signal = Signal()
        self._err: type[Canceled] | type[DeadlineExceeded] | None = None
        self._cause: BaseException | None = None
        self._leave_parent = parent.add_done_callback(self._parent_done)

    def done(self) -> Done:
        return self._signal

    def err(self) -> Canceled | DeadlineExceeded | None:
        return None if self._err is None else self._err()

    def cause(self) -> BaseException | None:
        return self._cause or self.err()

    def cancel(self, err: type[Canceled] | type[DeadlineExceeded], cause: BaseException | None) -> None:
        with self._lock:
            if self._err is not None:
                return
            self._cause = cause
            self._err = err
        self._signal.set()
        self._release()

    def _parent_done(self) -> None:
        err = self._parent.err()
        kind = DeadlineExceeded if isinstance(err, DeadlineExceeded) else Canceled
        self.cancel(kind, self._parent.cause())

    def _release(self) -> None:
        # A cancellation during __init__ finds no such attribute, and need not unregister: the parent is done.
        leave_parent = getattr(self, "_leave_parent", None)
        if leave_parent is not None:
            leave_parent()

    def __repr__(self) -> str:
        return self._describe("with cancel")


class _DeadlineContext(_CancelContext):
    def __init__(self, parent: Context, deadline: float) -> None:
        self._deadline = deadline
        self._stop_timer: Callable[[], bool] | None = None
        super().__init__(parent)

    def deadline(self) -> float | None:
        return self._deadline

    def start(self, clock: WithDelayedExecution, cause: BaseException | None) -> None:
        remaining = self._deadline - clock.now()
        if remaining <= 0:
            self.cancel(DeadlineExceeded, cause)
            return
        timer = clock.after_func(remaining, lambda: self.cancel(DeadlineExceeded, cause))
        with self._lock:
            if self._err is None:
                self._stop_timer = timer.stop
                return
        timer.stop()

    def _release(self) -> None:
        super()._release()
        with self._lock:
            stop_timer, self._stop_timer = self._stop_timer, None
        if stop_timer is not None:
            stop_timer()

    def __repr__(self) -> str:
        return self._describe(f"with deadline {self._deadline}")


def with_cancel(parent: Context) -> tuple[Context, CancelFunc]:
    """Return a context below `parent` and the function that cancels it.

    Call the function when the work is done, since the context otherwise stays registered with its parent. The function
    is thread-safe and idempotent.

    Go: context.WithCancel.
    """
    ctx = _CancelContext(parent)
    return ctx, lambda: ctx.cancel(Canceled, None)


def with_cancel_cause(parent: Context) -> tuple[Context, CancelCauseFunc]:
    """Return a child context and a cancel function that takes the reason that `cause(ctx)` returns.

    The reason None stands for Canceled. Go: context.WithCancelCause.
    """
    ctx = _CancelContext(parent)
    return ctx, lambda cause: ctx.cancel(Canceled, cause)


def with_deadline(
    parent: Context, deadline: float, clock: WithDelayedExecution | None = None
) -> tuple[Context, CancelFunc]:
    """Return a context that is cancelled with DeadlineExceeded when `clock` (the real one by default) reaches
    `deadline`.

    `deadline` is in seconds of that clock (`clock.now() + 5.0`). A parent's earlier deadline takes precedence.

    Go: context.WithDeadline.
    """
    return with_deadline_cause(parent, deadline, None, clock)


def with_deadline_cause(
    parent: Context, deadline: float, cause: BaseException | None, clock: WithDelayedExecution | None = None
) -> tuple[Context, CancelFunc]:
    """Return a child context with a deadline; `cause(ctx)` returns `cause` after the deadline.

    Go: context.WithDeadlineCause.
    """
    _require_context(parent)
    require_seconds(deadline, "a deadline, as clock.now() + 5.0,")
    limit = parent.deadline()
    if limit is not None and limit <= deadline:
        return with_cancel(parent)
    ctx = _DeadlineContext(parent, deadline)
    ctx.start(clock or REAL_CLOCK, cause)
    return ctx, lambda: ctx.cancel(Canceled, None)


def with_timeout(
    parent: Context, seconds: float, clock: WithDelayedExecution | None = None
) -> tuple[Context, CancelFunc]:
    """Return a context with a deadline `seconds` from now. Go: context.WithTimeout."""
    return with_timeout_cause(parent, seconds, None, clock)


def with_timeout_cause(
    parent: Context, seconds: float, cause: BaseException | None, clock: WithDelayedExecution | None = None
) -> tuple[Context, CancelFunc]:
    """Return a context with a deadline `seconds` from now, and a cause for it. Go: context.WithTimeoutCause."""
    clock = clock or REAL_CLOCK
    return with_deadline_cause(parent, clock.now() + require_seconds(seconds, "a timeout"), cause, clock)


def with_value(parent: Context, key: object, value: object) -> Context:
    """Return a context in which `value(key)` is `value`. Use a private object or class as key, never a plain string.

    Raises ValueError for the key None. Go: context.WithValue.
    """
    if key is None:
        raise ValueError("nil key")
    return _ValueContext(parent, key, value)


def without_cancel(parent: Context) -> Context:
    """Return a context with the parent's values that is not cancelled with it. Go: context.WithoutCancel."""
    return _DetachedContext(parent)


def after_func(ctx: Context, fn: Callable[[], None]) -> Callable[[], bool]:
    """Run `fn` in its own thread once `ctx` is done.

    Returns a function that prevents the call, and returns True if it did. Unlike a callback of
    `Context.add_done_callback`, a slow `fn` does not block the cancelling thread. `sys.exit` in `fn` is logged, since
    it does not end the program. An error of `fn` is reported as of every thread, whose name then says which function
    it was; in Go a panic ends the program. Go: context.AfterFunc.
    """
    return ctx.add_done_callback(lambda: call_in_thread(fn, "context-after-func"))


def cause(ctx: Context) -> BaseException | None:
    """Return the reason why `ctx` is done: the cause of its cancel function or deadline, otherwise `ctx.err()`.

    Go: context.Cause.
    """
    return ctx.cause()


def sleep(ctx: Context, seconds: float, clock: Clock | None = None) -> bool:
    """Wait for `seconds` of `clock` (the real one by default) or until `ctx` is done; return True if the time has
    passed.

    Replaces Go's `select { case <-ctx.Done(): case <-clock.After(d): }`, but returns False if `ctx` is already done.
    """
    clock = clock or REAL_CLOCK
    deadline = clock.now() + seconds
    woken = threading.Condition()

    def wake() -> None:
        with woken:
            woken.notify_all()

    remove = ctx.add_done_callback(wake)
    try:
        with woken:
            while not ctx.done().is_set():
                if not clock.wait(woken, deadline - clock.now()):
                    return not ctx.done().is_set()
        return False
    finally:
        remove()
