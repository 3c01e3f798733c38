"""TaintNodesByCondition: a new node takes no pods before it has said that it is ready."""

from __future__ import annotations

from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.store.storage import Store

_TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def admit(store: Store, request: AdmissionRequest) -> None:
    if request.resource.storage != "/nodes":
        return
    spec = request.obj.setdefault("spec", {})
    taints = spec.get("taints") or []
    if not any(taint.get("key") == _TAINT["key"] and taint.get("effect") == _TAINT["effect"] for taint in taints):
        spec["taints"] = [*taints, dict(_TAINT)]
