"""A CrdbCluster with the names of its parts, its conditions and the results of its actions.

Mirrors pkg/resource/cluster.go, pkg/condition and pkg/clusterstatus. Differs: an initialized cluster is Running, also
again after a failed action has succeeded.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from datetime import UTC, datetime

from api.v1alpha1 import (
    ActionStatus,
    ClusterAction,
    ClusterCondition,
    ClusterConditionType,
    CrdbCluster,
    CrdbClusterSpec,
    CrdbClusterStatus,
    Ingress,
)
from clientgo.api.core import v1 as corev1
from clientgo.utils.clock import REAL_CLOCK

VERSION_ANNOTATION = "crdb.io/version"
CONTAINER_IMAGE_ANNOTATION = "crdb.io/containerimage"
CERT_EXPIRATION_ANNOTATION = "crdb.io/certexpiration"
# "Rolling" or "FullCluster", written by the user; and the start of the restart, written by the operator.
RESTART_TYPE_ANNOTATION = "crdb.io/restarttype"
RESTARTED_AT_ANNOTATION = "crdb.io/restartedat"
# On the Secret of the nodes' certificate: its host outside of the cluster. On the CrdbCluster: the host for whose
# certificate the nodes were restarted, or will be.
SQL_HOST_ANNOTATION = "crdb.io/sqlhost"
# On pods: the restart that created them.
RESTART_ANNOTATION = "crdb.io/restart"
# On the StatefulSet: the ordinal of the node that is being decommissioned.
DECOMMISSION_ANNOTATION = "crdb.io/decommissioning"

DB_CONTAINER = "db"
DATA_DIR = "datadir"
# RELATED_IMAGE_COCKROACH_v22_1_3 in the operator's environment is the image of version v22.1.3.
RELATED_IMAGE_PREFIX = "RELATED_IMAGE_COCKROACH_"
_INITIAL = (ClusterConditionType.INITIALIZED, ClusterConditionType.VERSION_CHECKED)


def now() -> datetime:
    """Return the time in whole seconds, the precision of API objects."""
    return datetime.fromtimestamp(int(REAL_CLOCK.now()), UTC)


class Cluster:
    """A CrdbCluster in one reconciliation. Actors change its status here; the reconciler writes it once at the end."""

    def __init__(self, crdb: CrdbCluster) -> None:
        """Wrap an object. The caller must not change it afterwards."""
        self.crdb = crdb
        self._init_conditions()

    def __repr__(self) -> str:
        return f"<Cluster {self.namespace}/{self.name}>"

    @property
    def name(self) -> str:
        return self.crdb.get_name()

    @property
    def namespace(self) -> str:
        return self.crdb.get_namespace()

    @property
    def spec(self) -> CrdbClusterSpec:
        return self.crdb.spec

    @property
    def status(self) -> CrdbClusterStatus:
        return self.crdb.status

    @property
    def annotations(self) -> MutableMapping[str, str]:
        return self.crdb.metadata.annotations

    # ---- names

    @property
    def statefulset_name(self) -> str:
        return self.name

    @property
    def discovery_service_name(self) -> str:
        return self.name

    @property
    def public_service_name(self) -> str:
        return f"{self.name}-public"

    @property
    def job_name(self) -> str:
        return f"{self.name}-vcheck"

    @property
    def service_account_name(self) -> str:
        return f"{self.name}-sa"

    @property
    def role_name(self) -> str:
        return f"{self.name}-role"

    @property
    def role_binding_name(self) -> str:
        return f"{self.role_name}-binding"

    @property
    def ui_ingress_name(self) -> str:
        return f"ui-{self.name}"

    @property
    def sql_ingress_name(self) -> str:
        return f"sql-{self.name}"

    @property
    def ca_secret_name(self) -> str:
        return f"{self.name}-ca"

    @property
    def node_tls_secret_name(self) -> str:
        return self.spec.node_tls_secret or f"{self.name}-node"

    @property
    def client_tls_secret_name(self) -> str:
        return self.spec.client_tls_secret or f"{self.name}-root"

    @property
    def secure_mode(self) -> str:
        """The flag of cockroach's commands."""
        return "--certs-dir=/cockroach/cockroach-certs/" if self.spec.tls_enabled else "--insecure"

    @property
    def storage(self) -> str:
        """The size of each node's claim; "" without claims."""
        if self.spec.data_store.pvc is None:
            return ""
        resources = self.spec.data_store.pvc.spec.to_dict().get("resources") or {}
        return str((resources.get("requests") or {}).get("storage", ""))

    @property
    def ui_ingress(self) -> Ingress | None:
        """The Ingress of the page; None if it is not exposed."""
        return self.spec.ingress.ui if self.spec.ingress is not None else None

    @property
    def sql_ingress(self) -> Ingress | None:
        """The Ingress of the database; None if it is not exposed."""
        return self.spec.ingress.sql if self.spec.ingress is not None else None

    def image(self) -> str:
        """Return the wanted image, or "" when its version is not supported."""
        if self.spec.image is not None and self.spec.image.name:
            return self.spec.image.name
        return os.environ.get(RELATED_IMAGE_PREFIX + self.spec.cockroach_db_version.replace(".", "_"), "")

    # ---- conditions

    def _init_conditions(self) -> None:
        if not self.status.conditions:
            for kind in _INITIAL:
                self._set(kind, corev1.ConditionStatus.CONDITION_FALSE)

    def is_true(self, kind: ClusterConditionType) -> bool:
        return self._status_of(kind) == corev1.ConditionStatus.CONDITION_TRUE

    def is_false(self, kind: ClusterConditionType) -> bool:
        return self._status_of(kind) == corev1.ConditionStatus.CONDITION_FALSE

    def set_true(self, kind: ClusterConditionType) -> None:
        self._set(kind, corev1.ConditionStatus.CONDITION_TRUE)

    def set_false(self, kind: ClusterConditionType) -> None:
        self._set(kind, corev1.ConditionStatus.CONDITION_FALSE)

    def _status_of(self, kind: ClusterConditionType) -> str:
        return next((each.status for each in self.status.conditions if each.type == kind), "")

    def _set(self, kind: ClusterConditionType, status: str) -> None:
        for condition in self.status.conditions:
            if condition.type == kind:
                if condition.status != status:
                    condition.status, condition.last_transition_time = status, now()
                return
        self.status.conditions.append(ClusterCondition(type=str(kind), status=status, last_transition_time=now()))

    # ---- actions

    def set_action_failed(self, kind: str, message: str) -> None:
        self._set_action(kind, ActionStatus.FAILED, message)

    def set_actions_finished(self, *kinds: str) -> None:
        """Mark failed actions of these kinds, or of all kinds when none is given, as finished."""
        for action in self.status.operator_actions:
            if action.status == ActionStatus.FAILED and (not kinds or action.type in kinds):
                self._set_action(action.type, ActionStatus.FINISHED, "")

    def _set_action(self, kind: str, status: ActionStatus, message: str) -> None:
        for action in self.status.operator_actions:
            if action.type == kind:
                if (action.status, action.message) != (status, message):
                    action.status, action.message, action.last_transition_time = str(status), message, now()
                return
        action = ClusterAction(type=str(kind), status=str(status), message=message, last_transition_time=now())
        self.status.operator_actions.append(action)

    def set_cluster_status(self) -> None:
        """Set the status: Failed if any action failed, else Running if the database is initialized, else Starting."""
        failed = any(action.status == ActionStatus.FAILED for action in self.status.operator_actions)
        running = self.is_true(ClusterConditionType.INITIALIZED)
        status = ActionStatus.FAILED if failed else ActionStatus.RUNNING if running else ActionStatus.STARTING
        self.status.cluster_status = str(status)
