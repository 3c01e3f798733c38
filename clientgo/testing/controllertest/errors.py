"""The errors of a program under test, with their causes and their places."""

from __future__ import annotations

from collections.abc import Iterator

from clientgo.klog.exceptions import describe, location_of


def chain(err: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, its cause, the cause of that, and so on."""
    while err is not None:
        yield err
        err = err.__cause__ or err.__context__


def described(err: BaseException) -> str:
    """Return the type and the text of an error, and the line of the program where it arose."""
    return f"{describe(err)}{place(err)}"


def place(err: BaseException) -> str:
    """Return " at FILE:LINE in FUNCTION" for the innermost line of the program; "" without a traceback."""
    found = location_of(err)
    return f" at {found}" if found else ""
