"""Warnings in responses: deprecated versions, repeated keys, and objects that are stored but have no effect here.

kubectl and client-go show Warning headers to the user. Deprecations mirror apiserver's endpoints/deprecation package.
The others are this server's own, so that the user does not rely on a rule that the server ignores.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator

from clientgo.testing.apiserver.kinds import crd
from clientgo.testing.apiserver.kinds.registry import POD_TEMPLATES, Resource, pod_template
from clientgo.testing.apiserver.wire.jsonio import Json

_MOUNTABLE = (
    "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces "
    "to isolate access to mounted secrets"
)
_ADMISSION_GROUP = "admissionregistration.k8s.io"
# The deprecated kinds among the built-in ones: since when, and what to use.
_DEPRECATED = {
    "/componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
    "/endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}


def of_resource(resource: Resource) -> list[str]:
    """Return the warnings for every request on a deprecated version."""
    if not resource.custom:
        text = _DEPRECATED.get(resource.storage)
        return [text] if text else []
    version = resource.crd_version
    if not version.get("deprecated"):
        return []
    given: str | None = version.get("deprecationWarning")
    usual = f"{resource.group_version} {resource.kind} is deprecated{_replacement(resource)}"
    return [usual if given is None else given]


def _replacement(resource: Resource) -> str:
    """Return the advice to use a newer version, or "" if there is none.

    The version is the newest that the server serves and that is not deprecated.
    """
    assert resource.crd is not None
    versions = [v["name"] for v in resource.crd["spec"]["versions"] if v.get("served") and not v.get("deprecated")]
    newer = [name for name in versions if crd.version_rank(name) < crd.version_rank(resource.version)]
    best = min(newer, key=crd.version_rank, default="")
    return f"; use {resource.group}/{best} {resource.kind}" if best else ""


def of_object(resource: Resource, obj: Json, old: Json | None) -> list[str]:
    """Return the warnings about an object that replaces `old`, None if it is new."""
    if resource.storage == crd.STORAGE:
        from clientgo.testing.apiserver.kinds import definition_warnings  # Here: it needs CEL.

        return definition_warnings.of_definition(obj.get("spec") or {})
    of_kind = _OF_KINDS.get(resource.storage)
    if of_kind is not None and (old is None or of_kind is not _of_ingress):
        return list(of_kind(obj.get("spec") or {}, obj))
    if resource.storage == "/pods" or resource.storage in POD_TEMPLATES:
        return _of_pods(resource.storage, obj, old)
    if resource.group != _ADMISSION_GROUP:
        return []
    if resource.kind.endswith("WebhookConfiguration"):
        return list(_of_webhooks(obj.get("webhooks") or ()))
    return []


def _of_pods(storage: str, obj: Json, old: Json | None) -> list[str]:
    """Return the warnings about a new pod, since programs rather than people change pods, or a new pod template."""
    from clientgo.testing.apiserver.kinds import pod_warnings  # Here: a server without pods starts without it.

    path = POD_TEMPLATES.get(storage)
    if path is None:
        return list(pod_warnings.of_pod(obj.get("spec") or {}, "spec")) if old is None else []
    if old is not None and old.get(path[0]) == obj.get(path[0]):
        return []
    return list(pod_warnings.of_pod(pod_template(storage, obj).get("spec") or {}, ".".join((*path, "spec"))))


def _of_account(spec: Json, obj: Json) -> Iterator[str]:
    if "kubernetes.io/enforce-mountable-secrets" in (obj["metadata"].get("annotations") or {}):
        yield _MOUNTABLE


def _of_service(spec: Json, obj: Json) -> Iterator[str]:
    if spec.get("externalIPs"):
        yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    if spec.get("externalName") and spec.get("type") != "ExternalName":
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


def _of_ingress(spec: Json, obj: Json) -> Iterator[str]:
    if "kubernetes.io/ingress.class" in (obj["metadata"].get("annotations") or {}):
        yield "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"


def _of_secret(spec: Json, obj: Json) -> Iterator[str]:
    """Yield a warning for a TLS Secret whose certificate or key has no PEM block. Other defects have no warning."""
    if obj.get("type") != "kubernetes.io/tls":
        return
    data = obj.get("data") or {}
    for name, label in (("tls.crt", "certificate"), ("tls.key", "key")):
        if b"-----BEGIN" not in base64.b64decode(data.get(name, "")):
            yield f"tls: failed to find any PEM data in {label} input"
            return


_OF_KINDS: dict[str, Callable[[Json, Json], Iterator[str]]] = {
    "/serviceaccounts": _of_account,
    "/services": _of_service,
    "/secrets": _of_secret,
    "networking.k8s.io/ingresses": _of_ingress,
}


def _of_webhooks(webhooks: Iterable[Json]) -> Iterator[str]:
    for i, webhook in enumerate(webhooks):
        if _has_service(webhook):
            yield f"webhooks[{i}].clientConfig.service: this server has no cluster network, every call will fail"


def _has_service(webhook: Json) -> bool:
    return bool((webhook.get("clientConfig") or {}).get("service"))
