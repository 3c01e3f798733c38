"""The call stack without the frames that an observer inserted between a caller and a callee.

Go: runtime.Callers. The tour replaces functions by code that calls the original and observes it. This must not change
the program's output, so caller names, positions in log lines and tracebacks skip these frames. The names of their files
identify them.
"""

from __future__ import annotations

import itertools
import sys
import traceback
from types import FrameType, TracebackType
from typing import TypeVar

__all__ = ["caller", "error_text", "format_exception", "format_stack", "is_inserted", "mark_inserted"]

T = TypeVar("T")

# Replaced, never mutated: threads read it without a lock.
_inserted: frozenset[str] = frozenset()


def mark_inserted(*filenames: str) -> None:
    """Treat the frames of the calling file, and of these files, as inserted."""
    global _inserted
    _inserted |= {sys._getframe(1).f_code.co_filename, *filenames}


def is_inserted(filename: str) -> bool:
    """Report whether frames of this file are inserted."""
    return filename in _inserted


def caller(depth: int) -> FrameType | None:
    """Return the frame `depth` above the calling function, or None if there is none."""
    if not _inserted:
        try:
            return sys._getframe(depth + 1)
        except ValueError:
            return None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and depth > 0:
        frame = frame.f_back
        if frame is not None and frame.f_code.co_filename not in _inserted:
            depth -= 1
    return frame


def format_exception(err: BaseException) -> str:
    """Format an exception as `traceback.format_exception` does, as one text and without inserted frames.

    Of a long chain of exceptions, and of a long traceback, it shows only both ends: the newest and the root cause. An
    exception that a program raises again and again has a traceback that grows each time.
    """
    chain = _chain(err)
    if len(chain) > 2 * _CHAIN_ENDS or any(_is_long(each.__traceback__) for each, _ in chain):
        return _format_ends(chain)
    try:
        return _format_all(err)
    except Exception:  # the truth value or another attribute of an exception raises
        return _format_ends(chain)


def _format_all(err: BaseException) -> str:
    if not _inserted:
        return "".join(traceback.format_exception(err))
    # Compact as in format_exception: otherwise a cause that is the context of another exception too is missing.
    formatted = traceback.TracebackException.from_exception(err, compact=True)
    _strip(formatted)
    return "".join(formatted.format())


def error_text(err: BaseException) -> str:
    """Return the text of an exception, or the name of its type if there is no text or its method raises."""
    try:
        return str(err) or type(err).__name__
    except Exception:  # the user's own class
        return type(err).__name__


# The exceptions at each end of a long chain, and the frames at each end of a long traceback, that are shown.
_CHAIN_ENDS = 10
_STACK_ENDS = 500

_CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"


def _chain(err: BaseException) -> list[tuple[BaseException, str]]:
    """Return the exceptions that a traceback shows, the newest first, each with the text after it."""
    chain = [(err, "")]
    seen = {id(err)}
    while True:
        cause, text = err.__cause__, _CAUSE
        if cause is None and not err.__suppress_context__:
            cause, text = err.__context__, _CONTEXT
        if cause is None or id(cause) in seen:
            return chain
        seen.add(id(cause))
        chain.append((cause, text))
        err = cause


def _is_long(tb: TracebackType | None) -> bool:
    return next(itertools.islice(traceback.walk_tb(tb), 2 * _STACK_ENDS, None), None) is not None


def _format_ends(chain: list[tuple[BaseException, str]]) -> str:
    # The traceback module would format the whole chain for each of its exceptions.
    oldest_first = [f"{_format_one(each)}{text}" for each, text in reversed(_ends(chain, _CHAIN_ENDS))]
    hidden = len(chain) - 2 * _CHAIN_ENDS
    if hidden > 0:
        oldest_first.insert(_CHAIN_ENDS, f"\n... {hidden} more exceptions ...\n\n")
    return "".join(oldest_first)


def _format_one(err: BaseException) -> str:
    frames = [each for each in traceback.walk_tb(err.__traceback__) if not is_inserted(each[0].f_code.co_filename)]
    hidden = len(frames) - 2 * _STACK_ENDS
    if hidden > 0:
        shown = [*_format_frames(frames[:_STACK_ENDS]), f"  ... {hidden} more frames ...\n"]
        shown += _format_frames(frames[-_STACK_ENDS:])
    else:
        shown = _format_frames(frames)
    head = "Traceback (most recent call last):\n" if shown else ""
    try:
        text = f": {err}".removesuffix(": ")
    except Exception:
        text = ": <exception str() failed>"
    notes = "".join(f"{note}\n" for note in getattr(err, "__notes__", ()))
    cls = type(err)
    module = "" if cls.__module__ in ("builtins", "__main__") else f"{cls.__module__}."
    return f"{head}{''.join(shown)}{module}{cls.__qualname__}{text}\n{notes}"


def _format_frames(frames: list[tuple[FrameType, int]]) -> list[str]:
    return traceback.StackSummary.extract(iter(frames)).format()


def _ends(items: list[T], count: int) -> list[T]:
    return items if len(items) <= 2 * count else [*items[:count], *items[-count:]]


def format_stack(frame: FrameType | None = None) -> list[str]:
    """Format a stack as `traceback.format_stack` does, without inserted frames. The default is the caller's frame."""
    stack = traceback.extract_stack(sys._getframe(1) if frame is None else frame)
    return traceback.format_list([each for each in stack if each.filename not in _inserted])


def _strip(formatted: traceback.TracebackException) -> None:
    todo = [formatted]
    seen: set[int] = set()
    while todo:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        each.stack[:] = [summary for summary in each.stack if summary.filename not in _inserted]
        todo += [cause for cause in (each.__cause__, each.__context__) if cause is not None]
        todo += each.exceptions or []
