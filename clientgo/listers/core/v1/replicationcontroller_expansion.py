"""Methods of the lister of replicationcontrollers in addition to the generated ones.

Mirrors listers/core/v1/replicationcontroller_expansion.go.
"""

from __future__ import annotations

from clientgo.api.core import v1 as corev1
from clientgo.listers.generic_helpers import ResourceIndexer
from clientgo.listers.selecting import all_selecting


class ReplicationControllerListerExpansion(ResourceIndexer[corev1.ReplicationController]):
    """The extra method of ReplicationControllerLister."""

    def get_pod_controllers(self, pod: corev1.Pod) -> list[corev1.ReplicationController]:
        """Return the ReplicationControllers whose selector matches the pod; only its owner manages it.

        Raises LookupError when there is none or the pod has no labels. Go: GetPodControllers.
        """
        return all_selecting(
            self, pod, none="no controllers found for pod", missing="could not find controller for pod"
        )
