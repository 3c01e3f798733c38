"""Validation of HorizontalPodAutoscalers and PodDisruptionBudgets."""

from __future__ import annotations

from typing import Any

from clientgo.testing.apiserver.kinds.validation.fields import (
    at_most_all,
    choice,
    each,
    label_selector,
    positive_int_or_percent,
    required,
)
from clientgo.testing.apiserver.kinds.validation.metadata import path_segment
from clientgo.testing.apiserver.kinds.validation.resources import parse
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_forbidden,
    field_invalid,
    field_not_supported,
    field_required,
)
from clientgo.testing.apiserver.wire.jsonio import Json

_SOURCES = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_MAX_WINDOW, _MAX_PERIOD = 3600, 1800


def autoscaler(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    metrics = spec.get("metrics") or []
    least, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    errors = []
    if least is not None and least < 1:
        errors.append(field_invalid("spec.minReplicas", least, "must be greater than or equal to 1"))
    if most < 1:
        errors.append(_unset("spec.maxReplicas", most, "must be set and greater than 0", "must be greater than 0"))
    if least is not None and most < least:
        text = "must be greater than or equal to `minReplicas`"
        errors.append(field_invalid("spec.maxReplicas", most, text))
    errors += _target(spec.get("scaleTargetRef") or {}, "spec.scaleTargetRef")
    errors += each(metrics, "spec.metrics", _metric)
    if least == 0 and not any(metric.get("type") in ("Object", "External") for metric in metrics):
        text = "must specify at least one Object or External metric to support scaling to zero replicas"
        errors.append(field_forbidden("spec.metrics", text))
    behavior = spec.get("behavior") or {}
    for name in ("scaleUp", "scaleDown"):
        if behavior.get(name) is not None:
            errors += _scaling(behavior[name], f"spec.behavior.{name}")
    return errors


def _unset(field: str, value: int, missing: str, low: str) -> FieldError:
    return field_required(field, missing) if value == 0 else field_invalid(field, value, low)


def _target(reference: Json, field: str) -> list[FieldError]:
    errors = []
    for name in ("kind", "name"):
        value = reference.get(name, "")
        if not value:
            errors.append(field_required(f"{field}.{name}"))
        else:
            errors += [field_invalid(f"{field}.{name}", value, text) for text in path_segment(value)]
    version = reference.get("apiVersion", "")
    if version.count("/") > 1:
        text = f"unexpected GroupVersion string: {version}"
        errors.append(field_invalid(f"{field}.apiVersion", version, text))
    elif "/" not in version and version != "v1":
        errors.append(field_invalid(f"{field}.apiVersion", version, "apiVersion must specify API group"))
    return errors


def _metric(metric: Json, field: str) -> list[FieldError]:
    kind = metric.get("type", "")
    if not kind:
        return [field_required(f"{field}.type", "must specify a metric source type")]
    if kind not in _SOURCES:
        # Go reports this twice: once for the unknown type, and once for the missing source.
        return [field_not_supported(f"{field}.type", kind, list(_SOURCES))] * 2
    name = _SOURCES[kind]
    source = metric.get(name)
    if source is None:
        return [field_required(f"{field}.{name}", "must populate information for the given metric source")]
    errors = []
    if "esource" in kind:
        if kind == "ContainerResource":
            errors += required(source, f"{field}.{name}", "container")
        if not source.get("name"):
            errors.append(field_required(f"{field}.{name}.name", "must specify a resource name"))
        return errors + _resource_target(source.get("target") or {}, f"{field}.{name}.target")
    if kind == "Object":
        errors += _target(source.get("describedObject") or {}, f"{field}.{name}.describedObject")
    errors += _identifier(source.get("metric") or {}, f"{field}.{name}.metric")
    return errors + _value_target(source.get("target") or {}, f"{field}.{name}.target", kind)


def _identifier(metric: Json, field: str) -> list[FieldError]:
    value = metric.get("name", "")
    if not value:
        return [field_required(f"{field}.name")]
    return [field_invalid(f"{field}.name", value, text) for text in path_segment(value)]


def _target_of(target: Json, field: str) -> list[FieldError]:
    errors = []
    if not target.get("type"):
        errors.append(field_required(f"{field}.type", "must specify a metric target type"))
    elif target["type"] not in ("Utilization", "Value", "AverageValue"):
        errors.append(
            field_invalid(f"{field}.type", target["type"], "must be either Utilization, Value, or AverageValue")
        )
    for name in ("value", "averageValue"):
        if target.get(name) is not None and parse(target[name]).sign() <= 0:
            errors.append(field_invalid(f"{field}.{name}", target[name], "must be positive"))
    usage = target.get("averageUtilization")
    if usage is not None and usage < 1:
        errors.append(field_invalid(f"{field}.averageUtilization", usage, "must be greater than 0"))
    return errors


def _resource_target(target: Json, field: str) -> list[FieldError]:
    errors = _target_of(target, field)
    usage, value = target.get("averageUtilization"), target.get("averageValue")
    if usage is None and value is None:
        text = "must set either a target raw value or a target utilization"
        errors.append(field_required(f"{field}.averageUtilization", text))
    if usage is not None and value is not None:
        text = "may not set both a target raw value and a target utilization"
        errors.append(field_forbidden(f"{field}.averageValue", text))
    return errors


def _value_target(target: Json, field: str, kind: str) -> list[FieldError]:
    errors = _target_of(target, field)
    value, average = target.get("value"), target.get("averageValue")
    if kind == "Pods":
        if average is None:
            errors.append(field_required(f"{field}.averageValue", "must specify a positive target averageValue"))
        return errors
    if value is None and average is None:
        text = "must set either a target value for metric or a per-pod target"
        where = f"{field}.averageValue"
        errors.append(field_required(where, text))
    return errors


def _scaling(rules: Json, field: str) -> list[FieldError]:
    errors = []
    window: Any = rules.get("stabilizationWindowSeconds")
    if window is not None:
        where = f"{field}.stabilizationWindowSeconds"
        if window < 0:
            errors.append(field_invalid(where, window, "must be greater than or equal to zero"))
        if window > _MAX_WINDOW:
            errors.append(field_invalid(where, window, f"must be less than or equal to {_MAX_WINDOW}"))
    errors += choice(rules, field, "selectPolicy", ["Disabled", "Max", "Min"])
    if not rules.get("policies"):
        errors.append(field_required(f"{field}.policies", "must specify at least one Policy"))
    return errors + each(rules.get("policies"), f"{field}.policies", _policy)


def _policy(policy: Json, field: str) -> list[FieldError]:
    errors = choice(policy, field, "type", ["Percent", "Pods"])
    value, period = policy.get("value", 0), policy.get("periodSeconds", 0)
    if value <= 0:
        errors.append(field_invalid(f"{field}.value", value, "must be greater than zero"))
    if period <= 0:
        errors.append(field_invalid(f"{field}.periodSeconds", period, "must be greater than zero"))
    if period > _MAX_PERIOD:
        errors.append(field_invalid(f"{field}.periodSeconds", period, f"must be less than or equal to {_MAX_PERIOD}"))
    return errors


def budget(obj: Json) -> list[FieldError]:
    """Validate a PodDisruptionBudget: minAvailable and maxUnavailable exclude each other."""
    spec = obj.get("spec") or {}
    errors = []
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        shown = {
            "MinAvailable": least,
            "Selector": spec.get("selector"),
            "MaxUnavailable": most,
            "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
        }
        errors.append(field_invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set"))
    for name in ("minAvailable", "maxUnavailable"):
        if spec.get(name) is not None:
            errors += positive_int_or_percent(spec[name], f"spec.{name}") + at_most_all(spec[name], f"spec.{name}")
    errors += label_selector(spec.get("selector"), "spec.selector")
    return errors + choice(spec, "spec", "unhealthyPodEvictionPolicy", ["AlwaysAllow", "IfHealthyBudget"])
