"""PodSecurity: the labels of a namespace select the Pod Security Standards for its pods.

Mirrors k8s.io/pod-security-admission's admission package; the standards themselves are in pod_standards.py.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from clientgo.testing.apiserver.admission import pod_standards
from clientgo.testing.apiserver.admission.pod_standards import LEVELS, PRIVILEGED, Violation
from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.kinds.registry import POD_TEMPLATES, pod_template
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.errors import FieldError, field_invalid
from clientgo.testing.apiserver.wire.jsonio import Json

_PREFIX = "pod-security.kubernetes.io/"
_VERSION = re.compile(r"v1\.(0|[1-9]\d*)")
_LATEST = "latest"
_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"


class _Policy(NamedTuple):
    level: str
    version: str

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"


def _policy(labels: Json, mode: str) -> _Policy:
    """Return a namespace's policy for a mode. An invalid label counts as the strictest policy."""
    level, version = labels.get(f"{_PREFIX}{mode}"), labels.get(f"{_PREFIX}{mode}-version", _LATEST)
    if level is not None and level not in LEVELS:
        level = "restricted"
    return _Policy(level or PRIVILEGED, version if _is_version(version) else _LATEST)


def _is_version(text: str) -> bool:
    return text == _LATEST or _VERSION.fullmatch(text) is not None


def validate(store: Store, request: AdmissionRequest) -> None:
    storage = request.resource.storage
    if storage == "/namespaces":
        if not request.subresource:
            _namespace(store, request)
    elif storage == "/pods":
        if _is_checked(request):
            _pod(store, request, request.obj, enforce=True)
    elif storage in POD_TEMPLATES and not request.subresource:
        _pod(store, request, pod_template(storage, request.obj), enforce=False)


def _is_checked(request: AdmissionRequest) -> bool:
    if request.subresource:
        return request.subresource == "ephemeralcontainers"
    return request.old is None or _judged(request.obj) != _judged(request.old)


def _judged(pod: Json) -> tuple[list[list[str]], Json]:
    """Return the changeable parts of a pod for which an update is checked: images, and annotations for seccomp.

    Go: isSignificantPodUpdate.
    """
    images = [
        [container.get("image", "") for container in (pod.get("spec") or {}).get(kind) or ()]
        for kind in ("containers", "initContainers")
    ]
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    return images, {name: text for name, text in annotations.items() if name.startswith(_SECCOMP)}


def _pod(store: Store, request: AdmissionRequest, pod: Json, *, enforce: bool) -> None:
    """Refuse a pod, or warn of it; of what makes pods is only warned."""
    namespace = store.get("/namespaces", request.namespace)
    labels = (namespace.obj["metadata"].get("labels") or {}) if namespace is not None else {}
    if not any(name.startswith(_PREFIX) for name in labels) or not pod.get("spec"):
        return
    policy = _policy(labels, "enforce")
    found = pod_standards.evaluate(pod, policy.level) if enforce else []
    if found:
        why = f'violates PodSecurity "{policy}": {_details(found)}'
        raise errors.forbidden("", "pods", request.name, why)
    policy = _policy(labels, "warn")
    found = pod_standards.evaluate(pod, policy.level)
    if found:
        request.warnings.append(f'would violate PodSecurity "{policy}": {_details(found)}')


def _details(found: list[Violation]) -> str:
    return ", ".join(f"{one.reason} ({one.detail})" if one.detail else one.reason for one in found)


# ---- namespaces


def _namespace(store: Store, request: AdmissionRequest) -> None:
    """Reject invalid labels, and warn of existing pods that violate a stricter policy."""
    labels = request.obj["metadata"].get("labels") or {}
    before = ((request.old or {}).get("metadata") or {}).get("labels") or {}
    wrong = _label_errors(labels)
    if wrong and not (request.old is not None and _label_errors(before)):
        raise errors.invalid("", "Namespace", request.name, wrong)
    if request.old is None or wrong:
        return
    old, new = _policy(before, "enforce"), _policy(labels, "enforce")
    if new == old or LEVELS.index(new.level) < LEVELS.index(old.level) or new.level == PRIVILEGED:
        return
    reasons: dict[str, list[str]] = {}
    for stored in store.list("/pods", f"{request.name}/")[1]:
        found = pod_standards.evaluate(stored.obj, new.level)
        if found:
            reasons.setdefault(", ".join(one.reason for one in found), []).append(stored.obj["metadata"]["name"])
    if reasons:
        text = f'existing pods in namespace "{request.name}" violate the new PodSecurity enforce level "{new}"'
        request.warnings.append(text)
    request.warnings.extend(sorted(f"{_some(names)}: {reason}" for reason, names in reasons.items()))


def _some(names: list[str]) -> str:
    rest = len(names) - 1
    return names[0] if not rest else f"{names[0]} (and {rest} other pod{'s' if rest > 1 else ''})"


def _label_errors(labels: Json) -> list[FieldError]:
    found = []
    for mode in ("enforce", "audit", "warn"):
        level, version = labels.get(f"{_PREFIX}{mode}"), labels.get(f"{_PREFIX}{mode}-version")
        if level is not None and level not in LEVELS:
            text = f"must be one of {', '.join(LEVELS)}"
            found.append(field_invalid(f"metadata.labels[{_PREFIX}{mode}]", level, text))
        if version is not None and not _is_version(version):
            text = 'must be "latest" or "v1.x"'
            found.append(field_invalid(f"metadata.labels[{_PREFIX}{mode}-version]", version, text))
    return found
