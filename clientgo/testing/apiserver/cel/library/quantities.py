"""Quantities and versions. Mirrors Kubernetes' pkg/cel/library/quantity.go and semverlib.go."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from clientgo.apimachinery.api.resource import Quantity, new_quantity, parse_quantity
from clientgo.testing.apiserver.cel.common.types import BOOL, DOUBLE, INT, QUANTITY, SEMVER, STRING, Type
from clientgo.testing.apiserver.cel.common.values import EvalError, Semver
from clientgo.testing.apiserver.cel.library.declare import Function, must, no_overload

_NUMBER = r"(0|[1-9][0-9]{0,17})"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?"
)
_NUMERIC = re.compile(r"0|[1-9][0-9]{0,17}")
# No quantity is longer; its digits become one number.
_MAX_QUANTITY = 1000


# ---- quantities


def _quantity(text: Any) -> Quantity:
    must(str, "quantity", text)
    if len(text) > _MAX_QUANTITY:
        raise EvalError("unable to parse quantity's suffix")
    try:
        return parse_quantity(text)
    except ValueError as err:
        raise EvalError(str(err)) from None


def _is_quantity(text: Any) -> bool:
    return _parses(_quantity, text)


def _parses(parse: Callable[..., Any], *args: Any) -> bool:
    must(str, "is", *args)
    try:
        parse(*args)
    except EvalError:
        return False
    return True


def _is_integer(quantity: Any) -> bool:
    must(Quantity, "isInteger", quantity)
    return bool(quantity.as_int64()[1])


def _as_integer(quantity: Any) -> int:
    must(Quantity, "asInteger", quantity)
    value, fits = quantity.as_int64()
    if not fits:
        raise EvalError("cannot convert value to integer")
    return int(value)


def _operand(value: Any, name: str) -> Quantity:
    if isinstance(value, Quantity):
        return value
    if type(value) is int:
        return new_quantity(value)
    raise no_overload(name, value)


def _of_quantity(name: str, function: Callable[[Quantity], Any], to: Type) -> Function:
    def body(quantity: Any) -> Any:
        must(Quantity, name, quantity)
        return function(quantity)

    return Function(name, body).method(QUANTITY, to=to)


def _changed(name: str, change: Callable[[Quantity, Quantity], Quantity]) -> Function:
    def body(quantity: Any, other: Any) -> Quantity:
        must(Quantity, name, quantity, other)
        return change(quantity, _operand(other, name))

    return Function(name, body).method(QUANTITY, QUANTITY, to=QUANTITY).method(QUANTITY, INT, to=QUANTITY)


# ---- versions


def _semver(text: Any, normalize: Any = False) -> Semver:
    must(str, "semver", text, normalize)
    if not isinstance(normalize, bool):
        raise no_overload("semver", text, normalize)
    found = _SEMVER.fullmatch(_normalized(text) if normalize else text)
    if found is None:
        raise EvalError("No Major.Minor.Patch elements found" if text.count(".") < 2 else "Invalid semantic version")
    pre = tuple(_identifier(one) for one in found[4].split(".")) if found[4] else ()
    return Semver(int(found[1]), int(found[2]), int(found[3]), pre, found[5] or "")


def _normalized(text: str) -> str:
    """Remove a leading v and leading zeros, and add missing numbers, so that three numbers remain.

    Texts that do not begin like a version are returned unchanged.
    """
    core = re.match(r"v?([0-9]+(?:\.[0-9]+){0,2})(?=$|[-+])", text)
    if core is None:
        return text
    numbers = [number.lstrip("0") or "0" for number in core[1].split(".")]
    return ".".join([*numbers, "0", "0"][:3]) + text[core.end() :]


def _identifier(text: str) -> tuple[bool, int, str]:
    if text.isdigit():
        if not _NUMERIC.fullmatch(text):
            raise EvalError(f'Numeric PreRelease version must not contain leading zeroes "{text}"')
        return (False, int(text), "")
    return (True, 0, text)


def _is_semver(text: Any, normalize: Any = False) -> bool:
    if not isinstance(normalize, bool):
        raise no_overload("isSemver", text, normalize)
    return _parses(_semver, text, normalize)


def _of_semver(name: str, function: Callable[[Semver], int]) -> Function:
    def body(version: Any) -> int:
        must(Semver, name, version)
        return function(version)

    return Function(name, body).method(SEMVER, to=INT)


# ---- both


def _comparison(name: str, decide: Callable[[int], Any], to: Type) -> Function:
    """Return a function that compares two quantities or two versions; `decide` maps -1, 0 or 1 to the result."""

    def body(one: Any, other: Any) -> Any:
        if isinstance(one, Quantity) and isinstance(other, Quantity):
            return decide(one.cmp(other))
        if isinstance(one, Semver) and isinstance(other, Semver):
            return decide((one.order > other.order) - (one.order < other.order))
        raise no_overload(name, one, other)

    return Function(name, body).method(QUANTITY, QUANTITY, to=to).method(SEMVER, SEMVER, to=to)


FUNCTIONS = [
    Function("quantity", _quantity).call(STRING, to=QUANTITY),
    Function("isQuantity", _is_quantity).call(STRING, to=BOOL),
    _of_quantity("sign", lambda quantity: quantity.sign(), INT),
    Function("isInteger", _is_integer).method(QUANTITY, to=BOOL),
    Function("asInteger", _as_integer).method(QUANTITY, to=INT),
    _of_quantity("asApproximateFloat", lambda quantity: quantity.as_approximate_float64(), DOUBLE),
    _changed("add", lambda one, other: one + other),
    _changed("sub", lambda one, other: one - other),
    _comparison("isGreaterThan", lambda order: order > 0, BOOL),
    _comparison("isLessThan", lambda order: order < 0, BOOL),
    _comparison("compareTo", lambda order: order, INT),
    Function("semver", _semver).call(STRING, to=SEMVER).call(STRING, BOOL, to=SEMVER),
    Function("isSemver", _is_semver).call(STRING, to=BOOL).call(STRING, BOOL, to=BOOL),
    _of_semver("major", lambda version: version.major),
    _of_semver("minor", lambda version: version.minor),
    _of_semver("patch", lambda version: version.patch),
]
