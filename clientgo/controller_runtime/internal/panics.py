"""What stands for a panic. Has no Go file: in Go a panic is no error, in Python both are exceptions.

What Go calls a panic is here an exception that no program raises on purpose: a bug, such as an AttributeError of None
or a failed assertion. All other exceptions are errors.
"""

from __future__ import annotations

from clientgo.klog.serialize import to_string

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
    """Return the text of an assertion; of other exceptions the type too, since `'a'` alone does not explain a KeyError.

    Never raises.
    """
    text = to_string(err)
    return text if type(err) is AssertionError and text else f"{type(err).__name__}: {text}"
