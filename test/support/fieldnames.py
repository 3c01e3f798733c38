"""The fields of a class of API objects, as help() shows them."""

from __future__ import annotations

import functools
import inspect

from clientgo.apimachinery.runtime import Struct


@functools.cache
def field_names(cls: type[Struct]) -> tuple[str, ...]:
    """Return the Python names of the class's fields, in Go's order."""
    return tuple(inspect.signature(cls).parameters)
