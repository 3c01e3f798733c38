"""The pods of a cluster's StatefulSet, as the API server has them at this moment."""

from __future__ import annotations

import re

from clientgo.api.core import v1 as corev1
from clientgo.context import Context
from clientgo.controller_runtime import client
from resources.builders import selector_of
from resources.cluster import Cluster

_ORDINAL = re.compile(r"-(0|[1-9][0-9]*)$")
REVISION = "controller-revision-hash"


def is_ready(pod: corev1.Pod) -> bool:
    if pod.metadata.deletion_timestamp is not None:
        return False
    return any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)


class Pods:
    """The pods by ordinal, including those without a StatefulSet while it is recreated."""

    def __init__(self, ctx: Context, reader: client.Reader, cluster: Cluster) -> None:
        """List the cluster's pods. Raises StatusError.

        Pass the API server's own reader where stale data could do harm.
        """
        found = reader.list(
            ctx, corev1.PodList, client.InNamespace(cluster.namespace), client.MatchingLabels(selector_of(cluster))
        )
        self.by_ordinal: dict[int, corev1.Pod] = {}
        for pod in found.items:
            prefix, ordinal = pod.get_name().rpartition("-")[0], _ORDINAL.search(pod.get_name())
            if prefix == cluster.statefulset_name and ordinal is not None:
                self.by_ordinal[int(ordinal[1])] = pod

    def __repr__(self) -> str:
        return f"<Pods {sorted(self.by_ordinal)}>"

    @property
    def count(self) -> int:
        """The number of ordinals up to the highest one."""
        return max(self.by_ordinal, default=-1) + 1

    def first(self) -> corev1.Pod | None:
        return self.by_ordinal[min(self.by_ordinal)] if self.by_ordinal else None

    def unready(self, replicas: int, but: int = -1) -> int | None:
        """Return the lowest ordinal that is not ready, or the lowest surplus ordinal, or None when all replicas are
        ready.

        The method ignores the readiness of ordinal `but`.
        """
        for ordinal in range(replicas):
            pod = self.by_ordinal.get(ordinal)
            if ordinal != but and (pod is None or not is_ready(pod)):
                return ordinal
        return next((ordinal for ordinal in sorted(self.by_ordinal) if ordinal >= replicas), None)

    def outdated(self, replicas: int, revision: str) -> int | None:
        """Return the highest ordinal of these replicas whose pod has another revision, or None."""
        for ordinal in reversed(range(replicas)):
            pod = self.by_ordinal.get(ordinal)
            if pod is not None and pod.metadata.labels.get(REVISION) != revision:
                return ordinal
        return None
