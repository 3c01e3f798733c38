"""The rows of the kinds that configure a cluster, beside those of printers.py.

One function per kind: (object, times) to the cells in the order of the columns that table.py names.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.util.duration import human_duration
from clientgo.testing.apiserver.views.printers import age
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times

_SHOWN_PORTS = 3


def _name(obj: Json) -> str:
    return str(obj["metadata"]["name"])


def _spec(obj: Json) -> Json:
    return obj.get("spec") or {}


def quota(obj: Json, times: Times) -> list[Any]:
    status = obj.get("status") or {}
    used = status.get("used") or {}
    shown = {name: f"{name}: {used.get(name, '0')}/{most}" for name, most in sorted((status.get("hard") or {}).items())}
    requests = ", ".join(text for name, text in shown.items() if "limits" not in name)
    limits = ", ".join(text for name, text in shown.items() if "limits" in name)
    return [_name(obj), requests, limits, age(obj, times)]


def endpoint_slice(obj: Json, times: Times) -> list[Any]:
    ports = [str(port["port"]) for port in obj.get("ports") or () if port.get("port")]
    addresses = [address for endpoint in obj.get("endpoints") or () for address in endpoint.get("addresses") or ()]
    return [_name(obj), obj.get("addressType", ""), _some(ports), _some(addresses), age(obj, times)]


def _some(texts: list[str]) -> str:
    """Return the first few texts of a list as one text."""
    if not texts:
        return "<unset>"
    more = len(texts) - _SHOWN_PORTS
    shown = ",".join(texts[:_SHOWN_PORTS])
    return f"{shown} + {more} more..." if more > 0 else shown


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
    spec = _spec(obj)
    kind = spec.get("paramKind")
    shown = f"{kind.get('apiVersion')}/{kind.get('kind')}" if kind else "<unset>"
    return [_name(obj), len(spec.get("validations") or ()), shown, age(obj, times)]


def admission_binding(obj: Json, times: Times) -> list[Any]:
    spec = _spec(obj)
    reference = spec.get("paramRef")
    shown = "<unset>"
    if reference:
        space = reference.get("namespace")
        shown = f"{space}/{reference.get('name')}" if space else reference.get("name", "")
    return [_name(obj), spec.get("policyName", ""), shown, age(obj, times)]


def signing_request(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), obj.get("status") or {}
    seconds = spec.get("expirationSeconds")
    duration = human_duration(seconds) if seconds is not None else "<none>"
    signer, requestor = spec.get("signerName") or "<none>", spec.get("username", "")
    return [_name(obj), age(obj, times), signer, requestor, duration, _signing_state(status)]


def _signing_state(status: Json) -> str:
    known = {condition.get("type") for condition in status.get("conditions") or ()}
    states = [name for name in ("Approved", "Denied", "Failed") if name in known] or ["Pending"]
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
