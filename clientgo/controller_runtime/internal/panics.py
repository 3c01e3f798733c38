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

    One line. Never raises.
    """
    text, name = to_string(err).strip().partition("\n")[0], type(err).__name__
    if not text:
        return name
    return text if type(err) is AssertionError else f"{name}: {text}"
