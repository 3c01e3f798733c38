"""StorageObjectInUseProtection: volumes and claims are not gone while something uses them."""

from __future__ import annotations

from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.store.storage import Store

_FINALIZERS = {
    "/persistentvolumes": "kubernetes.io/pv-protection",
    "/persistentvolumeclaims": "kubernetes.io/pvc-protection",
}


def admit(store: Store, request: AdmissionRequest) -> None:
    finalizer = _FINALIZERS.get(request.resource.storage)
    if finalizer is None:
        return
    metadata = request.obj["metadata"]
    known = metadata.get("finalizers") or []
    if finalizer not in known:
        metadata["finalizers"] = [*known, finalizer]
