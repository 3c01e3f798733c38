"""ReplicaSets: they create and delete pods until the number is right, and report it in the status."""

from __future__ import annotations

from clientgo import kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.testing.apiserver.simulator.ownership import adopt_and_release
from clientgo.testing.apiserver.simulator.pods import is_ready, pod_of
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.tools import record

KIND = appsv1.SCHEME_GROUP_VERSION.with_kind("ReplicaSet")


class ReplicaSets:
    """A controller that syncs one ReplicaSet at a time; called by one worker thread."""

    def __init__(self, client: kubernetes.Clientset, recorder: record.EventRecorder) -> None:
        self._client = client
        self._recorder = recorder

    def __repr__(self) -> str:
        return "<ReplicaSets>"

    def sync(self, ctx: Context, namespace: str, name: str) -> None:
        """Create or delete pods until their number is spec.replicas, then write the status.

        Pods are listed from the server, not from the cache: with one worker that makes expectations unnecessary. Raises
        StatusError.
        """
        sets = self._client.apps_v1().replica_sets(namespace)
        replica_set = sets.get(ctx, name)
        if replica_set.metadata.deletion_timestamp is not None:
            return
        pods = self._client.core_v1().pods(namespace)
        remaining = [
            pod
            for pod in pods.list(ctx, metav1.ListOptions()).items
            if pod.metadata.deletion_timestamp is None and pod.status.phase not in ("Succeeded", "Failed")
        ]
        active = adopt_and_release(ctx, remaining, replica_set, KIND, pods, sets)
        wanted = replica_set.spec.replicas or 0
        for _ in range(wanted - len(active)):
            created = pods.create(ctx, _pod_of(replica_set)).metadata.name
            self._event(replica_set, "SuccessfulCreate", f"Created pod: {created}")
        if len(active) > wanted:
            active.sort(key=is_ready)
            for pod in active[: len(active) - wanted]:
                pods.delete(ctx, pod.metadata.name, metav1.DeleteOptions())
                self._event(replica_set, "SuccessfulDelete", f"Deleted pod: {pod.metadata.name}")
            active = active[len(active) - wanted :]
        ready = sum(map(is_ready, active))
        status: Json = {"replicas": max(wanted, len(active)) if wanted > len(active) else len(active)}
        if status["replicas"]:
            status["fullyLabeledReplicas"] = status["replicas"]
        if ready:
            status["readyReplicas"] = status["availableReplicas"] = ready
        status["observedGeneration"] = replica_set.metadata.generation
        doc = replica_set.to_dict()
        if doc.get("status") != status:
            sets.update_status(ctx, appsv1.ReplicaSet.from_dict({**doc, "status": status}))

    def _event(self, replica_set: appsv1.ReplicaSet, reason: str, message: str) -> None:
        self._recorder.event(replica_set, corev1.EVENT_TYPE_NORMAL, reason, message)


def _pod_of(replica_set: appsv1.ReplicaSet) -> corev1.Pod:
    return pod_of(replica_set.spec.template, replica_set, KIND)
