"""The enlargement of the nodes' volumes. Mirrors pkg/actor/resize_pvc.go.

A StatefulSet's claim templates never change, so the actor deletes it without its pods. Differs: the deploy actor
creates it again around the pods, which it must be able to do anyway if the program is killed in between.
"""

from __future__ import annotations

from resources import Cluster
from resources.cluster import DATA_DIR

from actor.actor import Action, NotReadyError, ValidationError, check_ready
from actor.partitioned_update import is_rolling
from api.v1alpha1 import ActionType
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api.resource import parse_quantity
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.logr import Logger


def deployed_storage(stateful_set: appsv1.StatefulSet) -> str:
    """Return the storage size that the StatefulSet requests, or "" when it has no claims."""
    for template in stateful_set.spec.volume_claim_templates:
        return _requested(template)
    return ""


def _requested(claim: corev1.PersistentVolumeClaim) -> str:
    resources = claim.spec.to_dict().get("resources") or {}
    return str((resources.get("requests") or {}).get("storage", "0"))


def is_same_size(one: str, other: str) -> bool:
    return parse_quantity(one).cmp(parse_quantity(other)) == 0


class ResizePVC(Action):
    """Claims first, then the StatefulSet."""

    def get_action_type(self) -> str:
        return ActionType.RESIZE_PVC

    def act(self, ctx: Context, cluster: Cluster, log: Logger) -> None:
        stateful_set = self.stateful_set(ctx, cluster)
        deployed, wanted = deployed_storage(stateful_set), cluster.storage
        if not deployed or not wanted or is_same_size(deployed, wanted):
            return
        if parse_quantity(wanted).cmp(parse_quantity(deployed)) < 0:
            raise ValidationError(f"cannot shrink volumes from {deployed} to {wanted}")
        if is_rolling(stateful_set):
            raise NotReadyError("resize statefulset is updating, waiting for the update to finish")
        replicas = stateful_set.spec.replicas or 0
        check_ready(self.pods(ctx, cluster), replicas)
        log.info("Starting PVC resize", before=deployed, after=wanted)
        for ordinal in range(replicas):
            self._resize(ctx, cluster, f"{DATA_DIR}-{stateful_set.get_name()}-{ordinal}", wanted, log)
        version = client.Preconditions(uid=stateful_set.get_uid(), resource_version=stateful_set.get_resource_version())
        self.client.delete(ctx, stateful_set, client.PropagationPolicy("Orphan"), version)
        log.info("PVC resize completed")

    def _resize(self, ctx: Context, cluster: Cluster, name: str, size: str, log: Logger) -> None:
        claim = self.find(ctx, cluster, name, corev1.PersistentVolumeClaim)
        if claim is None or parse_quantity(_requested(claim)).cmp(parse_quantity(size)) >= 0:
            return
        resized = claim.deep_copy()
        resized.spec.resources.requests["storage"] = parse_quantity(size)
        self.client.update(ctx, resized)
        log.info(f"resized {name}")
