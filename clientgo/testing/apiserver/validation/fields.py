"""Checks that several kinds share: choices, numbers, label selectors."""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.util.validation import is_qualified_name, is_valid_label_value
from clientgo.testing.apiserver.errors import FieldError, field_invalid, field_not_supported, field_required

Json = dict[str, Any]

PORT_TEXT = "must be between 1 and 65535, inclusive"
NOT_NEGATIVE = "must be greater than or equal to 0"


def choice(obj: Json, where: str, name: str, choices: list[str]) -> list[FieldError]:
    value = obj.get(name)
    if not value or value in choices:
        return []
    return [field_not_supported(f"{where}.{name}", value, choices)]


def not_negative(obj: Json, where: str, *names: str) -> list[FieldError]:
    """The numbers among the fields `names` that are below zero."""
    return [
        field_invalid(f"{where}.{name}", obj[name], NOT_NEGATIVE)
        for name in names
        if isinstance(obj.get(name), int) and obj[name] < 0
    ]


def check_labels(values: Json | None, field: str) -> list[FieldError]:
    errors = []
    for key, value in (values or {}).items():
        errors += [field_invalid(field, key, text) for text in is_qualified_name(key)]
        errors += [field_invalid(field, value, text) for text in is_valid_label_value(value)]
    return errors


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


def label_selector(selector: Any, field: str) -> list[FieldError]:
    if selector is None:
        return [field_required(field)]
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        return [field_invalid(field, selector, "empty selector is invalid for deployment")]
    errors = check_labels(selector.get("matchLabels"), f"{field}.matchLabels")
    for i, term in enumerate(selector.get("matchExpressions") or ()):
        where = f"{field}.matchExpressions[{i}]"
        errors += choice(term, where, "operator", ["In", "NotIn", "Exists", "DoesNotExist"])
    return errors
