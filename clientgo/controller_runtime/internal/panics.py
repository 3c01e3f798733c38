"""The distinction between panics and errors. No Go file: Go's panics are not errors; in Python both are exceptions.

Go's panics correspond to exceptions that no program raises on purpose, such as an AttributeError of None or a failed
assertion. All other exceptions are errors.
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
    """Report whether the exception indicates a bug, as a panic of the Go runtime does."""
    return isinstance(err, _BUGS)


def describe_panic(err: BaseException) -> str:
    """Return one line that describes the exception: an assertion's text, otherwise the type and the text. Never raises.

    The type is needed because `'a'` alone does not explain a KeyError.
    """
    text, name = to_string(err).strip().partition("\n")[0], type(err).__name__
    if not text:
        return name
    return text if type(err) is AssertionError else f"{name}: {text}"
