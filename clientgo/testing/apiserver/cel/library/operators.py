"""Operators.

The interpreter evaluates && || and ?:, so these have only types. Mirrors cel-go's common/stdlib/standard.go.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from clientgo.testing.apiserver.cel.common.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    LIST_A,
    MAP_AB,
    OPTIONAL_A,
    STRING,
    TIMESTAMP,
    UINT,
    A,
    B,
    optional_of,
)
from clientgo.testing.apiserver.cel.common.values import (
    NONE,
    Duration,
    EvalError,
    Invalid,
    ObjectValue,
    Optional,
    Timestamp,
    TypedList,
    Uint,
    duration,
    equal,
    frozen,
    is_number,
    key_of,
    map_key,
    timestamp,
)
from clientgo.testing.apiserver.cel.library.declare import Function, check_size, no_overload

_NUMBERS = (INT, UINT, DOUBLE)


def number(value: int, kind: type) -> int:
    """Return an int, or a Uint if `kind` is Uint. Raises EvalError if 64 bits cannot hold the value."""
    if kind is Uint:
        if not 0 <= value < 1 << 64:
            raise EvalError("unsigned integer overflow")
        return Uint(value)
    if not -(1 << 63) <= value < 1 << 63:
        raise EvalError("integer overflow")
    return value


def _kind(one: Any, other: Any) -> type | None:
    """Return the common type of both numbers: int, Uint or float; None if they are not numbers of one type."""
    kind = type(one)
    return kind if kind is type(other) and kind in (int, Uint, float) else None


# ---- arithmetic


def _add(one: Any, other: Any) -> Any:
    kind = _kind(one, other)
    if kind is float:
        return one + other
    if kind is not None:
        return number(int(one) + int(other), kind)
    match one, other:
        case (str(), str()) | (bytes(), bytes()):
            check_size(len(one) + len(other))
            return one + other
        case list(), list():
            return _concat(one, other)
        case Duration(), Duration():
            return duration(one.nanos + other.nanos)
        case (Timestamp(), Duration()) | (Duration(), Timestamp()):
            return timestamp(one.nanos + other.nanos)
    raise no_overload()


def _concat(one: list[Any], other: list[Any]) -> list[Any]:
    """Concatenate two lists.

    If the first list is a set of the schema, the result has no duplicates. If it is a keyed list of the schema, an item
    of the second list replaces the item with the same key. Raises EvalError if the result is too large.
    """
    check_size(len(one) + len(other))
    kind = one if isinstance(one, TypedList) else None
    if kind is None or kind.kind not in ("set", "map"):
        return [*one, *other]
    key = frozen if kind.kind == "set" else lambda item: map_key(item, kind.keys)
    joined = {key(item): item for item in one}
    joined.update((key(item), item) for item in other)
    return TypedList(list(joined.values()), kind.kind, kind.keys)


def _subtract(one: Any, other: Any) -> Any:
    kind = _kind(one, other)
    if kind is float:
        return one - other
    if kind is not None:
        return number(int(one) - int(other), kind)
    match one, other:
        case Duration(), Duration():
            return duration(one.nanos - other.nanos)
        case Timestamp(), Duration():
            return timestamp(one.nanos - other.nanos)
        case Timestamp(), Timestamp():
            return duration(one.nanos - other.nanos)
    raise no_overload()


def _multiply(one: Any, other: Any) -> Any:
    kind = _kind(one, other)
    if kind is None:
        raise no_overload()
    return one * other if kind is float else number(int(one) * int(other), kind)


def _divide(one: Any, other: Any) -> Any:
    kind = _kind(one, other)
    if kind is None:
        raise no_overload()
    if kind is float:
        if other:
            return one / other
        return math.nan if not one or math.isnan(one) else math.copysign(math.inf, one) * math.copysign(1, other)
    if not other:
        raise EvalError("division by zero")
    quotient = abs(int(one)) // abs(int(other))
    return number(quotient if (one < 0) == (other < 0) else -quotient, kind)


def _modulo(one: Any, other: Any) -> Any:
    kind = _kind(one, other)
    if kind is None or kind is float:
        raise no_overload()
    if not other:
        raise EvalError("modulus by zero")
    rest = abs(int(one)) % abs(int(other))
    return number(-rest if one < 0 else rest, kind)


def _negate(value: Any) -> Any:
    if type(value) is float:
        return -value
    if type(value) is int:
        return number(-value, int)
    raise no_overload()


def _not(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    raise no_overload()


# ---- comparison


def comparable(one: Any, other: Any) -> bool:
    if is_number(one):
        return is_number(other)
    return type(one) is type(other) and isinstance(one, bool | str | bytes | Timestamp | Duration)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def body(one: Any, other: Any) -> bool:
        if not comparable(one, other):
            raise no_overload()
        return compare(one, other)

    return body


def is_in(value: Any, where: Any) -> bool:
    if isinstance(where, list):
        return any(equal(value, item) for item in where)
    if isinstance(where, dict) and not isinstance(where, ObjectValue):
        return not isinstance(value, bytes | list | dict) and value is not None and key_of(value) in where
    raise no_overload()


# ---- items


def at(where: Any, index: Any) -> Any:
    """Return an item of a list or map. Raises EvalError if there is none.

    For an optional, return an optional: the item of its value, or none.
    """
    if isinstance(where, Optional):
        return Optional(True, at(where.value, index)) if where.present and has(where.value, index) else NONE
    if isinstance(where, list):
        place = _place(index)
        if not 0 <= place < len(where):
            raise EvalError(f"index out of bounds: {place}")
        return checked(where[place])
    if isinstance(where, dict):
        key = key_of(index)
        if key not in where:
            raise EvalError(f"no such key: {_shown(index)}")
        return checked(where[key])
    raise no_overload()


def has(where: Any, index: Any) -> bool:
    if isinstance(where, list):
        return 0 <= _place(index) < len(where)
    if isinstance(where, dict):
        return key_of(index) in where
    raise no_overload()


def maybe_at(where: Any, index: Any) -> Optional:
    if isinstance(where, Optional):
        return maybe_at(where.value, index) if where.present else NONE
    return Optional(True, at(where, index)) if has(where, index) else NONE


def checked(value: Any) -> Any:
    """Return the value. Raises EvalError if it does not have the type that its schema declares."""
    if isinstance(value, Invalid):
        raise EvalError(value.why)
    return value


def _place(index: Any) -> int:
    if is_number(index) and (not isinstance(index, float) or index.is_integer()):
        return int(index)
    raise EvalError("unsupported index type 'string' in list" if isinstance(index, str) else "invalid index")


def _shown(index: Any) -> str:
    return str(index).lower() if isinstance(index, bool) else str(index)


# ---- declarations


def _arithmetic(name: str, body: Callable[..., Any], *kinds: Any) -> Function:
    function = Function(name, body)
    for kind in kinds:
        function.call(kind, kind, to=kind)
    return function


def _comparison(name: str, body: Callable[..., Any]) -> Function:
    function = Function(name, _ordered(body))
    for kind in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION):
        function.call(kind, kind, to=BOOL)
    for one in _NUMBERS:
        for other in _NUMBERS:
            if one is not other:
                function.call(one, other, to=BOOL)
    return function


def _never(*_: Any) -> Any:
    raise AssertionError("the interpreter evaluates this itself")


FUNCTIONS = [
    _arithmetic("_+_", _add, INT, UINT, DOUBLE, STRING, BYTES, LIST_A, DURATION)
    .call(TIMESTAMP, DURATION, to=TIMESTAMP)
    .call(DURATION, TIMESTAMP, to=TIMESTAMP),
    _arithmetic("_-_", _subtract, INT, UINT, DOUBLE, DURATION)
    .call(TIMESTAMP, DURATION, to=TIMESTAMP)
    .call(TIMESTAMP, TIMESTAMP, to=DURATION),
    _arithmetic("_*_", _multiply, INT, UINT, DOUBLE),
    _arithmetic("_/_", _divide, INT, UINT, DOUBLE),
    _arithmetic("_%_", _modulo, INT, UINT),
    Function("-_", _negate).call(INT, to=INT).call(DOUBLE, to=DOUBLE),
    Function("!_", _not).call(BOOL, to=BOOL),
    Function("_==_", equal).call(A, A, to=BOOL),
    Function("_!=_", lambda one, other: not equal(one, other)).call(A, A, to=BOOL),
    _comparison("_<_", operator.lt),
    _comparison("_<=_", operator.le),
    _comparison("_>_", operator.gt),
    _comparison("_>=_", operator.ge),
    Function("@in", is_in).call(A, LIST_A, to=BOOL).call(A, MAP_AB, to=BOOL),
    Function("_[_]", at)
    .call(LIST_A, INT, to=A)
    .call(MAP_AB, A, to=B)
    .call(optional_of(LIST_A), INT, to=OPTIONAL_A)
    .call(optional_of(MAP_AB), A, to=optional_of(B)),
    Function("_[?_]", maybe_at)
    .call(LIST_A, INT, to=OPTIONAL_A)
    .call(MAP_AB, A, to=optional_of(B))
    .call(optional_of(LIST_A), INT, to=OPTIONAL_A)
    .call(optional_of(MAP_AB), A, to=optional_of(B)),
    Function("_&&_", _never).call(BOOL, BOOL, to=BOOL),
    Function("_||_", _never).call(BOOL, BOOL, to=BOOL),
    Function("_?_:_", _never).call(BOOL, A, A, to=A),
    Function("@not_strictly_false", _never).call(BOOL, to=BOOL),
    Function("dyn", lambda value: value).call(A, to=DYN),
]
