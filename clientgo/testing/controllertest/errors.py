"""The errors of a program under test, with their causes and their places."""

from __future__ import annotations

import os
import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from clientgo.golang.callers import error_text

_LIBRARY = f"{Path(__file__).parents[2]}{os.sep}"
_STANDARD_LIBRARY = f"{sysconfig.get_path('stdlib')}{os.sep}"
_OTHER_PACKAGES = ("site-packages", "dist-packages")


def chain(err: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, its cause, the cause of that, and so on."""
    while err is not None:
        yield err
        err = err.__cause__ or err.__context__


def described(err: BaseException) -> str:
    """Return the type and the text of an error, and the line of the program where it arose."""
    kind, text = type(err).__name__, error_text(err)
    return (kind if text == kind else f"{kind}: {text}") + place(err)


def place(err: BaseException) -> str:
    """Return " at FILE:LINE in FUNCTION" for the innermost frame of the program, or "" if there is none."""
    found = ""
    for frame, line in traceback.walk_tb(err.__traceback__):
        if _is_of_the_program(frame):
            found = f" at {os.path.basename(frame.f_code.co_filename)}:{line} in {frame.f_code.co_qualname}"
    return found


def _is_of_the_program(frame: FrameType) -> bool:
    name = frame.f_code.co_filename
    if name.startswith(_LIBRARY):
        return False
    return not name.startswith(_STANDARD_LIBRARY) or any(each in name for each in _OTHER_PACKAGES)
