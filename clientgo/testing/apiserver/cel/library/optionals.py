"""Optional values, and the maps that macros build. Mirrors cel-go's cel/library.go."""

from __future__ import annotations

from typing import Any

from clientgo.testing.apiserver.cel.common.types import BOOL, MAP_AB, OPTIONAL_A, A, B, list_of, optional_of
from clientgo.testing.apiserver.cel.common.values import NONE, EvalError, Optional, key_of
from clientgo.testing.apiserver.cel.library.declare import Function, must, no_overload


def _of_non_zero(value: Any) -> Optional:
    empty = value is None or (isinstance(value, bool | int | float | str | bytes | list | dict) and not value)
    return NONE if empty else Optional(True, value)


def _value(given: Any) -> Any:
    must(Optional, "value", given)
    if not given.present:
        raise EvalError("optional.none() dereference")
    return given.value


def _has_value(given: Any) -> bool:
    must(Optional, "hasValue", given)
    return bool(given.present)


def _insert(into: Any, *more: Any) -> dict[Any, Any]:
    """Insert one entry, or all entries of a map, into the map that a macro builds.

    Raises EvalError for a repeated key.
    """
    if not isinstance(into, dict):
        raise no_overload("cel.@mapInsert", into, *more)
    if len(more) == 2:
        pairs = [(key_of(more[0]), more[1])]
    elif isinstance(more[0], dict):
        pairs = list(more[0].items())
    else:
        raise no_overload("cel.@mapInsert", into, *more)
    for key, value in pairs:
        if key in into:
            raise EvalError(f"insert failed: key {key} already exists")
        into[key] = value
    return into


def _unwrap(items: Any) -> list[Any]:
    must(list, "optional.unwrap", items)
    return [item.value for item in items if isinstance(item, Optional) and item.present]


FUNCTIONS = [
    Function("optional.of", lambda value: Optional(True, value)).call(A, to=OPTIONAL_A),
    Function("optional.ofNonZeroValue", _of_non_zero).call(A, to=OPTIONAL_A),
    Function("optional.none", lambda: NONE).call(to=OPTIONAL_A),
    Function("optional.unwrap", _unwrap).call(list_of(OPTIONAL_A), to=list_of(A)),
    Function("unwrapOpt", _unwrap).method(list_of(OPTIONAL_A), to=list_of(A)),
    Function("value", _value).method(OPTIONAL_A, to=A),
    Function("hasValue", _has_value).method(OPTIONAL_A, to=BOOL),
    # The interpreter's own: the other side is evaluated only when it is needed.
    Function("or", no_overload).method(OPTIONAL_A, OPTIONAL_A, to=OPTIONAL_A),
    Function("orValue", no_overload).method(OPTIONAL_A, A, to=A),
    # Its body is never called either; the result is the type of a map's value behind an optional.
    Function("_?._", no_overload).call(MAP_AB, A, to=optional_of(B)),
    Function("cel.@mapInsert", _insert).call(MAP_AB, A, B, to=MAP_AB).call(MAP_AB, MAP_AB, to=MAP_AB),
]
