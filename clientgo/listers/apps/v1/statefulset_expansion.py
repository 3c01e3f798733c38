"""Methods of the lister of statefulsets in addition to the generated ones.

Mirrors listers/apps/v1/statefulset_expansion.go.
"""

from __future__ import annotations

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.listers.generic_helpers import ResourceIndexer
from clientgo.listers.selecting import all_selecting


class StatefulSetListerExpansion(ResourceIndexer[appsv1.StatefulSet]):
    """The extra method of StatefulSetLister."""

    def get_pod_stateful_sets(self, pod: corev1.Pod) -> list[appsv1.StatefulSet]:
        """Return the StatefulSets whose selector matches the pod; only its owner manages it.

        Raises LookupError when there is none or the pod has no labels. Go: GetPodStatefulSets.
        """
        return all_selecting(
            self, pod, none="no StatefulSets found for pod", missing="could not find StatefulSet for pod"
        )
