"""ResourceQuota: it rejects requests above the quota of a namespace. Mirrors plugin/resourcequota and pkg/quota.

It compares status.used with status.hard, which the quota controller (or a test) writes, and adds each admitted request
to status.used. A quota without a status does not limit anything yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clientgo.apimachinery.api.resource import parse_quantity
from clientgo.apimachinery.util import managedfields
from clientgo.testing.apiserver.admission.pod_resources import Amounts, added, amounts, of_pod
from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.kinds import ownership
from clientgo.testing.apiserver.kinds.defaults import qos_class
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.store.storage import Changed, Missing, Store, Stored
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.jsonio import Json

_QUOTAS = "/resourcequotas"
_ONE, _NONE = parse_quantity("1"), parse_quantity("0")
_ATTEMPTS = 20
# Kinds whose objects are counted by a name of their own too.
_COUNTED = {"/configmaps", "/secrets", "/replicationcontrollers", "/resourcequotas", "/services",
            "/persistentvolumeclaims"}  # fmt: skip
_UPDATED = {"/services", "/persistentvolumeclaims"}
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_REQUIRED = {f"{kind}{name}" for kind in ("", "requests.", "limits.") for name in ("cpu", "memory")}


def charge(store: Store, request: AdmissionRequest) -> None:
    """Add the request's usage to the matching quotas. Raises ApiError 403 if one is exceeded."""
    if not request.namespace or not store.count(_QUOTAS):
        return
    is_counted = request.old is None or request.resource.storage in _UPDATED
    if not request.is_resize and (request.subresource or not is_counted):
        return
    for _ in range(_ATTEMPTS):
        quotas = store.list(_QUOTAS, f"{request.namespace}/")[1]
        charged = _charged(quotas, request)
        if request.dry_run or _write(store, request, charged):
            return


def _charged(quotas: list[Stored], request: AdmissionRequest) -> list[tuple[Stored, Amounts]]:
    """Return the quotas that the request changes, each with its new usage."""
    usage = _usage(request.resource, request.obj)
    matching = []
    for stored in quotas:
        hard = amounts((stored.obj.get("status") or {}).get("hard"))
        names = [name for name in hard if _is_about(name, request.resource)]
        if names and _in_scopes(stored.obj.get("spec") or {}, request):
            _check_required(stored.name, names, request)
            _check_known(stored, names, request)
            matching.append((stored, hard))
    if request.old is not None:
        before = _usage(request.resource, request.old)
        usage = {name: amount - before[name] if name in before else amount for name, amount in usage.items()}
    usage = {name: amount for name, amount in usage.items() if amount.sign() > 0}
    out = []
    for stored, hard in matching:
        requested = {name: usage[name] for name in hard if name in usage}
        used = amounts((stored.obj.get("status") or {}).get("used"))
        total = added(used, requested)
        over = sorted(name for name in requested if total[name] > hard[name])
        if over:
            parts = [("requested", requested), ("used", used), ("limited", hard)]
            texts = [f"{word}: {','.join(f'{name}={table[name]}' for name in over)}" for word, table in parts]
            raise _forbidden(request, f"exceeded quota: {stored.name}, {', '.join(texts)}")
        if requested:
            out.append((stored, total))
    return out


def _forbidden(request: AdmissionRequest, why: str) -> errors.ApiError:
    return errors.forbidden(request.resource.group, request.resource.plural, request.name, why)


def _write(store: Store, request: AdmissionRequest, charged: list[tuple[Stored, Amounts]]) -> bool:
    """Store the new usage. Report False if another request has changed a quota meanwhile."""
    for stored, total in charged:
        used = {name: str(total[name]) for name in sorted(total)}
        new = {**stored.obj, "metadata": dict(stored.obj["metadata"])}
        new["status"] = {**(stored.obj.get("status") or {}), "used": used}
        writer = managedfields.Writer("kube-apiserver", "v1", "status")
        node, base = request.node_of(_QUOTAS), stored.obj["metadata"].get("managedFields")
        if base:
            managed = managedfields.updated(node, stored.obj, new, base, writer, request.now())
            ownership.set_managed(new, managed)
        try:
            store.update(_QUOTAS, stored.key, new, stored.rv)
        except (Changed, Missing):
            return False
    return True


# ---- what counts


def _is_about(name: str, resource: Resource) -> bool:
    """Report whether objects of this kind use a resource of a quota."""
    if name == f"count/{resource.qualified}":
        return True
    storage = resource.storage
    if storage == "/pods":
        return name == "pods" or name in _REQUIRED or name.startswith(("requests.", "limits.", "hugepages-")) or ((
            name in _COMPUTE) and name != "requests.storage")  # fmt: skip
    if storage == "/services":
        return name == "services" or name.startswith("services.")
    if storage == "/persistentvolumeclaims":
        return name.endswith(("persistentvolumeclaims", "requests.storage")) and not name.startswith("count/")
    return storage in _COUNTED and name == resource.plural


def _usage(resource: Resource, obj: Json) -> Amounts:
    out: Amounts = {f"count/{resource.qualified}": _ONE}
    if resource.storage in _COUNTED:
        out[resource.plural] = _ONE
    if resource.storage == "/pods":
        out.update(_of_pod(obj))
    elif resource.storage == "/services":
        out.update(_of_service(obj.get("spec") or {}))
    elif resource.storage == "/persistentvolumeclaims":
        out.update(_of_claim(obj))
    return out


def _of_pod(obj: Json) -> Amounts:
    if (obj.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return {}
    out: Amounts = {"pods": _ONE}
    for name, amount in of_pod(obj["spec"], "requests").items():
        out[f"requests.{name}"] = amount
        if name in _COMPUTE or name.startswith("hugepages-"):
            out[name] = amount
    for name, amount in of_pod(obj["spec"], "limits").items():
        if name in _COMPUTE:
            out[f"limits.{name}"] = amount
    return out


def _of_service(spec: Json) -> Amounts:
    ports, kind = spec.get("ports") or [], spec.get("type")
    balanced = kind == "LoadBalancer"
    if balanced and spec.get("allocateLoadBalancerNodePorts") is False:
        ports = [port for port in ports if port.get("nodePort")]
    count = len(ports) if kind in ("NodePort", "LoadBalancer") else 0
    return {
        "services.nodeports": parse_quantity(str(count)),
        "services.loadbalancers": _ONE if balanced else _NONE,
    }


def _of_claim(obj: Json) -> Amounts:
    spec = obj.get("spec") or {}
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    out = {} if storage is None else {"requests.storage": parse_quantity(str(storage))}
    name = spec.get("storageClassName")
    if name:
        head = f"{name}.storageclass.storage.k8s.io"
        amounts = {**out, "persistentvolumeclaims": _ONE}
        out = {**out, **{f"{head}/{resource}": amount for resource, amount in amounts.items()}}
    return out


def _check_required(quota: str, names: list[str], request: AdmissionRequest) -> None:
    """Reject pods without the requests or limits that a quota of cpu or memory counts."""
    if request.resource.storage != "/pods":
        return
    spec = request.obj["spec"]
    missing: dict[str, list[str]] = {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        given = {name for name, _ in _given(container.get("resources") or {})}
        for name in sorted(_REQUIRED.intersection(names) - given):
            missing.setdefault(name, []).append(container.get("name", ""))
    if missing:
        texts = [f"{name} for: {','.join(missing[name])}" for name in sorted(missing)]
        raise _forbidden(request, f"failed quota: {quota}: must specify {'; '.join(texts)}")


def _given(resources: Json) -> Iterator[tuple[str, Any]]:
    for kind in ("requests", "limits"):
        for name, amount in (resources.get(kind) or {}).items():
            yield f"{kind}.{name}", amount
            if kind == "requests":
                yield name, amount


def _check_known(stored: Stored, names: list[str], request: AdmissionRequest) -> None:
    used = (stored.obj.get("status") or {}).get("used") or {}
    unknown = sorted(name for name in names if name not in used)
    if unknown:
        raise _forbidden(request, f"status unknown for quota: {stored.name}, resources: {','.join(unknown)}")


# ---- scopes


def _in_scopes(spec: Json, request: AdmissionRequest) -> bool:
    """Report whether a quota counts the object. A quota with scopes counts pods only."""
    terms = [{"scopeName": name, "operator": "Exists"} for name in spec.get("scopes") or ()]
    terms += (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    if not terms:
        return True
    return request.resource.storage == "/pods" and all(_matches(term, request.obj["spec"]) for term in terms)


def _matches(term: Json, spec: Json) -> bool:
    scope = term.get("scopeName")
    if scope == "PriorityClass":
        return _matches_priority(term, spec.get("priorityClassName", ""))
    if scope in ("Terminating", "NotTerminating"):
        return bool((spec.get("activeDeadlineSeconds") is not None) == (scope == "Terminating"))
    if scope in ("BestEffort", "NotBestEffort"):
        return bool((qos_class(spec) == "BestEffort") == (scope == "BestEffort"))
    return scope == "CrossNamespacePodAffinity" and _crosses_namespaces(spec.get("affinity") or {})


def _matches_priority(term: Json, name: str) -> bool:
    operator, values = term.get("operator"), term.get("values") or ()
    if operator in ("Exists", "DoesNotExist"):
        return bool(bool(name) == (operator == "Exists"))
    return bool((name in values) == (operator == "In"))


def _crosses_namespaces(affinity: Json) -> bool:
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        terms = list(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        preferred = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [one.get("podAffinityTerm") or {} for one in preferred]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms):
            return True
    return False
