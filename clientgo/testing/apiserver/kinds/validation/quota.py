"""Validation of LimitRanges and ResourceQuotas."""

from __future__ import annotations

from clientgo.apimachinery.util.validation import is_qualified_name
from clientgo.testing.apiserver.kinds.validation import resources
from clientgo.testing.apiserver.kinds.validation.fields import immutable, named
from clientgo.testing.apiserver.kinds.validation.resources import parse
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_duplicate,
    field_forbidden,
    field_invalid,
    field_required,
)
from clientgo.testing.apiserver.wire.jsonio import Json

_LIMIT_TYPES = ("Pod", "Container", "PersistentVolumeClaim")
_SCOPES = (
    "BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "PriorityClass", "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
)  # fmt: skip
_ONLY_EXISTS = (
    "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)
_CONFLICTING = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_POD_RESOURCES = {
    f"{kind}{name}" for kind in ("", "requests.", "limits.") for name in ("cpu", "memory", "ephemeral-storage")
} | {"pods"}


def limit_range(obj: Json) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, limit in enumerate((obj.get("spec") or {}).get("limits") or ()):
        where, kind = f"spec.limits[{i}]", limit.get("type", "")
        wrong = named(kind, f"{where}.type", is_qualified_name)
        if not wrong and "/" not in kind and kind not in _LIMIT_TYPES:
            wrong = [field_invalid(f"{where}.type", kind, "must be a standard limit type or fully qualified")]
        errors += wrong
        if kind in seen:
            errors.append(field_duplicate(f"{where}.type", kind))
        seen.add(kind)
        errors += _limit(limit, kind, where)
    return errors


def _limit(limit: Json, kind: str, field: str) -> list[FieldError]:
    errors = []
    tables = ["min", "max", "maxLimitRequestRatio"]
    for name in ("default", "defaultRequest"):
        if kind != "Pod":
            tables.append(name)
        elif limit.get(name):
            errors.append(field_forbidden(f"{field}.{name}", "may not be specified when `type` is 'Pod'"))
    keys = []
    for table in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
        if table not in tables:
            continue
        for name in limit.get(table) or {}:
            check = resources.container_name if kind in ("Pod", "Container") else resources.resource_name
            errors += check(name, f"{field}.{table}[{name}]")
            keys.append(name)
    if kind == "PersistentVolumeClaim" and not any("storage" in (limit.get(name) or {}) for name in ("min", "max")):
        text = "either minimum or maximum storage value is required, but neither was provided"
        errors.append(field_required(f"{field}.limits", text))
    for name in sorted(set(keys)):
        errors += _bounds(limit, name, field)
    return errors


_SHOWN = {"min": "min", "max": "max", "default": "default", "defaultRequest": "default request"}


def _bounds(limit: Json, name: str, field: str) -> list[FieldError]:
    """Validate the bounds of one resource in a LimitRange.

    min, defaultRequest, default and max must not decrease in this order, and maxLimitRequestRatio must fit min and max.
    """

    def amount(table: str) -> str | None:
        value = (limit.get(table) or {}).get(name)
        return None if value is None else str(value)

    def above(low: str, high: str, where: str, shown: str | None = None) -> list[FieldError]:
        first, second = amount(low), amount(high)
        if first is None or second is None or parse(first).cmp(parse(second)) <= 0:
            return []
        word = " limit" if (low, high) == ("defaultRequest", "default") else ""
        text = f"{_SHOWN[low]} value {first} is greater than {_SHOWN[high]}{word} value {second}"
        return [field_invalid(f"{field}.{where}[{name}]", shown or amount(where) or "0", text)]

    errors = above("min", "max", "min")
    errors += above("min", "defaultRequest", "defaultRequest")
    errors += above("defaultRequest", "max", "defaultRequest")
    errors += above("defaultRequest", "default", "defaultRequest")
    errors += above("min", "default", "default", amount("min"))
    errors += above("default", "max", "default", amount("max"))
    ratio = amount("maxLimitRequestRatio")
    if ratio is not None:
        errors += _ratio(ratio, amount("min"), amount("max"), f"{field}.maxLimitRequestRatio[{name}]")
    return errors


def _ratio(ratio: str, least: str | None, most: str | None, field: str) -> list[FieldError]:
    if parse(ratio).cmp(parse("1")) < 0:
        return [field_invalid(field, ratio, f"ratio {ratio} is less than 1")]
    if least is None or most is None or not parse(least).sign():
        return []
    highest = parse(most).milli_value() / parse(least).milli_value()
    if parse(ratio).milli_value() / 1000 > highest:
        return [field_invalid(field, ratio, f"ratio {ratio} is greater than max/min = {highest:f}")]
    return []


def resource_quota(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    hard = spec.get("hard") or {}
    errors = []
    for name, amount in hard.items():
        where = f"spec.hard[{name}]"
        errors += _counted(name, where) if name.startswith("count/") else resources.quota_name(name, where)
        errors += resources.amount_of(name, amount, where)
    scopes = spec.get("scopes") or []
    errors += _scopes(scopes, list(hard))
    return errors + _scope_selector(spec.get("scopeSelector") or {}, "spec.scopeSelector")


def _counted(name: str, field: str) -> list[FieldError]:
    return named(name, field, is_qualified_name)


def _scopes(scopes: list[str], names: list[str]) -> list[FieldError]:
    field = "spec.scopes"
    errors = []
    for scope in scopes:
        if scope not in _SCOPES:
            errors.append(field_invalid(field, scopes, "unsupported scope"))
        else:
            errors += [
                field_invalid(field, scopes, "unsupported scope applied to resource")
                for name in names
                if resources.is_standard(name) and not _applies(scope, name)
            ]
    if any(pair <= set(scopes) for pair in _CONFLICTING):
        errors.append(field_invalid(field, scopes, "conflicting scopes"))
    return errors


def _applies(scope: str, name: str) -> bool:
    return name == "pods" if scope == "BestEffort" else name in _POD_RESOURCES


def _scope_selector(selector: Json, field: str) -> list[FieldError]:
    errors = []
    where = f"{field}.matchExpressions"
    for term in selector.get("matchExpressions") or ():
        name, operator, values = term.get("scopeName", ""), term.get("operator", ""), term.get("values") or []
        if name not in _SCOPES:
            errors.append(field_invalid(f"{where}.scopeName", name, "unsupported scope"))
        if name in _SCOPES and name != "PriorityClass" and name != "VolumeAttributesClass" and operator != "Exists":
            text = "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, "
            text += (
                "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
            )
            text += "ResourceQuotaScopeCrossNamespacePodAffinity"
            errors.append(field_invalid(f"{where}.operator", operator, text))
        if operator in ("In", "NotIn"):
            if not values:
                text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                errors.append(field_required(f"{where}.values", text))
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                errors.append(field_invalid(f"{where}.values", values, text))
        else:
            errors.append(field_invalid(f"{where}.operator", operator, "not a valid selector operator"))
    return errors


def resource_quota_update(obj: Json, old: Json) -> list[FieldError]:
    new, before = ((doc.get("spec") or {}).get("scopes") for doc in (obj, old))
    return immutable(new, before, "spec.scopes") if set(new or ()) != set(before or ()) else []
