"""Pods: a make-believe kubelet, and the one node it starts with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from clientgo import kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.listers.core import v1 as listers
from clientgo.testing.apiserver.simulator.scheduler import Scheduler
from clientgo.testing.apiserver.times import Times
from clientgo.tools import record

Json = dict[str, Any]

NODE = "simulated-node"


def is_ready(pod: corev1.Pod) -> bool:
    return any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions)


class Pods:
    """Syncs one pod at a time; called by one worker thread.

    `ready_delay`: seconds from a pod's binding to its being Ready. `look_again(key, seconds)` queues a pod for later.
    """

    def __init__(
        self,
        client: kubernetes.Clientset,
        lister: listers.PodLister,
        scheduler: Scheduler,
        times: Times,
        new_recorder: Callable[[str], record.EventRecorder],
        look_again: Callable[[str, float], None],
        ready_delay: float,
    ) -> None:
        self._client = client
        self._lister = lister
        self._times = times
        self._clock = times.clock
        self._scheduler = scheduler
        self._evictor = new_recorder("taint-eviction-controller")
        self._kubelet = new_recorder("kubelet")
        self._look_again = look_again
        self._ready_delay = ready_delay
        # When the pods that wait for their readiness were bound, by uid. Touched by the pod worker only.
        self._bound: dict[str, float] = {}

    def __repr__(self) -> str:
        return f"<Pods {len(self._bound)} becoming ready>"

    def make_node(self, ctx: Context) -> None:
        """Register the one node. Raises StatusError."""
        now = self._times.now_text()
        condition = {
            "type": "Ready",
            "status": "True",
            "reason": "KubeletReady",
            "message": "simulated",
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        capacity = {"cpu": "64", "memory": "256Gi", "pods": "10000"}
        addresses = [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname", "address": NODE}]
        info = {"kubeletVersion": "v1.36.0+simulated", "osImage": "none", "containerRuntimeVersion": "none://0"}
        status = {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [condition],
            "addresses": addresses,
            "nodeInfo": info,
        }
        nodes = self._client.core_v1().nodes()
        metadata = {"name": NODE, "labels": {"kubernetes.io/hostname": NODE}}
        try:
            node = nodes.create(ctx, corev1.Node.from_dict({"metadata": metadata}))
        except errors.StatusError as err:
            if not errors.is_already_exists(err):
                raise
            node = nodes.get(ctx, NODE)
        nodes.update_status(ctx, corev1.Node.from_dict({**node.to_dict(), "status": status}))

    def sync(self, ctx: Context, namespace: str, name: str) -> None:
        """What the scheduler and the kubelet would do next. Raises StatusError."""
        pod = self._lister.pods(namespace).get(name)
        if pod.metadata.deletion_timestamp is not None:
            self._bound.pop(pod.metadata.uid, None)
            options = metav1.DeleteOptions(
                grace_period_seconds=0, preconditions=metav1.Preconditions(uid=pod.metadata.uid)
            )
            self._client.core_v1().pods(namespace).delete(ctx, name, options)
        elif not pod.spec.node_name:
            self._scheduler.schedule(ctx, pod)
        elif self._scheduler.must_leave(pod):
            self._drive_away(ctx, pod)
        elif pod.status.phase in ("", "Pending"):
            self._run_pod(ctx, pod)

    def _drive_away(self, ctx: Context, pod: corev1.Pod) -> None:
        text = f"Marking for deletion Pod {pod.metadata.namespace}/{pod.metadata.name}"
        self._evictor.event(pod, corev1.EVENT_TYPE_NORMAL, "TaintManagerEviction", text)
        pods = self._client.core_v1().pods(pod.metadata.namespace)
        pods.delete(ctx, pod.metadata.name, metav1.DeleteOptions())

    def _run_pod(self, ctx: Context, pod: corev1.Pod) -> None:
        """Ready when its time has come; until then look again."""
        now = self._clock.now()
        bound = self._bound.setdefault(pod.metadata.uid, now)
        left = bound + self._ready_delay - now
        if left > 0:
            self._look_again(f"{pod.metadata.namespace}/{pod.metadata.name}", left)
            return
        del self._bound[pod.metadata.uid]
        running = pod.to_dict()
        running["status"] = {**running.get("status", {}), **self._running_status(running)}
        self._client.core_v1().pods(pod.metadata.namespace).update_status(ctx, corev1.Pod.from_dict(running))
        for container in pod.spec.containers:
            self._started(pod, container)

    def _started(self, pod: corev1.Pod, container: corev1.Container) -> None:
        event = self._kubelet.event
        event(
            pod, corev1.EVENT_TYPE_NORMAL, "Pulled", f'Container image "{container.image}" already present on machine'
        )
        event(pod, corev1.EVENT_TYPE_NORMAL, "Created", f"Created container: {container.name}")
        event(pod, corev1.EVENT_TYPE_NORMAL, "Started", f"Started container {container.name}")

    def _running_status(self, pod: Json) -> Json:
        now = self._times.now_text()
        number = int(hashlib.sha256(pod["metadata"]["uid"].encode()).hexdigest()[:4], 16)
        address = f"10.244.{number // 250 % 250}.{number % 250 + 1}"
        conditions = [
            {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
            for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
        ]
        statuses = [
            {
                "name": container["name"],
                "image": container.get("image", ""),
                "imageID": "",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": now}},
            }
            for container in pod["spec"].get("containers") or ()
        ]
        return {
            "phase": "Running",
            "conditions": conditions,
            "containerStatuses": statuses,
            "hostIP": "10.0.0.1",
            "podIP": address,
            "podIPs": [{"ip": address}],
            "startTime": now,
        }
