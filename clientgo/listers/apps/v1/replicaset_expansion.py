"""Methods of the lister of replicasets in addition to the generated ones.

Mirrors listers/apps/v1/replicaset_expansion.go.
"""

from __future__ import annotations

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.listers.generic_helpers import ResourceIndexer
from clientgo.listers.selecting import all_selecting


class ReplicaSetListerExpansion(ResourceIndexer[appsv1.ReplicaSet]):
    """The extra method of ReplicaSetLister."""

    def get_pod_replica_sets(self, pod: corev1.Pod) -> list[appsv1.ReplicaSet]:
        """Return the ReplicaSets whose selector matches the pod; only its owner manages it.

        Raises LookupError when there is none or the pod has no labels. Go: GetPodReplicaSets.
        """
        return all_selecting(
            self, pod, none="no ReplicaSets found for pod", missing="could not find ReplicaSet for pod"
        )
