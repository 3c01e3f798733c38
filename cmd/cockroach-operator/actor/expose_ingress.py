"""Creates and deletes the Ingresses of the database and its page. Mirrors pkg/actor/expose_ingress.go.

Differs: the existing Ingresses count, not only the conditions, which a killed operator may not have written. So an
Ingress that the specification does not contain is always deleted, and an existing one always has its condition.
"""

from __future__ import annotations

from collections.abc import Iterator

from resources import Builder, Cluster, SQLIngressBuilder, UIIngressBuilder

from actor.actor import Action
from api.v1alpha1 import ActionType, ClusterConditionType
from clientgo.context import Context
from clientgo.logr import Logger


def _parts(cluster: Cluster) -> Iterator[tuple[Builder, bool, ClusterConditionType]]:
    """Yield each builder, whether its Ingress is wanted, and the type of its condition."""
    yield UIIngressBuilder(cluster), cluster.ui_ingress is not None, ClusterConditionType.UI_INGRESS_EXPOSED
    yield SQLIngressBuilder(cluster), cluster.sql_ingress is not None, ClusterConditionType.SQL_INGRESS_EXPOSED


class ExposeIngress(Action):
    """The actor that creates up to two Ingresses for the public service."""

    def get_action_type(self) -> str:
        return ActionType.EXPOSE_INGRESS

    def needed(self, ctx: Context, cluster: Cluster) -> bool:
        """Report whether an Ingress is missing, differs, or is superfluous, by the cache. Raises StatusError."""
        for builder, is_wanted, condition in _parts(cluster):
            if is_wanted != cluster.is_true(condition):
                return True
            if is_wanted and self.has_changed(ctx, cluster, builder):
                return True
            if not is_wanted and self.is_there(ctx, cluster, builder):
                return True
        return False

    def act(self, ctx: Context, cluster: Cluster, log: Logger) -> None:
        for builder, is_wanted, condition in _parts(cluster):
            if is_wanted:
                self.reconcile(ctx, cluster, builder)
                cluster.set_true(condition)
            elif cluster.is_true(condition) or self.is_there(ctx, cluster, builder):
                self.delete(ctx, cluster, builder)
                cluster.set_false(condition)
        if cluster.sql_ingress is None:
            cluster.status.sql_host = ""
        log.info("reconciled ingress resource")
