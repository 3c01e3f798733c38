"""A simulated scheduler. It binds pods to a ready node that fits, or sets a condition with the reason why none fits."""

from __future__ import annotations

from collections import Counter

from clientgo import kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.listers.core import v1 as listers
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times
from clientgo.tools import record

_CORDONED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_NOT_READY = "node(s) were not ready"
_KEEPS_OUT = ("NoSchedule", "NoExecute")


class Scheduler:
    """Knows cordons, taints, node selectors, claims and the names of nodes; no resources, no other affinities.

    Used by one worker thread.
    """

    def __init__(
        self, client: kubernetes.Clientset, nodes: listers.NodeLister, times: Times, recorder: record.EventRecorder
    ) -> None:
        self._client = client
        self._nodes = nodes
        self._times = times
        self._recorder = recorder
        # How many pods each node was given; the emptiest gets the next.
        self._given: Counter[str] = Counter()

    def __repr__(self) -> str:
        return f"<Scheduler {dict(self._given)}>"

    def schedule(self, ctx: Context, pod: corev1.Pod) -> None:
        """Bind the pod, or report the reason in its status and an event. Raises StatusError.

        Nodes are listed from the server, so that a pod made after a cordon never slips past it.
        """
        unbound = self._unbound_claim(ctx, pod)
        if unbound:
            self._refuse(ctx, pod, Counter([unbound]))
            return
        nodes = [node.to_dict() for node in self._client.core_v1().nodes().list(ctx, metav1.ListOptions()).items]
        why_not = {node["metadata"]["name"]: _obstacle(node, pod.to_dict()) for node in nodes}
        fitting = sorted(name for name, obstacle in why_not.items() if not obstacle)
        if fitting:
            self._bind(ctx, pod, min(fitting, key=self._given.__getitem__))
        else:
            self._refuse(ctx, pod, Counter(why_not.values()))

    def is_node_ready(self, name: str) -> bool:
        """Report whether the cache has the node and it is ready."""
        try:
            return _is_ready(self._nodes.get(name).to_dict())
        except errors.StatusError:
            return False

    def must_leave(self, pod: corev1.Pod) -> bool:
        """Report whether a taint of the pod's node evicts the pod."""
        try:
            node = self._nodes.get(pod.spec.node_name)
        except errors.StatusError:
            return False
        if not node.spec.taints:
            return False
        return any(taint["effect"] == "NoExecute" for taint in _untolerated(node.to_dict(), pod.to_dict()))

    def _unbound_claim(self, ctx: Context, pod: corev1.Pod) -> str:
        """Return the scheduler's message about a claim of the pod that is missing or not bound, or "".

        Raises StatusError.
        """
        claims = self._client.core_v1().persistent_volume_claims(pod.metadata.namespace)
        for volume in pod.spec.volumes:
            source = volume.persistent_volume_claim
            if source is None:
                continue
            try:
                claim = claims.get(ctx, source.claim_name, metav1.GetOptions())
            except errors.StatusError as err:
                if errors.is_not_found(err):
                    return f'persistentvolumeclaim "{source.claim_name}" not found'
                raise
            if claim.status.phase != "Bound":
                return "pod has unbound immediate PersistentVolumeClaims"
        return ""

    def _bind(self, ctx: Context, pod: corev1.Pod, node: str) -> None:
        namespace, name = pod.metadata.namespace, pod.metadata.name
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": namespace},
            "target": {"kind": "Node", "name": node},
        }
        request = self._client.core_v1().rest_client().post().namespace(namespace).resource("pods").name(name)
        request.sub_resource("binding").body(corev1.Binding.from_dict(binding)).do(ctx).error()
        self._given[node] += 1
        text = f"Successfully assigned {namespace}/{name} to {node}"
        self._recorder.event(pod, corev1.EVENT_TYPE_NORMAL, "Scheduled", text)

    def _refuse(self, ctx: Context, pod: corev1.Pod, obstacles: Counter[str]) -> None:
        total = sum(obstacles.values())
        reasons = ", ".join(f"{count} {text}" for text, count in sorted(obstacles.items()))
        message = f"0/{total} nodes are available: {reasons}." if total else "no nodes available to schedule pods"
        doc = pod.to_dict()
        status = doc.get("status") or {}
        before = [c for c in status.get("conditions") or () if c.get("type") == "PodScheduled"]
        if before and before[0].get("message") == message:
            return
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": self._times.now_text(),
            "reason": "Unschedulable",
            "message": message,
        }
        others = [c for c in status.get("conditions") or () if c.get("type") != "PodScheduled"]
        doc["status"] = {**status, "conditions": [*others, condition]}
        self._client.core_v1().pods(pod.metadata.namespace).update_status(ctx, corev1.Pod.from_dict(doc))
        self._recorder.event(pod, corev1.EVENT_TYPE_WARNING, "FailedScheduling", message)


def takes(node: Json, pod: Json) -> bool:
    """Report whether the pod fits the node, ready or not."""
    return _obstacle(node, pod) in ("", _NOT_READY)


def _obstacle(node: Json, pod: Json) -> str:
    """Return the scheduler's reason why the node does not accept the pod, or ""."""
    if (node.get("spec") or {}).get("unschedulable") and not _tolerates(pod, _CORDONED):
        return "node(s) were unschedulable"
    for taint in _untolerated(node, pod):
        if taint.get("effect") in _KEEPS_OUT:
            return f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}"
    if not _is_named_by(pod, node["metadata"]["name"]):
        return "node(s) didn't match Pod's node affinity/selector"
    wanted = (pod.get("spec") or {}).get("nodeSelector") or {}
    if not wanted.items() <= (node["metadata"].get("labels") or {}).items():
        return "node(s) didn't match Pod's node affinity/selector"
    return "" if _is_ready(node) else _NOT_READY


def _is_named_by(pod: Json, node: str) -> bool:
    """Report whether the terms of the pod's node affinity that select names allow this node."""
    affinity = ((pod.get("spec") or {}).get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = [term.get("matchFields") or [] for term in required.get("nodeSelectorTerms") or ()]
    return not terms or any(all(node in field.get("values", ()) for field in fields) for fields in terms)


def _is_ready(node: Json) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)


def _untolerated(node: Json, pod: Json) -> list[Json]:
    return [taint for taint in (node.get("spec") or {}).get("taints") or () if not _tolerates(pod, taint)]


def _tolerates(pod: Json, taint: Json) -> bool:
    return any(_covers(toleration, taint) for toleration in (pod.get("spec") or {}).get("tolerations") or ())


def _covers(toleration: Json, taint: Json) -> bool:
    """Report whether the toleration covers the taint. Ignores tolerationSeconds."""
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("key") not in (None, "", taint["key"]):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")
