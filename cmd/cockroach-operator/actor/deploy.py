"""The creation of a cluster's parts: services, StatefulSet, budget. Mirrors pkg/actor/deploy.go."""

from __future__ import annotations

from resources import Builder, Cluster, DiscoveryServiceBuilder, PdbBuilder, PublicServiceBuilder, StatefulSetBuilder

from actor.actor import Action, NotReadyError
from api.v1alpha1 import ActionType
from clientgo.api.apps import v1 as appsv1
from clientgo.context import Context
from clientgo.logr import Logger


def builders_of(cluster: Cluster, stateful_set: StatefulSetBuilder) -> list[Builder]:
    """Return the builders in the order in which they run."""
    return [DiscoveryServiceBuilder(cluster), PublicServiceBuilder(cluster), stateful_set, PdbBuilder(cluster)]


class Deploy(Action):
    """One part at a time."""

    def get_action_type(self) -> str:
        return ActionType.DEPLOY

    def needed(self, ctx: Context, cluster: Cluster) -> bool:
        """Report whether a part is missing or differs, by the cache. Raises StatusError."""
        builders = builders_of(cluster, StatefulSetBuilder(cluster, self.gates))
        return any(self.has_changed(ctx, cluster, builder) for builder in builders)

    def act(self, ctx: Context, cluster: Cluster, log: Logger) -> None:
        found = self.find(ctx, cluster, cluster.statefulset_name, appsv1.StatefulSet)
        if found is not None and found.metadata.deletion_timestamp is not None:
            raise NotReadyError("statefulset is being deleted")
        # A StatefulSet that was deleted without its pods is created again around them.
        pods = self.pods(ctx, cluster) if found is None else None
        for builder in builders_of(cluster, StatefulSetBuilder(cluster, self.gates, pods)):
            if self.reconcile(ctx, cluster, builder):
                name = builder.resource_name()
                log.info("created/updated a resource, stopping request processing", resource=name)
                return
        log.info("deployed database")
