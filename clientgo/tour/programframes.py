"""The code of the observed program that calls clientgo: its current line, and the variable that holds an object.

Queues without a name get one from here, so that a live tour's page can tell them apart. There is no Go counterpart.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from clientgo.golang import callers

__all__ = ["line_of_call", "variable_of"]

_LIBRARY = Path(__file__).resolve().parent.parent
# The folder of a wheel that has the programs of cmd/: they are observed like any other program.
_PROGRAMS = _LIBRARY / "programs"


def line_of_call() -> str:
    """Return the program's line that called into clientgo, as file:line; "" if no frame is the program's."""
    frame = next(_frames(), None)
    return "" if frame is None else f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def variable_of(thing: Any) -> str:
    """Return the variable or attribute by which the calling code of the program reaches an object; "" for none.

    Finds local variables, their attributes, and global variables of the innermost such function.
    """
    frame = next(_frames(), None)
    if frame is None:
        return ""
    variables = dict(frame.f_locals)
    paths = [*_names(variables, thing)]
    for name, value in variables.items():
        attributes = getattr(value, "__dict__", None) if not isinstance(value, type) else None
        if isinstance(attributes, dict):
            paths += [f"{name}.{attribute.lstrip('_')}" for attribute in _names(attributes, thing)]
    paths += _names(frame.f_globals, thing)
    return next(iter(paths), "")


def _names(variables: Mapping[str, Any], thing: Any) -> list[str]:
    return [name for name, value in list(variables.items()) if value is thing]


def _frames() -> Iterator[FrameType]:
    """Yield the frames of the program, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        path = Path(file)
        is_library = path.is_relative_to(_LIBRARY) and not path.is_relative_to(_PROGRAMS)
        if not callers.is_inserted(file) and not is_library and file != contextlib.__file__:
            yield frame
        frame = frame.f_back
