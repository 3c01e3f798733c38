"""Methods of the lister of replicasets in addition to the generated ones.

Mirrors listers/extensions/v1beta1/replicaset_expansion.go.
"""

from __future__ import annotations

from clientgo.api.core import v1 as corev1
from clientgo.api.extensions import v1beta1 as extensionsv1beta1
from clientgo.listers.generic_helpers import ResourceIndexer
from clientgo.listers.selecting import all_selecting


class ReplicaSetListerExpansion(ResourceIndexer[extensionsv1beta1.ReplicaSet]):
    """The extra method of ReplicaSetLister."""

    def get_pod_replica_sets(self, pod: corev1.Pod) -> list[extensionsv1beta1.ReplicaSet]:
        """Return the ReplicaSets whose selector matches the pod; only its owner manages it.

        Raises LookupError when there is none or the pod has no labels. Go: GetPodReplicaSets.
        """
        return all_selecting(
            self, pod, none="no ReplicaSets found for pod", missing="could not find ReplicaSet for pod"
        )
