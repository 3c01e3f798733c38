"""The functions through which an event passes, in one table to which observers attach.

A function joins the table where it is defined:

    @hop("fifo.append", go="(*RealFIFO).addToItems_locked")
    def _append_locked(self, delta: Delta) -> None: ...

The decorator returns the function itself, so a hop costs nothing until an observer attaches. An observer such as the
informer tour ([taps.py](tour/taps.py)) names a hop, not a function. So a function may be renamed or moved without a
change elsewhere. The table has the hops of the modules that are imported.

There is no Go counterpart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType, MappingProxyType
from typing import NamedTuple, TypeVar

__all__ = ["TABLE", "HopFunction", "hop"]

_F = TypeVar("_F", bound=Callable[..., object])

_table: dict[str, HopFunction] = {}


class HopFunction(NamedTuple):
    """A function at which an event can be observed."""

    name: str
    """The station, a dot and the step: "fifo.append"."""

    function: FunctionType
    go_file: str
    """The Go file of the same step: "tools/cache/the_real_fifo.go"."""

    go_function: str
    """The Go function of the same step: "(*RealFIFO).addToItems_locked"; "" if Go has none."""

    @property
    def station(self) -> str:
        """The part of the machinery: "fifo"."""
        return self.name.partition(".")[0]

    @property
    def module(self) -> str:
        """The dotted name of the function's module."""
        return self.function.__module__

    @property
    def qualname(self) -> str:
        """The function's name with its class: "RealFIFO.add"."""
        return self.function.__qualname__


TABLE: Mapping[str, HopFunction] = MappingProxyType(_table)
"""All hops of the imported modules, by name."""


def hop(name: str, *, go: str = "", go_file: str = "") -> Callable[[_F], _F]:
    """Return a decorator that adds a function to the table and returns the function unchanged.

    name: the station, a dot and the step.
    go: the Go function of the same step; "" if Go has none.
    go_file: the Go file; by default the module's path with the ending .go.

    The decorator raises ValueError if another function has the name, TypeError if its argument is no Python function.
    """

    def add(function: _F) -> _F:
        if not isinstance(function, FunctionType):
            raise TypeError(f"hop {name!r} needs a function, not {function!r}")
        place = (function.__module__, function.__qualname__)
        known = _table.get(name)
        if known is not None and (known.module, known.qualname) != place:
            raise ValueError(f"hop {name!r} is {known.qualname} of {known.module} already")
        path = function.__module__.partition(".")[2].replace(".", "/")
        _table[name] = HopFunction(name, function, go_file or f"{path}.go", go)
        return function

    return add
