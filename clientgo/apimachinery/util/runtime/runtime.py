"""What to do with errors nobody returns and exceptions nobody catches.

Mirrors apimachinery/pkg/util/runtime/runtime.go.

Differs from Go: a Go panic is a bug and ends the process unless ReallyCrash is turned off; a Python exception is an
ordinary error, so `REALLY_CRASH` is False by default. `HandleCrash` is deferred in Go and a `with` statement here. What
Go returns as an error is raised here, and passes the `with` statement as a crash does. So `handle_crash` raises on what
it has logged: the port of a Go function that begins with `defer HandleCrash()` and ends in `return fmt.Errorf(...)`
keeps its error. A loop that is to go on with its next item says so with `go_on=True`.

`REALLY_CRASH`, `PANIC_HANDLERS` and `ERROR_HANDLERS` are meant to be changed by programs: always write
`runtime.ERROR_HANDLERS`, never import the names themselves.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol

from clientgo import klog
from clientgo.context import Context
from clientgo.context import background as background_context
from clientgo.golang import callers
from clientgo.klog.exceptions import stacktrace_of
from clientgo.klog.serialize import as_pairs, to_string
from clientgo.utils.clock.clock import REAL_CLOCK, RealClock

__all__ = [
    "ERROR_HANDLERS",
    "PANIC_HANDLERS",
    "REALLY_CRASH",
    "ErrorHandler",
    "PanicHandler",
    "error_to_string",
    "get_caller",
    "handle_crash",
    "handle_crash_with_context",
    "handle_crash_with_logger",
    "handle_error",
    "handle_error_with_context",
    "handle_error_with_logger",
    "must",
    "recover_from_panic",
]

REALLY_CRASH = False
"""True to end the process if an exception reaches `handle_crash` in a thread (Go's default: true)."""

PanicHandler = Callable[[Context, BaseException], None]


class ErrorHandler(Protocol):
    """One of `ERROR_HANDLERS`. Go: runtime.ErrorHandler."""

    def __call__(self, ctx: Context, err: BaseException | None, msg: str, /, **pairs: object) -> None:
        """Deal with an error; must not raise."""
        ...


# --- crashes --------------------------------------------------------------------------------------------------------


class _CrashGuard:
    """The context manager behind `handle_crash`: no generator, for it stands around every handler call."""

    __slots__ = ("_additional", "_ctx", "_go_on")

    def __init__(self, ctx: Context | None, additional: tuple[PanicHandler, ...], go_on: bool) -> None:
        self._ctx = ctx
        self._additional = additional
        self._go_on = go_on

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if err is None or not isinstance(err, Exception):
            return False  # KeyboardInterrupt and SystemExit are no crashes
        _handle_crash(self._ctx or background_context(), err, self._additional)
        return self._go_on and not REALLY_CRASH


def handle_crash(*additional_handlers: Callable[[BaseException], None], go_on: bool = False) -> _CrashGuard:
    """`with handle_crash(): ...` logs an exception with its traceback and raises it on (Go: `defer HandleCrash()`).

    Runs PANIC_HANDLERS, then the given ones. With `go_on` the exception is swallowed then, and the program goes on
    behind the block: for loops, not for functions that tell their caller of an error. With REALLY_CRASH nothing is
    swallowed, and from any thread but the main one the process ends with code 2. A loop may make the guard once and
    enter it for every item.
    """
    with_context = tuple(_without_context(handler) for handler in additional_handlers)
    return _CrashGuard(None, with_context, go_on)


def handle_crash_with_context(ctx: Context, *additional_handlers: PanicHandler, go_on: bool = False) -> _CrashGuard:
    """Log an exception like `handle_crash`, with the context's logger. The handlers receive the context too.

    Go: runtime.HandleCrashWithContext.
    """
    return _CrashGuard(ctx, additional_handlers, go_on)


def handle_crash_with_logger(
    logger: klog.Logger, *additional_handlers: PanicHandler, go_on: bool = False
) -> _CrashGuard:
    """Log an exception like `handle_crash_with_context`, with a logger instead of a context.

    Go: runtime.HandleCrashWithLogger.
    """
    return _CrashGuard(klog.new_context(background_context(), logger), additional_handlers, go_on)


def _without_context(handler: Callable[[BaseException], None]) -> PanicHandler:
    return lambda _ctx, err: handler(err)


def _handle_crash(ctx: Context, err: BaseException, additional: tuple[PanicHandler, ...]) -> None:
    # The log line names the function with the `with` statement, which called __exit__, which called this.
    ctx = klog.new_context(ctx, klog.from_context(ctx).with_call_depth(3))
    for handler in (*PANIC_HANDLERS, *additional):
        handler(ctx, err)
    if REALLY_CRASH and threading.current_thread() is not threading.main_thread():
        # Raising would end this thread only, and the others would go on without it.
        klog.flush_and_exit(klog.EXIT_FLUSH_TIMEOUT, 2)


def _log_panic(ctx: Context, err: BaseException) -> None:
    stacktrace = stacktrace_of(err)
    failure = klog.failure_of(err)
    at = {"at": failure.at} if failure is not None else {}
    # One line, or the first line of the log would end before it. The stack trace ends with the whole text.
    text = to_string(err).strip().partition("\n")[0] or type(err).__name__
    klog.from_context(ctx).error(
        None, "Observed a panic", panic=text, panicGoValue=to_string(err, repr), **at, stacktrace=stacktrace
    )


PANIC_HANDLERS: list[PanicHandler] = [_log_panic]
"""Functions that every `handle_crash` calls with the exception. Programs may add to it."""


# --- errors ---------------------------------------------------------------------------------------------------------


def error_to_string(err: BaseException | None, msg: str, /, **pairs: object) -> str:
    """Return the line that `handle_error_with_context` would log, without the header. Go: runtime.ErrorToString."""
    return klog.format_message(msg, pairs, err).strip()


def handle_error(err: BaseException | None) -> None:
    """Log an error that cannot be returned to a caller. Never raises. Ignores None. Go: runtime.HandleError."""
    if err is None:
        return
    _handle_error(background_context(), err, "Unhandled Error", {})


def handle_error_with_context(
    ctx: Context, err: BaseException | None, msg: str, /, *keys_and_values: object, **pairs: object
) -> None:
    """Log an error with the context's logger and pass it to the other ERROR_HANDLERS.

    The error may be None. Pairs are given by name, or as in Go key after key and value. Errors are slowed down to a
    thousand a second: the calling thread may block for 1 ms.

    Go: runtime.HandleErrorWithContext.
    """
    _handle_error(ctx, err, msg, as_pairs(keys_and_values, pairs))


def handle_error_with_logger(
    logger: klog.Logger, err: BaseException | None, msg: str, /, *keys_and_values: object, **pairs: object
) -> None:
    """Log an error like `handle_error_with_context`, with a logger instead of a context.

    Go: runtime.HandleErrorWithLogger.
    """
    _handle_error(klog.new_context(background_context(), logger), err, msg, as_pairs(keys_and_values, pairs))


def _handle_error(ctx: Context, err: BaseException | None, msg: str, pairs: Mapping[str, object]) -> None:
    for handler in ERROR_HANDLERS:
        handler(ctx, err, msg, **pairs)


def _log_error(ctx: Context, err: BaseException | None, msg: str, /, **pairs: object) -> None:
    # Skips this function, _handle_error and the public function above it.
    logger = klog.from_context(ctx).with_call_depth(3).with_name("UnhandledError")
    logger.error(err, msg, **pairs)


class _RudimentaryErrorBackoff:
    """Holds a thread that reports an error less than `min_period` seconds after the last one."""

    def __init__(self, min_period: float, clock: RealClock) -> None:
        self._min_period = min_period
        self._clock = clock
        self._lock = threading.Lock()
        self._last_error_time = clock.now()

    def on_error(self, ctx: Context, err: BaseException | None, msg: str, /, **pairs: object) -> None:
        now = self._clock.now()
        with self._lock:
            since_last = now - self._last_error_time
            self._last_error_time = self._clock.now()
        # Outside the lock: only the thread that reports too often waits. Time going backwards waits at most the period.
        self._clock.sleep(min(self._min_period - since_last, self._min_period))


ERROR_HANDLERS: list[ErrorHandler] = [_log_error, _RudimentaryErrorBackoff(0.001, REAL_CLOCK).on_error]
"""Functions called with every handled error, in this order. Programs may replace or extend it."""


# --- helpers --------------------------------------------------------------------------------------------------------


def get_caller() -> str:
    """The dotted name of the function that called the caller of this one. Go: runtime.GetCaller."""
    frame = callers.caller(2)
    if frame is None:
        return "Unable to find caller"
    return f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}"


@contextmanager
def recover_from_panic() -> Iterator[None]:
    """`with recover_from_panic(): ...` turns any exception into a RuntimeError that shows where it came from.

    Go writes the error to a variable of the caller; here it is raised.

    Go: runtime.RecoverFromPanic.
    """
    try:
        yield
    except Exception as err:
        stacktrace = callers.format_exception(err)
        raise RuntimeError(f'recovered from panic "{to_string(err)}". (err=<nil>) Call stack:\n{stacktrace}') from err


def must(err: BaseException | None) -> None:
    """Raise `err` unless it is None: for errors that cannot happen. Go: runtime.Must."""
    if err is not None:
        raise err
