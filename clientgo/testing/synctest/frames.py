"""Positions in the program under test: stacks without the frames of the bubble."""

from __future__ import annotations

import gc
import linecache
import sys
import threading
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from clientgo.testing.synctest.task import Task


@dataclass(frozen=True)
class Place:
    """A line of a program."""

    filename: str
    line: int
    function: str

    @classmethod
    def of(cls, frame: FrameType) -> Place:
        return cls(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname)

    @property
    def source(self) -> str:
        return linecache.getline(self.filename, self.line).strip()

    def __str__(self) -> str:
        return f"{self.filename}:{self.line} in {self.function}: {self.source}"


OWN_FILES = frozenset((*(str(path) for path in Path(__file__).parent.glob("*.py")), threading.__file__))
"""Files whose frames are irrelevant to readers of a stack."""


def all_innermost() -> dict[int, FrameType]:
    """Return the innermost frame of each thread, by the thread's identifier.

    A garbage collection meanwhile may stop the process forever in CPython before 3.12.4: `sys._current_frames` holds
    the interpreter's lock of threads, and a finalizer that gives up the GIL lets a thread that ends wait for that lock.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return sys._current_frames()
    finally:
        if was_enabled:
            gc.enable()


def users_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of the program under test."""
    while frame is not None and frame.f_code.co_filename in OWN_FILES:
        frame = frame.f_back
    return frame


def stack(frame: FrameType | None, outermost: FrameType | None) -> list[str]:
    """Return file, line, function and source line of each frame up to `outermost`, which comes first."""
    entries = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename not in OWN_FILES:
            summary = traceback.extract_stack(frame, limit=1)[0]
            entries.append(f"{code.co_filename}:{frame.f_lineno} in {code.co_qualname}: {summary.line}")
        if frame is outermost:
            break
        frame = frame.f_back
    return entries[::-1]


def describe(tasks: Iterable[Task], outermost: FrameType | None) -> list[str]:
    """Return, for each thread, a line with its state, and its stack up to `outermost`."""
    innermost = all_innermost()
    lines = []
    for task in tasks:
        state = f"waits for {task.waiting_for}" if task.parked else "can run"
        lines.append(f"  thread {task.name!r} {state}")
        lines += [f"    {line}" for line in stack(innermost.get(task.ident or 0), outermost)]
    return lines


def place_in_program(frame: FrameType | None) -> str:
    """Return file, line and function of the innermost frame of the program under test."""
    frame = users_frame(frame)
    return "?" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_qualname}"
