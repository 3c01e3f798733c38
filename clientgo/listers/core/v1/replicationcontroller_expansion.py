"""What the lister of replicationcontrollers can do beyond the generated methods.

Mirrors listers/core/v1/replicationcontroller_expansion.go.
"""

from __future__ import annotations

from clientgo.api.core import v1 as corev1
from clientgo.listers.generic_helpers import ResourceIndexer
from clientgo.listers.selecting import all_selecting


class ReplicationControllerListerExpansion(ResourceIndexer[corev1.ReplicationController]):
    """The extra method of ReplicationControllerLister."""

    def get_pod_controllers(self, pod: corev1.Pod) -> list[corev1.ReplicationController]:
        """The ReplicationControllers whose selector matches the pod; only the one that owns it manages it.

        Raises LookupError when there is none or the pod has no labels. Go: GetPodControllers.
        """
        return all_selecting(
            self, pod, none="no controllers found for pod", missing="could not find controller for pod"
        )
