"""Methods of the lister of daemonsets in addition to the generated ones.

Mirrors listers/apps/v1beta2/daemonset_expansion.go.
"""

from __future__ import annotations

from clientgo.api.apps import v1beta2 as appsv1beta2
from clientgo.api.core import v1 as corev1
from clientgo.listers.generic_helpers import ResourceIndexer
from clientgo.listers.selecting import all_selecting


class DaemonSetListerExpansion(ResourceIndexer[appsv1beta2.DaemonSet]):
    """The extra methods of DaemonSetLister."""

    def get_pod_daemon_sets(self, pod: corev1.Pod) -> list[appsv1beta2.DaemonSet]:
        """Return the DaemonSets whose selector matches the pod; only its owner manages it.

        Raises LookupError when there is none or the pod has no labels. Go: GetPodDaemonSets.
        """
        return all_selecting(
            self, pod, none="no daemon sets found for pod", missing="could not find daemon set for pod"
        )

    def get_history_daemon_sets(self, history: appsv1beta2.ControllerRevision) -> list[appsv1beta2.DaemonSet]:
        """Return the DaemonSets whose selector matches the revision; only its owner manages it.

        Raises LookupError when there is none or the revision has no labels. Go: GetHistoryDaemonSets.
        """
        return all_selecting(
            self,
            history,
            none="no DaemonSet found for ControllerRevision",
            missing="could not find DaemonSets for ControllerRevision",
        )
