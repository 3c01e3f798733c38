"""PersistentVolumeClaims: each gets a volume of its size at once, and a larger one if its request grows.

Does what a dynamic provisioner, the volume binder and the resizer do for a storage class without a limit. A volume is
deleted with its claim unless the policy of the class or of the volume is Retain.
"""

from __future__ import annotations

from clientgo import kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.api.storage import v1 as storagev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.api.resource import parse_quantity
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.tools import record

STORAGE_CLASS = "standard"
_PROVISIONER = "simulator/hostpath"
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_PROTECTION = "kubernetes.io/pvc-protection"
_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"


class Claims:
    """A controller that syncs one claim at a time; called by one worker thread."""

    def __init__(self, client: kubernetes.Clientset, recorder: record.EventRecorder) -> None:
        self._client = client
        self._recorder = recorder

    def __repr__(self) -> str:
        return "<Claims>"

    def make_storage_class(self, ctx: Context) -> None:
        """Create the only storage class unless it exists. It is the default class and allows volume expansion.

        Raises StatusError.
        """
        one = storagev1.StorageClass.from_dict(
            {
                "metadata": {"name": STORAGE_CLASS, "annotations": {_DEFAULT_CLASS: "true"}},
                "provisioner": _PROVISIONER,
                "reclaimPolicy": "Delete",
                "volumeBindingMode": "Immediate",
                "allowVolumeExpansion": True,
            }
        )
        try:
            self._client.storage_v1().storage_classes().create(ctx, one, metav1.CreateOptions())
        except errors.StatusError as err:
            if not errors.is_already_exists(err):
                raise

    def sync(self, ctx: Context, namespace: str, name: str) -> None:
        """Bind the claim, or let it grow; delete the volume of a claim that is gone. Raises StatusError."""
        claims = self._client.core_v1().persistent_volume_claims(namespace)
        try:
            claim = claims.get(ctx, name, metav1.GetOptions())
        except errors.StatusError as err:
            if not errors.is_not_found(err):
                raise
            self._reclaim(ctx, namespace, name)
            return
        if claim.metadata.deletion_timestamp is not None:
            self._let_go(ctx, claim)
        elif not claim.spec.volume_name:
            # Another claim of this name may have gone since this one was last looked at.
            self._reclaim(ctx, namespace, name, claim.metadata.uid)
            self._bind(ctx, claim)
        elif claim.status.phase != "Bound":
            self._write_status(ctx, claim)
        elif _wants_more(claim):
            self._grow(ctx, claim)

    def _let_go(self, ctx: Context, claim: corev1.PersistentVolumeClaim) -> None:
        """Take the protection off a deleted claim that no pod uses any more."""
        document = claim.to_dict()
        finalizers = document["metadata"].get("finalizers") or []
        if _PROTECTION not in finalizers or self._is_used(ctx, claim):
            return
        document["metadata"]["finalizers"] = [one for one in finalizers if one != _PROTECTION]
        claims = self._client.core_v1().persistent_volume_claims(claim.get_namespace())
        claims.update(ctx, corev1.PersistentVolumeClaim.from_dict(document), metav1.UpdateOptions())

    def _is_used(self, ctx: Context, claim: corev1.PersistentVolumeClaim) -> bool:
        pods = self._client.core_v1().pods(claim.get_namespace()).list(ctx, metav1.ListOptions()).items
        return any(claim.get_name() in claim_names(pod) for pod in pods)

    def _bind(self, ctx: Context, claim: corev1.PersistentVolumeClaim) -> None:
        name = f"pvc-{claim.metadata.uid}"
        try:
            volume = _volume_of(claim, name)
            self._client.core_v1().persistent_volumes().create(ctx, volume, metav1.CreateOptions())
        except errors.StatusError as err:
            if not errors.is_already_exists(err):
                raise
        self._write_volume_status(ctx, name, "Bound")
        document = claim.to_dict()
        document["spec"]["volumeName"] = name
        claims = self._client.core_v1().persistent_volume_claims(claim.get_namespace())
        bound = claims.update(ctx, corev1.PersistentVolumeClaim.from_dict(document), metav1.UpdateOptions())
        text = f"Successfully provisioned volume {name}"
        self._recorder.event(claim, corev1.EVENT_TYPE_NORMAL, "ProvisioningSucceeded", text)
        self._write_status(ctx, bound)

    def _write_status(self, ctx: Context, claim: corev1.PersistentVolumeClaim) -> None:
        document = claim.to_dict()
        spec = document["spec"]
        capacity = {"storage": _requested(claim)}
        document["status"] = {"phase": "Bound", "accessModes": spec.get("accessModes"), "capacity": capacity}
        claims = self._client.core_v1().persistent_volume_claims(claim.get_namespace())
        claims.update_status(ctx, corev1.PersistentVolumeClaim.from_dict(document), metav1.UpdateOptions())

    def _grow(self, ctx: Context, claim: corev1.PersistentVolumeClaim) -> None:
        volumes = self._client.core_v1().persistent_volumes()
        document = volumes.get(ctx, claim.spec.volume_name, metav1.GetOptions()).to_dict()
        document["spec"]["capacity"] = {"storage": _requested(claim)}
        volumes.update(ctx, corev1.PersistentVolume.from_dict(document), metav1.UpdateOptions())
        self._write_status(ctx, claim)
        text = "MountVolume.NodeExpandVolume succeeded for volume"
        self._recorder.event(claim, corev1.EVENT_TYPE_NORMAL, "FileSystemResizeSuccessful", text)

    def _reclaim(self, ctx: Context, namespace: str, name: str, living: str = "") -> None:
        """Reclaim the volumes of a deleted claim. `living` is the uid of a current claim with the same name."""
        volumes = self._client.core_v1().persistent_volumes()
        for volume in volumes.list(ctx, metav1.ListOptions()).items:
            reference = volume.spec.claim_ref
            if reference is None or (reference.namespace, reference.name) != (namespace, name):
                continue
            if living and reference.uid in ("", living):  # A reference without uid fits any claim of that name.
                continue
            if volume.status.phase != "Released":
                self._write_volume_status(ctx, volume.get_name(), "Released")
            if volume.spec.persistent_volume_reclaim_policy == "Delete":
                volumes.delete(ctx, volume.get_name(), metav1.DeleteOptions())

    def _write_volume_status(self, ctx: Context, name: str, phase: str) -> None:
        volumes = self._client.core_v1().persistent_volumes()
        document = volumes.get(ctx, name, metav1.GetOptions()).to_dict()
        document["status"] = {**(document.get("status") or {}), "phase": phase}
        volumes.update_status(ctx, corev1.PersistentVolume.from_dict(document), metav1.UpdateOptions())


def claim_names(pod: corev1.Pod) -> list[str]:
    """Return the names of the claims that a pod uses."""
    sources = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    return [source.claim_name for source in sources if source is not None]


def _requested(claim: corev1.PersistentVolumeClaim) -> str:
    requests = ((claim.to_dict().get("spec") or {}).get("resources") or {}).get("requests") or {}
    return str(requests.get("storage", "0"))


def _wants_more(claim: corev1.PersistentVolumeClaim) -> bool:
    capacity = ((claim.to_dict().get("status") or {}).get("capacity") or {}).get("storage", "0")
    return parse_quantity(_requested(claim)).cmp(parse_quantity(str(capacity))) > 0


def _volume_of(claim: corev1.PersistentVolumeClaim, name: str) -> corev1.PersistentVolume:
    spec = claim.to_dict().get("spec") or {}
    reference: Json = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": claim.get_namespace(),
        "name": claim.get_name(),
        "uid": claim.metadata.uid,
        "resourceVersion": claim.get_resource_version(),
    }
    return corev1.PersistentVolume.from_dict(
        {
            "metadata": {"name": name, "annotations": {_PROVISIONED_BY: _PROVISIONER}},
            "spec": {
                "accessModes": spec.get("accessModes"),
                "capacity": {"storage": _requested(claim)},
                "claimRef": reference,
                "hostPath": {"path": f"/simulated/{name}", "type": ""},
                "persistentVolumeReclaimPolicy": "Delete",
                "storageClassName": spec.get("storageClassName", STORAGE_CLASS),
                "volumeMode": spec.get("volumeMode", "Filesystem"),
            },
        }
    )
