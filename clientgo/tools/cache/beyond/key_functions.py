"""Key functions of users, which must return a key. No Go file: Go's compiler rejects one without a return."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from clientgo.golang.stop import describe_function


def checked_key_func(key_func: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return a key function that raises TypeError in place of returning None, which would be the key of every object.

    The library's own functions stay as they are.
    """
    if (getattr(key_func, "__module__", None) or "").startswith("clientgo."):
        return key_func

    @functools.wraps(key_func)
    def checked(obj: Any) -> str:
        key = key_func(obj)
        if key is None:
            raise TypeError(f"{describe_function(key_func)} returned None: a key function returns the object's key")
        return key

    return checked
