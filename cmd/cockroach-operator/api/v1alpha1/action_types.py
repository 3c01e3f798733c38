"""The operator's actions on a cluster, and their results."""

from __future__ import annotations

import enum
from datetime import datetime

from clientgo.apimachinery import runtime


class ActionType(enum.StrEnum):
    """The names of the actors, as `status.operatorActions` has them."""

    CLUSTER_RESTART = "ClusterRestart"
    SETUP_RBAC = "SetupRBAC"
    DECOMMISSION = "Decommission"
    VERSION_CHECKER = "VersionCheckerAction"
    GENERATE_CERT = "GenerateCert"
    PARTITIONED_UPDATE = "PartitionedUpdate"
    RESIZE_PVC = "ResizePVC"
    DEPLOY = "Deploy"
    INITIALIZE = "Initialize"
    EXPOSE_INGRESS = "ExposeIngressAction"


class ActionStatus(enum.StrEnum):
    """The state of an action; `status.clusterStatus` is one of the first three."""

    STARTING = "Starting"
    RUNNING = "Running"
    FAILED = "Failed"
    FINISHED = "Finished"


class ClusterAction(runtime.Struct):
    """The last failure of an actor, or its later success."""

    type: str = runtime.field("type", "string", default="", schema=runtime.Schema(required=True))
    message: str = runtime.field("message", "string", default="")
    status: str = runtime.field("status", "string", default="", schema=runtime.Schema(required=True))
    last_transition_time: datetime | None = runtime.field(
        "lastTransitionTime", "*metav1.Time", default=None, schema=runtime.Schema(required=True)
    )
