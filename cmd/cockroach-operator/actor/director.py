"""The Director, which selects one actor for each reconciliation by conditions, feature gates and deployed parts.

Mirrors pkg/actor/director.go. It reads the cache, which may be behind. An actor checks whether it still has
anything to do.
"""

from __future__ import annotations

from typing import Protocol

from features import Feature
from resources import Cluster
from resources.cluster import CONTAINER_IMAGE_ANNOTATION, DECOMMISSION_ANNOTATION, RESTART_TYPE_ANNOTATION

from actor.actor import Action, Actor
from actor.cluster_restart import ClusterRestart
from actor.decommission import Decommission
from actor.deploy import Deploy
from actor.expose_ingress import ExposeIngress
from actor.generate_cert import GenerateCert
from actor.initialize import Initialize
from actor.partitioned_update import PartitionedUpdate, is_rolling
from actor.resize_pvc import ResizePVC, deployed_storage, is_same_size
from actor.setup_rbac import SetupRBAC
from actor.validate_version import VersionChecker
from api.v1alpha1 import ClusterConditionType
from clientgo.api.apps import v1 as appsv1
from clientgo.api.batch import v1 as batchv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.types import NamespacedName
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.logr import Logger


class Director(Protocol):
    """An interface that chooses the next action for a cluster. Go: actor.Director."""

    def get_actor_to_execute(self, ctx: Context, cluster: Cluster, log: Logger) -> Actor | None:
        """Return the actor to run, or None if all work is done. Raises StatusError."""
        ...


class ClusterDirector:
    """The Director. It checks the most urgent actions first."""

    def __init__(self, action: Action) -> None:
        """Create all actors with the client, reader and other tools of `action`."""
        tools = vars(action)
        self._client = action.client
        self._gates = action.gates
        self._restart = ClusterRestart(**tools)
        self._setup_rbac = SetupRBAC(**tools)
        self._decommission = Decommission(**tools)
        self._version_checker = VersionChecker(**tools)
        self._generate_cert = GenerateCert(**tools)
        self._partitioned_update = PartitionedUpdate(**tools)
        self._resize_pvc = ResizePVC(**tools)
        self._deploy = Deploy(**tools)
        self._initialize = Initialize(**tools)
        self._expose_ingress = ExposeIngress(**tools)

    def __repr__(self) -> str:
        return f"<ClusterDirector {self._gates!r}>"

    def get_actor_to_execute(self, ctx: Context, cluster: Cluster, log: Logger) -> Actor | None:
        if self._needs_restart(cluster):
            return self._restart
        if self._setup_rbac.needed(ctx, cluster):
            return self._setup_rbac
        stateful_set = self._stateful_set(ctx, cluster)
        if self._needs_decommission(cluster, stateful_set):
            return self._decommission
        if self._needs_version_check(ctx, cluster):
            return self._version_checker
        if self._needs_certificate_generation(cluster):
            return self._generate_cert
        if self._needs_partitioned_update(cluster, stateful_set):
            return self._partitioned_update
        if self._needs_pvc_resize(cluster, stateful_set):
            return self._resize_pvc
        if self._needs_deploy(ctx, cluster):
            return self._deploy
        if self._needs_initialization(cluster):
            return self._initialize
        if self._needs_ingress(ctx, cluster):
            return self._expose_ingress
        return None

    def _stateful_set(self, ctx: Context, cluster: Cluster) -> appsv1.StatefulSet | None:
        key = NamespacedName(cluster.namespace, cluster.statefulset_name)
        try:
            return self._client.get(ctx, key, appsv1.StatefulSet)
        except errors.StatusError as err:
            client.ignore_not_found(err)
            return None

    def _version_is_checked(self, cluster: Cluster) -> bool:
        """Report whether the version has been checked, or needs no check."""
        is_checked = cluster.is_true(ClusterConditionType.VERSION_CHECKED)
        return is_checked or not self._gates.enabled(Feature.CRDB_VERSION_VALIDATOR)

    def _needs_restart(self, cluster: Cluster) -> bool:
        """Report whether the user's annotation asks for a restart."""
        if not self._gates.enabled(Feature.CLUSTER_RESTART) or not self._version_is_checked(cluster):
            return False
        if not cluster.is_true(ClusterConditionType.INITIALIZED):
            return False
        return bool(cluster.annotations.get(RESTART_TYPE_ANNOTATION))

    def _needs_decommission(self, cluster: Cluster, stateful_set: appsv1.StatefulSet | None) -> bool:
        """Report whether there are more nodes than wanted, or a node is being decommissioned."""
        if not self._gates.enabled(Feature.DECOMMISSION) or stateful_set is None:
            return False
        if not cluster.is_true(ClusterConditionType.INITIALIZED):
            return False
        if DECOMMISSION_ANNOTATION in stateful_set.metadata.annotations:
            return True
        return (stateful_set.spec.replicas or 0) > cluster.spec.nodes

    def _needs_version_check(self, ctx: Context, cluster: Cluster) -> bool:
        """Report whether the image is new, or the Job of the last check still exists."""
        if not self._gates.enabled(Feature.CRDB_VERSION_VALIDATOR):
            return False
        if cluster.is_false(ClusterConditionType.VERSION_CHECKED):
            return True
        try:
            job = self._client.get(ctx, NamespacedName(cluster.namespace, cluster.job_name), batchv1.Job)
        except errors.StatusError as err:
            client.ignore_not_found(err)
            return False
        return job.metadata.deletion_timestamp is None

    def _needs_certificate_generation(self, cluster: Cluster) -> bool:
        """Report whether TLS needs certificates that the user does not provide, or the nodes' certificate lacks a host.
        """
        if not self._gates.enabled(Feature.GENERATE_CERTS):
            return False
        if not cluster.spec.tls_enabled or cluster.spec.node_tls_secret:
            return False
        if not cluster.is_true(ClusterConditionType.CERTIFICATE_GENERATED):
            return True
        return cluster.sql_ingress is not None and cluster.status.sql_host != cluster.sql_ingress.host

    def _needs_partitioned_update(self, cluster: Cluster, stateful_set: appsv1.StatefulSet | None) -> bool:
        """Report whether the nodes run another image than wanted, or an update has not reached all of them."""
        if not self._gates.enabled(Feature.PARTITIONED_UPDATE) or stateful_set is None:
            return False
        if not cluster.is_true(ClusterConditionType.INITIALIZED) or not self._version_is_checked(cluster):
            return False
        current = stateful_set.metadata.annotations.get(CONTAINER_IMAGE_ANNOTATION, "")
        wanted = cluster.status.crdb_container_image
        return bool(wanted and current != wanted) or is_rolling(stateful_set)

    def _needs_pvc_resize(self, cluster: Cluster, stateful_set: appsv1.StatefulSet | None) -> bool:
        """Report whether the volumes differ from the wanted size."""
        if not self._gates.enabled(Feature.RESIZE_PVC) or stateful_set is None:
            return False
        if not cluster.is_true(ClusterConditionType.INITIALIZED):
            return False
        deployed, wanted = deployed_storage(stateful_set), cluster.storage
        return bool(deployed and wanted) and not is_same_size(deployed, wanted)

    def _needs_deploy(self, ctx: Context, cluster: Cluster) -> bool:
        """Report whether a part of the cluster is missing or out of date."""
        return self._version_is_checked(cluster) and self._deploy.needed(ctx, cluster)

    def _needs_initialization(self, cluster: Cluster) -> bool:
        """Report whether the database has not been initialized yet."""
        return cluster.is_false(ClusterConditionType.INITIALIZED) and self._version_is_checked(cluster)

    def _needs_ingress(self, ctx: Context, cluster: Cluster) -> bool:
        """Report whether the database runs and its Ingress objects are missing or out of date."""
        return cluster.is_true(ClusterConditionType.INITIALIZED) and self._expose_ingress.needed(ctx, cluster)
