"""ServiceAccount: each pod has an account, and the account's token at a known place unless it wants none."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.jsonio import Json, copy

_ACCOUNTS = "/serviceaccounts"
_DEFAULT = "default"
_MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
_VOLUME_PREFIX = "kube-api-access-"
_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_TOKEN_SECONDS = 3607
_ENFORCED = "kubernetes.io/enforce-mountable-secrets"
_MIRROR = "kubernetes.io/config.mirror"
# A controller makes the default account of a new namespace; how often, and how long each time, to wait for it.
_ATTEMPTS = 10
_ATTEMPT_SECONDS = 0.2


def admit(store: Store, request: AdmissionRequest) -> None:
    pod = request.obj
    if request.resource.storage != "/pods" or _MIRROR in (pod["metadata"].get("annotations") or {}):
        return
    spec = pod["spec"]
    name = spec.get("serviceAccountName") or spec.get("serviceAccount") or _DEFAULT
    # The second is the older name of the first.
    spec["serviceAccountName"] = spec["serviceAccount"] = name
    account = _account(store, request.namespace, name)
    if account is None:
        why = f'error looking up service account {request.namespace}/{name}: serviceaccount "{name}" not found'
        raise errors.forbidden("", "pods", request.name, why)
    if _wants_token(spec, account):
        _mount_token(spec)
    if (account["metadata"].get("annotations") or {}).get(_ENFORCED) == "true":
        _check_secrets(request, spec, account)
    if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
        spec["imagePullSecrets"] = copy(account["imagePullSecrets"])


def _account(store: Store, namespace: str, name: str) -> Json | None:
    for _ in range(_ATTEMPTS if name == _DEFAULT else 1):
        version = store.version
        stored = store.get(_ACCOUNTS, f"{namespace}/{name}")
        if stored is not None:
            return stored.obj
        if name == _DEFAULT:
            store.wait_for_version(version + 1, _ATTEMPT_SECONDS)
    return None


def _check_secrets(request: AdmissionRequest, spec: Json, account: Json) -> None:
    """Check that the pod uses only secrets that its account lists, if the account demands this."""
    name = account["metadata"]["name"]
    tail = f"is not allowed because service account {name} does not reference that"
    known = {one.get("name") for one in account.get("secrets") or ()}
    for where, secret in _secrets(spec):
        if secret not in known:
            raise errors.forbidden("", "pods", request.name, f'{where}secret.secretName="{secret}" {tail} secret')
    pulling = {one.get("name") for one in account.get("imagePullSecrets") or ()}
    for i, one in enumerate(spec.get("imagePullSecrets") or ()):
        if one.get("name") not in pulling:
            why = f'imagePullSecrets[{i}].name="{one.get("name", "")}" {tail} imagePullSecret'
            raise errors.forbidden("", "pods", request.name, why)


def _secrets(spec: Json) -> Iterator[tuple[str, str]]:
    """Yield each secret that a pod refers to, with a description of the reference."""
    for volume in spec.get("volumes") or ():
        if volume.get("secret") is not None:
            yield "volume with ", volume["secret"].get("secretName", "")
    for group, shown in (("initContainers", "init container"), ("containers", "container")):
        for container in spec.get(group) or ():
            for variable in container.get("env") or ():
                reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
                if reference is not None:
                    head = f"{shown} {container.get('name', '')} with envVar {variable.get('name', '')} referencing "
                    yield head, reference.get("name", "")


def _wants_token(spec: Json, account: Json) -> bool:
    """Report whether the pod gets a token. The pod's setting takes precedence over its account's."""
    for owner in (spec, account):
        wanted = owner.get("automountServiceAccountToken")
        if wanted is not None:
            return bool(wanted)
    return True


def _mount_token(spec: Json) -> None:
    volumes = spec.get("volumes") or []
    known = next((v["name"] for v in volumes if v.get("name", "").startswith(_VOLUME_PREFIX)), "")
    name = known or _VOLUME_PREFIX + "".join(secrets.choice(_SUFFIX_ALPHABET) for _ in range(5))
    needed = False
    for container in [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]:
        mounts = container.get("volumeMounts") or []
        if any(mount.get("mountPath") == _MOUNT_PATH for mount in mounts):
            continue
        container["volumeMounts"] = [*mounts, {"name": name, "readOnly": True, "mountPath": _MOUNT_PATH}]
        needed = True
    if needed and not known:
        spec["volumes"] = [*volumes, _token_volume(name)]


def _token_volume(name: str) -> Json:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources: list[Json] = [
        {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 0o644}}
