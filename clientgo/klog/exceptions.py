"""The form of an exception in a log line. No Go file: an error in Go has a text and no stack.

A Python exception is either an *operational error*, whose text alone describes the problem (a response of the API
server, a broken connection, an unreadable configuration), or it indicates a bug. An operational error is logged on one
line, as in Go. Without a text, as in `TimeoutError()`, it is logged like a bug. For every other raised exception, the
first line has the type, the text and the location in the user's code, and the traceback follows. An exception that was
never raised has no traceback: the program created it to log its text, as Go's programs create errors.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import NamedTuple, TypeVar

from clientgo.context import Canceled
from clientgo.golang import callers
from clientgo.golang.strconv import escape_unprintable

__all__ = [
    "Failure",
    "as_operational",
    "cause_text",
    "crash_error",
    "describe",
    "failure_of",
    "full_text",
    "is_operational",
    "location_of",
    "lost_cause",
    "mark_operational",
    "operational",
    "operational_error",
    "readable",
    "stacktrace_of",
]

E = TypeVar("E", bound=type[BaseException])
T = TypeVar("T", bound=BaseException)

# Replaced as a whole, since any thread may import a module that registers a class.
_operational: tuple[type[BaseException], ...] = (Canceled, ConnectionError, TimeoutError)

# Packages with exceptions about the network. They are recognised by name, so that nothing is imported for them.
_NETWORK_PACKAGES = frozenset({"http", "requests", "socket", "ssl", "urllib", "urllib3"})
# Errors about the network that Python raises as a plain OSError.
_NETWORK_ERRNOS = frozenset(
    {
        errno.EADDRINUSE,
        errno.EADDRNOTAVAIL,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.ENETDOWN,
        errno.ENETUNREACH,
    }
)

# The maximum depth of errors within errors.
_DEPTH = 20

_LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


class Failure(NamedTuple):
    """The log form of an exception that indicates a bug."""

    text: str
    """The type and the first line of the message, for example "KeyError: 'nope'"."""
    at: str
    """The innermost line of the user's code, for example "controller.py:84 in sync_handler"."""
    cause: str
    """The exception that caused this one, or a group's first member that is a bug, or ""."""
    stacktrace: str
    """The traceback; unprintable characters, which could control a terminal, are escaped."""


def operational_error(cls: E) -> E:
    """Mark an exception class as operational: its text alone describes the problem, so it is logged on one line.

    A class decorator. It also marks subclasses and every exception that is raised from one.
    """
    global _operational
    _operational = (*_operational, cls)
    return cls


# The attribute of an exception that `mark_operational` sets.
_MARK = "clientgo_operational"


def mark_operational(err: BaseException) -> None:
    """Mark one exception as operational, whose class alone does not show it: a ValueError about a server's response."""
    with contextlib.suppress(Exception):  # a class without a __dict__, or with its own __setattr__
        setattr(err, _MARK, True)


def as_operational(err: T) -> T:
    """Mark an exception like `mark_operational` and return it, for an error about a file of the configuration."""
    mark_operational(err)
    return err


@contextlib.contextmanager
def operational(*classes: type[BaseException]) -> Iterator[None]:
    """Mark the exceptions of these classes that leave the block, such as OSErrors about a file of the configuration."""
    try:
        yield
    except classes as err:
        mark_operational(err)
        raise


# The attribute of an exception that `name_subject` sets.
_SUBJECT = "clientgo_subject"


def name_subject(err: BaseException, **pairs: object) -> None:
    """Add pairs to the log line of a crash, such as the object that the function was called with."""
    with contextlib.suppress(Exception):  # as in mark_operational
        setattr(err, _SUBJECT, {**getattr(err, _SUBJECT, {}), **pairs})


def take_subject(err: BaseException) -> dict[str, object]:
    """Return the pairs that `name_subject` has added, and remove them: a program may raise the exception again."""
    subject: dict[str, object] = getattr(err, _SUBJECT, {})
    with contextlib.suppress(Exception):
        delattr(err, _SUBJECT)
    return subject


def failure_of(err: BaseException) -> Failure | None:
    """Return the log form of an exception that indicates a bug; None for an operational error or one never raised.

    Never raises. O(length of the traceback).
    """
    # A log call never raises, so a value that is not an exception is accepted in spite of the type hints.
    if not isinstance(err, BaseException):
        return None
    try:
        return _failure_of(err)
    except Exception:  # an attribute of the exception raises
        return Failure(describe(err), "?", "", stacktrace_of(err))


def _failure_of(err: BaseException) -> Failure | None:
    causes = list(_causes(err))
    raised = [each for each in (err, *causes) if each.__traceback__ is not None]
    if not raised or is_operational(err):
        return None
    stacktrace = stacktrace_of(err)
    # An error that wraps another one and was never raised corresponds to Go's fmt.Errorf: its type has no meaning.
    text = describe(err) if err.__traceback__ is not None else _first_line(err)
    return Failure(text, _innermost(raised), describe(causes[-1]) if causes else "", stacktrace)


def location_of(err: BaseException) -> str:
    """Return the innermost line of the user's code that led to the exception, or "". Never raises.

    For an operational error that was not handled, whose text alone does not show where it came from.
    """
    try:
        return _location(err)
    except Exception:  # an attribute of the exception raises
        return ""


def stacktrace_of(err: BaseException) -> str:
    """Return the traceback with unprintable characters escaped; never raises."""
    try:
        return escape_unprintable(callers.format_exception(err))
    except Exception as broken:
        return f"no traceback: {type(broken).__name__}"


def lost_cause(err: BaseException) -> str:
    """Return the text of an operational error that `err` was raised from and does not contain, or "".

    Go's wrapping errors contain the text of the wrapped one.
    """
    if isinstance(err, _operational) or not isinstance(err, BaseException):
        return ""
    try:
        causes = list(_causes(err))
        return str(causes[-1]) if causes and str(causes[-1]) not in str(err) else ""
    except Exception:
        return ""


def describe(err: BaseException) -> str:
    """Return the type and the first line of the message: "KeyError: 'nope'", not just "'nope'". Never raises."""
    message, name = _first_line(err), type(err).__qualname__
    return f"{name}: {message}" if message else name


def crash_error(culprit: object, err: BaseException) -> RuntimeError:
    """Return the error for a function of the user, named `culprit`, that raised no Exception; see golang.stop.is_crash.

    Its cause is `err`.
    """
    raised = f"raised {describe(err)}"
    if isinstance(err, SystemExit):
        raised = f"called sys.exit({err.code!r}): raise an exception instead"
    failure = RuntimeError(f"{culprit} {raised}")
    failure.__cause__ = err
    return failure


def cause_text(err: BaseException) -> str:
    """Return the text of an error for the text of a wrapping error, on one line. Never raises.

    It begins with the type if the text alone is unclear: if it is empty, or the key of a KeyError.
    """
    text = _first_line(err)
    return describe(err) if not text or isinstance(err, KeyError) else text


def full_text(err: object) -> str:
    """Return all lines of the text of an error, for a response; of an exception without one its type. Never raises."""
    try:
        text = str(err)
    except Exception:
        text = ""
    return text or (describe(err) if isinstance(err, BaseException) else "")


def _first_line(err: BaseException) -> str:
    try:
        return str(err).strip().partition("\n")[0]
    except Exception as broken:
        return f"<no text: {type(broken).__name__}>"


def readable(args: tuple[object, ...]) -> tuple[object, ...]:
    """Return the arguments of a free text, with the text, type and location of exceptions that indicate a bug.

    A free text has no room for a traceback: log such an exception with `error_s` or `handle_error` to see it.
    """
    return tuple(_readable(arg) if isinstance(arg, BaseException) else arg for arg in args)


def _readable(err: BaseException) -> object:
    failure = failure_of(err)
    if failure is None:
        if cause := lost_cause(err):
            return escape_unprintable(f"{err} (cause: {cause})")
        return err if _is_printable(err) else escape_unprintable(str(err))
    cause = f", cause {failure.cause}" if failure.cause else ""
    return escape_unprintable(f"{_first_line(err)} ({type(err).__qualname__} at {failure.at}{cause})")


def _is_printable(err: BaseException) -> bool:
    try:
        return (text := str(err)) == escape_unprintable(text)
    except Exception:
        return True  # the verb formats it, and shows that it has no text


def is_operational(err: BaseException) -> bool:
    """Report whether the text of this error alone describes the problem, which requires the same of all its causes.

    An operational error that the library raised because the user's code did, as a URLError for a transport of the user,
    indicates a bug. Never raises.
    """
    try:
        return _is_operational(err, _DEPTH)
    except Exception:  # an attribute of the exception raises, such as one that a `__getattr__` looks up in a dict
        return False


def _is_operational(err: BaseException, depth: int) -> bool:
    if isinstance(err, _operational) or _is_of_network(err) or getattr(err, _MARK, False) is True:
        return bool(_first_line(err)) and not _hides_a_bug(err, depth)
    if depth == 0:
        return False
    if members := _members(err):
        return all(_is_operational(each, depth - 1) for each in members)
    return err.__cause__ is not None and _is_operational(err.__cause__, depth - 1)


def _hides_a_bug(err: BaseException, depth: int) -> bool:
    """Report whether the library raised this operational error from one that the user's code raised unexpectedly."""
    if depth == 0 or _is_raised_by_user(err):
        return False
    causes = list(itertools.islice(_causes(err), depth))
    return any(_is_raised_by_user(each) and not _is_operational(each, depth - 1) for each in causes)


def _is_raised_by_user(err: BaseException) -> bool:
    """Report whether the user's code raised it, also through a function of the standard library that it called."""
    frames = [frame for frame, _ in traceback.walk_tb(err.__traceback__)]
    own = [frame for frame in frames if not _is_of_standard_library(frame)]
    return bool(own) and _rank(own[-1]) > 0


def _members(err: BaseException) -> list[BaseException]:
    """Return the errors of an ExceptionGroup or an AggregateError, or [] for other exceptions."""
    if isinstance(err, BaseExceptionGroup):
        return list(err.exceptions)
    try:
        args = err.args
        found = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else []
    except Exception:  # the class has its own `args`
        return []
    return list(found) if all(isinstance(each, BaseException) for each in found) else []


def _is_of_network(err: BaseException) -> bool:
    if isinstance(err, OSError) and err.errno in _NETWORK_ERRNOS:
        return True
    return any(str(cls.__module__).partition(".")[0] in _NETWORK_PACKAGES for cls in type(err).__mro__)


def _causes(err: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions that led to this one, the root cause last.

    A cause is the exception that this one was raised from, or else the first member of a group; a bug precedes an
    operational error.
    """
    seen = {id(err)}
    while (cause := _cause(err)) is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        err = cause


def _cause(err: BaseException) -> BaseException | None:
    if err.__cause__ is not None:
        return err.__cause__
    members = _members(err)
    return next((each for each in members if not is_operational(each)), members[0] if members else None)


def _innermost(raised: list[BaseException]) -> str:
    """Return the location of the last error, the cause of the others, or of one whose frames tell the user more.

    The library may have caught the cause before it reached the user's code.
    """
    located = [each for err in reversed(raised) if (each := _ranked_location(err)) is not None]
    return max(located, key=lambda each: each[0])[1] if located else ""


def _location(err: BaseException) -> str:
    located = _ranked_location(err)
    return located[1] if located is not None else ""


def _ranked_location(err: BaseException) -> tuple[int, str] | None:
    """Return the innermost frame of the user's code, or else of an installed package, or else the innermost of all.

    The first value is the frame's rank.
    """
    walked = traceback.walk_tb(err.__traceback__)
    frames = [(frame, line) for frame, line in walked if not callers.is_inserted(frame.f_code.co_filename)]
    if not frames:
        return None
    # From the end, since an exception that is raised again and again has thousands of frames.
    frame, line = next(
        (each for rank in (3, 2, 1, 0) for each in reversed(frames) if _rank(each[0]) == rank), frames[-1]
    )
    code = frame.f_code
    return _rank(frame), f"{os.path.basename(code.co_filename)}:{line} in {code.co_name}"


def _rank(frame: FrameType) -> int:
    """Return 3 for a file of the user, 1 for an installed package, 0 for this library and the standard library.

    Code without a file has 2: it is that of `python -c`, or generated, such as the methods of a dataclass.
    """
    path = os.path.abspath(frame.f_code.co_filename)
    if path.startswith(_LIBRARY) or frame.f_code.co_filename.startswith("<frozen "):
        return 0
    if frame.f_code.co_filename.startswith("<"):
        return 2
    if any(part in path for part in _INSTALLED):
        return 1
    return 0 if path.startswith(_STANDARD_LIBRARY) else 3


def _is_of_standard_library(frame: FrameType) -> bool:
    path = frame.f_code.co_filename
    if callers.is_inserted(path) or path.startswith("<frozen "):
        return True
    path = os.path.abspath(path)
    return path.startswith(_STANDARD_LIBRARY) and not any(part in path for part in _INSTALLED)
