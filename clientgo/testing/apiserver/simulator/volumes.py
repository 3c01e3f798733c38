"""PersistentVolumes: one that is deleted goes when no claim is bound to it. Mirrors the pv-protection controller."""

from __future__ import annotations

from clientgo import kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context

_PROTECTION = "kubernetes.io/pv-protection"


class Volumes:
    """A controller that syncs one volume at a time; called by one worker thread."""

    def __init__(self, client: kubernetes.Clientset) -> None:
        self._client = client

    def __repr__(self) -> str:
        return "<Volumes>"

    def sync(self, ctx: Context, namespace: str, name: str) -> None:
        """Take the protection off a deleted volume that is not bound. Raises StatusError."""
        volumes = self._client.core_v1().persistent_volumes()
        try:
            volume = volumes.get(ctx, name, metav1.GetOptions())
        except errors.StatusError as err:
            if not errors.is_not_found(err):
                raise
            return
        document = volume.to_dict()
        finalizers = document["metadata"].get("finalizers") or []
        bound = volume.status.phase == "Bound"
        if volume.metadata.deletion_timestamp is None or _PROTECTION not in finalizers or bound:
            return
        document["metadata"]["finalizers"] = [one for one in finalizers if one != _PROTECTION]
        volumes.update(ctx, corev1.PersistentVolume.from_dict(document), metav1.UpdateOptions())
