"""DefaultStorageClass and DefaultIngressClass: the class of a claim or an Ingress that names none.

PersistentVolumeClaimResize: a claim grows only where its class lets it.
"""

from __future__ import annotations

from clientgo.apimachinery.api.resource import parse_quantity
from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.jsonio import Json

_STORAGE, _STORAGE_DEFAULT = "storage.k8s.io/storageclasses", "storageclass.kubernetes.io/is-default-class"
_BETA_DEFAULT = "storageclass.beta.kubernetes.io/is-default-class"
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_INGRESS, _INGRESS_DEFAULT = "networking.k8s.io/ingressclasses", "ingressclass.kubernetes.io/is-default-class"
_INGRESS_CLASS = "kubernetes.io/ingress.class"
_NOT_GROWING = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)


def _annotations(obj: Json) -> Json:
    return obj["metadata"].get("annotations") or {}


def _defaults(store: Store, bucket: str, *annotations: str) -> list[Json]:
    """Return the classes that are marked as default: the newest first, then by name."""
    if not store.count(bucket):
        return []
    found = [stored.obj for stored in store.list(bucket)[1]]
    found = [obj for obj in found if any(_annotations(obj).get(name) == "true" for name in annotations)]
    found.sort(key=lambda obj: str(obj["metadata"]["creationTimestamp"]), reverse=True)
    return found


def admit_storage(store: Store, request: AdmissionRequest) -> None:
    if request.resource.storage != "/persistentvolumeclaims" or request.subresource:
        return
    spec = request.obj.setdefault("spec", {})
    if spec.get("storageClassName") is not None or _BETA_CLASS in _annotations(request.obj):
        return
    found = _defaults(store, _STORAGE, _STORAGE_DEFAULT, _BETA_DEFAULT)
    if found:
        spec["storageClassName"] = found[0]["metadata"]["name"]


def admit_ingress(store: Store, request: AdmissionRequest) -> None:
    if request.resource.storage != "networking.k8s.io/ingresses" or request.subresource:
        return
    spec = request.obj.setdefault("spec", {})
    if spec.get("ingressClassName") is not None or _INGRESS_CLASS in _annotations(request.obj):
        return
    found = _defaults(store, _INGRESS, _INGRESS_DEFAULT)
    if found:
        spec["ingressClassName"] = found[0]["metadata"]["name"]


def validate_resize(store: Store, request: AdmissionRequest) -> None:
    if request.resource.storage != "/persistentvolumeclaims" or request.subresource or request.old is None:
        return
    before, after = (parse_quantity(_size(obj)) for obj in (request.old, request.obj))
    if after <= before or request.old.get("status", {}).get("phase") != "Bound":
        return
    name = _annotations(request.obj).get(_BETA_CLASS) or (request.obj.get("spec") or {}).get("storageClassName") or ""
    stored = store.get(_STORAGE, name)
    if stored is None or not stored.obj.get("allowVolumeExpansion"):
        raise errors.forbidden("", "persistentvolumeclaims", request.name, _NOT_GROWING)


def _size(obj: Json) -> str:
    requests = ((obj.get("spec") or {}).get("resources") or {}).get("requests") or {}
    return str(requests.get("storage", "0"))
