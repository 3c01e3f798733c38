"""A bound for the CEL expressions of one object. Not in Go, where compiling takes microseconds and not milliseconds.

Kubernetes bounds one expression (100,000 code points) and the cost of evaluating a CRD's rules, but not the number of
expressions. A request of 3 MiB could contain 150,000 of them.
"""

from __future__ import annotations

from typing import Any, Final

from clientgo.testing.apiserver.wire.errors import FieldError, field_forbidden

__all__ = ["MAX_EXPRESSION_TEXT", "check_expression_texts"]

# Code points of all expressions of an object. The largest CRDs in use have a tenth of it.
MAX_EXPRESSION_TEXT: Final = 256 * 1024

# The cost of an expression in addition to its text, in code points.
_EACH: Final = 16

_NAMES: Final = frozenset(("expression", "messageExpression", "rule", "valueExpression"))


def check_expression_texts(value: Any, path: str) -> list[FieldError]:
    """Return an error if the value's expressions take too long to compile. Equal expressions are compiled again."""
    total = 0
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict):
            total += sum(
                len(text) + _EACH for name, text in inner.items() if name in _NAMES and isinstance(text, str) and text
            )
            waiting += inner.values()
        elif isinstance(inner, (list, tuple)):
            waiting += inner
    if total <= MAX_EXPRESSION_TEXT:
        return []
    text = f"the CEL expressions have more than {MAX_EXPRESSION_TEXT} code points"
    return [field_forbidden(path, f"{text} (each counts {_EACH} more than its text)")]
