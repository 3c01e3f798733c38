"""Calls of the user's functions that decide something: filters, predicates, conditions. No Go file.

A Go function that returns a bool cannot lack its `return`. A Python function without one returns None, which counts as
False and silently drops every event; an `async` function returns a coroutine, which counts as True.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any

from clientgo.golang.functions import call_named, describe_function
from clientgo.klog.klog import warning

__all__ = ["is_true"]

# The lines that were logged. A function that the program creates repeatedly is logged once, by its name and place.
_logged: set[str] = set()


def is_true(function: Callable[..., Any], *args: Any) -> bool:
    """Call `function` and return the truth value of its result. Logs once per function that the result is no bool.

    This concerns only None, coroutines, generators, exceptions, and a tuple of a bool and an error as in Go, which are
    mistakes of `function`. Other values are common in Python: a match, a list. Raises the errors of `function`.
    """
    result = call_named(function, *args)
    if result is True or result is False:
        return result
    return _is_true(result, function)


def _is_true(result: object, function: Callable[..., Any]) -> bool:
    if result is None:
        _log(function, "returned None, which counts as False: return True or False")
    elif isinstance(result, Coroutine):
        result.close()  # Python would warn that nothing awaited it, without the remedy.
        _log(function, "returned a coroutine, which counts as True: define it with def, not async def")
    elif isinstance(result, (Generator, AsyncGenerator)):
        _log(function, "returned a generator, which counts as True: return True or False, without yield")
    elif isinstance(result, tuple) and result and isinstance(result[0], bool):
        _log(function, "returned a tuple, which counts as True: return only True or False, and raise errors")
    elif isinstance(result, BaseException):
        _log(function, "returned an exception, which counts as True: raise it")
        return True  # also if its class has a truth value of its own
    return bool(result)


def _log(function: Callable[..., Any], problem: str) -> None:
    line = f"{describe_function(function)} {problem}"
    if line not in _logged:  # Atomic, as is add: two threads that call at the same moment may log it twice.
        _logged.add(line)
        warning(line)
