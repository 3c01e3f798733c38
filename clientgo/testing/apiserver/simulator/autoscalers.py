"""HorizontalPodAutoscalers: they scale by the stated usage of the pods.

Does what Kubernetes' horizontal controller does for resource and pod metrics, with its tolerance of a tenth, its bounds
and its stabilisation before it scales down. There is nothing to measure here, so a pod says what it uses by an
annotation: `simulator/cpu: 250m`, `simulator/memory: 64Mi`, `simulator/requests-per-second: "40"`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from clientgo import kubernetes
from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.api.autoscaling import v2 as autoscalingv2
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api.resource import parse_quantity
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.testing.apiserver.simulator.pods import is_ready
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times
from clientgo.tools import record

USE_PREFIX = "simulator/"
_TOLERANCE = 0.1
_PERIOD = 15.0
_STABILISATION = 300.0
_TARGETS = ("Deployment", "ReplicaSet", "StatefulSet")


class Autoscalers:
    """A controller that syncs one autoscaler at a time, every 15 s and after changes; called by one worker thread."""

    def __init__(
        self,
        client: kubernetes.Clientset,
        times: Times,
        recorder: record.EventRecorder,
        look_again: Callable[[str, float], None],
    ) -> None:
        self._client = client
        self._times = times
        self._recorder = recorder
        self._look_again = look_again
        # The recommendations with their times, by the autoscaler's uid. Only the single worker uses it.
        self._recommended: dict[str, list[tuple[float, int]]] = {}

    def __repr__(self) -> str:
        return "<Autoscalers>"

    def sync(self, ctx: Context, namespace: str, name: str) -> None:
        """Compare use with target once, and scale. Raises StatusError."""
        client = self._client.autoscaling_v2().horizontal_pod_autoscalers(namespace)
        scaler = client.get(ctx, name)
        if scaler.metadata.deletion_timestamp is not None:
            self._recommended.pop(scaler.metadata.uid, None)
            return
        self._look_again(f"{namespace}/{name}", _PERIOD)
        document = scaler.to_dict()
        status = self._scale(ctx, scaler, dict(document.get("status") or {}))
        if status != (document.get("status") or {}):
            client.update_status(ctx, autoscalingv2.HorizontalPodAutoscaler.from_dict({**document, "status": status}))

    def _scale(self, ctx: Context, scaler: autoscalingv2.HorizontalPodAutoscaler, status: Json) -> Json:
        target = scaler.spec.scale_target_ref
        if target.kind not in _TARGETS:
            return self._failed(scaler, status, "FailedGetScale", f"the simulator scales no {target.kind}")
        scale = self._scale_of(ctx, scaler)
        pods = self._pods(ctx, scaler.get_namespace(), scale.status.selector)
        now = scale.spec.replicas
        try:
            wanted, current = _recommend(scaler, now, pods)
        except ValueError as err:
            return self._failed(scaler, status, "FailedGetResourceMetric", str(err))
        bounded = min(max(wanted, scaler.spec.min_replicas or 1), scaler.spec.max_replicas)
        wanted = self._stabilised(scaler, now, bounded)
        if wanted != now and now != 0:
            self._write_scale(ctx, scaler, scale, wanted)
            status["lastScaleTime"] = self._times.now_text()
            reason = "metrics above target" if wanted > now else "All metrics below target"
            text = f"New size: {wanted}; reason: {reason}"
            self._recorder.event(scaler, corev1.EVENT_TYPE_NORMAL, "SuccessfulRescale", text)
        status |= {"observedGeneration": scaler.metadata.generation, "currentReplicas": now, "desiredReplicas": wanted}
        status["currentMetrics"] = current
        self._set_condition(status, "AbleToScale", "True", "ReadyForNewScale", "recommended size matches current size")
        text = "the HPA was able to successfully calculate a replica count"
        self._set_condition(status, "ScalingActive", "True", "ValidMetricFound", text)
        return status

    def _scale_of(self, ctx: Context, scaler: autoscalingv2.HorizontalPodAutoscaler) -> autoscalingv1.Scale:
        client = self._client_of(scaler)
        scale: autoscalingv1.Scale = client.get_scale(ctx, scaler.spec.scale_target_ref.name, metav1.GetOptions())
        return scale

    def _write_scale(
        self, ctx: Context, scaler: autoscalingv2.HorizontalPodAutoscaler, scale: autoscalingv1.Scale, replicas: int
    ) -> None:
        scale.spec.replicas = replicas
        self._client_of(scaler).update_scale(ctx, scaler.spec.scale_target_ref.name, scale, metav1.UpdateOptions())

    def _client_of(self, scaler: autoscalingv2.HorizontalPodAutoscaler) -> Any:
        apps, namespace = self._client.apps_v1(), scaler.get_namespace()
        clients = {"Deployment": apps.deployments, "ReplicaSet": apps.replica_sets, "StatefulSet": apps.stateful_sets}
        return clients[scaler.spec.scale_target_ref.kind](namespace)

    def _pods(self, ctx: Context, namespace: str, selector: str) -> list[corev1.Pod]:
        """Return the ready pods of the target."""
        options = metav1.ListOptions(label_selector=selector)
        pods = self._client.core_v1().pods(namespace).list(ctx, options).items
        return [pod for pod in pods if is_ready(pod) and pod.metadata.deletion_timestamp is None]

    def _stabilised(self, scaler: autoscalingv2.HorizontalPodAutoscaler, now: int, wanted: int) -> int:
        """Record the wanted size and return the size to set.

        A target does not shrink below the highest size wanted within the stabilization window, which is five minutes
        unless the autoscaler sets another.
        """
        window = _STABILISATION
        behavior = scaler.spec.behavior
        if behavior is not None and behavior.scale_down is not None:
            given = behavior.scale_down.stabilization_window_seconds
            window = _STABILISATION if given is None else float(given)
        moment = self._times.clock.now()
        kept = [(at, size) for at, size in self._recommended.get(scaler.metadata.uid, ()) if at > moment - window]
        self._recommended[scaler.metadata.uid] = [*kept, (moment, wanted)]
        return wanted if wanted >= now else min(now, max([wanted, *(size for _, size in kept)]))

    def _failed(
        self, scaler: autoscalingv2.HorizontalPodAutoscaler, status: Json, reason: str, message: str
    ) -> Json:
        self._recorder.event(scaler, corev1.EVENT_TYPE_WARNING, reason, message)
        self._set_condition(status, "ScalingActive", "False", reason, message)
        return status

    def _set_condition(self, status: Json, kind: str, state: str, reason: str, message: str) -> None:
        conditions = [dict(one) for one in status.get("conditions") or () if one.get("type") != kind]
        before = next((one for one in status.get("conditions") or () if one.get("type") == kind), None)
        since = self._times.now_text()
        if before is not None and before.get("status") == state:
            since = before.get("lastTransitionTime", since)
        one = {"type": kind, "status": state, "lastTransitionTime": since, "reason": reason, "message": message}
        status["conditions"] = sorted([*conditions, one], key=lambda condition: str(condition["type"]))


def _recommend(
    scaler: autoscalingv2.HorizontalPodAutoscaler, now: int, pods: list[corev1.Pod]
) -> tuple[int, list[Json]]:
    """Return the largest size that a metric demands, and the measurements. Raises ValueError without a metric."""
    if not pods:
        raise ValueError("no metrics returned: no pod is ready")
    sizes, current = [], []
    for metric in scaler.to_dict()["spec"].get("metrics") or ():
        size, measured = _by_metric(metric, now, pods)
        sizes.append(size)
        current.append(measured)
    if not sizes:
        raise ValueError("the autoscaler has no metrics")
    return max(sizes), current


def _by_metric(metric: Json, now: int, pods: list[corev1.Pod]) -> tuple[int, Json]:
    kind = metric["type"]
    if kind == "Resource":
        name, target = metric["resource"]["name"], metric["resource"]["target"]
    elif kind == "Pods":
        name, target = metric["pods"]["metric"]["name"], metric["pods"]["target"]
    else:
        raise ValueError(f"the simulator has no {kind} metrics")
    uses = [_amount(pod.metadata.annotations.get(USE_PREFIX + name, ""), name, pod) for pod in pods]
    average = sum(uses) / len(uses)
    measured: Json = {"averageValue": f"{math.ceil(average * 1000)}m"}
    if target.get("type") == "Utilization":
        requested = [_request(pod, name) for pod in pods]
        percent = 100 * sum(uses) / sum(requested)
        measured["averageUtilization"] = int(percent)
        ratio = percent / target["averageUtilization"]
    else:
        ratio = average / _quantity(target["averageValue"])
    shown: Json = {"current": measured, **({"name": name} if kind == "Resource" else {"metric": {"name": name}})}
    size = now if abs(ratio - 1.0) <= _TOLERANCE else math.ceil(ratio * len(pods) - 1e-9)
    return size, {"type": kind, "resource" if kind == "Resource" else "pods": shown}


def _quantity(text: str) -> float:
    return float(parse_quantity(str(text)).as_approximate_float64())


def _amount(text: str, name: str, pod: corev1.Pod) -> float:
    if not text:
        raise ValueError(f"pod {pod.get_namespace()}/{pod.get_name()} has no annotation {USE_PREFIX}{name}")
    return _quantity(text)


def _request(pod: corev1.Pod, name: str) -> float:
    total = 0.0
    for container in pod.to_dict()["spec"].get("containers") or ():
        requests = (container.get("resources") or {}).get("requests") or {}
        if name not in requests:
            raise ValueError(f"missing request for {name} in container {container['name']} of Pod {pod.get_name()}")
        total += _quantity(requests[name])
    return total
