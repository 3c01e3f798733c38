"""Validation of the built-in kinds that neither are nor create pods, and the tables of all kinds."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING

from clientgo.apimachinery.util.validation import (
    is_config_map_key,
    is_dns1123_label,
    is_qualified_name,
    is_valid_label_value,
)
from clientgo.golang import utf8
from clientgo.testing.apiserver.kinds.object_meta import check_labels
from clientgo.testing.apiserver.kinds.validation import (
    access,
    autoscaling,
    certificates,
    networking,
    pods,
    quota,
    storage,
    webhooks,
    workloads,
)
from clientgo.testing.apiserver.kinds.validation.fields import choice, immutable, named
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_duplicate,
    field_forbidden,
    field_invalid,
    field_required,
    field_too_long,
)
from clientgo.testing.apiserver.wire.jsonio import Json, ParseError, loads

if TYPE_CHECKING:
    from clientgo.testing.apiserver.kinds.registry import Resource


# Bytes of all values of a ConfigMap or Secret together.
_MAX_DATA = 1024 * 1024


def create(resource: Resource, obj: Json) -> list[FieldError]:
    rule = _CREATE.get(resource.storage)
    return _unfit(resource, obj) or (rule(obj) if rule is not None else [])


def _unfit(resource: Resource, obj: Json) -> list[FieldError]:
    """Return the errors that Go finds before it validates the object."""
    return networking.service_allocation(obj) if resource.storage == "/services" else []


def update(resource: Resource, obj: Json, old: Json, subresource: str) -> list[FieldError]:
    if subresource:
        rule = _SUBRESOURCES.get(f"{resource.storage}/{subresource}")
        return rule(obj, old) if rule is not None else []
    unfit = _unfit(resource, obj)
    if unfit:
        return unfit
    again = _AGAIN.get(resource.storage) or _CREATE.get(resource.storage)
    errors = again(obj) if again is not None else []
    rule = _UPDATE.get(resource.storage)
    changed = rule(obj, old) if rule is not None else []
    if resource.storage in ("batch/jobs", "/persistentvolumes"):
        # Go looks at the whole once as at a new one, and once as at a changed one.
        errors += errors
    return changed + errors if resource.storage == "apps/daemonsets" else errors + changed


def _nothing(obj: Json) -> list[FieldError]:
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
    binary = obj.get("binaryData") or {}
    errors = _data_keys(obj)
    for key in obj.get("data") or ():
        if key in binary:
            errors.append(field_invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
    size = sum(len(utf8.encode(text)) for text in (obj.get("data") or {}).values())
    if size + _decoded_size(obj.get("binaryData")) > _MAX_DATA:
        # A path of nothing prints as [].
        errors.append(field_too_long("[]", _MAX_DATA))
    return errors


def _secret(obj: Json) -> list[FieldError]:
    errors = _data_keys(obj)
    if _decoded_size(obj.get("data")) > _MAX_DATA:
        errors.append(field_too_long("data", _MAX_DATA))
    kind, data = obj.get("type", ""), obj.get("data") or {}
    errors += [field_required(f"data[{key}]") for key in _SECRET_KEYS.get(kind, ()) if key not in data]
    if kind == "kubernetes.io/basic-auth" and not data.keys() & {"username", "password"}:
        errors += [field_required("data[username]"), field_required("data[password]")]
    for key in _JSON_KEYS.get(kind, ()):
        errors += _json_text(data.get(key), f"data[{key}]")
    return errors


def _json_text(encoded: str | None, field: str) -> list[FieldError]:
    try:
        loads(base64.b64decode(encoded)) if encoded is not None else None
    except ParseError as err:
        return [field_invalid(field, "<secret contents redacted>", str(err))]
    return []


# Credentials that are documents themselves.
_JSON_KEYS = {
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
}


_SECRET_KEYS = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}


def _decoded_size(data: Json | None) -> int:
    """Return the number of bytes that a map of base64 texts decodes to."""
    return sum(len(text) // 4 * 3 - text[-2:].count("=") for text in (data or {}).values())


_SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_HIGHEST_PRIORITY = 1_000_000_000
_POD_CIDR_TEXT = 'node updates may not change podCIDR except from "" to valid'


def _priority_class(obj: Json) -> list[FieldError]:
    name, value = obj["metadata"].get("name", ""), obj.get("value", 0)
    errors = []
    if name.startswith("system-"):
        errors += _system_class(name, value, bool(obj.get("globalDefault")))
    elif value > _HIGHEST_PRIORITY:
        text = f"maximum allowed value of a user defined priority is {_HIGHEST_PRIORITY}"
        errors.append(field_forbidden("value", text))
    return errors + choice(obj, "", "preemptionPolicy", ["PreemptLowerPriority", "Never"])


def _system_class(name: str, value: int, is_default: bool) -> list[FieldError]:
    known = _SYSTEM_CLASSES.get(name)
    if known is None:
        why = f"{name} is not a known system priority class"
    elif value != known:
        why = f"value of {name} PriorityClass must be {known}"
    elif is_default:
        why = f"globalDefault of {name} PriorityClass must be false"
    else:
        return []
    head = "priority class names with 'system-' prefix are reserved for system use only. error: "
    return [field_forbidden("metadata.name", head + why)]


def _priority_class_update(obj: Json, old: Json) -> list[FieldError]:
    errors = []
    if obj.get("value", 0) != old.get("value", 0):
        errors.append(field_forbidden("value", "may not be changed in an update."))
    return errors + immutable(obj.get("preemptionPolicy"), old.get("preemptionPolicy"), "preemptionPolicy")


def _runtime_class(obj: Json) -> list[FieldError]:
    handler = obj.get("handler", "")
    errors = named(handler, "handler", is_dns1123_label) if handler else [field_required("handler")]
    scheduling = obj.get("scheduling") or {}
    errors += check_labels(scheduling.get("nodeSelector"), "scheduling.nodeSelector")
    return errors + pods.tolerations(scheduling.get("tolerations") or [], "scheduling.tolerations")


def _runtime_class_update(obj: Json, old: Json) -> list[FieldError]:
    return immutable(obj.get("handler"), old.get("handler"), "handler")


def _node(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for i, taint in enumerate(spec.get("taints") or ()):
        errors += _taint(taint, f"metadata.taints[{i}]", seen)
    networks = spec.get("podCIDRs") or []
    for i, text in enumerate(networks):
        errors += networking.network(text, f"spec.podCIDRs[{i}]")
    families = [":" in text for text in networks]
    if not errors and len(set(families)) < len(families):
        text = "may specify no more than one CIDR for each IP family"
        errors.append(field_invalid("spec.podCIDRs", networks, text))
    return errors


def _taint(taint: Json, field: str, seen: set[tuple[str, str]]) -> list[FieldError]:
    key, effect = taint.get("key", ""), taint.get("effect", "")
    errors = named(key, f"{field}.key", is_qualified_name)
    if taint.get("value"):
        errors += named(taint["value"], f"{field}.value", is_valid_label_value)
    errors += pods.taint_effect(effect, f"{field}.effect") if effect else [field_required(f"{field}.effect")]
    if (key, effect) in seen:
        shown = {"Key": key, "Value": taint.get("value", ""), "Effect": effect, "TimeAdded": taint.get("timeAdded")}
        wrong = field_duplicate(field, shown)
        errors.append(FieldError(wrong.reason, field, f"{wrong.body}: taints must be unique by key and effect pair"))
    seen.add((key, effect))
    return errors


def _node_update(obj: Json, old: Json) -> list[FieldError]:
    before, after = ((doc.get("spec") or {}).get("podCIDRs") or [] for doc in (old, obj))
    if before and before != after:
        return [field_forbidden("spec.podCIDRs", _POD_CIDR_TEXT)]
    return []


_SIGNING_REQUESTS = "certificates.k8s.io/certificatesigningrequests"
Create = Callable[[Json], list[FieldError]]
Update = Callable[[Json, Json], list[FieldError]]
_CREATE: dict[str, Create] = {
    "/pods": pods.pod,
    "/podtemplates": lambda obj: pods.template(obj.get("template") or {}, "template"),
    "/replicationcontrollers": workloads.replication_controller,
    "/services": networking.service,
    "/endpoints": networking.endpoints,
    "/configmaps": _config_map,
    "/secrets": _secret,
    "/nodes": _node,
    "/limitranges": quota.limit_range,
    "/resourcequotas": quota.resource_quota,
    "/persistentvolumes": storage.volume,
    "/persistentvolumeclaims": storage.claim,
    "admissionregistration.k8s.io/mutatingwebhookconfigurations": webhooks.configuration,
    "admissionregistration.k8s.io/validatingwebhookconfigurations": webhooks.configuration,
    "apps/deployments": workloads.deployment,
    "apps/replicasets": workloads.replica_set,
    "apps/statefulsets": workloads.stateful_set,
    "apps/daemonsets": workloads.daemon_set,
    "autoscaling/horizontalpodautoscalers": autoscaling.autoscaler,
    "batch/jobs": workloads.job,
    "batch/cronjobs": workloads.cron_job,
    _SIGNING_REQUESTS: certificates.signing_request,
    "coordination.k8s.io/leases": _lease,
    "discovery.k8s.io/endpointslices": networking.endpoint_slice,
    "networking.k8s.io/ingresses": networking.ingress_create,
    "networking.k8s.io/ingressclasses": networking.ingress_class,
    "networking.k8s.io/networkpolicies": networking.network_policy,
    "node.k8s.io/runtimeclasses": _runtime_class,
    "policy/poddisruptionbudgets": autoscaling.budget,
    "rbac.authorization.k8s.io/clusterrolebindings": access.cluster_role_binding,
    "rbac.authorization.k8s.io/clusterroles": access.cluster_role,
    "rbac.authorization.k8s.io/rolebindings": access.role_binding,
    "rbac.authorization.k8s.io/roles": access.role,
    "scheduling.k8s.io/priorityclasses": _priority_class,
    "storage.k8s.io/storageclasses": storage.storage_class,
}
# Validation of the new object in an update, for kinds with fewer checks than on create.
_AGAIN: dict[str, Create] = {
    "/pods": _nothing,
    _SIGNING_REQUESTS: _nothing,
    "networking.k8s.io/ingresses": networking.ingress,
    "scheduling.k8s.io/priorityclasses": _nothing,
}
# Validation of the fields that an update may not change.
_UPDATE: dict[str, Update] = {
    "/pods": pods.pod_update,
    "/services": networking.service_update,
    "/configmaps": _config_map_update,
    "/secrets": _secret_update,
    "/nodes": _node_update,
    "/persistentvolumes": storage.volume_update,
    "/persistentvolumeclaims": storage.claim_update,
    "/resourcequotas": quota.resource_quota_update,
    "apps/deployments": workloads.selector_update,
    "apps/replicasets": workloads.selector_update,
    "apps/daemonsets": workloads.selector_update,
    "apps/statefulsets": workloads.stateful_set_update,
    "batch/jobs": workloads.job_update,
    "discovery.k8s.io/endpointslices": networking.endpoint_slice_update,
    "networking.k8s.io/ingressclasses": networking.ingress_class_update,
    "node.k8s.io/runtimeclasses": _runtime_class_update,
    "rbac.authorization.k8s.io/clusterrolebindings": access.binding_update,
    "rbac.authorization.k8s.io/rolebindings": access.binding_update,
    "scheduling.k8s.io/priorityclasses": _priority_class_update,
    "storage.k8s.io/storageclasses": storage.storage_class_update,
}


def _pod_resize(obj: Json, old: Json) -> list[FieldError]:
    from clientgo.testing.apiserver.kinds.validation import pod_resize  # Here, not above: few servers need it.

    return pod_resize.resize(obj, old)


_SUBRESOURCES: dict[str, Update] = {
    "/pods/ephemeralcontainers": pods.ephemeral_containers_update,
    "/namespaces/status": pods.namespace_status,
    "/pods/resize": _pod_resize,
    "/pods/status": pods.status_update,
    "/services/status": networking.service_status,
    "apps/deployments/status": workloads.deployment_status,
    "apps/replicasets/status": workloads.replica_set_status,
    f"{_SIGNING_REQUESTS}/approval": certificates.approval_update,
    f"{_SIGNING_REQUESTS}/status": certificates.status_update,
}
