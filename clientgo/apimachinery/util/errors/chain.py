"""Functions that follow an exception's causes, as Go's `errors.Is` and `errors.As` follow wrapped errors.

Where Go wraps with %w, this port writes `raise X from err`; these functions follow that `__cause__` chain. They ignore
`__context__` (an exception during the handling of another one), which has no counterpart in Go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

E = TypeVar("E")


def chain(err: BaseException | None) -> Iterator[BaseException]:
    """Yield the exception, its cause, the cause's cause and so on."""
    seen: set[int] = set()
    while err is not None and id(err) not in seen:
        seen.add(id(err))
        yield err
        err = err.__cause__


def as_type(err: BaseException | None, cls: type[E]) -> E | None:
    """Return the first exception of the chain that is a `cls`, or None. Go: errors.As.

    >>> outer = RuntimeError("outer")
    >>> outer.__cause__ = KeyError("inner")
    >>> as_type(outer, KeyError)
    KeyError('inner')
    """
    return next((each for each in chain(err) if isinstance(each, cls)), None)


def is_error(err: BaseException | None, target: object) -> bool:
    """Report whether the chain contains `target`: the exception itself, an instance, or a match by its `is_` method.

    A sentinel error of Go is an exception class here, so `target` may be a class. Go: errors.Is.
    """
    for each in chain(err):
        if each is target or (isinstance(target, type) and isinstance(each, target)):
            return True
        is_ = getattr(each, "is_", None)
        if is_ is not None and is_(target):
            return True
    return False
