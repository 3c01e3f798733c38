"""Validation of object metadata and of the built-in kinds, as far as controllers and people meet it.

The texts are those of apimachinery's and Kubernetes' validation packages. A kind without rules here is accepted when
it decodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from clientgo.testing.apiserver.errors import (
    FieldError,
    field_duplicate,
    field_forbidden,
    field_invalid,
    field_not_supported,
    field_required,
    field_too_long,
)

if TYPE_CHECKING:
    from clientgo.testing.apiserver.registry import Resource

Json = dict[str, Any]

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_LABEL = re.compile(f"^{_LABEL}$")
_DNS_SUBDOMAIN = re.compile(rf"^{_LABEL}(\.{_LABEL})*$")
_DNS_1035 = re.compile(r"^[a-z]([-a-z0-9]*[a-z0-9])?$")
_QUALIFIED = re.compile(r"^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$")
_LABEL_VALUE = re.compile(r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$")

SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
DNS1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_NAME_PART_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_LABEL_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_TOTAL_ANNOTATIONS = 256 * 1024
# Of all values of a ConfigMap or Secret together.
_MAX_DATA = 1024 * 1024
_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


def dns_subdomain(name: str) -> list[str]:
    if len(name) > 253:
        return ["must be no more than 253 bytes"]
    return [] if _DNS_SUBDOMAIN.match(name) else [SUBDOMAIN_TEXT]


def dns_label(name: str) -> list[str]:
    if len(name) > 63:
        return ["must be no more than 63 bytes"]
    return [] if _DNS_LABEL.match(name) else [LABEL_TEXT]


def dns_1035_label(name: str) -> list[str]:
    if len(name) > 63:
        return ["must be no more than 63 bytes"]
    return [] if _DNS_1035.match(name) else [DNS1035_TEXT]


def path_segment(name: str) -> list[str]:
    """RBAC names may be nearly anything."""
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{char}'" for char in "/%" if char in name]


def qualified_name(value: str) -> list[str]:
    prefix, slash, name = value.rpartition("/")
    out = []
    if slash and not prefix:
        out.append("prefix part must be non-empty")
    elif slash:
        out += [f"prefix part {text}" for text in dns_subdomain(prefix)]
    if not name:
        out.append("name part must be non-empty")
    elif len(name) > 63:
        out.append("name part must be no more than 63 bytes")
    if (name and not _QUALIFIED.match(name)) or not name:
        out.append(_NAME_PART_TEXT)
    return out


_LABEL_NAMED = {"/namespaces"}
_RBAC = "rbac.authorization.k8s.io/"


def name_check(resource: Resource) -> Callable[[str], list[str]]:
    storage = resource.storage
    if storage in _LABEL_NAMED:
        return dns_label
    if storage == "/services":
        return dns_1035_label
    if storage.startswith(_RBAC):
        return path_segment
    return dns_subdomain


def metadata(resource: Resource, meta: Json) -> list[FieldError]:
    """Checks of ObjectMeta for a create or update."""
    errors: list[FieldError] = []
    name = meta.get("name", "")
    check = name_check(resource)
    generate = meta.get("generateName", "")
    if generate and not name:
        for text in check(generate.rstrip("-") + "a"):
            errors.append(field_invalid("metadata.generateName", generate, text))
    if not name:
        errors.append(field_required("metadata.name", "name or generateName is required"))
    else:
        errors += [field_invalid("metadata.name", name, text) for text in check(name)]
    errors += check_labels(meta.get("labels"), "metadata.labels")
    errors += check_annotations(meta.get("annotations"), "metadata.annotations")
    errors += finalizers(meta.get("finalizers"))
    errors += owner_references(meta.get("ownerReferences"))
    return errors


def check_labels(values: Json | None, field: str) -> list[FieldError]:
    errors = []
    for key, value in (values or {}).items():
        errors += [field_invalid(field, key, text) for text in qualified_name(key)]
        if len(value) > 63:
            errors.append(field_invalid(field, value, "must be no more than 63 bytes"))
        if not _LABEL_VALUE.match(value):
            errors.append(field_invalid(field, value, _LABEL_VALUE_TEXT))
    return errors


def check_annotations(values: Json | None, field: str) -> list[FieldError]:
    errors = []
    total = 0
    for key, value in (values or {}).items():
        errors += [field_invalid(field, key, text) for text in qualified_name(key.lower())]
        total += len(key) + len(value)
    if total > _TOTAL_ANNOTATIONS:
        errors.append(field_too_long(field, _TOTAL_ANNOTATIONS))
    return errors


def finalizers(values: list[str] | None) -> list[FieldError]:
    errors = []
    for value in values or ():
        errors += [field_invalid("metadata.finalizers", value, text) for text in qualified_name(value)]
    found = set(values or ())
    if {"orphan", "foregroundDeletion"} <= found:
        errors.append(
            field_invalid("metadata.finalizers", values, "finalizer orphan and foregroundDeletion cannot be both set")
        )
    return errors


def finalizer_warnings(values: list[str] | None) -> list[str]:
    return [
        f'metadata.finalizers: "{value}": prefer a domain-qualified finalizer name to avoid accidental conflicts with '
        "other finalizer writers"
        for value in values or ()
        if "/" not in value and value not in _STANDARD_FINALIZERS
    ]


def owner_references(references: list[Json] | None) -> list[FieldError]:
    errors = []
    controllers = 0
    for i, reference in enumerate(references or ()):
        field = f"metadata.ownerReferences[{i}]"
        api_version = reference.get("apiVersion", "")
        if not api_version.rpartition("/")[2]:
            errors.append(field_invalid(f"{field}.apiVersion", api_version, "version must not be empty"))
        for name in ("kind", "name", "uid"):
            if not reference.get(name):
                errors.append(field_invalid(f"{field}.{name}", "", "must not be empty"))
        if reference.get("controller"):
            controllers += 1
    if controllers > 1:
        shown = [dict(reference) for reference in references or ()]
        errors.append(
            field_invalid(
                "metadata.ownerReferences",
                shown,
                'Only one reference can have Controller set to true. Found "true" in references for '
                + " and ".join(f"{r.get('kind')}/{r.get('name')}" for r in shown if r.get("controller")),
            )
        )
    return errors


def metadata_update(old: Json, new: Json) -> list[FieldError]:
    errors = []
    if new.get("deletionTimestamp") != old.get("deletionTimestamp") and old.get("deletionTimestamp") is not None:
        errors.append(field_invalid("metadata.deletionTimestamp", new.get("deletionTimestamp"), "field is immutable"))
    for name in ("name", "namespace", "uid"):
        if new.get(name, "") != old.get(name, ""):
            errors.append(field_invalid(f"metadata.{name}", new.get(name, ""), "field is immutable"))
    if old.get("deletionTimestamp"):
        added = [f for f in new.get("finalizers") or () if f not in (old.get("finalizers") or ())]
        if added:
            detail = (
                f"no new finalizers can be added if the object is being deleted, found new finalizers {_go_list(added)}"
            )
            errors.append(field_forbidden("metadata.finalizers", detail))
    return errors


def _go_list(values: list[str]) -> str:
    return "[]string{" + ", ".join(f'"{value}"' for value in values) + "}"


# ---- built-in kinds


def create(resource: Resource, obj: Json) -> list[FieldError]:
    rule = _CREATE.get(resource.storage)
    return rule(obj) if rule is not None else []


def update(resource: Resource, obj: Json, old: Json, subresource: str) -> list[FieldError]:
    if subresource == "status":
        return []
    errors = create(resource, obj)
    rule = _UPDATE.get(resource.storage)
    return errors + rule(obj, old) if rule is not None else errors


def _containers(spec: Json, field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    containers = spec.get("containers") or []
    if not containers:
        errors.append(field_required(f"{field}.containers"))
    seen: set[str] = set()
    for group in ("containers", "initContainers"):
        for i, container in enumerate(spec.get(group) or ()):
            where = f"{field}.{group}[{i}]"
            name = container.get("name", "")
            if not name:
                errors.append(field_required(f"{where}.name"))
            else:
                errors += [field_invalid(f"{where}.name", name, text) for text in dns_label(name)]
                if name in seen:
                    errors.append(field_duplicate(f"{where}.name", name))
                seen.add(name)
            if not container.get("image"):
                errors.append(field_required(f"{where}.image"))
            errors += _container_ports(container, where)
            errors += _choice(container, where, "imagePullPolicy", ["Always", "IfNotPresent", "Never"])
    return errors


def _container_ports(container: Json, where: str) -> list[FieldError]:
    errors = []
    for j, port in enumerate(container.get("ports") or ()):
        number = port.get("containerPort", 0)
        if not number:
            errors.append(field_required(f"{where}.ports[{j}].containerPort"))
        elif not 0 < number < 65536:
            errors.append(field_invalid(f"{where}.ports[{j}].containerPort", number, _PORT_TEXT))
        errors += _choice(port, f"{where}.ports[{j}]", "protocol", ["SCTP", "TCP", "UDP"])
    for j, env in enumerate(container.get("env") or ()):
        if not env.get("name"):
            errors.append(field_required(f"{where}.env[{j}].name"))
    return errors


_PORT_TEXT = "must be between 1 and 65535, inclusive"


def _choice(obj: Json, where: str, name: str, choices: list[str]) -> list[FieldError]:
    value = obj.get(name)
    if not value or value in choices:
        return []
    return [field_not_supported(f"{where}.{name}", value, choices)]


def _pod_spec(spec: Json, field: str) -> list[FieldError]:
    errors = _containers(spec, field)
    errors += _choice(spec, field, "restartPolicy", ["Always", "OnFailure", "Never"])
    errors += _choice(spec, field, "dnsPolicy", ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"])
    volumes = {volume.get("name") for volume in spec.get("volumes") or ()}
    for i, container in enumerate(spec.get("containers") or ()):
        for j, mount in enumerate(container.get("volumeMounts") or ()):
            if mount.get("name") not in volumes:
                where = f"{field}.containers[{i}].volumeMounts[{j}].name"
                errors.append(FieldError("FieldValueNotFound", where, f'Not found: "{mount.get("name")}"'))
    return errors


def _pod(obj: Json) -> list[FieldError]:
    return _pod_spec(obj.get("spec") or {}, "spec")


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


def _label_selector(selector: Any, field: str) -> list[FieldError]:
    if selector is None:
        return [field_required(field)]
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        return [field_invalid(field, selector, "empty selector is invalid for deployment")]
    errors = check_labels(selector.get("matchLabels"), f"{field}.matchLabels")
    for i, term in enumerate(selector.get("matchExpressions") or ()):
        where = f"{field}.matchExpressions[{i}]"
        errors += _choice(term, where, "operator", ["In", "NotIn", "Exists", "DoesNotExist"])
    return errors


def _workload(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors = []
    replicas = spec.get("replicas")
    if replicas is not None and replicas < 0:
        errors.append(field_invalid("spec.replicas", replicas, "must be greater than or equal to 0"))
    selector = spec.get("selector")
    errors += _label_selector(selector, "spec.selector")
    template = spec.get("template") or {}
    template_labels = (template.get("metadata") or {}).get("labels") or {}
    if selector and not errors and not selector_matches(selector, template_labels):
        errors.append(
            field_invalid(
                "spec.template.metadata.labels", template_labels, "`selector` does not match template `labels`"
            )
        )
    errors += check_labels(template_labels, "spec.template.labels")
    errors += _pod_spec(template.get("spec") or {}, "spec.template.spec")
    policy = (template.get("spec") or {}).get("restartPolicy")
    if policy and policy != "Always":
        errors.append(field_not_supported("spec.template.spec.restartPolicy", policy, ["Always"]))
    return errors


def _immutable_selector(obj: Json, old: Json) -> list[FieldError]:
    new = (obj.get("spec") or {}).get("selector")
    if new != (old.get("spec") or {}).get("selector"):
        return [field_invalid("spec.selector", new, "field is immutable")]
    return []


_POD_UPDATE_TEXT = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def _pod_update(obj: Json, old: Json) -> list[FieldError]:
    new_spec, old_spec = obj.get("spec") or {}, old.get("spec") or {}
    for group in ("containers", "initContainers"):
        if len(new_spec.get(group) or ()) != len(old_spec.get(group) or ()):
            return [field_forbidden(f"spec.{group}", "pod updates may not add or remove containers")]

    def comparable(spec: Json) -> Json:
        out = {k: v for k, v in spec.items() if k not in ("activeDeadlineSeconds", "tolerations", "schedulingGates")}
        for group in ("containers", "initContainers"):
            if out.get(group):
                out[group] = [{k: v for k, v in c.items() if k != "image"} for c in out[group]]
        # Set by the binding subresource, never by an update; an equal value is no change.
        return out

    if comparable(new_spec) != comparable(old_spec):
        return [field_forbidden("spec", _POD_UPDATE_TEXT)]
    return []


def _service(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors = []
    ports = spec.get("ports") or []
    if not ports and spec.get("clusterIP") != "None" and spec.get("type") != "ExternalName":
        errors.append(field_required("spec.ports"))
    for i, port in enumerate(ports):
        number = port.get("port", 0)
        if not 0 < number < 65536:
            errors.append(field_invalid(f"spec.ports[{i}].port", number, _PORT_TEXT))
        if len(ports) > 1 and not port.get("name"):
            errors.append(field_required(f"spec.ports[{i}].name"))
    errors += _choice(spec, "spec", "type", ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"])
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
    errors += [field_invalid("reportingController", controller, text) for text in qualified_name(controller)]
    if not obj.get("reportingInstance"):
        errors.append(field_required("reportingInstance"))
    for name in ("action", "reason"):
        if not obj.get(name):
            errors.append(field_required(name))
    errors += _choice(obj, "", "type", ["Normal", "Warning"])
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
    errors = []
    for name in ("data", "binaryData"):
        for key in obj.get(name) or ():
            if not re.match(r"^[-._a-zA-Z0-9]+$", key) or len(key) > 253 or key in (".", ".."):
                errors.append(
                    field_invalid(
                        f"{name}[{key}]",
                        key,
                        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name', "
                        " or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
                    )
                )
    return errors


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
    return errors


def _decoded_size(data: Json | None) -> int:
    """The bytes in a map of base64 texts."""
    return sum(len(text) // 4 * 3 - text[-2:].count("=") for text in (data or {}).values())


def _binding(obj: Json) -> list[FieldError]:
    reference = obj.get("roleRef") or {}
    errors = []
    if not reference.get("name"):
        errors.append(field_required("roleRef.name"))
    errors += _choice(reference, "roleRef", "kind", ["Role", "ClusterRole"])
    for i, subject in enumerate(obj.get("subjects") or ()):
        if not subject.get("name"):
            errors.append(field_required(f"subjects[{i}].name"))
        errors += _choice(subject, f"subjects[{i}]", "kind", ["ServiceAccount", "User", "Group"])
        if subject.get("kind") == "ServiceAccount" and not subject.get("namespace"):
            errors.append(field_required(f"subjects[{i}].namespace"))
    return errors


def _binding_update(obj: Json, old: Json) -> list[FieldError]:
    if obj.get("roleRef") != old.get("roleRef"):
        return [field_invalid("roleRef", obj.get("roleRef"), "cannot change roleRef")]
    return []


def _job(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    template = (spec.get("template") or {}).get("spec") or {}
    errors = _pod_spec(template, "spec.template.spec")
    if template.get("restartPolicy") not in ("OnFailure", "Never"):
        errors.append(
            FieldError(
                "FieldValueRequired",
                "spec.template.spec.restartPolicy",
                'Required value: valid values: "OnFailure", "Never"',
            )
            if not template.get("restartPolicy")
            else field_not_supported(
                "spec.template.spec.restartPolicy", template["restartPolicy"], ["OnFailure", "Never"]
            )
        )
    return errors


_CREATE: dict[str, Callable[[Json], list[FieldError]]] = {
    "/pods": _pod,
    "/services": _service,
    "/configmaps": _config_map,
    "/secrets": _secret,
    "apps/deployments": _workload,
    "apps/replicasets": _workload,
    "apps/statefulsets": _workload,
    "apps/daemonsets": _workload,
    "batch/jobs": _job,
    "coordination.k8s.io/leases": _lease,
    "rbac.authorization.k8s.io/rolebindings": _binding,
    "rbac.authorization.k8s.io/clusterrolebindings": _binding,
}
_UPDATE: dict[str, Callable[[Json, Json], list[FieldError]]] = {
    "/pods": _pod_update,
    "/services": _service_update,
    "/configmaps": _config_map_update,
    "/secrets": _secret_update,
    "apps/deployments": _immutable_selector,
    "apps/replicasets": _immutable_selector,
    "apps/daemonsets": _immutable_selector,
    "rbac.authorization.k8s.io/rolebindings": _binding_update,
    "rbac.authorization.k8s.io/clusterrolebindings": _binding_update,
}
