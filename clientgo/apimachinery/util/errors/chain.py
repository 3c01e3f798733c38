"""Follow an exception to what caused it, as Go's standard `errors.Is` and `errors.As` follow wrapped errors.

Where Go wraps with %w the port writes `raise X from err`; these functions walk that `__cause__` chain. `__context__`
(an exception that merely happened while another was handled) is not followed: Go knows no such link.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

E = TypeVar("E")


def chain(err: BaseException | None) -> Iterator[BaseException]:
    """The exception, its cause, the cause's cause and so on."""
    seen: set[int] = set()
    while err is not None and id(err) not in seen:
        seen.add(id(err))
        yield err
        err = err.__cause__


def as_type(err: BaseException | None, cls: type[E]) -> E | None:
    """The first exception of the chain that is a `cls`, or None. Go: errors.As.

    >>> outer = RuntimeError("outer")
    >>> outer.__cause__ = KeyError("inner")
    >>> as_type(outer, KeyError)
    KeyError('inner')
    """
    return next((each for each in chain(err) if isinstance(each, cls)), None)


def is_error(err: BaseException | None, target: object) -> bool:
    """True when the chain holds `target`: that very exception, one of that class, or one whose `is_` says so.

    Go: errors.Is. A sentinel error of Go is an exception class here, so `target` may be a class.
    """
    for each in chain(err):
        if each is target or (isinstance(target, type) and isinstance(each, target)):
            return True
        is_ = getattr(each, "is_", None)
        if is_ is not None and is_(target):
            return True
    return False
