"""Handling of errors that cannot be returned and of uncaught exceptions.

Mirrors apimachinery/pkg/util/runtime/runtime.go.

Differs from Go: a Go panic is a bug and ends the process unless ReallyCrash is turned off; a Python exception is an
ordinary error, so `REALLY_CRASH` is False by default. `HandleCrash` is deferred in Go and a `with` statement here. Go's
returned errors are raised here, and pass the `with` statement as a crash does. So `handle_crash` logs an exception and
raises it again: the port of a Go function that begins with `defer HandleCrash()` and ends in `return fmt.Errorf(...)`
keeps its error. A loop that must continue with its next item passes `go_on=True`.

`REALLY_CRASH`, `PANIC_HANDLERS` and `ERROR_HANDLERS` may be changed by programs: always write `runtime.ERROR_HANDLERS`,
and never import the names themselves.
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
from clientgo.golang.stop import is_crash
from clientgo.klog.exceptions import location_of, stacktrace_of, take_subject
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
"""End the process if an exception reaches `handle_crash` in a thread. Go's default is true."""

PanicHandler = Callable[[Context, BaseException], None]


class ErrorHandler(Protocol):
    """A function in `ERROR_HANDLERS`. Go: runtime.ErrorHandler."""

    def __call__(self, ctx: Context, err: BaseException | None, msg: str, /, **pairs: object) -> None:
        """Handle an error. Must not raise."""
        ...


# --- crashes --------------------------------------------------------------------------------------------------------


class _CrashGuard:
    """The context manager of `handle_crash`. It is not a generator, because it runs around every handler call."""

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
        if err is None or not is_crash(err):
            return False
        _handle_crash(self._ctx or background_context(), err, self._additional)
        return self._go_on and not REALLY_CRASH


def handle_crash(*additional_handlers: Callable[[BaseException], None], go_on: bool = False) -> _CrashGuard:
    """Return a context manager that logs an exception with its traceback and raises it again. Go: `defer
    HandleCrash()`.

    It runs PANIC_HANDLERS, then the given handlers. With `go_on` it suppresses the exception, and the program continues
    after the block: use this in loops, not in functions that report errors to their caller. With REALLY_CRASH it
    suppresses nothing, and exits the process with status 2 in any thread except the main one. A loop may create the
    context manager once and enter it for every item.

    Except in the main thread, exceptions that are no Exception are crashes too, such as `sys.exit` and asyncio's
    CancelledError: they would end the thread, and the program would continue without it. KeyboardInterrupt always
    passes.
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
    # The log line names the function with the `with` statement, which called __exit__, which called this function.
    ctx = klog.new_context(ctx, klog.from_context(ctx).with_call_depth(3))
    for handler in (*PANIC_HANDLERS, *additional):
        handler(ctx, err)
    if REALLY_CRASH and threading.current_thread() is not threading.main_thread():
        # An exception would end only this thread, and the others would continue without it.
        klog.flush_and_exit(klog.EXIT_FLUSH_TIMEOUT, 2)


def _log_panic(ctx: Context, err: BaseException) -> None:
    stacktrace = stacktrace_of(err)
    failure = klog.failure_of(err)
    found = {"at": failure.at, "cause": failure.cause} if failure is not None else {"at": location_of(err)}
    if isinstance(err, SystemExit):
        found["remedy"] = "sys.exit ends the program only in the main thread: cancel the program's context instead"
    # One line, since the log line would otherwise end early. The stack trace contains the whole text.
    text = to_string(err).strip().partition("\n")[0] or type(err).__name__
    pairs = {**take_subject(err), **{key: value for key, value in found.items() if value}}
    klog.from_context(ctx).error(
        None, "Observed a panic", panic=text, panicGoValue=_go_value_of(err), **pairs, stacktrace=stacktrace
    )


# Characters of a value, after which the location of the failure would be hard to find.
_LONGEST_VALUE = 1000


def _go_value_of(err: BaseException) -> str:
    try:
        value = repr(err)
    except Exception:
        return f"<{type(err).__qualname__}>"
    return value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}..."


PANIC_HANDLERS: list[PanicHandler] = [_log_panic]
"""Functions that every `handle_crash` calls with the exception. Programs may extend the list."""


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

    The error may be None. Pass pairs by name, or alternate keys and values as in Go. Errors are limited to a thousand
    per second: the calling thread may block for 1 ms. Go: runtime.HandleErrorWithContext.
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
    """A limiter that blocks a thread that reports an error less than `min_period` seconds after the previous one."""

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
        # Outside the lock, so that only the reporting thread waits. If time goes backwards, the wait is at most the
        # period.
        self._clock.sleep(min(self._min_period - since_last, self._min_period))


ERROR_HANDLERS: list[ErrorHandler] = [_log_error, _RudimentaryErrorBackoff(0.001, REAL_CLOCK).on_error]
"""Functions that receive every handled error, in this order. Programs may replace or extend the list."""


# --- helpers --------------------------------------------------------------------------------------------------------


def get_caller() -> str:
    """Return the dotted name of the caller's caller. Go: runtime.GetCaller."""
    frame = callers.caller(2)
    if frame is None:
        return "Unable to find caller"
    return f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}"


@contextmanager
def recover_from_panic() -> Iterator[None]:
    """Return a context manager that turns any exception into a RuntimeError with the stack trace.

    Go writes the error to a variable of the caller; here it is raised. Go: runtime.RecoverFromPanic.
    """
    try:
        yield
    except Exception as err:
        stacktrace = callers.format_exception(err)
        raise RuntimeError(f'recovered from panic "{to_string(err)}". (err=<nil>) Call stack:\n{stacktrace}') from err


def must(err: BaseException | None) -> None:
    """Raise `err` unless it is None. For errors that cannot happen. Go: runtime.Must."""
    if err is not None:
        raise err
