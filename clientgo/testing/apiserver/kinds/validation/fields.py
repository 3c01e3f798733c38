"""Checks that several kinds share: choices, numbers, names, percentages, label selectors.

Each check takes the path of its value and returns all errors, in Kubernetes' order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from clientgo.apimachinery.util.validation import is_qualified_name, is_valid_label_value, is_valid_percent
from clientgo.golang.strconv import atoi_clipped
from clientgo.testing.apiserver.kinds.object_meta import check_labels
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_forbidden,
    field_invalid,
    field_not_supported,
    field_required,
)
from clientgo.testing.apiserver.wire.jsonio import Json

PORT_TEXT = "must be between 1 and 65535, inclusive"
NOT_NEGATIVE = "must be greater than or equal to 0"
IMMUTABLE = "field is immutable"
MAX_INT32 = 2**31 - 1

# Operators of a requirement in a selector.
_WITH_VALUES = ("In", "NotIn")
_WITHOUT_VALUES = ("Exists", "DoesNotExist")

Check = Callable[[str], list[str]]


def choice(obj: Json, where: str, name: str, choices: Sequence[str]) -> list[FieldError]:
    """Validate that a field is empty or one of `choices`. `where` is "" for a field of the object itself."""
    value = obj.get(name)
    if not value or value in choices:
        return []
    return [field_not_supported(f"{where}.{name}" if where else name, value, list(choices))]


def not_negative(obj: Json, where: str, *names: str) -> list[FieldError]:
    """Validate that the numbers among the fields `names` are not negative."""
    return [
        field_invalid(f"{where}.{name}", obj[name], NOT_NEGATIVE)
        for name in names
        if isinstance(obj.get(name), int) and obj[name] < 0
    ]


def required(obj: Json, where: str, *names: str) -> list[FieldError]:
    """Validate that the fields `names` are not empty."""
    return [field_required(f"{where}.{name}" if where else name) for name in names if not obj.get(name)]


def named(value: str, field: str, check: Check) -> list[FieldError]:
    """Return one error for each message that `check` returns for the value."""
    return [field_invalid(field, value, text) for text in check(value)]


def immutable(obj: Any, old: Any, field: str) -> list[FieldError]:
    return [field_invalid(field, obj, IMMUTABLE)] if obj != old else []


def positive_int_or_percent(value: int | str, field: str) -> list[FieldError]:
    if isinstance(value, str):
        return named(value, field, is_valid_percent)
    return [field_invalid(field, value, NOT_NEGATIVE)] if value < 0 else []


def at_most_all(value: int | str, field: str) -> list[FieldError]:
    """Validate that a percentage is at most 100%. Numbers and invalid percentages have no errors here."""
    if isinstance(value, str) and not is_valid_percent(value) and atoi_clipped(value[:-1]) > 100:
        return [field_invalid(field, value, "must not be greater than 100%")]
    return []


def is_none(value: int | str | None) -> bool:
    """Report whether a number or a percentage is zero. Other values count as 0, as in Go."""
    if isinstance(value, str):
        digits = value.removesuffix("%")
        return not (digits.isascii() and digits.isdigit()) or atoi_clipped(digits) == 0
    return not value


def selector_matches(selector: Json, values: Json) -> bool:
    for key, value in (selector.get("matchLabels") or {}).items():
        if values.get(key) != value:
            return False
    for term in selector.get("matchExpressions") or ():
        key, operator, wanted = term.get("key"), term.get("operator"), term.get("values") or ()
        if operator == "In" and values.get(key) not in wanted:
            return False
        if operator == "NotIn" and values.get(key) in wanted:
            return False
        if operator == "Exists" and key not in values:
            return False
        if operator == "DoesNotExist" and key in values:
            return False
    return True


def is_empty_selector(selector: Json) -> bool:
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def label_selector(selector: Json | None, field: str) -> list[FieldError]:
    """Validate a LabelSelector, which may be None or empty."""
    if selector is None:
        return []
    errors = check_labels(selector.get("matchLabels"), f"{field}.matchLabels")
    for i, term in enumerate(selector.get("matchExpressions") or ()):
        errors += label_requirement(term, f"{field}.matchExpressions[{i}]")
    return errors


def label_requirement(term: Json, field: str, *, allow_unknown_operator: bool = False) -> list[FieldError]:
    """Validate a LabelSelectorRequirement."""
    errors = requirement_values(term, field)
    operator = term.get("operator", "")
    if operator not in _WITH_VALUES + _WITHOUT_VALUES and not allow_unknown_operator:
        errors.append(field_invalid(f"{field}.operator", operator, "not a valid selector operator"))
    errors += named(term.get("key", ""), f"{field}.key", is_qualified_name)
    for i, value in enumerate(term.get("values") or ()):
        errors += named(value, f"{field}.values[{i}]", is_valid_label_value)
    return errors


def requirement_values(term: Json, field: str) -> list[FieldError]:
    """Validate that a requirement of a selector has values exactly if its operator needs them."""
    operator, values = term.get("operator", ""), term.get("values")
    if operator in _WITH_VALUES and not values:
        return [field_required(f"{field}.values", "must be specified when `operator` is 'In' or 'NotIn'")]
    if operator in _WITHOUT_VALUES and values:
        text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        return [field_forbidden(f"{field}.values", text)]
    return []


def each(items: Iterable[Any] | None, field: str, check: Callable[[Any, str], list[FieldError]]) -> list[FieldError]:
    """Return the errors that `check` finds in the items of a list."""
    return [error for i, item in enumerate(items or ()) for error in check(item, f"{field}[{i}]")]


def difference(old: Json, new: Json) -> str:
    """Return a unified diff of both objects' JSON for a message, without the lines that name the files."""
    from clientgo.apimachinery.util.diff.lines import unified  # Here, not above: few servers need it.

    before, after = (json.dumps(side, indent=1).splitlines() for side in (old, new))
    return "\n".join(unified(before, after)[2:])
