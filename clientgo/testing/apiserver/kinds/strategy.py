"""The fields that a create or update may write, and those that the server sets: Kubernetes' rest strategies as data.

For every resource: whether it has metadata.generation and which changes increase it, whether its status is protected,
whether a delete returns the object, and whether PUT may create it or omit the resourceVersion.
"""

from __future__ import annotations

from collections.abc import Callable

from clientgo.testing.apiserver.kinds import certificates, crd, defaults, schema, services
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.wire.jsonio import Json

# Built-in resources with a generation; the spec moves it.
_GENERATION = {
    "/pods",
    "/podtemplates",
    "/replicationcontrollers",
    "apps/deployments",
    "apps/replicasets",
    "apps/statefulsets",
    "apps/daemonsets",
    "batch/jobs",
    "batch/cronjobs",
    "networking.k8s.io/ingresses",
    "networking.k8s.io/ingressclasses",
    "networking.k8s.io/networkpolicies",
    "policy/poddisruptionbudgets",
    "apiextensions.k8s.io/customresourcedefinitions",
    "flowcontrol.apiserver.k8s.io/flowschemas",
    "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations",
    "discovery.k8s.io/endpointslices",
    "resource.k8s.io/deviceclasses",
    "resource.k8s.io/resourceslices",
    "scheduling.k8s.io/priorityclasses",
    "admissionregistration.k8s.io/mutatingwebhookconfigurations",
    "admissionregistration.k8s.io/validatingwebhookconfigurations",
    "admissionregistration.k8s.io/validatingadmissionpolicies",
    "admissionregistration.k8s.io/validatingadmissionpolicybindings",
}
_RETURNS_DELETED = {
    "/pods",
    "/services",
    "/serviceaccounts",
    "/persistentvolumes",
    "/persistentvolumeclaims",
    "/podtemplates",
    "/resourcequotas",
    "storage.k8s.io/storageclasses",
}
_CREATE_ON_UPDATE = {
    "/endpoints",
    "/events",
    "/limitranges",
    "/services",
    "coordination.k8s.io/leases",
    "node.k8s.io/runtimeclasses",
    "rbac.authorization.k8s.io/clusterrolebindings",
    "rbac.authorization.k8s.io/clusterroles",
    "rbac.authorization.k8s.io/rolebindings",
    "rbac.authorization.k8s.io/roles",
}
# Resources whose PUT requires a resourceVersion.
_CONDITIONAL_UPDATE = {
    "admissionregistration.k8s.io/mutatingadmissionpolicies",
    "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
    "admissionregistration.k8s.io/mutatingwebhookconfigurations",
    "admissionregistration.k8s.io/validatingadmissionpolicies",
    "admissionregistration.k8s.io/validatingadmissionpolicybindings",
    "admissionregistration.k8s.io/validatingwebhookconfigurations",
    "apiextensions.k8s.io/customresourcedefinitions",
    "coordination.k8s.io/leases",
    "flowcontrol.apiserver.k8s.io/flowschemas",
    "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations",
    "node.k8s.io/runtimeclasses",
    "policy/poddisruptionbudgets",
    "storage.k8s.io/csidrivers",
    "storage.k8s.io/csinodes",
    "storage.k8s.io/csistoragecapacities",
    "storage.k8s.io/volumeattachments",
}
# Resources whose dependents are orphaned by a delete without a propagation policy.
_ORPHANS_DEPENDENTS = {"/replicationcontrollers", "batch/jobs"}
_GRACEFUL_SECONDS = 30


def has_generation(resource: Resource) -> bool:
    return resource.custom or resource.storage in _GENERATION


def returns_deleted_object(resource: Resource) -> bool:
    return resource.storage in _RETURNS_DELETED


def creates_on_update(resource: Resource) -> bool:
    return resource.storage in _CREATE_ON_UPDATE


def needs_version_on_update(resource: Resource) -> bool:
    return resource.custom or resource.storage in _CONDITIONAL_UPDATE


def orphans_dependents(resource: Resource) -> bool:
    """Report whether a delete without a propagation policy orphans the dependents. Other resources delete them too."""
    return resource.storage in _ORPHANS_DEPENDENTS


def has_status(resource: Resource) -> bool:
    return "status" in resource.subresources


def reset_fields(resource: Resource, subresource: str, obj: Json, old: Json) -> tuple[str, ...]:
    """Return the top-level fields that a write of this (sub)resource cannot change. Its manager does not own them."""
    if subresource == "status":
        kept = ("apiVersion", "kind", "status") if resource.custom else ("apiVersion", "kind", "metadata", "status")
        return tuple(name for name in {**obj, **old} if name not in kept)
    if subresource == "" and has_status(resource):
        return ("status",)
    return ()


def normalise(resource: Resource, obj: Json) -> Json:
    """Restore the order of fields and the normal form of the Go type, after the server has set fields."""
    if resource.struct is None:
        return obj
    out: Json = resource.struct.decode(obj, schema.Context(), "", "")
    return out


def before_create(resource: Resource, obj: Json, allocate: Callable[[str], str]) -> None:
    """Set the fields of a new object that the server owns, such as generation and status. Changes the given object."""
    metadata = obj["metadata"]
    if has_generation(resource):
        metadata["generation"] = 1
    if has_status(resource):
        _reset_status(resource, obj)
    storage = resource.storage
    if storage == "/pods":
        obj["status"] = {"phase": "Pending", "qosClass": defaults.qos_class(obj["spec"])}
    elif storage == "/namespaces":
        spec = obj.setdefault("spec", {})
        if "kubernetes" not in (spec.get("finalizers") or ()):
            spec["finalizers"] = [*(spec.get("finalizers") or ()), "kubernetes"]
        obj["status"] = {"phase": "Active"}
    elif storage == "/services":
        services.before_create(obj, allocate)
    elif storage == "/persistentvolumeclaims" or storage == "/persistentvolumes":
        obj["status"] = {"phase": "Pending"}
    elif storage == crd.STORAGE:
        stored = crd.stored_versions(obj["spec"], []) or None
        obj["status"] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": stored}
    elif storage == "batch/jobs":
        _job_selector(obj)
        # Set missing labels from the template, as the defaults do when a stored object is read.
        defaults.job_labels(obj)
    elif storage == "apps/daemonsets":
        _set_template_generation(obj, max(_template_generation(obj), 1))
    _drop_disabled(resource, obj, {})
    _drop_empty_rules(resource, obj)


def _job_selector(obj: Json) -> None:
    """Set a Job's selector and the template labels that it selects, unless the Job has a manualSelector."""
    spec = obj["spec"]
    if spec.get("manualSelector"):
        return
    uid, name = obj["metadata"].get("uid", ""), obj["metadata"].get("name", "")
    meta = spec["template"].setdefault("metadata", {})
    labels = dict(meta.get("labels") or {})
    labels.update({"batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name})
    labels.update({"controller-uid": uid, "job-name": name})
    meta["labels"] = dict(sorted(labels.items()))
    selector = spec.get("selector") or {}
    spec["selector"] = {
        **selector,
        "matchLabels": {"batch.kubernetes.io/controller-uid": uid, **(selector.get("matchLabels") or {})},
    }


def _template_generation(obj: Json) -> int:
    """Return a DaemonSet's template generation from its annotation, or 0 if that is no number."""
    return defaults.template_generation(obj["metadata"].get("annotations"))


def _set_template_generation(obj: Json, number: int) -> None:
    metadata = obj["metadata"]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), defaults.TEMPLATE_GENERATION: str(number)}


def _reset_status(resource: Resource, obj: Json) -> None:
    if resource.custom:
        obj.pop("status", None)
    elif "status" in obj and resource.storage != "/nodes":
        obj["status"] = {}


def before_update(resource: Resource, obj: Json, old: Json, subresource: str, allocate: Callable[[str], str]) -> Json:
    """Return the object to store: fields that this (sub)resource may not write keep their old values."""
    if subresource == "status":
        return _status_update(resource, obj, old)
    if subresource == "ephemeralcontainers":
        return _with_spec(old, obj, _with_or_without(old["spec"], "ephemeralContainers", obj["spec"]))
    if subresource == "resize":
        return _with_spec(old, obj, _resized(old["spec"], obj["spec"]))
    if has_status(resource):
        if "status" in old:
            obj["status"] = old["status"]
        else:
            obj.pop("status", None)
    if resource.storage == "/namespaces" and subresource == "":
        obj["spec"] = {**obj.get("spec", {}), "finalizers": (old.get("spec") or {}).get("finalizers")}
    if resource.storage == certificates.STORAGE:
        obj["spec"] = old["spec"]
    if resource.storage == "/services":
        services.before_update(obj, old, allocate)
    if resource.storage == "/pods":
        _keep_admitted(obj, old)
    if resource.storage == crd.STORAGE:
        known = obj["status"].get("storedVersions") or []
        obj["status"] = {**obj["status"], "storedVersions": crd.stored_versions(obj["spec"], known)}
    if resource.storage == "apps/daemonsets":
        moved = obj["spec"].get("template") != old["spec"].get("template")
        _set_template_generation(obj, _template_generation(old) + int(moved))
    _drop_disabled(resource, obj, old)
    _drop_empty_rules(resource, obj)
    _keep_generation(obj["metadata"], old["metadata"])
    if has_generation(resource) and _moves_generation(resource, obj, old):
        obj["metadata"]["generation"] = obj["metadata"].get("generation", 0) + 1
    return obj


def _keep_generation(metadata: Json, old: Json) -> None:
    """Restore the old metadata.generation, which no client may set."""
    metadata.pop("generation", None)
    if "generation" in old:
        metadata["generation"] = old["generation"]


def _with_or_without(spec: Json, name: str, new: Json) -> Json:
    """Return the spec with one field copied from `new`, or without the field if `new` has none."""
    out = {key: value for key, value in spec.items() if key != name}
    return {**out, name: new[name]} if new.get(name) else out


def _with_spec(old: Json, new: Json, spec: Json) -> Json:
    """Return the old pod with another spec, and the next generation if the spec differs.

    Validation rejects the new pod's uid if it is another one.
    """
    metadata = {**old["metadata"], "uid": new["metadata"]["uid"]}
    if spec != old["spec"]:
        metadata["generation"] = metadata.get("generation", 0) + 1
    return {**old, "metadata": metadata, "spec": spec}


def _resized(old: Json, new: Json) -> Json:
    """Return the old spec with the new resources of the pod and its containers. Go: dropNonResizeUpdates.

    Containers that are added, removed, renamed or in another order are left for validation, which rejects them.
    """
    groups = ("containers", "initContainers")
    if any(len(new.get(group) or ()) != len(old.get(group) or ()) for group in groups):
        return new
    out = _with_or_without(old, "resources", new)
    for group in groups:
        before, sent = old.get(group) or [], new.get(group) or []
        if [each.get("name") for each in before] != [each.get("name") for each in sent]:
            out[group] = sent
        elif before:
            out[group] = [_with_resources(*pair) for pair in zip(before, sent, strict=True)]
    return out


def _with_resources(container: Json, sent: Json) -> Json:
    for field in ("resources", "resizePolicy"):
        container = _with_or_without(container, field, sent)
    return container


def _keep_admitted(obj: Json, old: Json) -> None:
    for name in ("priority", "preemptionPolicy", "tolerations"):
        if obj["spec"].get(name) is None and old["spec"].get(name) is not None:
            obj["spec"][name] = old["spec"][name]


def _status_update(resource: Resource, obj: Json, old: Json) -> Json:
    """Return the old object with the new status.

    A built-in kind also takes most of the new metadata, a custom resource only resourceVersion and managedFields.
    """
    if resource.custom:
        metadata = dict(old["metadata"])
        if obj["metadata"].get("resourceVersion"):
            metadata["resourceVersion"] = obj["metadata"]["resourceVersion"]
        if "managedFields" in obj["metadata"]:
            metadata["managedFields"] = obj["metadata"]["managedFields"]
        out = {**old, "metadata": metadata}
        if "status" in obj:
            out["status"] = obj["status"]
        else:
            out.pop("status", None)
        return out
    metadata = dict(obj["metadata"])
    if resource.storage == "apps/deployments":
        metadata["labels"] = old["metadata"].get("labels")
    for name in ("generation", "ownerReferences", "deletionTimestamp"):
        if name in old["metadata"]:
            metadata[name] = old["metadata"][name]
        else:
            metadata.pop(name, None)
    out = {**old, "metadata": metadata, "status": obj.get("status", {})}
    if resource.storage == certificates.STORAGE:
        out["status"] = _with_decisions(out["status"], old.get("status") or {})
    if resource.storage == "/pods" and not out["status"].get("qosClass") and (old.get("status") or {}).get("qosClass"):
        out["status"] = {**out["status"], "qosClass": old["status"]["qosClass"]}
    if resource.storage == "apps/daemonsets":
        _set_template_generation(out, _template_generation(old))
    return out


def _with_decisions(status: Json, old: Json) -> Json:
    """Keep the decisions that a write to the status leaves out. Go: preserveConditionInstances."""
    conditions = status.get("conditions") or []
    kinds = {each.get("type") for each in conditions}
    missing = [
        each
        for each in old.get("conditions") or ()
        if each.get("type") in certificates.DECISIONS and each.get("type") not in kinds
    ]
    return {**status, "conditions": [*conditions, *missing]} if missing else status


_NOT_SPEC = ("metadata", "status", "kind", "apiVersion")


def _moves_generation(resource: Resource, obj: Json, old: Json) -> bool:
    if resource.custom:
        ignored = ("metadata", "status") if has_status(resource) else ("metadata",)
        return _without(obj, ignored) != _without(old, ignored)
    if resource.storage == "scheduling.k8s.io/priorityclasses":
        return False
    if resource.storage == "discovery.k8s.io/endpointslices" and _labels(obj) != _labels(old):
        return True
    if resource.storage == "apps/deployments":
        old_notes = old["metadata"].get("annotations") or {}
        if (obj["metadata"].get("annotations") or {}) != old_notes:
            return True
    return _without(obj, _NOT_SPEC) != _without(old, _NOT_SPEC)


def _drop_disabled(resource: Resource, obj: Json, old: Json) -> None:
    """Drop the fields of disabled features, except those that the old object has."""
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    if resource.storage == "coordination.k8s.io/leases":
        for name in ("strategy", "preferredHolder"):
            if before.get(name) is None:
                spec.pop(name, None)
    elif resource.storage == "/persistentvolumeclaims" and not old:
        _normalise_source(spec)


_SOURCES = {("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot")}


def _normalise_source(spec: Json) -> None:
    """Make dataSource and dataSourceRef of a claim consistent.

    If only dataSource is set, dataSourceRef becomes a copy; a dataSource that names neither a claim nor a snapshot is
    dropped instead. If only dataSourceRef is set and names a claim or snapshot in the same namespace, dataSource
    becomes a copy.
    """
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None:
        if not _is_source(source):
            del spec["dataSource"]
            return
        spec["dataSourceRef"] = {"apiGroup": source.get("apiGroup"), **source}
    elif source is None and reference is not None and _is_source(reference) and not reference.get("namespace"):
        spec["dataSource"] = {"apiGroup": reference.get("apiGroup"), **reference}


def _is_source(reference: Json) -> bool:
    return (reference.get("apiGroup") or "", reference.get("kind", "")) in _SOURCES


def _drop_empty_rules(resource: Resource, obj: Json) -> None:
    """Replace empty lists of rules or endpoints by null, which Kubernetes stores instead."""
    if resource.storage == "discovery.k8s.io/endpointslices":
        obj["endpoints"] = obj.get("endpoints") or None
    if resource.storage in ("rbac.authorization.k8s.io/roles", "rbac.authorization.k8s.io/clusterroles"):
        obj["rules"] = obj.get("rules") or None


def _labels(obj: Json) -> Json:
    return obj["metadata"].get("labels") or {}


def _without(obj: Json, names: tuple[str, ...]) -> Json:
    return {name: value for name, value in obj.items() if name not in names}


def deletion_grace(resource: Resource, obj: Json, requested: int | None) -> int:
    """Return the seconds that a delete request leaves an object to stop.

    Pods without a node, finished pods and all other objects get 0.
    """
    if resource.storage != "/pods":
        return 0
    spec = obj.get("spec") or {}
    if not spec.get("nodeName") or (obj.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    if requested is not None:
        return max(requested, 0)
    grace = spec.get("terminationGracePeriodSeconds")
    return _GRACEFUL_SECONDS if grace is None else int(grace)


def drop_repeated_owners(metadata: Json) -> list[str]:
    """Remove repeated owner references and return the warning for them."""
    kept: dict[frozenset[tuple[str, object]], Json] = {}
    repeated: list[str] = []
    for reference in metadata.get("ownerReferences") or ():
        key = frozenset(reference.items())
        if key in kept:
            repeated.append(reference.get("uid", ""))
        else:
            kept[key] = reference
    if not repeated:
        return []
    metadata["ownerReferences"] = list(kept.values())
    return [
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may "
        "reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
        + ", ".join(repeated)
    ]
