"""Validation of the built-in kinds that are neither pods nor make them, and the table of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from clientgo.apimachinery.util.validation import is_config_map_key, is_qualified_name
from clientgo.testing.apiserver.errors import (
    FieldError,
    field_forbidden,
    field_invalid,
    field_required,
    field_too_long,
)
from clientgo.testing.apiserver.validation import pods, workloads
from clientgo.testing.apiserver.validation.fields import PORT_TEXT, choice

if TYPE_CHECKING:
    from clientgo.testing.apiserver.registry import Resource

Json = dict[str, Any]

# Of all values of a ConfigMap or Secret together.
_MAX_DATA = 1024 * 1024


def create(resource: Resource, obj: Json) -> list[FieldError]:
    rule = _CREATE.get(resource.storage)
    return rule(obj) if rule is not None else []


def update(resource: Resource, obj: Json, old: Json, subresource: str) -> list[FieldError]:
    if subresource:
        rule = _SUBRESOURCES.get(f"{resource.storage}/{subresource}")
        return rule(obj, old) if rule is not None else []
    errors = create(resource, obj)
    rule = _UPDATE.get(resource.storage)
    return errors + rule(obj, old) if rule is not None else errors


def _service(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors = []
    ports = spec.get("ports") or []
    if not ports and spec.get("clusterIP") != "None" and spec.get("type") != "ExternalName":
        errors.append(field_required("spec.ports"))
    for i, port in enumerate(ports):
        number = port.get("port", 0)
        if not 0 < number < 65536:
            errors.append(field_invalid(f"spec.ports[{i}].port", number, PORT_TEXT))
        if len(ports) > 1 and not port.get("name"):
            errors.append(field_required(f"spec.ports[{i}].name"))
    errors += choice(spec, "spec", "type", ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"])
    return errors


def _service_update(obj: Json, old: Json) -> list[FieldError]:
    before, after = (old.get("spec") or {}).get("clusterIP"), (obj.get("spec") or {}).get("clusterIP")
    if before and before != "None" and after != before and (obj.get("spec") or {}).get("type") != "ExternalName":
        return [field_invalid("spec.clusterIPs[0]", [after] if after else None, "may not change once set")]
    return []


def _lease(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors = []
    duration = spec.get("leaseDurationSeconds")
    if duration is not None and duration <= 0:
        errors.append(field_invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    transitions = spec.get("leaseTransitions")
    if transitions is not None and transitions < 0:
        errors.append(field_invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
    return errors


def event(obj: Json, group: str) -> list[FieldError]:
    """An event in its stored (core) form; the rules of the new API apply when it came through events.k8s.io."""
    errors = []
    involved = obj.get("involvedObject") or {}
    namespace = (obj.get("metadata") or {}).get("namespace", "")
    theirs = involved.get("namespace", "")
    if theirs != namespace and not (theirs == "" and namespace == "default"):
        if group:
            errors.append(field_invalid("regarding.namespace", theirs, "does not match event.namespace"))
        else:
            errors.append(field_invalid("involvedObject.namespace", theirs, "does not match event.namespace"))
    if not group:
        return errors
    if obj.get("eventTime") is None:
        errors.append(field_required("eventTime"))
    controller = obj.get("reportingComponent", "")
    if not controller:
        errors.append(field_required("reportingController"))
    errors += [field_invalid("reportingController", controller, text) for text in is_qualified_name(controller)]
    if not obj.get("reportingInstance"):
        errors.append(field_required("reportingInstance"))
    for name in ("action", "reason"):
        if not obj.get(name):
            errors.append(field_required(name))
    errors += choice(obj, "", "type", ["Normal", "Warning"])
    return errors


def _config_map_update(obj: Json, old: Json) -> list[FieldError]:
    if not old.get("immutable"):
        return []
    errors = []
    if not obj.get("immutable"):
        errors.append(field_forbidden("immutable", "field is immutable when `immutable` is set"))
    for name in ("data", "binaryData"):
        if obj.get(name) != old.get(name):
            errors.append(field_forbidden(name, "field is immutable when `immutable` is set"))
    return errors


def _secret_update(obj: Json, old: Json) -> list[FieldError]:
    errors = _config_map_update(obj, old)
    if obj.get("type") != old.get("type"):
        errors.append(field_invalid("type", obj.get("type", ""), "field is immutable"))
    return errors


def _data_keys(obj: Json) -> list[FieldError]:
    return [
        field_invalid(f"{name}[{key}]", key, text)
        for name in ("data", "binaryData")
        for key in obj.get(name) or ()
        for text in is_config_map_key(key)
    ]


def _config_map(obj: Json) -> list[FieldError]:
    errors = _data_keys(obj)
    size = sum(len(text.encode(errors="surrogatepass")) for text in (obj.get("data") or {}).values())
    if size + _decoded_size(obj.get("binaryData")) > _MAX_DATA:
        # A path of nothing prints as [].
        errors.append(field_too_long("[]", _MAX_DATA))
    return errors


def _secret(obj: Json) -> list[FieldError]:
    errors = _data_keys(obj)
    if _decoded_size(obj.get("data")) > _MAX_DATA:
        errors.append(field_too_long("data", _MAX_DATA))
    for key in _SECRET_KEYS.get(obj.get("type", ""), ()):
        if key not in (obj.get("data") or {}):
            errors.append(field_required(f"data[{key}]"))
    return errors


_SECRET_KEYS = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}


def _decoded_size(data: Json | None) -> int:
    """The bytes in a map of base64 texts."""
    return sum(len(text) // 4 * 3 - text[-2:].count("=") for text in (data or {}).values())


def _binding(obj: Json) -> list[FieldError]:
    reference = obj.get("roleRef") or {}
    errors = []
    if not reference.get("name"):
        errors.append(field_required("roleRef.name"))
    errors += choice(reference, "roleRef", "kind", ["Role", "ClusterRole"])
    for i, subject in enumerate(obj.get("subjects") or ()):
        if not subject.get("name"):
            errors.append(field_required(f"subjects[{i}].name"))
        errors += choice(subject, f"subjects[{i}]", "kind", ["ServiceAccount", "User", "Group"])
        if subject.get("kind") == "ServiceAccount" and not subject.get("namespace"):
            errors.append(field_required(f"subjects[{i}].namespace"))
    return errors


def _binding_update(obj: Json, old: Json) -> list[FieldError]:
    if obj.get("roleRef") != old.get("roleRef"):
        return [field_invalid("roleRef", obj.get("roleRef"), "cannot change roleRef")]
    return []


def _claim(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors = []
    if not spec.get("accessModes"):
        errors.append(field_required("spec.accessModes", "at least 1 access mode is required"))
    if "storage" not in ((spec.get("resources") or {}).get("requests") or {}):
        errors.append(field_required("spec.resources[storage]"))
    return errors


def _autoscaler(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    least, most = spec.get("minReplicas") or 0, spec.get("maxReplicas", 0)
    if most < 1:
        return [field_invalid("spec.maxReplicas", most, "must be greater than 0")]
    if most < least:
        return [field_invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")]
    return []


def _budget(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        return [field_invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")]
    return []


Create = Callable[[Json], list[FieldError]]
Update = Callable[[Json, Json], list[FieldError]]
_CREATE: dict[str, Create] = {
    "/pods": pods.pod,
    "/services": _service,
    "/configmaps": _config_map,
    "/secrets": _secret,
    "/persistentvolumeclaims": _claim,
    "apps/deployments": workloads.workload,
    "apps/replicasets": workloads.workload,
    "apps/statefulsets": workloads.workload,
    "apps/daemonsets": workloads.workload,
    "autoscaling/horizontalpodautoscalers": _autoscaler,
    "batch/jobs": workloads.job,
    "batch/cronjobs": workloads.cron_job,
    "coordination.k8s.io/leases": _lease,
    "policy/poddisruptionbudgets": _budget,
    "rbac.authorization.k8s.io/rolebindings": _binding,
    "rbac.authorization.k8s.io/clusterrolebindings": _binding,
}
_UPDATE: dict[str, Update] = {
    "/pods": pods.pod_update,
    "/services": _service_update,
    "/configmaps": _config_map_update,
    "/secrets": _secret_update,
    "apps/deployments": workloads.selector_update,
    "apps/replicasets": workloads.selector_update,
    "apps/daemonsets": workloads.selector_update,
    "apps/statefulsets": workloads.stateful_set_update,
    "batch/jobs": workloads.job_update,
    "rbac.authorization.k8s.io/rolebindings": _binding_update,
    "rbac.authorization.k8s.io/clusterrolebindings": _binding_update,
}
_SUBRESOURCES: dict[str, Update] = {
    "/pods/ephemeralcontainers": pods.ephemeral_containers_update,
    "/pods/resize": pods.resize,
}
