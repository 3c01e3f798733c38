"""Methods of the lister of poddisruptionbudgets in addition to the generated ones.

Mirrors listers/policy/v1beta1/poddisruptionbudget_expansion.go.
"""

from __future__ import annotations

from clientgo.api.core import v1 as corev1
from clientgo.api.policy import v1beta1 as policyv1beta1
from clientgo.listers.generic_helpers import ResourceIndexer
from clientgo.listers.selecting import all_selecting


class PodDisruptionBudgetListerExpansion(ResourceIndexer[policyv1beta1.PodDisruptionBudget]):
    """The extra method of PodDisruptionBudgetLister."""

    def get_pod_pod_disruption_budgets(self, pod: corev1.Pod) -> list[policyv1beta1.PodDisruptionBudget]:
        """Return the budgets whose selector matches the pod; an empty one matches none, unlike in policy/v1.

        Raises LookupError when there is none. Go: GetPodPodDisruptionBudgets.
        """
        return all_selecting(self, pod, missing="could not find PodDisruptionBudget for pod")
