"""The initialization of the database on its nodes. Mirrors pkg/actor/initialize.go."""

from __future__ import annotations

from database import ExecError, Node
from resources import Cluster

from actor.actor import Action, NotReadyError
from api.v1alpha1 import ActionType, ClusterConditionType
from clientgo.context import Context
from clientgo.logr import Logger

# The error text for a pod whose container has not started yet.
_NOT_STARTED = ("container not found", "does not have a host assigned")


class Initialize(Action):
    """By `cockroach init` in the first pod."""

    def get_action_type(self) -> str:
        return ActionType.INITIALIZE

    def act(self, ctx: Context, cluster: Cluster, log: Logger) -> None:
        first = self.pods(ctx, cluster).first()
        if first is None:
            raise NotReadyError("pod not created")
        if first.status.phase != "Running":
            raise NotReadyError("pod is not running")
        try:
            Node(self.database, cluster).init(ctx)
        except ExecError as err:
            if any(text in str(err) for text in _NOT_STARTED):
                raise NotReadyError("pod has not completely started") from err
            raise
        cluster.set_true(ClusterConditionType.INITIALIZED)
        log.info("completed initializing database")
