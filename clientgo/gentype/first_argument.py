"""A check for calls without a context, as in code for older versions of client-go. No Go file."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from clientgo.context import Context

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


def takes_context(method: F) -> F:
    """Decorate a method so that a call without a context raises a TypeError that explains this.

    Python's own error would name the last argument, which is only missing because the first one is.
    """

    @functools.wraps(method)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        ctx = args[0] if args else kwargs.get("ctx")
        if not isinstance(ctx, Context):
            got = f"; got {ctx!r}" if args or kwargs else ""
            raise TypeError(f"{method.__name__}: the first argument is a context, such as context.background(){got}")
        return method(self, *args, **kwargs)

    return cast(F, checked)


def methods_take_context(cls: C) -> C:
    """Apply takes_context to each public method of the class itself that has a context. A class decorator."""
    for name, method in list(vars(cls).items()):
        code = getattr(method, "__code__", None)
        if not name.startswith("_") and code is not None and code.co_varnames[1:2] == ("ctx",):
            setattr(cls, name, takes_context(method))
    return cls
