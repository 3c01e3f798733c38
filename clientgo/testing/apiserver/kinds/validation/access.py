"""Validation of roles and their bindings. Mirrors pkg/apis/rbac/validation."""

from __future__ import annotations

from clientgo.apimachinery.util.validation import is_dns1123_subdomain
from clientgo.testing.apiserver.kinds.validation.fields import label_selector, named, required
from clientgo.testing.apiserver.kinds.validation.metadata import path_segment
from clientgo.testing.apiserver.wire.errors import FieldError, field_invalid, field_not_supported, field_required
from clientgo.testing.apiserver.wire.jsonio import Json

_GROUP = "rbac.authorization.k8s.io"


def role(obj: Json) -> list[FieldError]:
    return _rules(obj, namespaced=True)


def cluster_role(obj: Json) -> list[FieldError]:
    errors = _rules(obj, namespaced=False)
    aggregation = obj.get("aggregationRule")
    if aggregation is None:
        return errors
    field = "aggregationRule.clusterRoleSelectors"
    if not aggregation.get("clusterRoleSelectors"):
        text = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        return [*errors, field_required(field, text)]
    for i, selector in enumerate(aggregation["clusterRoleSelectors"]):
        where = f"{field}[{i}]"
        wrong = label_selector(selector, where)
        errors += wrong
        if wrong:
            errors.append(field_invalid(where, None, "invalid label selector."))
    return errors


def _rules(obj: Json, *, namespaced: bool) -> list[FieldError]:
    return [error for i, rule in enumerate(obj.get("rules") or ()) for error in _rule(rule, f"rules[{i}]", namespaced)]


def _rule(rule: Json, field: str, namespaced: bool) -> list[FieldError]:
    errors = []
    if not rule.get("verbs"):
        errors.append(field_required(f"{field}.verbs", "verbs must contain at least one value"))
    paths = rule.get("nonResourceURLs") or []
    if paths:
        if namespaced:
            text = "namespaced rules cannot apply to non-resource URLs"
            errors.append(field_invalid(f"{field}.nonResourceURLs", paths, text))
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            text = "rules cannot apply to both regular resources and non-resource URLs"
            errors.append(field_invalid(f"{field}.nonResourceURLs", paths, text))
        return errors
    if not rule.get("apiGroups"):
        text = "resource rules must supply at least one api group"
        errors.append(field_required(f"{field}.apiGroups", text))
    if not rule.get("resources"):
        errors.append(field_required(f"{field}.resources", "resource rules must supply at least one resource"))
    return errors


def role_binding(obj: Json) -> list[FieldError]:
    return _binding(obj, ["Role", "ClusterRole"], namespaced=True)


def cluster_role_binding(obj: Json) -> list[FieldError]:
    return _binding(obj, ["ClusterRole"], namespaced=False)


def _binding(obj: Json, kinds: list[str], *, namespaced: bool) -> list[FieldError]:
    reference = obj.get("roleRef") or {}
    errors = []
    if reference.get("apiGroup") != _GROUP:
        errors.append(field_not_supported("roleRef.apiGroup", reference.get("apiGroup", ""), [_GROUP]))
    if reference.get("kind") not in kinds:
        errors.append(field_not_supported("roleRef.kind", reference.get("kind", ""), kinds))
    if reference.get("name"):
        errors += named(reference["name"], "roleRef.name", path_segment)
    else:
        errors.append(field_required("roleRef.name"))
    for i, subject in enumerate(obj.get("subjects") or ()):
        errors += _subject(subject, f"subjects[{i}]", namespaced)
    return errors


def _subject(subject: Json, field: str, namespaced: bool) -> list[FieldError]:
    kind, group = subject.get("kind", ""), subject.get("apiGroup", "")
    errors = required(subject, field, "name")
    if kind == "ServiceAccount":
        if subject.get("name"):
            errors += named(subject["name"], f"{field}.name", is_dns1123_subdomain)
        if group:
            errors.append(field_not_supported(f"{field}.apiGroup", group, [""]))
        if not namespaced:
            errors += required(subject, field, "namespace")
    elif kind in ("User", "Group"):
        if group != _GROUP:
            errors.append(field_not_supported(f"{field}.apiGroup", group, [_GROUP]))
    else:
        errors.append(field_not_supported(f"{field}.kind", kind, ["ServiceAccount", "User", "Group"]))
    return errors


def binding_update(obj: Json, old: Json) -> list[FieldError]:
    reference = obj.get("roleRef") or {}
    if reference == old.get("roleRef"):
        return []
    shown = {"APIGroup": reference.get("apiGroup"), "Kind": reference.get("kind"), "Name": reference.get("name")}
    return [field_invalid("roleRef", shown, "cannot change roleRef")]
