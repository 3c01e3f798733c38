"""DefaultTolerationSeconds: pods stay for five minutes on a node that is not ready or cannot be reached."""

from __future__ import annotations

from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.wire.jsonio import Json

_SECONDS = 300
_KEYS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def admit(store: Store, request: AdmissionRequest) -> None:
    if request.resource.storage != "/pods" or request.subresource:
        return
    spec = request.obj["spec"]
    given = list(spec.get("tolerations") or ())
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _SECONDS}
        for key in _KEYS
        if not any(_covers(toleration, key) for toleration in given)
    ]
    if given or added:
        spec["tolerations"] = given + added


def _covers(toleration: Json, key: str) -> bool:
    """Report whether a toleration covers the taint. Without a key or an effect it covers all."""
    return toleration.get("key") in (key, None, "") and toleration.get("effect") in ("NoExecute", None, "")
