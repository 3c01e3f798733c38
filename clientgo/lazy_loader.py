"""Lazy loading of a package's names: importing a name's module when the name is first used (PEP 562). No Go file.

A package re-exports the names of all its modules, as a Go package has the names of all its files. Most programs use few
of them, so a package attaches the rarely used modules here. test/bench/start measures what a program saves.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["attach", "importer"]


def attach(package: str, modules: Mapping[str, Iterable[str]]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that re-exports names of its `modules`.

        if TYPE_CHECKING:
            from clientgo.klog.flags import add_flags, init_flags
        else:
            __getattr__, __dir__ = attach(__name__, {"flags": ["add_flags", "init_flags"]})

    Type checkers read only the first branch. The first access to a name imports its module, which may block, and makes
    the name an ordinary attribute of the package. Thread-safe, like an import.
    """
    module_of = {name: f"{package}.{module}" for module, names in modules.items() for name in names}

    def get(name: str) -> Any:
        module = module_of.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        found = {*vars(sys.modules[package]), *module_of}
        if vars(sys.modules[package]).get("attach") is attach and "attach" not in module_of:
            found.remove("attach")  # the package imported this function for itself
        return sorted(found)

    return get, names


def importer(*modules: str) -> Callable[[], None]:
    """Return a function that imports modules at its first call, in one thread; calls of other threads wait for it.

    For the functions of a program's threads that import a package by different modules. Python detects that two of
    these threads wait for each other, and one of them then gets a partially initialized module and an ImportError.
    """
    lock = threading.Lock()
    is_done = threading.Event()

    def import_all() -> None:
        if is_done.is_set():
            return
        with lock:
            for module in modules:
                import_module(module)
        is_done.set()

    return import_all
