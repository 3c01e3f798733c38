"""The restart of the nodes, one after the other or all at once, when an annotation requests it.

Mirrors pkg/actor/cluster_restart.go. Differs: an annotation of the CrdbCluster keeps the start time, so that an
interrupted restart continues. For a rolling restart this actor only writes a new template behind a partition. The
partitioned update then applies it to one node after the other.
"""

from __future__ import annotations

from datetime import datetime

from resources import Cluster, StatefulSetBuilder
from resources.cluster import RESTART_ANNOTATION, RESTART_TYPE_ANNOTATION, RESTARTED_AT_ANNOTATION, now

from actor.actor import Action, NotReadyError, ValidationError, check_ready
from api.v1alpha1 import ActionType
from clientgo.api.apps import v1 as appsv1
from clientgo.context import Context
from clientgo.logr import Logger

ROLLING = "Rolling"
FULL_CLUSTER = "FullCluster"


class ClusterRestart(Action):
    """The actor for the annotation crdb.io/restarttype, which it removes at the end."""

    def get_action_type(self) -> str:
        return ActionType.CLUSTER_RESTART

    def act(self, ctx: Context, cluster: Cluster, log: Logger) -> None:
        restart_type = cluster.annotations.get(RESTART_TYPE_ANNOTATION, "")
        if not restart_type:
            return
        if restart_type.lower() not in (ROLLING.lower(), FULL_CLUSTER.lower()):
            raise ValidationError("invalid annotation value, please use Rolling or FullCluster values")
        stateful_set = self.stateful_set(ctx, cluster)
        began = cluster.annotations.get(RESTARTED_AT_ANNOTATION)
        if began is None:
            check_ready(self.pods(ctx, cluster), stateful_set.spec.replicas or 0)
            log.info("starting cluster restart action", type=restart_type)
            self.annotate(ctx, cluster, {RESTARTED_AT_ANNOTATION: now().isoformat()})
            return
        if restart_type.lower() == ROLLING.lower():
            builder = StatefulSetBuilder(cluster, self.gates, annotations={RESTART_ANNOTATION: began})
            self.reconcile(ctx, cluster, builder)
        else:
            self._restart_all(ctx, cluster, stateful_set, datetime.fromisoformat(began))
        self.annotate(ctx, cluster, {RESTARTED_AT_ANNOTATION: None, RESTART_TYPE_ANNOTATION: None})
        log.info("completed cluster restart", type=restart_type)

    def _restart_all(self, ctx: Context, cluster: Cluster, stateful_set: appsv1.StatefulSet, began: datetime) -> None:
        """Delete the pods that are older than the restart, and wait until all new ones are ready."""
        pods = self.pods(ctx, cluster)
        for pod in pods.by_ordinal.values():
            created = pod.metadata.creation_timestamp
            if created is not None and created < began and pod.metadata.deletion_timestamp is None:
                self.client.delete(ctx, pod)
        try:
            check_ready(self.pods(ctx, cluster), stateful_set.spec.replicas or 0)
        except NotReadyError as err:
            raise NotReadyError(f"restart cluster statefulset does not have all replicas up: {err}") from err
