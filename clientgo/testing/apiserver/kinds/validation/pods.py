"""Validation of pods and pod templates. Mirrors the pod's part of pkg/apis/core/validation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clientgo.apimachinery.util.validation import (
    is_dns1123_label,
    is_dns1123_subdomain,
    is_qualified_name,
    is_valid_group_id,
    is_valid_label_value,
)
from clientgo.testing.apiserver.kinds.object_meta import check_labels
from clientgo.testing.apiserver.kinds.validation import volumes
from clientgo.testing.apiserver.kinds.validation.containers import (
    PROBES,
    common,
    containers,
    identities,
    init_containers,
)
from clientgo.testing.apiserver.kinds.validation.fields import (
    IMMUTABLE,
    MAX_INT32,
    choice,
    difference,
    each,
    label_selector,
    named,
)
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_duplicate,
    field_forbidden,
    field_invalid,
    field_not_supported,
    field_required,
)
from clientgo.testing.apiserver.wire.jsonio import Json

_GROUPS = ("containers", "initContainers")
MIRROR = "kubernetes.io/config.mirror"
_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pod(obj: Json) -> list[FieldError]:
    """Validate a new pod. Checks its images, ephemeral containers and mirror annotation, in addition to the PodSpec."""
    spec = obj.get("spec") or {}
    errors = []
    if (obj["metadata"].get("annotations") or {}).get(MIRROR) is not None and not spec.get("nodeName"):
        text = "must set spec.nodeName if mirror pod annotation is set"
        value = obj["metadata"]["annotations"][MIRROR]
        errors.append(field_invalid(f"metadata.annotations[{MIRROR}]", value, text))
    errors += pod_spec(spec, "spec")
    errors += _images(spec)
    if spec.get("ephemeralContainers"):
        errors.append(field_forbidden("spec.ephemeralContainers", "cannot be set on create"))
    return errors


def _images(spec: Json) -> list[FieldError]:
    return [
        field_invalid(f"spec.{group}[{i}].image", container["image"], "must not have leading or trailing whitespace")
        for group in _GROUPS
        for i, container in enumerate(spec.get(group) or ())
        if container.get("image", "") != container.get("image", "").strip()
    ]


def template(doc: Json, field: str) -> list[FieldError]:
    """Validate a PodTemplateSpec."""
    metadata, spec = doc.get("metadata") or {}, doc.get("spec") or {}
    errors = check_labels(metadata.get("labels"), f"{field}.labels")
    for key in metadata.get("annotations") or ():
        errors += named(key.lower(), f"{field}.annotations", is_qualified_name)
    errors += pod_spec(spec, f"{field}.spec")
    if spec.get("ephemeralContainers"):
        text = "ephemeral containers not allowed in pod template"
        errors.append(field_forbidden(f"{field}.spec.ephemeralContainers", text))
    return errors


def pod_spec(spec: Json, field: str) -> list[FieldError]:
    errors, mountable = volumes.volumes(spec.get("volumes") or [], f"{field}.volumes")
    stays = spec.get("containers") or []
    errors += containers(stays, f"{field}.containers", mountable)
    errors += init_containers(spec.get("initContainers") or [], f"{field}.initContainers", mountable, stays)
    errors += choice(spec, field, "restartPolicy", ["Always", "OnFailure", "Never"])
    errors += choice(spec, field, "dnsPolicy", ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"])
    errors += check_labels(spec.get("nodeSelector"), f"{field}.nodeSelector")
    errors += _security(spec.get("securityContext") or {}, f"{field}.securityContext")
    errors += _affinity(spec.get("affinity") or {}, f"{field}.affinity")
    errors += _dns(spec, f"{field}.dnsConfig")
    errors += _gates(spec.get("schedulingGates") or [], f"{field}.schedulingGates")
    errors += each(spec.get("topologySpreadConstraints"), f"{field}.topologySpreadConstraints", _spread)
    return errors + _scalars(spec, field)


def _scalars(spec: Json, field: str) -> list[FieldError]:
    checks = {
        "serviceAccountName": is_dns1123_subdomain,
        "nodeName": is_dns1123_subdomain,
        "hostname": is_dns1123_label,
        "subdomain": is_dns1123_label,
        "priorityClassName": is_dns1123_subdomain,
        "runtimeClassName": is_dns1123_subdomain,
    }
    early = ("serviceAccountName", "nodeName")
    errors = [e for name in early if spec.get(name) for e in named(spec[name], f"{field}.{name}", checks[name])]
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= MAX_INT32:
        text = f"must be between 1 and {MAX_INT32}, inclusive"
        errors.append(field_invalid(f"{field}.activeDeadlineSeconds", deadline, text))
    for name in ("hostname", "subdomain"):
        if spec.get(name):
            errors += named(spec[name], f"{field}.{name}", checks[name])
    errors += tolerations(spec.get("tolerations") or [], f"{field}.tolerations")
    for name in ("priorityClassName", "runtimeClassName"):
        if spec.get(name):
            errors += named(spec[name], f"{field}.{name}", checks[name])
    errors += choice(spec, field, "preemptionPolicy", ["Never", "PreemptLowerPriority"])
    system = (spec.get("os") or {}).get("name")
    if spec.get("os") is not None and system not in ("linux", "windows"):
        wrong = field_not_supported(f"{field}.os", system, ["linux", "windows"])
        errors.append(wrong if system else field_required(f"{field}.os.name"))
    return errors


def _security(context: Json, field: str) -> list[FieldError]:
    errors = []
    if context.get("fsGroup") is not None:
        errors += [
            field_invalid(f"{field}.fsGroup", context["fsGroup"], t) for t in is_valid_group_id(context["fsGroup"])
        ]
    for i, group in enumerate(context.get("supplementalGroups") or ()):
        errors += [field_invalid(f"{field}.supplementalGroups[{i}]", group, text) for text in is_valid_group_id(group)]
    return errors + identities(context, field)


def _affinity(affinity: Json, field: str) -> list[FieldError]:
    errors = []
    wanted = (affinity.get("nodeAffinity") or {}).get(_REQUIRED)
    if wanted is not None:
        errors += node_selector(wanted, f"{field}.nodeAffinity.{_REQUIRED}")
    for name in ("podAffinity", "podAntiAffinity"):
        one, where = affinity.get(name) or {}, f"{field}.{name}"
        errors += each(one.get(_REQUIRED), f"{where}.{_REQUIRED}", _affinity_term)
    return errors


def node_selector(selector: Json, field: str) -> list[FieldError]:
    if not selector.get("nodeSelectorTerms"):
        return [field_required(f"{field}.nodeSelectorTerms", "must have at least one node selector term")]
    errors = []
    for i, term in enumerate(selector["nodeSelectorTerms"]):
        errors += each(
            term.get("matchExpressions"), f"{field}.nodeSelectorTerms[{i}].matchExpressions", _node_requirement
        )
    return errors


def _node_requirement(term: Json, field: str) -> list[FieldError]:
    operator, values = term.get("operator", ""), term.get("values") or []
    errors = []
    if operator in ("In", "NotIn"):
        if not values:
            errors.append(field_required(f"{field}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(field_forbidden(f"{field}.values", text))
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            errors.append(field_required(f"{field}.values", text))
    else:
        errors.append(field_invalid(f"{field}.operator", operator, "not a valid selector operator"))
    return errors + named(term.get("key", ""), f"{field}.key", is_qualified_name)


def _affinity_term(term: Json, field: str) -> list[FieldError]:
    return label_selector(term.get("labelSelector"), f"{field}.labelSelector") + _topology(term, field)


def _topology(term: Json, field: str) -> list[FieldError]:
    key = term.get("topologyKey", "")
    errors = [] if key else [field_required(f"{field}.topologyKey", "can not be empty")]
    return errors + named(key, f"{field}.topologyKey", is_qualified_name)


def _spread(constraint: Json, field: str) -> list[FieldError]:
    skew, where = constraint.get("maxSkew", 0), f"{field}.whenUnsatisfiable"
    errors = [] if skew > 0 else [field_invalid(f"{field}.maxSkew", skew, "must be greater than zero")]
    if constraint.get("topologyKey"):
        errors += named(constraint["topologyKey"], f"{field}.topologyKey", is_qualified_name)
    else:
        errors.append(field_required(f"{field}.topologyKey", "can not be empty"))
    if constraint.get("whenUnsatisfiable") not in ("DoNotSchedule", "ScheduleAnyway"):
        choices = ["DoNotSchedule", "ScheduleAnyway"]
        errors.append(field_not_supported(where, constraint.get("whenUnsatisfiable", ""), choices))
    return errors + label_selector(constraint.get("labelSelector"), f"{field}.labelSelector")


def _dns(spec: Json, field: str) -> list[FieldError]:
    """Validate the DNS configuration. The policy None requires nameservers."""
    if spec.get("dnsPolicy") != "None":
        return []
    if spec.get("dnsConfig") is None:
        return [field_required(field, "must provide `dnsConfig` when `dnsPolicy` is None")]
    if not spec["dnsConfig"].get("nameservers"):
        text = "must provide at least one DNS nameserver when `dnsPolicy` is None"
        return [field_required(f"{field}.nameservers", text)]
    return []


def _gates(gates: list[Json], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, gate in enumerate(gates):
        name = gate.get("name", "")
        errors += named(name, f"{field}[{i}]", is_qualified_name)
        if name in seen:
            errors.append(field_duplicate(f"{field}[{i}]", name))
        seen.add(name)
    return errors


def tolerations(items: list[Json], field: str) -> list[FieldError]:
    return each(items, field, _toleration)


def _toleration(one: Json, field: str) -> list[FieldError]:
    key, operator, value, effect = (one.get(name, "") for name in ("key", "operator", "value", "effect"))
    errors = named(key, f"{field}.key", is_qualified_name) if key else []
    if not key and operator != "Exists":
        text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        errors.append(field_invalid(f"{field}.operator", operator, text))
    if one.get("tolerationSeconds") is not None and effect != "NoExecute":
        text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        errors.append(field_invalid(f"{field}.effect", effect, text))
    if operator in ("Equal", ""):
        texts = is_valid_label_value(value)
        errors += [field_invalid(f"{field}.operator", value, ";".join(texts))] if texts else []
    elif operator == "Exists":
        if value:
            text = "value must be empty when `operator` is 'Exists'"
            errors.append(field_invalid(f"{field}.operator", value, text))
    else:
        errors.append(field_not_supported(f"{field}.operator", operator, ["Equal", "Exists"]))
    return errors + taint_effect(effect, f"{field}.effect")


def taint_effect(effect: str, field: str) -> list[FieldError]:
    return [field_not_supported(field, effect, _EFFECTS)] if effect and effect not in _EFFECTS else []


# ---- updates

_UPDATE_TEXT = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"
)
_CHANGEABLE = ("activeDeadlineSeconds", "tolerations", "schedulingGates", "terminationGracePeriodSeconds")


def pod_update(obj: Json, old: Json) -> list[FieldError]:
    """Validate an updated pod as a new one, and validate that it changes only the few changeable fields."""
    new_spec, old_spec = obj.get("spec") or {}, old.get("spec") or {}
    errors = pod_spec(new_spec, "spec") + _images(new_spec)
    stopped = False
    for group in _GROUPS:
        if len(new_spec.get(group) or ()) != len(old_spec.get(group) or ()):
            errors.append(field_forbidden(f"spec.{group}", "pod updates may not add or remove containers"))
            stopped = True
    if stopped:
        return errors
    errors += _deadline_update(new_spec.get("activeDeadlineSeconds"), old_spec.get("activeDeadlineSeconds"))
    errors += _tolerations_update(new_spec.get("tolerations") or [], old_spec.get("tolerations") or [])
    errors += _gates_update(new_spec.get("schedulingGates") or [], old_spec.get("schedulingGates") or [])
    before, after = _unchangeable(old_spec, "image"), _unchangeable(new_spec, "image")
    if old_spec.get("schedulingGates") and _only_narrower(before, after):
        before, after = ({**side, "nodeSelector": None} for side in (before, after))
    grace, was = new_spec.get("terminationGracePeriodSeconds"), old_spec.get("terminationGracePeriodSeconds")
    if before != after or (grace != was and not (grace == 1 and (was or 0) < 0)):
        errors.append(field_forbidden("spec", _UPDATE_TEXT + difference(old_spec, new_spec)))
    return errors


def status_update(obj: Json, old: Json) -> list[FieldError]:
    """Validate an update of a pod's status, in part. Go: validation.ValidatePodStatusUpdate, in part."""
    new_status, old_status = obj.get("status") or {}, old.get("status") or {}
    errors = []
    if new_status.get("qosClass", "") != old_status.get("qosClass", ""):
        errors.append(field_invalid("status.qosClass", new_status.get("qosClass", ""), IMMUTABLE))
    nominated = new_status.get("nominatedNodeName")
    if nominated and nominated != old_status.get("nominatedNodeName") and (old.get("spec") or {}).get("nodeName"):
        text = "may not be set on pods that are already bound to a node"
        errors.append(field_forbidden("status.nominatedNodeName", text))
    return errors


def namespace_status(obj: Json, old: Json) -> list[FieldError]:
    """Validate an update of a namespace's status. Go: validation.ValidateNamespaceStatusUpdate."""
    phase = (obj.get("status") or {}).get("phase", "")
    gone = bool(obj["metadata"].get("deletionTimestamp"))
    if not gone and phase != "Active":
        return [field_invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")]
    if gone and phase != "Terminating":
        return [field_invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")]
    return []


def _only_narrower(before: Json, after: Json) -> bool:
    """Report whether the new nodeSelector has all terms of the old one. A gated pod may add more terms."""
    return (before.get("nodeSelector") or {}).items() <= (after.get("nodeSelector") or {}).items()


def _deadline_update(new: int | None, old: int | None) -> list[FieldError]:
    field = "spec.activeDeadlineSeconds"
    if new is None:
        text = "must not update from a positive integer to nil value"
        return [] if old is None else [field_invalid(field, None, text)]
    if not 0 <= new <= MAX_INT32:
        return [field_invalid(field, new, f"must be between 0 and {MAX_INT32}, inclusive")]
    return [field_invalid(field, new, "must be less than or equal to previous value")] if old and new > old else []


def _tolerations_update(new: list[Json], old: list[Json]) -> list[FieldError]:
    """Validate that an update removes no toleration, and changes of existing ones only tolerationSeconds."""
    kept = [_without_seconds(one) for one in new]
    if all(_without_seconds(one) in kept for one in old):
        return tolerations(new, "spec.tolerations") if new != old else []
    text = "existing toleration can not be modified except its tolerationSeconds"
    return [field_forbidden("spec.tolerations", text)]


def _without_seconds(toleration: Json) -> Json:
    return {name: value for name, value in toleration.items() if name != "tolerationSeconds"}


def _gates_update(new: list[Json], old: list[Json]) -> list[FieldError]:
    known = {gate.get("name") for gate in old}
    return [
        field_forbidden(
            f"spec.schedulingGates[{i}].name",
            f"only deletion is allowed, but found new scheduling gate '{gate['name']}'",
        )
        for i, gate in enumerate(new)
        if gate.get("name") not in known
    ]


def _unchangeable(spec: Json, but: str) -> Json:
    """Return the part of a PodSpec that an update may not change.

    The result leaves out the changeable fields of the spec, and the field `but` of each container.
    """
    out = {name: value for name, value in spec.items() if name not in _CHANGEABLE}
    for group in _GROUPS:
        if out.get(group):
            out[group] = [{name: value for name, value in c.items() if name != but} for c in out[group]]
    return out


def ephemeral_containers_update(obj: Json, old: Json) -> list[FieldError]:
    """Validate pods/ephemeralcontainers: an update may add ephemeral containers, but not change or remove them."""
    field = "spec.ephemeralContainers"
    new: list[Json] = (obj.get("spec") or {}).get("ephemeralContainers") or []
    before: list[Json] = (old.get("spec") or {}).get("ephemeralContainers") or []
    errors = list(_new_ephemeral_containers(obj, new, field))
    known = {container.get("name"): container for container in new}
    for container in before:
        now = known.get(container.get("name"))
        if now is None:
            text = f'existing ephemeral containers "{container.get("name")}" may not be removed\n'
            errors.append(field_forbidden(field, text))
        elif now != container:
            text = f'existing ephemeral containers "{container.get("name")}" may not be changed\n'
            errors.append(field_forbidden(field, text + difference(container, now)))
    return errors


def _new_ephemeral_containers(obj: Json, items: list[Json], field: str) -> Iterator[FieldError]:
    spec = obj.get("spec") or {}
    mountable = {volume.get("name", "") for volume in spec.get("volumes") or ()}
    seen: set[Any] = {container.get("name", "") for group in _GROUPS for container in spec.get(group) or ()}
    for i, container in enumerate(items):
        where, name = f"{field}[{i}]", container.get("name", "")
        yield from common({**container, "ports": None}, where, mountable)
        if name and name in seen:
            yield field_duplicate(f"{where}.name", name)
        seen.add(name)
        for forbidden in ("ports", *PROBES, "resources"):
            if container.get(forbidden):
                yield field_forbidden(f"{where}.{forbidden}", "cannot be set for an Ephemeral Container")
