"""Validation of literals: durations, timestamps and patterns, before evaluation. Mirrors cel-go's cel/validator.go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clientgo.testing.apiserver.cel.checker import Checked
from clientgo.testing.apiserver.cel.common.values import EvalError
from clientgo.testing.apiserver.cel.library import regex
from clientgo.testing.apiserver.cel.library.standard import to_duration, to_timestamp
from clientgo.testing.apiserver.cel.source import Issues
from clientgo.testing.apiserver.cel.syntax import (
    Call,
    Comprehension,
    Expr,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    Struct,
)


def _pattern(value: Any) -> None:
    if isinstance(value, str) and regex.AVAILABLE:
        regex.compile_pattern(value)


# By function: the last argument is the literal.
_CHECKED: dict[str, Callable[[Any], Any]] = {"duration": to_duration, "timestamp": to_timestamp, "matches": _pattern}


def check(source: str, checked: Checked) -> None:
    """Raise CompileError if a literal duration, timestamp or pattern is invalid."""
    if checked.functions.isdisjoint(_CHECKED):
        return
    issues = Issues(source)
    _walk(checked.expr, issues)
    issues.check()


def _walk(expr: Expr, issues: Issues) -> None:
    if isinstance(expr, Call):
        test = _CHECKED.get(expr.function)
        last = expr.args[-1] if expr.args else None
        if test is not None and isinstance(last, Literal):
            try:
                test(last.value)
            except EvalError:
                issues.add(last.pos, f"invalid {expr.function} argument")
    for below in children(expr):
        _walk(below, issues)


def children(expr: Expr) -> list[Expr]:
    """Return the direct children of a node."""
    match expr:
        case Select():
            return [expr.operand]
        case Call():
            return [*([] if expr.target is None else [expr.target]), *expr.args]
        case ListExpr():
            return expr.items
        case MapExpr():
            return [one for entry in expr.entries for one in entry[:2]]
        case Struct():
            return [field[1] for field in expr.fields]
        case Comprehension():
            return [expr.range, expr.init, expr.condition, expr.step, expr.result]
    return []
