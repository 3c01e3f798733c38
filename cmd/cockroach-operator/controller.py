"""The reconciler of CrdbClusters. Mirrors pkg/controller/cluster_controller.go.

Each reconciliation reads the cluster, runs the actor that the Director selects, and writes the result to the status.
The changes of an actor cause events, which lead to the next reconciliation.

Differs from Go: an actor only acts on the current version of the cluster, not on an older one from the cache. The
status is written to exactly this version, since a patch with an old list of conditions would undo newer ones. After a
conflict the operator tries again; a conflict is no failure of the actor.
"""

from __future__ import annotations

from actor import Actor, Director, NotReadyError, PermanentError, ValidationError
from resources import Cluster

from api.v1alpha1 import ActionStatus, ClusterConditionType, CrdbCluster
from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.api.networking import v1 as networkingv1
from clientgo.api.policy import v1 as policyv1
from clientgo.api.rbac import v1 as rbacv1
from clientgo.apimachinery.api import errors
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.logr import Logger

SHORT_PAUSE = 5.0
LONG_PAUSE = 30.0
# Until something changes.
NO_REQUEUE = ctrl.Result()


class ClusterReconciler:
    """A reconciler that brings CrdbClusters to their desired state, one action at a time."""

    def __init__(self, client: client.Client, reader: client.Reader, director: Director) -> None:
        """Create a reconciler. `client` reads from the cache, `reader` from the API server."""
        self.client = client
        self.reader = reader
        self.director = director

    def setup_with_manager(self, mgr: ctrl.Manager) -> None:
        """Add a controller that runs after each change of a cluster, or of an object that it owns."""
        builder = ctrl.new_controller_managed_by(mgr).for_(CrdbCluster)
        builder.owns(corev1.Service).owns(appsv1.StatefulSet).owns(policyv1.PodDisruptionBudget).owns(batchv1.Job)
        builder.owns(corev1.ServiceAccount).owns(rbacv1.Role).owns(rbacv1.RoleBinding).owns(networkingv1.Ingress)
        builder.complete(self)

    def reconcile(self, ctx: Context, request: ctrl.Request) -> ctrl.Result:
        """See the module."""
        log = ctrl.logger_from(ctx)
        try:
            found = self.client.get(ctx, request, CrdbCluster)
        except errors.StatusError as err:
            client.ignore_not_found(err)
            return NO_REQUEUE
        if found.get_deletion_timestamp() is not None:
            return NO_REQUEUE  # the garbage collector does the rest
        cluster = Cluster(found.deep_copy())
        try:
            return self._reconcile(ctx, request, cluster, found, log)
        except errors.StatusError as err:
            if not errors.is_conflict(err) and not errors.is_already_exists(err):
                raise
            log.info("The cache is behind, trying again", err=str(err))
            return requeue_immediately()

    def _reconcile(
        self, ctx: Context, request: ctrl.Request, cluster: Cluster, before: CrdbCluster, log: Logger
    ) -> ctrl.Result:
        if not cluster.status.cluster_status:
            cluster.status.cluster_status = str(ActionStatus.STARTING)
            self._update_status(ctx, cluster, before)
            return requeue_immediately()
        is_checked = cluster.is_true(ClusterConditionType.VERSION_CHECKED)
        if is_checked and cluster.image() != cluster.status.crdb_container_image:
            cluster.set_false(ClusterConditionType.VERSION_CHECKED)
            self._update_status(ctx, cluster, before)
            return requeue_immediately()
        try:
            actor = self.director.get_actor_to_execute(ctx, cluster, log)
        except Exception as err:
            log.error(err, "could not choose an action")
            return requeue_after(LONG_PAUSE)
        if actor is None:
            # An action that failed earlier and is no longer needed counts as finished.
            cluster.set_actions_finished()
            self._update_status(ctx, cluster, before)
            log.info("No actor to run; not requeueing")
            return NO_REQUEUE
        if not self._is_current(ctx, request, before):
            log.info("The cache is behind, trying again")
            return requeue_immediately()
        return self._run(ctx, actor, cluster, before, log)

    def _is_current(self, ctx: Context, request: ctrl.Request, seen: CrdbCluster) -> bool:
        """Report whether the API server still has this version of the cluster. Raises StatusError."""
        try:
            current = self.reader.get(ctx, request, CrdbCluster)
        except errors.StatusError as err:
            client.ignore_not_found(err)
            return False
        return current.get_resource_version() == seen.get_resource_version()

    def _run(self, ctx: Context, actor: Actor, cluster: Cluster, before: CrdbCluster, log: Logger) -> ctrl.Result:
        kind = actor.get_action_type()
        log.info(f"Running action with name: {kind}")
        try:
            actor.act(ctx, cluster, log)
        except errors.StatusError as err:
            if errors.is_conflict(err) or errors.is_already_exists(err):
                raise
            return self._failed(ctx, kind, err, cluster, before, log)
        except Exception as err:
            return self._failed(ctx, kind, err, cluster, before, log)
        cluster.set_actions_finished(kind)
        self._update_status(ctx, cluster, before)
        log.info("reconciliation completed")
        return NO_REQUEUE

    def _failed(
        self, ctx: Context, kind: str, err: Exception, cluster: Cluster, before: CrdbCluster, log: Logger
    ) -> ctrl.Result:
        """Record the failure, and return when to try again."""
        log.info("Error on action", Action=str(kind), err=str(err))
        cluster.set_action_failed(kind, str(err))
        self._update_status(ctx, cluster, before)
        if isinstance(err, NotReadyError):
            return requeue_after(SHORT_PAUSE)
        if isinstance(err, PermanentError | ValidationError):
            log.error(err, "can't proceed with reconcile", Action=str(kind))
            return NO_REQUEUE
        log.error(err, "action failed")
        raise err

    def _update_status(self, ctx: Context, cluster: Cluster, before: CrdbCluster) -> None:
        """Write the status if it has changed, and the cluster still exists.

        Raises StatusError: a conflict when the cluster has changed meanwhile.
        """
        cluster.set_cluster_status()
        if cluster.status == before.status:
            return
        known = before.deep_copy()
        known.set_resource_version(cluster.crdb.get_resource_version())
        patch = client.merge_from_with_options(known, client.MergeFromWithOptimisticLock())
        try:
            self.client.status().patch(ctx, cluster.crdb, patch)
        except errors.StatusError as err:
            client.ignore_not_found(err)  # gone: the cache is behind


def requeue_immediately() -> ctrl.Result:
    return ctrl.Result(requeue=True)


def requeue_after(seconds: float) -> ctrl.Result:
    return ctrl.Result(requeue_after=seconds)
