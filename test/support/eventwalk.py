"""Follows one event of a real watch through the functions it passes, thread by thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import clientgo

LIBRARY = Path(clientgo.__file__).parent

# (file below clientgo/, qualified name of the function)
Function = tuple[str, str]


class Walk:
    """The functions of the library that each thread enters meanwhile, each once, in the order of their first call.

    A thread's walk begins with the functions it waits in, from the thread's own down to where it is woken.
    """

    def __init__(self, is_aside: Callable[[Function], bool]) -> None:
        self._is_aside = is_aside
        self._open = False
        self.functions: dict[str, list[Function]] = {}

    @contextmanager
    def in_new_threads(self) -> Iterator[None]:
        """Threads that are started meanwhile can be followed."""
        threading.setprofile(self._profile)
        try:
            yield
        finally:
            threading.setprofile(None)

    @contextmanager
    def recording(self) -> Iterator[None]:
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        for ident, frame in sys._current_frames().items():
            waits_in = []
            current: FrameType | None = frame
            while current is not None:
                waits_in.append(current.f_code)
                current = current.f_back
            for code in reversed(waits_in):
                self._note(names.get(ident, ""), code)
        self._open = True
        try:
            yield
        finally:
            self._open = False

    @staticmethod
    def where_threads_stand(but: int) -> dict[int, tuple[int, int]]:
        """The instruction each thread of the process is at, but for one."""
        return {ident: (id(frame), frame.f_lasti) for ident, frame in sys._current_frames().items() if ident != but}

    def _profile(self, frame: FrameType, event: str, argument: object) -> None:
        if self._open and event == "call":
            self._note(threading.current_thread().name, frame.f_code)

    def _note(self, thread: str, code: CodeType) -> None:
        path = Path(code.co_filename)
        if LIBRARY not in path.parents or "<" in code.co_qualname:
            return
        function = (path.relative_to(LIBRARY).as_posix(), code.co_qualname)
        functions = self.functions.setdefault(thread, [])
        if function not in functions and not self._is_aside(function):
            functions.append(function)
