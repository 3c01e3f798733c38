"""The creation of the pods' service account and its permissions. Mirrors pkg/actor/setup_rbac.go.

Differs: Go only checks whether the account exists, so an operator that was killed after creating it never creates the
permissions. Here the actor checks each of the three objects.
"""

from __future__ import annotations

from resources import Builder, Cluster, RoleBindingBuilder, RoleBuilder, ServiceAccountBuilder

from actor.actor import Action
from api.v1alpha1 import ActionType
from clientgo.context import Context
from clientgo.logr import Logger


def _builders(cluster: Cluster) -> list[Builder]:
    return [ServiceAccountBuilder(cluster), RoleBuilder(cluster), RoleBindingBuilder(cluster)]


class SetupRBAC(Action):
    """The actor that creates a ServiceAccount, a Role and a RoleBinding."""

    def get_action_type(self) -> str:
        return ActionType.SETUP_RBAC

    def needed(self, ctx: Context, cluster: Cluster) -> bool:
        """Report whether an object is missing or differs, by the cache. Raises StatusError."""
        return any(self.has_changed(ctx, cluster, builder) for builder in _builders(cluster))

    def act(self, ctx: Context, cluster: Cluster, log: Logger) -> None:
        for builder in _builders(cluster):
            self.reconcile(ctx, cluster, builder)
        log.info("Finished setting up RBAC", cluster=cluster.name, namespace=cluster.namespace)
