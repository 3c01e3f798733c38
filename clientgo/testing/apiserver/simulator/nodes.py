"""Nodes: they accept pods once they are ready. A part of the node lifecycle controller."""

from __future__ import annotations

from clientgo import kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context

_NOT_READY = "node.kubernetes.io/not-ready"


class Nodes:
    """A controller that syncs one node at a time; called by one worker thread."""

    def __init__(self, client: kubernetes.Clientset) -> None:
        self._client = client

    def __repr__(self) -> str:
        return "<Nodes>"

    def sync(self, ctx: Context, namespace: str, name: str) -> None:
        """Take the taint off that a new node has, when it is ready. Raises StatusError."""
        nodes = self._client.core_v1().nodes()
        try:
            node = nodes.get(ctx, name, metav1.GetOptions())
        except errors.StatusError as err:
            if not errors.is_not_found(err):
                raise
            return
        document = node.to_dict()
        conditions = (document.get("status") or {}).get("conditions") or ()
        taints = (document.get("spec") or {}).get("taints") or []
        left = [taint for taint in taints if (taint.get("key"), taint.get("effect")) != (_NOT_READY, "NoSchedule")]
        ready = any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)
        if not ready or len(left) == len(taints):
            return
        document["spec"]["taints"] = left
        nodes.update(ctx, corev1.Node.from_dict(document), metav1.UpdateOptions())
