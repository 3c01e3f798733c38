"""The removal of nodes, one at a time, after their data has moved to other nodes.

Mirrors pkg/actor/decommission.go and pkg/scale. Differs: an annotation of the StatefulSet names the node before the
first step, until the node is removed. So an interrupted decommissioning is completed, even if the user wants the node
back: a decommissioned node cannot return, only a new one can.
"""

from __future__ import annotations

from database import Node, NodeStatus
from features import Feature
from resources import Cluster
from resources.cluster import DATA_DIR, DECOMMISSION_ANNOTATION

from actor.actor import Action, NotReadyError, ValidationError, check_ready
from api.v1alpha1 import ActionType
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.logr import Logger

# The replicas of each range. Fewer nodes could not hold all of them.
REPLICATION = 3


class Decommission(Action):
    """The actor that decommissions the node with the highest ordinal if there are more nodes than specified."""

    def get_action_type(self) -> str:
        return ActionType.DECOMMISSION

    def act(self, ctx: Context, cluster: Cluster, log: Logger) -> None:
        stateful_set = self.stateful_set(ctx, cluster)
        replicas = stateful_set.spec.replicas or 0
        begun = stateful_set.metadata.annotations.get(DECOMMISSION_ANNOTATION)
        if begun is None and replicas <= cluster.spec.nodes:
            return
        ordinal = replicas - 1
        if ordinal < REPLICATION:
            raise ValidationError(f"cannot decommission below {REPLICATION} nodes")
        check_ready(self.pods(ctx, cluster), replicas)
        if begun is None:
            log.info("replicas decommissioning", have=replicas, expected=cluster.spec.nodes)
            stateful_set.metadata.annotations[DECOMMISSION_ANNOTATION] = str(ordinal)
            self.client.update(ctx, stateful_set)
        self._drain(ctx, cluster, ordinal, log)
        if self.gates.enabled(Feature.AUTO_PRUNE_PVC):
            self._prune(ctx, cluster, ordinal)
        self._scale_down(ctx, stateful_set, ordinal)
        log.info("decommissioned node", pod=f"{cluster.statefulset_name}-{ordinal}")

    def _drain(self, ctx: Context, cluster: Cluster, ordinal: int, log: Logger) -> None:
        """Move a node's data away, and return when the node has left the cluster. Raises NotReadyError while data
        moves.
        """
        node = Node(self.database, cluster)
        status = self._status(ctx, node, ordinal)
        if status.membership == "active":
            others = [each for each in node.statuses(ctx) if each.id != status.id and each.is_live]
            if len([each for each in others if each.membership == "active"]) < REPLICATION:
                raise NotReadyError(f"fewer than {REPLICATION} other nodes are live")
            log.info("draining node", NodeID=status.id)
            node.decommission(ctx, status.id, wait=False)
            status = self._status(ctx, node, ordinal)
        if status.replicas:
            log.info("draining node due to decommission", id=status.id, replicas=status.replicas)
            raise NotReadyError(f"node {status.id} has not completed draining yet: {status.replicas} replicas left")
        if status.membership != "decommissioned":
            node.decommission(ctx, status.id, wait=True)

    @staticmethod
    def _status(ctx: Context, node: Node, ordinal: int) -> NodeStatus:
        status = node.status_of(ctx, ordinal)
        if status is None:
            raise NotReadyError(f"could not find the id of replica {ordinal}")
        return status

    def _prune(self, ctx: Context, cluster: Cluster, ordinal: int) -> None:
        """Delete the claim of the node. Kubernetes keeps it until its pod is gone."""
        name = f"{DATA_DIR}-{cluster.statefulset_name}-{ordinal}"
        claim = self.find(ctx, cluster, name, corev1.PersistentVolumeClaim)
        if claim is None or claim.metadata.deletion_timestamp is not None:
            return
        try:
            self.client.delete(ctx, claim, client.Preconditions(uid=claim.get_uid()))
        except errors.StatusError as err:
            client.ignore_not_found(err)

    def _scale_down(self, ctx: Context, stateful_set: appsv1.StatefulSet, ordinal: int) -> None:
        """Remove the node's replica and its annotation in a single write."""
        del stateful_set.metadata.annotations[DECOMMISSION_ANNOTATION]
        stateful_set.spec.replicas = ordinal
        self.client.update(ctx, stateful_set)
