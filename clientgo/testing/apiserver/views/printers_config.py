"""The rows of the kinds that configure a cluster, beside those of printers.py.

One function per kind: (object, times) to the cells in the order of the columns that table.py names.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.util.duration import human_duration
from clientgo.testing.apiserver.views.printers import age, name_of_class, some
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times


def _name(obj: Json) -> str:
    return str(obj["metadata"]["name"])


def _spec(obj: Json) -> Json:
    return obj.get("spec") or {}


def quota(obj: Json, times: Times) -> list[Any]:
    status = obj.get("status") or {}
    used = status.get("used") or {}
    shown = {name: f"{name}: {used.get(name, '0')}/{most}" for name, most in sorted((status.get("hard") or {}).items())}
    requests = ", ".join(text for name, text in shown.items() if not name.startswith("limits."))
    limits = ", ".join(text for name, text in shown.items() if name.startswith("limits."))
    return [_name(obj), requests, limits, age(obj, times)]


def endpoint_slice(obj: Json, times: Times) -> list[Any]:
    ports = [str(port.get("port", port.get("name", "*"))) for port in obj.get("ports") or ()]
    addresses = [address for endpoint in obj.get("endpoints") or () for address in endpoint.get("addresses") or ()]
    shown = [some(texts, len(texts)) or "<unset>" for texts in (ports, addresses)]
    return [_name(obj), obj.get("addressType", ""), *shown, age(obj, times)]


def ingress_class(obj: Json, times: Times) -> list[Any]:
    parameters = _spec(obj).get("parameters")
    shown = "<none>"
    if parameters:
        group = parameters.get("apiGroup")
        kind = f"{parameters.get('kind')}.{group}" if group else parameters.get("kind")
        shown = f"{kind}/{parameters.get('name')}"
    return [_name(obj), _spec(obj).get("controller", ""), shown, age(obj, times)]


def runtime_class(obj: Json, times: Times) -> list[Any]:
    return [_name(obj), obj.get("handler", ""), age(obj, times)]


def webhooks(obj: Json, times: Times) -> list[Any]:
    return [_name(obj), len(obj.get("webhooks") or ()), age(obj, times)]


def admission_policy(obj: Json, times: Times) -> list[Any]:
    """Return the cells of a policy, of either kind."""
    spec = _spec(obj)
    kind = spec.get("paramKind")
    shown = f"{kind.get('apiVersion')}/{kind.get('kind')}" if kind else "<unset>"
    return [_name(obj), len(spec.get("validations") or spec.get("mutations") or ()), shown, age(obj, times)]


def admission_binding(obj: Json, times: Times) -> list[Any]:
    spec = _spec(obj)
    return [_name(obj), spec.get("policyName", ""), _parameters(spec.get("paramRef") or {}), age(obj, times)]


def _parameters(reference: Json) -> str:
    if reference.get("name"):
        # A binding does not say whether its parameters are in a namespace.
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    selector = reference.get("selector")
    return "<unset>" if selector is None else _selector_in_go(selector)


def _selector_in_go(selector: Json) -> str:
    """Return a LabelSelector as its Go method String prints it."""
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items()))
    terms = "".join(
        f"LabelSelectorRequirement{{Key:{term.get('key', '')},Operator:{term.get('operator', '')},"
        f"Values:[{' '.join(term.get('values') or ())}],}},"
        for term in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{terms}}},}}"
    )


def signing_request(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), obj.get("status") or {}
    seconds = spec.get("expirationSeconds")
    duration = human_duration(seconds) if seconds is not None else "<none>"
    signer, requestor = spec.get("signerName") or "<none>", spec.get("username", "")
    return [_name(obj), age(obj, times), signer, requestor, duration, _signing_state(status)]


def _signing_state(status: Json) -> str:
    known = {condition.get("type") for condition in status.get("conditions") or ()}
    states = [next((name for name in ("Denied", "Approved") if name in known), "Pending")]
    if "Failed" in known:
        states.append("Failed")
    if status.get("certificate"):
        states.append("Issued")
    return ",".join(states)


def volume_attachment(obj: Json, times: Times) -> list[Any]:
    spec = _spec(obj)
    volume = (spec.get("source") or {}).get("persistentVolumeName", "")
    attached = bool((obj.get("status") or {}).get("attached"))
    return [_name(obj), spec.get("attacher", ""), volume, spec.get("nodeName", ""), attached, age(obj, times)]


def storage_node(obj: Json, times: Times) -> list[Any]:
    return [_name(obj), len(_spec(obj).get("drivers") or ()), age(obj, times)]


def pod_template(obj: Json, times: Times) -> list[Any]:
    template = obj.get("template") or {}
    containers = (template.get("spec") or {}).get("containers") or []
    labels = (template.get("metadata") or {}).get("labels") or {}
    return [
        _name(obj),
        ",".join(container.get("name", "") for container in containers),
        ",".join(container.get("image", "") for container in containers),
        ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or "<none>",
    ]


def scale(obj: Json, times: Times) -> list[Any]:
    return [_name(obj), _spec(obj).get("replicas", 0), (obj.get("status") or {}).get("replicas", 0), age(obj, times)]


def _condition(holder: Json, kind: str) -> Json:
    """Return the first condition of a type, {} if there is none. `holder` is an object with conditions."""
    return next((one for one in holder.get("conditions") or () if one.get("type") == kind), {})


def component_status(obj: Json, times: Times) -> list[Any]:
    found = _condition(obj, "Healthy")
    if not found:
        return [_name(obj), "Unknown", "", ""]
    health = "Healthy" if found.get("status") == "True" else "Unhealthy"
    return [_name(obj), health, found.get("message", ""), found.get("error", "")]


def api_service(obj: Json, times: Times) -> list[Any]:
    service = _spec(obj).get("service")
    place = f"{service.get('namespace', '')}/{service.get('name', '')}" if service else "Local"
    found = _condition(obj.get("status") or {}, "Available")
    available = found.get("status", "Unknown")
    if available != "True" and found.get("reason"):
        available = f"{available} ({found['reason']})"
    return [_name(obj), place, available, age(obj, times)]


def flow_schema(obj: Json, times: Times) -> list[Any]:
    spec = _spec(obj)
    return [
        _name(obj),
        (spec.get("priorityLevelConfiguration") or {}).get("name", ""),
        spec.get("matchingPrecedence", 0),
        (spec.get("distinguisherMethod") or {}).get("type", "<none>"),
        age(obj, times),
        _condition(obj.get("status") or {}, "Dangling").get("status", "?"),
    ]


def priority_level(obj: Json, times: Times) -> list[Any]:
    spec = _spec(obj)
    limited = spec.get("limited") or {}
    queuing = (limited.get("limitResponse") or {}).get("queuing") or {}
    return [
        _name(obj),
        spec.get("type", ""),
        limited.get("nominalConcurrencyShares", "<none>"),
        *(queuing.get(field, "<none>") for field in ("queues", "handSize", "queueLengthLimit")),
        age(obj, times),
    ]


def ip_address(obj: Json, times: Times) -> list[Any]:
    """Return the cells of an IP address. Kubernetes adds an age, for which it has no column."""
    parent = _spec(obj).get("parentRef")
    if not parent:
        return [_name(obj), "<none>"]
    group = f".{parent['group']}" if parent.get("group") else ""
    space = f"/{parent['namespace']}" if parent.get("namespace") else ""
    return [_name(obj), f"{parent.get('resource', '')}{group}".lower() + f"{space}/{parent.get('name', '')}"]


def service_cidr(obj: Json, times: Times) -> list[Any]:
    return [_name(obj), ",".join(_spec(obj).get("cidrs") or ()), age(obj, times)]


def device_class(obj: Json, times: Times) -> list[Any]:
    """Return the cells of a device class or of a template of resource claims."""
    return [_name(obj), age(obj, times)]


def resource_claim(obj: Json, times: Times) -> list[Any]:
    status = obj.get("status") or {}
    is_deleted, is_allocated = bool(obj["metadata"].get("deletionTimestamp")), bool(status.get("allocation"))
    states = {
        "deleted": is_deleted,
        "pending": not is_deleted and not is_allocated,
        "allocated": is_allocated,
        "reserved": is_allocated and bool(status.get("reservedFor")),
    }
    return [_name(obj), ",".join(state for state, holds in states.items() if holds), age(obj, times)]


def resource_slice(obj: Json, times: Times) -> list[Any]:
    spec = _spec(obj)
    pool = (spec.get("pool") or {}).get("name", "")
    return [_name(obj), spec.get("nodeName", ""), spec.get("driver", ""), pool, age(obj, times)]


def storage_driver(obj: Json, times: Times) -> list[Any]:
    spec = _spec(obj)
    tokens = spec.get("tokenRequests")
    return [
        _name(obj),
        spec.get("attachRequired", True),
        spec.get("podInfoOnMount", False),
        spec.get("storageCapacity", False),
        "<unset>" if tokens is None else ",".join(token.get("audience", "") for token in tokens),
        spec.get("requiresRepublish", False),
        ",".join(spec.get("volumeLifecycleModes") or ()) or "<none>",
        age(obj, times),
    ]


def storage_capacity(obj: Json, times: Times) -> list[Any]:
    return [_name(obj), obj.get("storageClassName", ""), obj.get("capacity", "<unset>")]


def volume_attributes_class(obj: Json, times: Times) -> list[Any]:
    name = name_of_class(obj, "volumeattributesclass.alpha.kubernetes.io")
    return [name, obj.get("driverName", ""), age(obj, times)]
