"""PodDisruptionBudgets: how many pods may be evicted right now.

Does what Kubernetes' disruption controller does for pods of ReplicaSets, Deployments and StatefulSets; a pod without
such an owner counts as one of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from clientgo import kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.api.policy import v1 as policyv1
from clientgo.apimachinery import labels
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.golang.strconv import atoi_clipped
from clientgo.listers.policy import v1 as listers
from clientgo.testing.apiserver.kinds.validation import selector_matches
from clientgo.testing.apiserver.simulator.pods import is_ready
from clientgo.testing.apiserver.verbs.eviction import disruption_condition
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times

# Seconds after which a pod counts again that an eviction was to delete, but that still exists.
_EVICTION_TIMEOUT = 120.0


class Budgets:
    """A controller that syncs one budget at a time; called by one worker thread."""

    def __init__(
        self,
        client: kubernetes.Clientset,
        lister: listers.PodDisruptionBudgetLister,
        times: Times,
    ) -> None:
        self._client = client
        self._lister = lister
        self._times = times

    def __repr__(self) -> str:
        return "<Budgets>"

    def keys_of(self, pod: corev1.Pod) -> Iterable[str]:
        """Yield the keys of the budgets whose selector covers a pod."""
        for budget in self._lister.pod_disruption_budgets(pod.metadata.namespace).list(labels.everything()):
            if _covers(budget, pod):
                yield f"{budget.metadata.namespace}/{budget.metadata.name}"

    def sync(self, ctx: Context, namespace: str, name: str) -> None:
        """Write the status of one budget. Raises StatusError."""
        budgets = self._client.policy_v1().pod_disruption_budgets(namespace)
        budget = budgets.get(ctx, name)
        pods = [
            pod
            for pod in self._client.core_v1().pods(namespace).list(ctx, metav1.ListOptions()).items
            if _covers(budget, pod) and pod.status.phase not in ("Succeeded", "Failed")
        ]
        disrupted = self._still_disrupted(budget, pods)
        healthy = sum(
            is_ready(pod) and pod.metadata.deletion_timestamp is None and pod.metadata.name not in disrupted
            for pod in pods
        )
        expected, desired = self._wanted(ctx, budget, pods)
        allowed = max(0, healthy - desired) if expected > 0 else 0
        doc = budget.to_dict()
        before = doc.get("status") or {}
        status: Json = {
            "observedGeneration": budget.metadata.generation,
            "disruptionsAllowed": allowed,
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
            "conditions": [disruption_condition(before, allowed, budget.metadata.generation, self._times.now_text())],
        }
        if disrupted:
            status["disruptedPods"] = disrupted
        if status != before:
            budgets.update_status(ctx, policyv1.PodDisruptionBudget.from_dict({**doc, "status": status}))

    def _still_disrupted(self, budget: policyv1.PodDisruptionBudget, pods: list[corev1.Pod]) -> dict[str, str]:
        """Return the evictions that have been granted but not yet observed."""
        remaining = {pod.metadata.name for pod in pods if pod.metadata.deletion_timestamp is None}
        known: dict[str, str] = (budget.to_dict().get("status") or {}).get("disruptedPods") or {}
        return {
            name: since
            for name, since in known.items()
            if name in remaining and self._times.since(since) < _EVICTION_TIMEOUT
        }

    def _wanted(self, ctx: Context, budget: policyv1.PodDisruptionBudget, pods: list[corev1.Pod]) -> tuple[int, int]:
        """Return the number of expected pods, and the number of them that should be healthy."""
        spec = budget.to_dict().get("spec") or {}
        least, most_gone = spec.get("minAvailable"), spec.get("maxUnavailable")
        if isinstance(least, int):
            return len(pods), least
        expected = self._scale(ctx, pods)
        if least is not None:
            return expected, _share(least, expected)
        if most_gone is not None:
            return expected, max(0, expected - _share(most_gone, expected))
        return expected, 0

    def _scale(self, ctx: Context, pods: list[corev1.Pod]) -> int:
        """Return the sum of the sizes that the owners of the pods demand."""
        sizes: dict[str, int] = {}
        for pod in pods:
            owner = metav1.get_controller_of(pod)
            if owner is None or owner.kind not in ("ReplicaSet", "StatefulSet"):
                sizes[pod.metadata.uid] = 1
            elif owner.uid not in sizes:
                sizes.update(self._size_of(ctx, pod.metadata.namespace, owner))
        return sum(sizes.values())

    def _size_of(self, ctx: Context, namespace: str, owner: metav1.OwnerReference) -> dict[str, int]:
        apps = self._client.apps_v1()
        try:
            if owner.kind == "StatefulSet":
                return {owner.uid: apps.stateful_sets(namespace).get(ctx, owner.name).spec.replicas or 0}
            found = apps.replica_sets(namespace).get(ctx, owner.name)
            above = metav1.get_controller_of(found)
            if above is None or above.kind != "Deployment":
                return {owner.uid: found.spec.replicas or 0}
            return {owner.uid: 0, above.uid: apps.deployments(namespace).get(ctx, above.name).spec.replicas or 0}
        except errors.StatusError as err:
            if errors.is_not_found(err):
                return {owner.uid: 0}
            raise


def _covers(budget: policyv1.PodDisruptionBudget, pod: corev1.Pod) -> bool:
    selector = (budget.to_dict().get("spec") or {}).get("selector")
    return selector is not None and selector_matches(selector, dict(pod.metadata.labels))


def _share(value: int | str, total: int) -> int:
    return value if isinstance(value, int) else math.ceil(atoi_clipped(value.rstrip("%")) * total / 100)
