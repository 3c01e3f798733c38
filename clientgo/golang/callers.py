"""The call stack without the frames that an observer inserted between a caller and a callee.

Go: runtime.Callers. The tour replaces functions by code that calls the original and observes it. This must not change
the program's output, so caller names, positions in log lines and tracebacks skip these frames. The names of their files
identify them.
"""

from __future__ import annotations

import sys
import traceback
from types import FrameType

__all__ = ["caller", "format_exception", "format_stack", "is_inserted", "mark_inserted"]

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
    """Format an exception as `traceback.format_exception` does, as one text and without inserted frames."""
    if not _inserted:
        return "".join(traceback.format_exception(err))
    # Compact as in format_exception: otherwise a cause that is the context of another exception too is missing.
    formatted = traceback.TracebackException.from_exception(err, compact=True)
    _strip(formatted)
    return "".join(formatted.format())


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
