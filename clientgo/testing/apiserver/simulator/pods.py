"""A simulated kubelet, and its first node. Pods of Jobs succeed after a delay, other pods keep running.

Annotations make pods fail. A user can set them with kubectl, or a test:

    simulator/ready: "false"   the pod is not ready until the annotation goes
    simulator/crash: "1"       its containers end with code 1 and start again; another value crashes them again
    simulator/phase: "Failed"  the pod fails, or succeeds, for good

While a node's Ready condition is not True, its pods are not ready.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from clientgo import kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import ResourceObject
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.context import Context
from clientgo.listers.core import v1 as listers
from clientgo.testing.apiserver.kinds.registry import release
from clientgo.testing.apiserver.simulator.scheduler import Scheduler
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times
from clientgo.tools import record
from clientgo.utils.clock import RESOLUTION

NODE = "simulated-node"
READY_ANNOTATION = "simulator/ready"
CRASH_ANNOTATION = "simulator/crash"
PHASE_ANNOTATION = "simulator/phase"


def pod_of(template: corev1.PodTemplateSpec, owner: ResourceObject, kind: GroupVersionKind) -> corev1.Pod:
    """Return a new pod of the template, with `owner` as its controller."""
    document = template.to_dict()
    metadata = dict(document.get("metadata") or {})
    metadata["generateName"] = f"{owner.get_name()}-"
    metadata["ownerReferences"] = [metav1.new_controller_ref(owner, kind).to_dict()]
    return corev1.Pod.from_dict({"metadata": metadata, "spec": document.get("spec") or {}})


def is_ready(pod: corev1.Pod) -> bool:
    return any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions)


def ready_for(pod: corev1.Pod, times: Times) -> float:
    """Return the seconds since the pod became ready."""
    for condition in pod.status.conditions:
        if condition.type == "Ready" and condition.status == "True":
            return times.since(condition.to_dict().get("lastTransitionTime"))
    return 0.0


class Pods:
    """A controller that syncs one pod at a time; called by one worker thread.

    `ready_delay`: seconds from a pod's binding to its being Ready, and from that to its end when it has one.
    `look_again(key, seconds)` queues a pod for later.
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
        # Since when the pods that wait are in which phase, by uid. Touched by the pod worker only.
        self._since: dict[str, tuple[str, float]] = {}
        # The last crash annotation that was obeyed, by uid.
        self._crashed: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<Pods {len(self._since)} waiting>"

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
        info = {"kubeletVersion": f"v{release()}+simulated", "osImage": "none", "containerRuntimeVersion": "none://0"}
        status = {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [condition],
            "addresses": addresses,
            "nodeInfo": info,
        }
        nodes = self._client.core_v1().nodes()
        # A manifest often selects its nodes by the operating system.
        metadata = {"name": NODE, "labels": {"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux"}}
        try:
            node = nodes.create(ctx, corev1.Node.from_dict({"metadata": metadata}))
        except errors.StatusError as err:
            if not errors.is_already_exists(err):
                raise
            node = nodes.get(ctx, NODE)
        nodes.update_status(ctx, corev1.Node.from_dict({**node.to_dict(), "status": status}))

    def sync(self, ctx: Context, namespace: str, name: str) -> None:
        """Perform the next step of the scheduler or the kubelet. Raises StatusError."""
        pod = self._lister.pods(namespace).get(name)
        if pod.metadata.deletion_timestamp is not None:
            self._since.pop(pod.metadata.uid, None)
            self._crashed.pop(pod.metadata.uid, None)
            options = metav1.DeleteOptions(
                grace_period_seconds=0, preconditions=metav1.Preconditions(uid=pod.metadata.uid)
            )
            self._client.core_v1().pods(namespace).delete(ctx, name, options)
        elif not pod.spec.node_name:
            self._scheduler.schedule(ctx, pod)
        elif self._scheduler.must_leave(pod):
            self._drive_away(ctx, pod)
        elif pod.status.phase in ("", "Pending") and self._has_waited(pod):
            self._run(ctx, pod)
        elif pod.status.phase == "Running":
            self._keep_running(ctx, pod)

    def _keep_running(self, ctx: Context, pod: corev1.Pod) -> None:
        """Update a running pod: by its annotations, by the state of its node, and by its own end."""
        annotations = pod.metadata.annotations
        if annotations.get(PHASE_ANNOTATION) in ("Failed", "Succeeded"):
            phase = annotations[PHASE_ANNOTATION]
            self._write(ctx, pod, _finished_status(pod.to_dict(), self._times.now_text(), phase))
        elif annotations.get(CRASH_ANNOTATION, "") != self._crashed.get(pod.metadata.uid, ""):
            self._crash(ctx, pod)
        elif _ends(pod) and self._has_waited(pod):
            self._finish(ctx, pod)
        else:
            may_be_ready = annotations.get(READY_ANNOTATION) != "false"
            should_be = may_be_ready and self._scheduler.is_node_ready(pod.spec.node_name)
            if should_be != is_ready(pod):
                self._write(ctx, pod, _ready_status(pod.to_dict(), self._times.now_text(), should_be))

    def _crash(self, ctx: Context, pod: corev1.Pod) -> None:
        """End the containers with an error; they are started again, and the pod is ready when it has waited."""
        now = self._times.now_text()
        self._write(ctx, pod, _crashed_status(pod.to_dict(), now))
        self._crashed[pod.metadata.uid] = pod.metadata.annotations.get(CRASH_ANNOTATION, "")
        for container in pod.spec.containers:
            text = f"Back-off restarting failed container {container.name} in pod {pod.metadata.name}"
            self._kubelet.event(pod, corev1.EVENT_TYPE_WARNING, "BackOff", text)

    def _drive_away(self, ctx: Context, pod: corev1.Pod) -> None:
        text = f"Marking for deletion Pod {pod.metadata.namespace}/{pod.metadata.name}"
        self._evictor.event(pod, corev1.EVENT_TYPE_NORMAL, "TaintManagerEviction", text)
        pods = self._client.core_v1().pods(pod.metadata.namespace)
        pods.delete(ctx, pod.metadata.name, metav1.DeleteOptions())

    def _has_waited(self, pod: corev1.Pod) -> bool:
        """Report whether the pod has been in its phase for the delay; if not, queue it for that moment."""
        now, uid, phase = self._clock.now(), pod.metadata.uid, pod.status.phase
        known = self._since.get(uid)
        since = known[1] if known is not None and known[0] == phase else now
        left = since + self._ready_delay - now
        # Less is rounding; the queue would give the pod back at once, and in virtual time that would never end.
        if left > RESOLUTION:
            self._since[uid] = (phase, since)
            self._look_again(f"{pod.metadata.namespace}/{pod.metadata.name}", left)
            return False
        self._since.pop(uid, None)
        return True

    def _write(self, ctx: Context, pod: corev1.Pod, status: Json) -> None:
        doc = pod.to_dict()
        doc["status"] = {**doc.get("status", {}), **status}
        self._client.core_v1().pods(pod.metadata.namespace).update_status(ctx, corev1.Pod.from_dict(doc))

    def _finish(self, ctx: Context, pod: corev1.Pod) -> None:
        self._write(ctx, pod, _finished_status(pod.to_dict(), self._times.now_text()))

    def _run(self, ctx: Context, pod: corev1.Pod) -> None:
        self._write(ctx, pod, _running_status(pod.to_dict(), self._times.now_text()))
        for container in pod.spec.containers:
            self._started(pod, container)

    def _started(self, pod: corev1.Pod, container: corev1.Container) -> None:
        event = self._kubelet.event
        event(
            pod, corev1.EVENT_TYPE_NORMAL, "Pulled", f'Container image "{container.image}" already present on machine'
        )
        event(pod, corev1.EVENT_TYPE_NORMAL, "Created", f"Created container: {container.name}")
        event(pod, corev1.EVENT_TYPE_NORMAL, "Started", f"Started container {container.name}")


def _ends(pod: corev1.Pod) -> bool:
    owner = metav1.get_controller_of(pod)
    return owner is not None and owner.kind == "Job"


_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
_OVER = {"PodReadyToStartContainers": "False", "Ready": "False", "ContainersReady": "False"}


def _conditions(now: str, states: dict[str, str]) -> list[Json]:
    return [
        {"type": kind, "status": state, "lastProbeTime": None, "lastTransitionTime": now}
        | ({"reason": "PodCompleted"} if state == "False" else {})
        for kind, state in states.items()
    ]


def _finished_status(pod: Json, now: str, phase: str = "Succeeded") -> Json:
    code, reason = (0, "Completed") if phase == "Succeeded" else (1, "Error")
    statuses = [
        {**status, "ready": False, "started": False, "state": {"terminated": _ended(status, now, code, reason)}}
        for status in (pod.get("status") or {}).get("containerStatuses") or ()
    ]
    states = {**dict.fromkeys(_CONDITIONS, "True"), **_OVER}
    return {"phase": phase, "conditions": _conditions(now, states), "containerStatuses": statuses}


def _ended(status: Json, now: str, code: int, reason: str) -> Json:
    started = ((status.get("state") or {}).get("running") or {}).get("startedAt", now)
    return {"exitCode": code, "reason": reason, "startedAt": started, "finishedAt": now}


def _crashed_status(pod: Json, now: str) -> Json:
    """Return the status of a restarted container's pod, not ready yet. The next sync makes it ready."""
    statuses = [
        {
            **status,
            "ready": False,
            "restartCount": status.get("restartCount", 0) + 1,
            "lastState": {"terminated": _ended(status, now, 1, "Error")},
            "state": {"running": {"startedAt": now}},
        }
        for status in (pod.get("status") or {}).get("containerStatuses") or ()
    ]
    return {**_ready_status(pod, now, False), "containerStatuses": statuses}


def _ready_status(pod: Json, now: str, ready: bool) -> Json:
    """Return the conditions and containers of a running pod that became ready or unready."""
    status = pod.get("status") or {}
    state = "True" if ready else "False"
    conditions = []
    for condition in status.get("conditions") or ():
        if condition.get("type") in ("Ready", "ContainersReady") and condition.get("status") != state:
            condition = {**condition, "status": state, "lastTransitionTime": now}
            condition.pop("reason", None)
            condition |= {} if ready else {"reason": "ContainersNotReady"}
        conditions.append(condition)
    containers = [{**container, "ready": ready} for container in status.get("containerStatuses") or ()]
    return {"conditions": conditions, "containerStatuses": containers}


def _running_status(pod: Json, now: str) -> Json:
    number = int(hashlib.sha256(pod["metadata"]["uid"].encode()).hexdigest()[:4], 16)
    address = f"10.244.{number // 250 % 250}.{number % 250 + 1}"
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
        "conditions": _conditions(now, dict.fromkeys(_CONDITIONS, "True")),
        "containerStatuses": statuses,
        "hostIP": "10.0.0.1",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": now,
    }
