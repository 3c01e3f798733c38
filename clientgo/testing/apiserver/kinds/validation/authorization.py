"""Validation of the selectors in reviews of access. Mirrors pkg/apis/authorization/validation.

RBAC does not read selectors. A review reports those that no authorizer could read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clientgo.apimachinery import fields, labels
from clientgo.testing.apiserver.kinds.validation.fields import label_requirement, requirement_values
from clientgo.testing.apiserver.wire.errors import FieldError, field_invalid, field_required
from clientgo.testing.apiserver.wire.jsonio import Json

_LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def resource_attributes(attributes: Json | None, where: str) -> list[FieldError]:
    """Validate the selectors of ResourceAttributes, which may be None. Go: validateResourceAttributes."""
    if attributes is None:
        return []
    return [
        *_selector(attributes.get("fieldSelector"), f"{where}.fieldSelector", _field_requirement),
        *_selector(attributes.get("labelSelector"), f"{where}.labelSelector", _label_requirement),
    ]


def _selector(
    selector: Json | None, where: str, check: Callable[[Json, str], list[FieldError]]
) -> Iterator[FieldError]:
    if selector is None:
        return
    text, requirements = selector.get("rawSelector", ""), selector.get("requirements") or ()
    if text and requirements:
        yield field_invalid(f"{where}.rawSelector", text, "may not specified at the same time as requirements")
    if not text and not requirements:
        yield field_required(
            f"{where}.requirements", f"when {where} is specified, requirements or rawSelector is required"
        )
    for i, requirement in enumerate(requirements):
        yield from check(requirement, f"{where}.requirements[{i}]")


def _field_requirement(requirement: Json, where: str) -> list[FieldError]:
    """Validate a FieldSelectorRequirement. A newer client may send an operator that is unknown here."""
    missing = [] if requirement.get("key") else [field_required(f"{where}.key", "must be specified")]
    return missing + requirement_values(requirement, where)


def _label_requirement(requirement: Json, where: str) -> list[FieldError]:
    return label_requirement(requirement, where, allow_unknown_operator=True)


def evaluation_error(attributes: Json | None) -> str:
    """Return the text about selectors that authorizers ignore, or "". Go: BuildEvaluationError."""
    readers = {"fieldSelector": _readable_fields, "labelSelector": _readable_labels}
    texts = []
    for name, read in readers.items():
        selector = (attributes or {}).get(name)
        if selector is None:
            continue
        readable, total = read(selector)
        if readable < total:
            partially = "partially " if readable else ""
            texts.append(f"spec.resourceAttributes.{name} {partially}ignored due to parse error")
    return "; ".join(texts)


def _readable_fields(selector: Json) -> tuple[int, int]:
    """Return how many requirements authorizers can read, and how many there are. Go: fieldSelectorAsSelector."""
    if text := selector.get("rawSelector"):
        return _parses(fields.parse_selector, text), 1
    found = selector.get("requirements") or ()
    readable = (each.get("operator") in ("In", "NotIn") and len(each.get("values") or ()) == 1 for each in found)
    return sum(readable), len(found)


def _readable_labels(selector: Json) -> tuple[int, int]:
    """Return how many requirements authorizers can read, and how many there are. Go: labelSelectorAsSelector."""
    if text := selector.get("rawSelector"):
        return _parses(labels.parse, text), 1
    found = selector.get("requirements") or ()
    return sum(each.get("operator") in _LABEL_OPERATORS for each in found), len(found)


def _parses(parse: Callable[[str], object], text: str) -> int:
    try:
        parse(text)
    except ValueError:
        return 0
    return 1
