"""The cost of evaluation, in CEL's units. Mirrors cel-go's interpreter/runtimecost.go and Kubernetes' library/cost.go.

The cost of a call is charged before the call, so a call that is too expensive is not made. Differs where Go's cost
understates the time in Python: `==` of lists and maps counts all elements, and concatenation of lists is not free.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from clientgo.apimachinery.api.resource import Quantity
from clientgo.testing.apiserver.cel.common.values import Cidr, Format, Semver, Url, size

TRAVERSAL = 0.1
REGEX = 0.25
LIST, MAP, STRUCT = 10, 30, 40
AUTHORIZATION = 350_000
_CHEAP = (Quantity, Cidr, Format, Url, Semver)
# Up to this size the concatenation of lists has Go's cost.
_SHORT_LIST = 1000


def call_cost(function: str, args: tuple[Any, ...]) -> int:
    """Return the cost of one call: 1 for functions without a cost of their own."""
    of = _COSTS.get(function)
    return 1 if of is None else of(args)


def _part(count: float, factor: float = TRAVERSAL) -> int:
    return math.ceil(count * factor)


def _first(factor: float) -> Callable[[tuple[Any, ...]], int]:
    return lambda args: _part(size(args[0]), factor)


def _last(args: tuple[Any, ...]) -> int:
    return size(args[-1])


def _prefix(args: tuple[Any, ...]) -> int:
    return _part(size(args[0]))


def _equal(args: tuple[Any, ...]) -> int:
    one, other = args
    if isinstance(one, _CHEAP):
        return 1
    small = min(size(one), size(other))
    if isinstance(one, list | dict) and isinstance(other, list | dict) and small:
        return max(_part(small), min(traversal(one), traversal(other)) // 10)
    return _part(small)


def _compare(args: tuple[Any, ...]) -> int:
    return _part(min(size(args[0]), size(args[1]))) if isinstance(args[0], str | bytes) else 1


def _add(args: tuple[Any, ...]) -> int:
    one, other = args
    if isinstance(one, str | bytes) and isinstance(other, str | bytes):
        return _part(len(one) + len(other))
    if isinstance(one, list) and isinstance(other, list):
        return max(1, (len(one) + len(other)) // _SHORT_LIST)
    return 1


def _in(args: tuple[Any, ...]) -> int:
    return size(args[1]) if isinstance(args[1], list) else 1


def _pattern(args: tuple[Any, ...]) -> int:
    return _part(1.0 + size(args[0])) * _part(size(args[1]), REGEX)


def _contains(args: tuple[Any, ...]) -> int:
    return _part(size(args[0])) * _part(size(args[1]))


def _convert(args: tuple[Any, ...]) -> int:
    return _part(size(args[0])) if isinstance(args[0], str | bytes) else 1


def _join(args: tuple[Any, ...]) -> int:
    items = args[0] if isinstance(args[0], list) else []
    separators = size(args[1]) * max(0, len(items) - 1) if len(args) > 1 else 0
    return _part(sum(map(size, items)) + separators, 2 * TRAVERSAL)


def _traversal(args: tuple[Any, ...]) -> int:
    return traversal(args[0])


def _validate(args: tuple[Any, ...]) -> int:
    form = args[0].regex_size if isinstance(args[0], Format) else 0
    return _part(1.0 + size(args[1])) * _part(form, REGEX)


def _ip(args: tuple[Any, ...]) -> int:
    return 1 if isinstance(args[0], Cidr) else _part(size(args[0]))


def _contains_ip(args: tuple[Any, ...]) -> int:
    own = _part(2 * size(args[0]))
    return own + (_part(size(args[1])) if isinstance(args[1], str) else 0)


def _contains_cidr(args: tuple[Any, ...]) -> int:
    return _contains_ip(args) + _part(size(args[0])) + 1


def _sorted(args: tuple[Any, ...]) -> int:
    count = size(args[0])
    return count * max(1, count.bit_length())


def _range(args: tuple[Any, ...]) -> int:
    return max(1, args[0]) if isinstance(args[0], int) else 1


def traversal(value: Any) -> int:
    """Return the cost of visiting a value and everything in it."""
    if isinstance(value, str | bytes):
        return int(len(value) * TRAVERSAL)
    if isinstance(value, list):
        return sum(map(traversal, value))
    if isinstance(value, dict):
        return sum(traversal(key) + traversal(item) for key, item in value.items())
    return 1


_COSTS: dict[str, Callable[[tuple[Any, ...]], int]] = {
    "_==_": _equal,
    "_!=_": _equal,
    "_<_": _compare,
    "_<=_": _compare,
    "_>_": _compare,
    "_>=_": _compare,
    "_+_": _add,
    "@in": _in,
    "startsWith": _prefix,
    "endsWith": _prefix,
    "string": _convert,
    "bytes": _convert,
    "contains": _contains,
    "matches": _pattern,
    "find": _pattern,
    "findAll": _pattern,
    "format": _prefix,
    "strings.quote": _prefix,
    "lowerAscii": _prefix,
    "upperAscii": _prefix,
    "substring": _prefix,
    "trim": _prefix,
    "replace": _first(2 * TRAVERSAL),
    "split": _first(2 * TRAVERSAL),
    "join": _join,
    "isSorted": _traversal,
    "sum": _traversal,
    "min": _traversal,
    "max": _traversal,
    "indexOf": _traversal,
    "lastIndexOf": _traversal,
    "sort": _sorted,
    "@sortByAssociatedKeys": _sorted,
    "distinct": _sorted,
    "reverse": _last,
    "flatten": _traversal,
    "slice": _first(1.0),
    "sets.contains": lambda args: 1 + size(args[0]) * size(args[1]),
    "sets.equivalent": lambda args: 1 + 2 * size(args[0]) * size(args[1]),
    "sets.intersects": lambda args: 1 + size(args[0]) * size(args[1]),
    "lists.range": _range,
    "url": _prefix,
    "isURL": _prefix,
    "cidr": _prefix,
    "isIP": _prefix,
    "isCIDR": _prefix,
    "ip": _ip,
    "ip.isCanonical": _first(2 * TRAVERSAL),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "quantity": _prefix,
    "isQuantity": _prefix,
    "semver": _prefix,
    "isSemver": _prefix,
    "validate": _validate,
    "check": lambda args: AUTHORIZATION,
}
