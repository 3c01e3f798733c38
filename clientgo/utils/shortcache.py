"""A cache of a function's results for short arguments only. No Go file: Go's caches are written by hand.

functools.lru_cache bounds the number of results, not their size. A cache of results for texts from a network would
keep a thousand texts of a megabyte each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sized
from typing import Concatenate, ParamSpec, TypeVar

__all__ = ["short_cache"]

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=Sized)


def short_cache(
    maxsize: int, longest: int = 256
) -> Callable[[Callable[Concatenate[S, P], R]], Callable[Concatenate[S, P], R]]:
    """Return a decorator that caches the results for first arguments of at most `longest` characters or elements.

    The cache keeps the `maxsize` results that were used last. A longer argument calls the function. Thread-safe.
    """

    def decorate(function: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
        cached = functools.lru_cache(maxsize)(function)

        @functools.wraps(function)
        def call(argument: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            if len(argument) > longest:
                return function(argument, *args, **kwargs)
            return cached(argument, *args, **kwargs)  # type: ignore[arg-type]  # Hashable cannot be said of P.

        return call

    return decorate
