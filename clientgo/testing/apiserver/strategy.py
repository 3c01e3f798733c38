"""What a create or update may write, and what the server sets itself: the rest strategies of Kubernetes, as data.

For every resource: does it carry metadata.generation and what moves it, has it a status to protect, does a delete
answer with the object, may PUT create it, may PUT leave out the resourceVersion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clientgo.testing.apiserver import defaults, schema
from clientgo.testing.apiserver.registry import Resource

Json = dict[str, Any]

# Built-in resources with a generation; the spec moves it.
_GENERATION = {
    "/pods",
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
}
_CREATE_ON_UPDATE = {"coordination.k8s.io/leases", "/events", "/endpoints", "/limitranges", "/resourcequotas"}
_CREATE_ON_UPDATE -= {"/resourcequotas"}
_CONDITIONAL_UPDATE = {"apiextensions.k8s.io/customresourcedefinitions"}
_GRACEFUL_SECONDS = 30


def has_generation(resource: Resource) -> bool:
    return resource.custom or resource.storage in _GENERATION


def returns_deleted_object(resource: Resource) -> bool:
    return resource.storage in _RETURNS_DELETED


def creates_on_update(resource: Resource) -> bool:
    return resource.storage in _CREATE_ON_UPDATE


def needs_version_on_update(resource: Resource) -> bool:
    return resource.custom or resource.storage in _CONDITIONAL_UPDATE


def has_status(resource: Resource) -> bool:
    return "status" in resource.subresources


def normalise(resource: Resource, obj: Json) -> Json:
    """Back into the order and normal form of the Go type, after fields were set by hand."""
    if resource.struct is None:
        return obj
    out: Json = resource.struct.decode(obj, schema.Context(), "", "")
    return out


def before_create(resource: Resource, obj: Json, allocate: Callable[[str], str]) -> None:
    """System fields of a new object: what the client may not choose. Works on the caller's own object."""
    metadata = obj["metadata"]
    if has_generation(resource):
        metadata["generation"] = 1
    else:
        metadata.pop("generation", None)
    if has_status(resource):
        _reset_status(resource, obj)
    storage = resource.storage
    if storage == "/pods":
        defaults.admit_pod(obj)
    elif storage == "/namespaces":
        spec = obj.setdefault("spec", {})
        if "kubernetes" not in (spec.get("finalizers") or ()):
            spec["finalizers"] = [*(spec.get("finalizers") or ()), "kubernetes"]
        obj["status"] = {"phase": "Active"}
    elif storage == "/services":
        allocate_service(obj, None, allocate)
    elif storage == "/persistentvolumeclaims" or storage == "/persistentvolumes":
        obj["status"] = {"phase": "Pending"}
    elif storage == "apiextensions.k8s.io/customresourcedefinitions":
        stored = [v["name"] for v in obj["spec"].get("versions") or () if v.get("storage")]
        obj["status"] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": stored}
    elif storage == "batch/jobs":
        _job_selector(obj)


def _job_selector(obj: Json) -> None:
    """Jobs select their pods by labels the server makes up."""
    spec = obj["spec"]
    if spec.get("manualSelector"):
        return
    uid, name = obj["metadata"].get("uid", ""), obj["metadata"].get("name", "")
    meta = spec["template"].setdefault("metadata", {})
    labels = dict(meta.get("labels") or {})
    labels.update({"batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name})
    labels.update({"controller-uid": uid, "job-name": name})
    meta["labels"] = dict(sorted(labels.items()))
    spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}


def _reset_status(resource: Resource, obj: Json) -> None:
    if resource.custom:
        obj.pop("status", None)
    elif "status" in obj:
        obj["status"] = {}


def allocate_service(obj: Json, old: Json | None, allocate: Callable[[str], str]) -> None:
    """Cluster IP and node ports, and what follows from them."""
    spec = obj["spec"]
    before = (old or {}).get("spec") or {}
    if spec.get("type") == "ExternalName":
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            spec.pop(name, None)
        return
    if not spec.get("clusterIP"):
        spec["clusterIP"] = before.get("clusterIP") or allocate("ip")
    spec["clusterIPs"] = [spec["clusterIP"]]
    if not spec.get("ipFamilies"):
        spec["ipFamilies"] = ["IPv4"]
    if not spec.get("ipFamilyPolicy"):
        spec["ipFamilyPolicy"] = "SingleStack"
    if spec.get("type") in ("NodePort", "LoadBalancer"):
        known = {port.get("port"): port.get("nodePort") for port in before.get("ports") or ()}
        for port in spec.get("ports") or ():
            if not port.get("nodePort"):
                port["nodePort"] = known.get(port.get("port")) or int(allocate("port"))
    if old is None:
        obj["status"] = {"loadBalancer": {}}


def before_update(resource: Resource, obj: Json, old: Json, subresource: str, allocate: Callable[[str], str]) -> Json:
    """The object to store: what this (sub)resource may not write is taken from the old one."""
    if subresource == "status":
        return _status_update(resource, obj, old)
    if subresource == "ephemeralcontainers":
        return _with_spec(old, {**old["spec"], "ephemeralContainers": obj["spec"].get("ephemeralContainers")})
    if subresource == "resize":
        return _with_spec(old, obj["spec"])
    if has_status(resource):
        if "status" in old:
            obj["status"] = old["status"]
        else:
            obj.pop("status", None)
    if resource.storage == "/namespaces" and subresource == "":
        obj["spec"] = {**obj.get("spec", {}), "finalizers": (old.get("spec") or {}).get("finalizers")}
    if resource.storage == "/services":
        allocate_service(obj, old, allocate)
    if resource.storage == "/pods":
        _keep_admitted(obj, old)
    if resource.storage == "/configmaps" or not has_generation(resource):
        obj["metadata"].pop("generation", None)
        if "generation" in old["metadata"]:
            obj["metadata"]["generation"] = old["metadata"]["generation"]
    else:
        generation = old["metadata"].get("generation", 0)
        obj["metadata"]["generation"] = generation + (1 if _moves_generation(resource, obj, old) else 0)
    return obj


def _with_spec(old: Json, spec: Json) -> Json:
    """The old pod with another spec, which is all that some subresources write."""
    metadata = dict(old["metadata"])
    if spec != old["spec"]:
        metadata["generation"] = metadata.get("generation", 0) + 1
    return {**old, "metadata": metadata, "spec": spec}


def _keep_admitted(obj: Json, old: Json) -> None:
    for name in ("priority", "preemptionPolicy", "tolerations"):
        if obj["spec"].get(name) is None and old["spec"].get(name) is not None:
            obj["spec"][name] = old["spec"][name]


def _status_update(resource: Resource, obj: Json, old: Json) -> Json:
    """Only status comes from the request; built-in kinds let most of the metadata through as well."""
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
    return {**old, "metadata": metadata, "status": obj.get("status", {})}


_NOT_SPEC = ("metadata", "status", "kind", "apiVersion")


def _moves_generation(resource: Resource, obj: Json, old: Json) -> bool:
    if resource.custom:
        ignored = ("metadata", "status") if has_status(resource) else ("metadata",)
        return _without(obj, ignored) != _without(old, ignored)
    if resource.storage == "apps/deployments":
        old_notes = old["metadata"].get("annotations") or {}
        if (obj["metadata"].get("annotations") or {}) != old_notes:
            return True
    return _without(obj, _NOT_SPEC) != _without(old, _NOT_SPEC)


def _without(obj: Json, names: tuple[str, ...]) -> Json:
    return {name: value for name, value in obj.items() if name not in names}


def deletion_grace(resource: Resource, obj: Json, asked: int | None) -> int:
    """Seconds a pod gets to go; everything else goes at once."""
    if resource.storage != "/pods":
        return 0
    spec = obj.get("spec") or {}
    if not spec.get("nodeName") or (obj.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    if asked is not None:
        return max(asked, 0)
    grace = spec.get("terminationGracePeriodSeconds")
    return _GRACEFUL_SECONDS if grace is None else int(grace)
