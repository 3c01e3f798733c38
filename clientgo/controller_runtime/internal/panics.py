"""What stands for a panic. Has no Go file: in Go a panic is no error, in Python both are exceptions.

What Go calls a panic is here an exception that no program raises on purpose: a bug, such as an AttributeError of None
or a failed assertion. All other exceptions are errors.
"""

from __future__ import annotations

__all__ = ["describe_panic", "is_panic"]

_BUGS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    IndexError,
    KeyError,
    NameError,
    NotImplementedError,
    RecursionError,
    TypeError,
)


def is_panic(err: BaseException) -> bool:
    """Whether an exception tells of a bug, as a panic of the Go runtime does."""
    return isinstance(err, _BUGS)


def describe_panic(err: BaseException) -> str:
    """The text of an assertion says it all; `'a'` says too little of a KeyError."""
    return str(err) if type(err) is AssertionError and str(err) else f"{type(err).__name__}: {err}"
