"""Derives a name from the line of the program that makes the call. Mirrors pkg/util/naming/from_stack.go.

Differs from Go: modules are identified by their names, and the whole stack is searched instead of its first ten frames.
If the thread's stack begins in the library, Go names the function that started the goroutine. Python does not know it,
so the caller supplies the name for this case. Code that runs functions of other modules can supply the name too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

from clientgo.golang import callers

# Modules that asked for it. Changed only during imports.
_never: tuple[str, ...] = ()
_supplied: ContextVar[str] = ContextVar("call site", default="")


def get_name_from_callsite(*ignored_modules: str, default: str) -> str:
    """Return the nearest caller outside of these modules and their submodules as file:line, or `default`.

    Go: naming.GetNameFromCallsite.
    """
    if supplied := _supplied.get():
        return supplied
    ignored = (*ignored_modules, *_never)
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if not module.startswith(ignored) and not callers.is_inserted(frame.f_code.co_filename):
            file = frame.f_code.co_filename if module == "__main__" else module.replace(".", "/") + ".py"
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return default


def never_name_after(module: str) -> None:
    """Exclude a module and its submodules from every name, because it runs functions of other modules. Not in Go."""
    global _never
    if module not in _never:
        _never = (*_never, module)


@contextmanager
def call_site(name: str) -> Iterator[None]:
    """Use `name` for every call site in the body: for code that makes things in a program's place. Beyond Go."""
    token = _supplied.set(name)
    try:
        yield
    finally:
        _supplied.reset(token)
