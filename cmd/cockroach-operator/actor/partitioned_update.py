"""Updates of one node after the other, to another version or for another change of the template.

Mirrors pkg/actor/partitioned_update.go and pkg/update. A StatefulSet updates the pods from its partition on, from the
highest ordinal down. This actor lowers the partition by one node at a time, whenever all other nodes are ready.
"""

from __future__ import annotations

import re

from database import Node
from resources import Cluster, StatefulSetBuilder
from resources.cluster import CONTAINER_IMAGE_ANNOTATION, VERSION_ANNOTATION

from actor.actor import Action, NotReadyError, ValidationError, check_ready
from api.v1alpha1 import ActionType
from clientgo.api.apps import v1 as appsv1
from clientgo.context import Context
from clientgo.logr import Logger

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")
# The number of releases in each year, before the first one of the next year.
_LAST_OF_YEAR = {24: 3}


def partition_of(stateful_set: appsv1.StatefulSet) -> int:
    rolling = stateful_set.spec.update_strategy.rolling_update
    return rolling.partition or 0 if rolling is not None else 0


def is_rolling(stateful_set: appsv1.StatefulSet) -> bool:
    """Report whether an update has not reached all pods, or waits behind a partition."""
    status = stateful_set.status
    return partition_of(stateful_set) > 0 or status.current_revision != status.update_revision


class PartitionedUpdate(Action):
    """The actor that does one step of an update. The partition of the StatefulSet is the only state of the update."""

    def get_action_type(self) -> str:
        return ActionType.PARTITIONED_UPDATE

    def act(self, ctx: Context, cluster: Cluster, log: Logger) -> None:
        stateful_set = self.stateful_set(ctx, cluster)
        if self._begin(ctx, cluster, stateful_set, log):
            return
        if not is_rolling(stateful_set):
            return
        partition, replicas = partition_of(stateful_set), stateful_set.spec.replicas or 0
        pods = self.pods(ctx, cluster)
        ordinal = pods.outdated(replicas, stateful_set.status.update_revision)
        # The next pod may be unready, because the update replaces it.
        check_ready(pods, replicas, but=-1 if ordinal is None else ordinal)
        if ordinal is None:
            log.info("update completed with partitioned update", version=cluster.status.version)
            if partition:
                self._set_partition(ctx, stateful_set, 0)
            return
        if partition <= ordinal:
            raise NotReadyError(f"waiting until pod {ordinal} is updated")
        self._check_database(ctx, cluster, ordinal, replicas)
        log.info("updating node", pod=f"{cluster.statefulset_name}-{ordinal}")
        self._set_partition(ctx, stateful_set, ordinal)

    def _begin(self, ctx: Context, cluster: Cluster, stateful_set: appsv1.StatefulSet, log: Logger) -> bool:
        """Write the new version behind a partition that excludes all pods. Report whether there was a new version."""
        image, version = cluster.status.crdb_container_image, cluster.status.version
        annotations = stateful_set.metadata.annotations
        if not image or annotations.get(CONTAINER_IMAGE_ANNOTATION) == image:
            return False
        before = annotations.get(VERSION_ANNOTATION, "")
        check_versions(before, version)
        log.info("update starting with partitioned update", oldVersion=before, newVersion=version)
        builder = StatefulSetBuilder(cluster, self.gates, image=image, annotations={VERSION_ANNOTATION: version})
        return self.reconcile(ctx, cluster, builder)

    def _check_database(self, ctx: Context, cluster: Cluster, ordinal: int, replicas: int) -> None:
        """Raise NotReadyError unless all other nodes are live, according to a pod that is not restarted next."""
        asked = Node(self.database, cluster, ordinal=0 if ordinal else replicas - 1)
        for other in range(replicas):
            status = asked.status_of(ctx, other)
            if other != ordinal and (status is None or not status.is_live):
                raise NotReadyError(f"the node in pod {other} is not live")

    def _set_partition(self, ctx: Context, stateful_set: appsv1.StatefulSet, partition: int) -> None:
        stateful_set.spec.update_strategy.rolling_update = appsv1.RollingUpdateStatefulSetStrategy(partition=partition)
        self.client.update(ctx, stateful_set)


def check_versions(before: str, after: str) -> None:
    """Raise ValidationError unless the upgrade is to the next release, within a release, or back by one release."""
    old, new = _VERSION.match(before), _VERSION.match(after)
    if old is None or new is None:
        return  # the versions were never checked
    release, wanted = ((int(each[1]), int(each[2])) for each in (old, new))
    if wanted not in (release, _next(release)) and release != _next(wanted):
        raise ValidationError(f"upgrading from {before} to {after} not allowed")


def _next(release: tuple[int, int]) -> tuple[int, int]:
    year, number = release
    return (year, number + 1) if number < _LAST_OF_YEAR.get(year, 2) else (year + 1, 1)
