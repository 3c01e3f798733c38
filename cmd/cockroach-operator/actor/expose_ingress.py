"""Lets the database, and its page, be reached from outside, or no longer. Mirrors pkg/actor/expose_ingress.go.

Differs: what is there counts, beside the conditions, which an operator that is killed may not have written. So an
Ingress that nobody asks for goes in any case, and one that is there is always told of.
"""

from __future__ import annotations

from collections.abc import Iterator

from resources import Builder, Cluster, SQLIngressBuilder, UIIngressBuilder

from actor.actor import Action
from api.v1alpha1 import ActionType, ClusterConditionType
from clientgo.context import Context
from clientgo.logr import Logger


def _parts(cluster: Cluster) -> Iterator[tuple[Builder, bool, ClusterConditionType]]:
    """What may be reached, whether it shall be, and where it stands whether it is."""
    yield UIIngressBuilder(cluster), cluster.ui_ingress is not None, ClusterConditionType.UI_INGRESS_EXPOSED
    yield SQLIngressBuilder(cluster), cluster.sql_ingress is not None, ClusterConditionType.SQL_INGRESS_EXPOSED


class ExposeIngress(Action):
    """By up to two Ingresses to the public service."""

    def get_action_type(self) -> str:
        return ActionType.EXPOSE_INGRESS

    def needed(self, ctx: Context, cluster: Cluster) -> bool:
        """Whether one is missing, not as it should be, or too many, by the cache. Raises StatusError."""
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
