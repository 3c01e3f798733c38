"""DaemonSets: a pod on each node that takes it.

Does what Kubernetes' daemonset controller does as far as a controller under study can see: pods are tied to their node
by name and tolerate what keeps others away, and are replaced a few at a time, or on deletion.
"""

from __future__ import annotations

import math

from clientgo import kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.golang.strconv import atoi_clipped
from clientgo.testing.apiserver.simulator.ownership import adopt_and_release
from clientgo.testing.apiserver.simulator.pods import is_ready, pod_of
from clientgo.testing.apiserver.simulator.revisions import REVISION_HASH, Revisions
from clientgo.testing.apiserver.simulator.scheduler import takes
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.tools import record

KIND = appsv1.SCHEME_GROUP_VERSION.with_kind("DaemonSet")
_GENERATION = "pod-template-generation"
# Taints with which a node still gets its pod.
_TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)


class DaemonSets:
    """A controller that syncs one DaemonSet at a time; called by one worker thread."""

    def __init__(self, client: kubernetes.Clientset, recorder: record.EventRecorder) -> None:
        self._client = client
        self._recorder = recorder
        self._revisions = Revisions(client, KIND)

    def __repr__(self) -> str:
        return "<DaemonSets>"

    def sync(self, ctx: Context, namespace: str, name: str) -> None:
        """Create and delete pods for one set, then write its status. Raises StatusError."""
        found = self._client.apps_v1().daemon_sets(namespace).get(ctx, name)
        if found.metadata.deletion_timestamp is not None:
            return
        known = self._revisions.of(ctx, found)
        code = self._revisions.current(ctx, found, known).get_name().rpartition("-")[2]
        pods = self._pods_of(ctx, found)
        nodes = self._nodes_for(ctx, found, code)
        self._place(ctx, found, code, nodes, pods)
        self._roll(ctx, found, code, len(nodes), pods)
        pods = self._pods_of(ctx, found)
        self._write_status(ctx, found, code, nodes, pods)
        in_use = {f"{name}-{_hash(pod)}" for group in pods.values() for pod in group} | {f"{name}-{code}"}
        self._revisions.forget_old(ctx, found, known, in_use)

    def _nodes_for(self, ctx: Context, daemon_set: appsv1.DaemonSet, code: str) -> set[str]:
        """Return the nodes that accept a pod of the set, ready or not."""
        nodes = self._client.core_v1().nodes().list(ctx, metav1.ListOptions()).items
        return {
            node.get_name()
            for node in nodes
            if takes(node.to_dict(), _pod_of(daemon_set, code, node.get_name()).to_dict())
        }

    def _pods_of(self, ctx: Context, daemon_set: appsv1.DaemonSet) -> dict[str, list[corev1.Pod]]:
        """Return the set's pods by their intended node."""
        namespace = daemon_set.get_namespace()
        pods, sets = self._client.core_v1().pods(namespace), self._client.apps_v1().daemon_sets(namespace)
        claimed = adopt_and_release(ctx, pods.list(ctx, metav1.ListOptions()).items, daemon_set, KIND, pods, sets)
        found: dict[str, list[corev1.Pod]] = {}
        for pod in claimed:
            node = pod.spec.node_name or _meant_for(pod)
            if node is not None:
                found.setdefault(node, []).append(pod)
        return found

    def _place(
        self, ctx: Context, daemon_set: appsv1.DaemonSet, code: str, nodes: set[str], pods: dict[str, list[corev1.Pod]]
    ) -> None:
        """Create and delete pods until each suitable node has one that has not ended, and other nodes none."""
        for node in sorted(nodes | pods.keys()):
            mine = [pod for pod in pods.get(node, ()) if pod.metadata.deletion_timestamp is None]
            ended = [pod for pod in mine if pod.status.phase in ("Failed", "Succeeded")]
            surplus = ended if node in nodes else mine
            for pod in surplus:
                self._delete(ctx, daemon_set, pod)
            if node in nodes and not pods.get(node):
                pod = self._client.core_v1().pods(daemon_set.get_namespace()).create(
                    ctx, _pod_of(daemon_set, code, node), metav1.CreateOptions()
                )
                self._event(daemon_set, "SuccessfulCreate", f"Created pod: {pod.get_name()}")

    def _roll(
        self, ctx: Context, daemon_set: appsv1.DaemonSet, code: str, wanted: int, pods: dict[str, list[corev1.Pod]]
    ) -> None:
        """Delete pods of older templates, as long as not too many are missing."""
        if daemon_set.spec.update_strategy.type == "OnDelete":
            return
        remaining = [pod for group in pods.values() for pod in group if pod.metadata.deletion_timestamp is None]
        old = [pod for pod in remaining if _hash(pod) != code]
        healthy = sum(map(is_ready, remaining))
        room = _max_unavailable(daemon_set, wanted) - (wanted - healthy)
        for pod in sorted(old, key=is_ready):
            if is_ready(pod):
                if room <= 0:
                    return
                room -= 1
            self._delete(ctx, daemon_set, pod)

    def _delete(self, ctx: Context, daemon_set: appsv1.DaemonSet, pod: corev1.Pod) -> None:
        self._client.core_v1().pods(pod.get_namespace()).delete(ctx, pod.get_name(), metav1.DeleteOptions())
        self._event(daemon_set, "SuccessfulDelete", f"Deleted pod: {pod.get_name()}")

    def _event(self, daemon_set: appsv1.DaemonSet, reason: str, message: str) -> None:
        self._recorder.event(daemon_set, corev1.EVENT_TYPE_NORMAL, reason, message)

    def _write_status(
        self, ctx: Context, daemon_set: appsv1.DaemonSet, code: str, nodes: set[str], pods: dict[str, list[corev1.Pod]]
    ) -> None:
        placed = {node: group[0] for node, group in pods.items() if group}
        right = [pod for node, pod in placed.items() if node in nodes]
        ready = sum(map(is_ready, right))
        optional = {
            "updatedNumberScheduled": sum(_hash(pod) == code for pod in right),
            "numberAvailable": ready,
            "numberUnavailable": len(nodes) - ready,
        }
        status: Json = {
            "currentNumberScheduled": len(right),
            "numberMisscheduled": len(placed) - len(right),
            "desiredNumberScheduled": len(nodes),
            "numberReady": ready,
            "observedGeneration": daemon_set.metadata.generation,
            **{key: count for key, count in optional.items() if count},
        }
        document = daemon_set.to_dict()
        if status != (document.get("status") or {}):
            client = self._client.apps_v1().daemon_sets(daemon_set.get_namespace())
            client.update_status(ctx, appsv1.DaemonSet.from_dict({**document, "status": status}))


def _hash(pod: corev1.Pod) -> str:
    return pod.metadata.labels.get(REVISION_HASH, "")


def _max_unavailable(daemon_set: appsv1.DaemonSet, wanted: int) -> int:
    rolling = daemon_set.spec.update_strategy.rolling_update
    value = 1 if rolling is None or rolling.max_unavailable is None else rolling.max_unavailable
    if isinstance(value, int):
        return value
    return math.ceil(atoi_clipped(value.rstrip("%")) * wanted / 100)


def _meant_for(pod: corev1.Pod) -> str | None:
    """Return the node that the affinity of an unscheduled pod names. An adopted pod may name none."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    terms = required.node_selector_terms if required is not None else ()
    fields = [field for term in terms for field in term.match_fields if field.key == "metadata.name"]
    return fields[0].values[0] if fields and fields[0].values else None


def _pod_of(daemon_set: appsv1.DaemonSet, code: str, node: str) -> corev1.Pod:
    document = pod_of(daemon_set.spec.template, daemon_set, KIND).to_dict()
    labels = document["metadata"].get("labels") or {}
    generation = str(daemon_set.metadata.generation)
    document["metadata"]["labels"] = {**labels, REVISION_HASH: code, _GENERATION: generation}
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = dict(document["spec"].get("affinity") or {})
    affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": required}
    given = document["spec"].get("tolerations") or []
    own = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in _TOLERATED]
    document["spec"] |= {"affinity": affinity, "tolerations": [*given, *own]}
    return corev1.Pod.from_dict(document)
