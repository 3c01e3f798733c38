"""Names of a package that import their module when they are first asked for (PEP 562). No Go file: Go links them in.

A package here passes on the names of all its modules, as a Go package has the names of all its files. What few programs
use need not be loaded by all of them: a module costs a start about half a millisecond.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["later"]


def later(package: str, modules: Mapping[str, Iterable[str]]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package, for the names of its `modules`.

        if TYPE_CHECKING:
            from clientgo.klog.flags import add_flags, init_flags
        else:
            __getattr__, __dir__ = later(__name__, {"flags": ["add_flags", "init_flags"]})

    Type checkers know nothing of it and so import all. A name that was asked for is a plain one from then on.
    """
    homes = {name: f"{package}.{module}" for module, names in modules.items() for name in names}

    def get(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get, names
