"""The patterns of schemas, on an engine whose time is linear in the text.

That is RE2, as Go's regexp is, if google-re2 is installed (`pip install 'clientgo[cel]'`), and linear_regex.py, which
has a part of its syntax, if not. A pattern never runs on Python's `re`, where a short text can take hours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from clientgo.testing.apiserver.cel.common.values import EvalError
from clientgo.testing.apiserver.cel.library import regex
from clientgo.testing.apiserver.kinds import linear_regex


class PatternError(ValueError):
    """The error of a pattern that is invalid or that no installed engine can run.

    The message is the detail of an error of the pattern's field.
    """


def check(pattern: str) -> None:
    """Raise PatternError if a schema cannot have this pattern."""
    if regex.AVAILABLE:
        _re2(pattern)
    else:
        _linear(pattern)


def search(pattern: str, text: str) -> bool:
    """Report whether the pattern matches anywhere in the text. Raises PatternError."""
    if regex.AVAILABLE:
        return _re2(pattern)(text)
    try:
        return _linear(pattern).search(text)
    except linear_regex.TooMuchWork:
        raise PatternError(f"it takes too long here: {regex.MISSING}") from None


def _re2(pattern: str) -> Callable[[str], bool]:
    try:
        compiled = regex.compile_schema_pattern(pattern)
    except EvalError as err:
        raise PatternError(f"must be a valid regular expression, but isn't: {err}") from None
    return lambda text: compiled.search(text) is not None


@lru_cache(maxsize=64)
def _linear(pattern: str) -> linear_regex.Pattern:
    try:
        return linear_regex.Pattern(pattern)
    except linear_regex.Unsupported as err:
        raise PatternError(f"cannot be run because of {err}: {regex.MISSING}") from None
