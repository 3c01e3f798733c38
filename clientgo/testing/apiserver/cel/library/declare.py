"""Declarations of functions: under one name, overloads for the checker and one body for evaluation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from clientgo.testing.apiserver.cel.common.types import Type
from clientgo.testing.apiserver.cel.common.values import EvalError, type_name

# No result may be larger: replace, join and format can make one that no memory holds from little.
MAX_RESULT = 16 * 1024 * 1024
# In Go the values of one evaluation never grow beyond what their cost says; here some would.
_TOO_LARGE = "result exceeds limit of 16777216"


@dataclass(frozen=True, slots=True)
class Overload:
    """The types of one way to call a function. With `member`, the first argument is the target before the dot."""

    args: tuple[Type, ...]
    result: Type
    member: bool


@dataclass(frozen=True, slots=True)
class Function:
    """A function and its overloads.

    `body` gets the arguments in order, after the target of a method. It raises EvalError.
    """

    name: str
    body: Callable[..., Any]
    overloads: list[Overload] = field(default_factory=list)

    def call(self, *args: Type, to: Type) -> Function:
        """Add the overload `name(args)`, which returns `to`. Return the function itself."""
        self.overloads.append(Overload(args, to, member=False))
        return self

    def method(self, target: Type, *args: Type, to: Type) -> Function:
        """Add the overload `target.name(args)`, which returns `to`. Return the function itself."""
        self.overloads.append(Overload((target, *args), to, member=True))
        return self


def no_overload(function: str = "", *args: Any) -> EvalError:
    """Return the error of a call whose argument types, unknown to the checker, fit no overload."""
    shown = f": {function}({', '.join(map(type_name, args))})" if function else ""
    return EvalError(f"no such overload{shown}")


def check_size(count: int) -> None:
    """Raise EvalError if a result of `count` items or characters is too large."""
    if count > MAX_RESULT:
        raise EvalError(_TOO_LARGE)


def must(kind: type | tuple[type, ...], function: str, *args: Any) -> None:
    """Raise EvalError unless the first argument is of `kind`, which the checker cannot ensure for dyn."""
    if not isinstance(args[0], kind):
        raise no_overload(function, *args)
