"""Lists and sets. Mirrors Kubernetes' pkg/cel/library/lists.go and cel-go's ext/lists.go and ext/sets.go."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

from clientgo.testing.apiserver.cel.common.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    INT,
    LIST_A,
    LIST_DYN,
    OPTIONAL_A,
    STRING,
    TIMESTAMP,
    UINT,
    A,
    Type,
    list_of,
)
from clientgo.testing.apiserver.cel.common.values import (
    NONE,
    Duration,
    EvalError,
    Optional,
    equal,
    frozen,
)
from clientgo.testing.apiserver.cel.library import strings
from clientgo.testing.apiserver.cel.library.declare import Function, check_size, must, no_overload
from clientgo.testing.apiserver.cel.library.operators import FUNCTIONS as OPERATORS
from clientgo.testing.apiserver.cel.library.operators import comparable

_ORDERED = (INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES)
_add = next(function.body for function in OPERATORS if function.name == "_+_")


def _less_equal(one: Any, other: Any) -> bool:
    if not comparable(one, other):
        raise no_overload()
    return bool(one <= other)


def _is_sorted(items: Any) -> bool:
    must(list, "isSorted", items)
    return all(_less_equal(one, other) for one, other in itertools.pairwise(items))


def _sum(items: Any) -> Any:
    must(list, "sum", items)
    if not items:
        return 0
    total = items[0]
    if not isinstance(total, int | float | Duration) or isinstance(total, bool):
        raise no_overload()
    for item in items[1:]:
        total = _add(total, item)
    return total


def _extreme(name: str, better: Callable[[Any, Any], bool]) -> Function:
    def body(items: Any) -> Any:
        must(list, name, items)
        if not items:
            raise EvalError(f"{name} called on empty list")
        best = items[0]
        for item in items[1:]:
            if better(item, best):
                best = item
        return best

    return Function(name, body)


def _index_of(items: Any, item: Any, *more: Any) -> int:
    if isinstance(items, str):
        if not isinstance(item, str) or not all(type(one) is int for one in more):
            raise no_overload("indexOf", items, item, *more)
        return strings.index_of(items, item, *more)
    must(list, "indexOf", items, item)
    return next((i for i, one in enumerate(items) if equal(one, item)), -1)


def _last_index_of(items: Any, item: Any, *more: Any) -> int:
    if isinstance(items, str):
        if not isinstance(item, str) or not all(type(one) is int for one in more):
            raise no_overload("lastIndexOf", items, item, *more)
        return strings.last_index_of(items, item, *more)
    must(list, "lastIndexOf", items, item)
    return next((i for i in range(len(items) - 1, -1, -1) if equal(items[i], item)), -1)


# ---- cel-go's own


def _slice(items: Any, start: Any, end: Any) -> list[Any]:
    must(list, "slice", items, start, end)
    if type(start) is not int or type(end) is not int:
        raise no_overload("slice", items, start, end)
    if start < 0 or end < 0:
        raise EvalError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvalError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(items):
        raise EvalError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return list(items[start:end])


def _flatten(items: Any, depth: Any = 1) -> list[Any]:
    must(list, "flatten", items, depth)
    if type(depth) is not int:
        raise no_overload("flatten", items, depth)
    if depth < 0:
        raise EvalError("level must be non-negative")
    flat = items
    for _ in range(min(depth, 200)):
        if not any(isinstance(item, list) for item in flat):
            break
        flat = [inner for item in flat for inner in (item if isinstance(item, list) else [item])]
    return list(flat)


def _order(one: Any, other: Any) -> int:
    return 0 if equal(one, other) else -1 if _less_equal(one, other) else 1


def _sort(items: Any) -> list[Any]:
    must(list, "sort", items)
    return sorted(items, key=cmp_to_key(_order))


def _sort_by(items: Any, keys: Any) -> list[Any]:
    indexes = sorted(range(len(items)), key=cmp_to_key(lambda one, other: _order(keys[one], keys[other])))
    return [items[place] for place in indexes]


def _range(count: Any) -> list[int]:
    must(int, "lists.range", count)
    check_size(count)
    return list(range(count))


def _reverse(items: Any) -> list[Any]:
    must(list, "reverse", items)
    return list(reversed(items))


def _distinct(items: Any) -> list[Any]:
    must(list, "distinct", items)
    found: dict[Any, Any] = {}
    for item in items:
        found.setdefault(frozen(item), item)
    return list(found.values())


def _first(items: Any) -> Optional:
    must(list, "first", items)
    return Optional(True, items[0]) if items else NONE


def _last(items: Any) -> Optional:
    must(list, "last", items)
    return Optional(True, items[-1]) if items else NONE


# ---- sets


def _contains(items: Any, others: Any) -> bool:
    if not (isinstance(items, list) and isinstance(others, list)):
        raise no_overload("sets.contains", items, others)
    known = {frozen(item) for item in items}
    return all(frozen(item) in known for item in others)


def _equivalent(items: Any, others: Any) -> bool:
    return _contains(items, others) and _contains(others, items)


def _intersects(items: Any, others: Any) -> bool:
    if not (isinstance(items, list) and isinstance(others, list)):
        raise no_overload("sets.intersects", items, others)
    return not {frozen(item) for item in items}.isdisjoint(frozen(item) for item in others)


# ---- declarations


def _of_ordered(function: Function, result: Type | None = None) -> Function:
    """Add one overload for lists of each ordered type. It returns `result`, or an item's type if `result` is None."""
    for kind in _ORDERED:
        function.method(list_of(kind), to=result or kind)
    return function


def _sortable(function: Function, *more: Type) -> Function:
    for kind in _ORDERED:
        function.method(list_of(kind), *more, to=list_of(kind))
    return function


_SUM = Function("sum", _sum)
for _kind in (INT, UINT, DOUBLE, DURATION):
    _SUM.method(list_of(_kind), to=_kind)
_SORT_BY = Function("@sortByAssociatedKeys", _sort_by)
for _kind in _ORDERED:
    _SORT_BY.method(LIST_A, list_of(_kind), to=LIST_A)

FUNCTIONS = [
    _of_ordered(Function("isSorted", _is_sorted), BOOL),
    _SUM,
    _of_ordered(_extreme("min", lambda one, best: not _less_equal(best, one))),
    _of_ordered(_extreme("max", lambda one, best: not _less_equal(one, best))),
    Function("indexOf", _index_of)
    .method(LIST_A, A, to=INT)
    .method(STRING, STRING, to=INT)
    .method(STRING, STRING, INT, to=INT),
    Function("lastIndexOf", _last_index_of)
    .method(LIST_A, A, to=INT)
    .method(STRING, STRING, to=INT)
    .method(STRING, STRING, INT, to=INT),
    Function("slice", _slice).method(LIST_A, INT, INT, to=LIST_A),
    Function("flatten", _flatten)
    .method(list_of(LIST_A), to=LIST_A)
    .method(LIST_DYN, to=LIST_DYN)
    .method(LIST_DYN, INT, to=LIST_DYN),
    _sortable(Function("sort", _sort)),
    _SORT_BY,
    Function("lists.range", _range).call(INT, to=list_of(INT)),
    Function("reverse", _reverse).method(LIST_A, to=LIST_A),
    Function("distinct", _distinct).method(LIST_A, to=LIST_A),
    Function("first", _first).method(LIST_A, to=OPTIONAL_A),
    Function("last", _last).method(LIST_A, to=OPTIONAL_A),
    Function("sets.contains", _contains).call(LIST_A, LIST_A, to=BOOL),
    Function("sets.equivalent", _equivalent).call(LIST_A, LIST_A, to=BOOL),
    Function("sets.intersects", _intersects).call(LIST_A, LIST_A, to=BOOL),
]
