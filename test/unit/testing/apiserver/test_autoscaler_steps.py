"""One sync of a simulated HorizontalPodAutoscaler at a time: sizes, bounds, conditions and errors. No server runs."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo import context
from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.api.autoscaling import v2 as autoscalingv2
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.kubernetes import fake
from clientgo.testing.apiserver.simulator.autoscalers import Autoscalers
from clientgo.testing.apiserver.wire.times import Times
from clientgo.tools import record
from clientgo.utils.clock import testing as clocktesting

CTX = context.background()
START = 1_600_000_000.0
Json = dict[str, Any]


def cpu(**target: Any) -> Json:
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


HALF = cpu(type="Utilization", averageUtilization=50)


def pod(number: int, uses: Json | None = None, *, request: str = "100m", ready: bool = True, **more: Any) -> corev1.Pod:
    notes = {f"simulator/{name}": value for name, value in (uses or {}).items()}
    metadata = {"name": f"p{number}", "namespace": "ns", "labels": {"a": "b"}, "annotations": notes, **more}
    requests = {"requests": {"cpu": request}} if request else {}
    status = {"conditions": [{"type": "Ready", "status": str(ready)}], "phase": "Running"}
    spec = {"containers": [{"name": "c", "resources": requests}]}
    return corev1.Pod.from_dict({"metadata": metadata, "spec": spec, "status": status})


def using(*amounts: str, **more: Any) -> list[corev1.Pod]:
    return [pod(number, {"cpu": amount}, **more) for number, amount in enumerate(amounts)]


class World:
    """An autoscaler of 1 to 10 replicas, its target's scale, and pods."""

    def __init__(self, pods: list[corev1.Pod], *metrics: Json, replicas: int | None = None, **spec: Any) -> None:
        self.clock = clocktesting.new_fake_clock(START)
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
        document = {
            "metadata": {"name": "h", "namespace": "ns", "uid": "u", "generation": 3},
            "spec": {"minReplicas": 1, "maxReplicas": 10, "scaleTargetRef": target, "metrics": list(metrics), **spec},
        }
        self.client = fake.new_clientset(autoscalingv2.HorizontalPodAutoscaler.from_dict(document), *pods)
        self.replicas = len(pods) if replicas is None else replicas
        kind = document["spec"]["scaleTargetRef"]["kind"]
        for verb in ("get", "update"):
            self.client.prepend_reactor(verb, f"{kind.lower()}s/scale", self._scale)
        self.recorder = record.new_fake_recorder(100)
        self.later: list[tuple[str, float]] = []
        times = Times(self.clock)
        self.autoscalers = Autoscalers(
            self.client, times, self.recorder, lambda key, seconds: self.later.append((key, seconds))
        )

    def _scale(self, action: Any) -> tuple[bool, autoscalingv1.Scale]:
        if action.get_verb() == "update":
            self.replicas = action.get_object().spec.replicas
        document = {"spec": {"replicas": self.replicas}, "status": {"selector": "a=b"}, "metadata": {"name": "d"}}
        return True, autoscalingv1.Scale.from_dict(document)

    def sync(self, after: float = 0.0) -> list[str]:
        """Return the events of one sync, some seconds later."""
        self.clock.step(after)
        self.autoscalers.sync(CTX, "ns", "h")
        channel = self.recorder.events
        assert channel is not None
        return [str(channel.receive()[0]) for _ in range(len(channel))]

    def status(self) -> Json:
        scalers = self.client.autoscaling_v2().horizontal_pod_autoscalers("ns")
        found: Json = scalers.get(CTX, "h", metav1.GetOptions()).to_dict().get("status") or {}
        return found

    def conditions(self) -> dict[str, str]:
        return {one["type"]: f"{one['status']} {one['reason']}" for one in self.status().get("conditions") or ()}


def quiet(size: int) -> str:
    return f"Normal SuccessfulRescale New size: {size}; reason: All metrics below target"


def busy(size: int) -> str:
    return f"Normal SuccessfulRescale New size: {size}; reason: metrics above target"


@pytest.mark.parametrize(
    ("uses", "metric", "size"),
    [
        (("50m", "50m"), HALF, 2),
        # A difference of less than a tenth changes nothing.
        (("54m", "54m"), HALF, 2),
        (("56m", "56m"), HALF, 3),
        (("100m", "100m"), HALF, 4),
        (("100m", "0"), HALF, 2),
        (("1", "1"), HALF, 10),
        (("200m", "200m"), cpu(type="AverageValue", averageValue="100m"), 4),
        (("109m", "109m"), cpu(type="AverageValue", averageValue="100m"), 2),
        (("111m", "111m"), cpu(type="AverageValue", averageValue="100m"), 3),
    ],
)
def test_the_size_follows_the_use(uses: tuple[str, ...], metric: Json, size: int) -> None:
    world = World(using(*uses), metric)
    assert world.sync() == ([busy(size)] if size > 2 else [])
    assert world.replicas == size
    status = world.status()
    assert (status["currentReplicas"], status["desiredReplicas"], status["observedGeneration"]) == (2, size, 3)
    assert ("lastScaleTime" in status) is (size != 2)


@pytest.mark.parametrize(
    ("spec", "size"),
    [({}, 8), ({"maxReplicas": 5}, 5), ({"minReplicas": 9}, 9), ({"minReplicas": None}, 8)],
)
def test_the_size_is_within_its_bounds(spec: Json, size: int) -> None:
    world = World(using("200m", "200m"), HALF, **spec)
    world.sync()
    assert world.replicas == size


def test_the_largest_size_of_all_metrics_counts() -> None:
    memory = {
        "type": "Pods",
        "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}},
    }
    world = World([pod(0, {"cpu": "50m", "m": "3"})], HALF, memory)
    assert world.sync() == [busy(3)]


@pytest.mark.parametrize("after", [299.0, 300.0])
def test_a_target_shrinks_after_five_minutes(after: float) -> None:
    world = World(using("50m", "50m"), HALF)
    assert world.sync() == []
    pods = world.client.core_v1().pods("ns")
    for each in using("10m", "10m"):
        pods.update(CTX, each, metav1.UpdateOptions())
    assert world.sync(after) == ([quiet(1)] if after >= 300.0 else [])


@pytest.mark.parametrize(("window", "shrinks"), [(0, True), (60, False)])
def test_the_behavior_sets_another_window(window: int, shrinks: bool) -> None:
    world = World(using("50m", "50m"), HALF, behavior={"scaleDown": {"stabilizationWindowSeconds": window}})
    world.sync()
    pods = world.client.core_v1().pods("ns")
    for each in using("10m", "10m"):
        pods.update(CTX, each, metav1.UpdateOptions())
    assert world.sync(59.0) == ([quiet(1)] if shrinks else [])


@pytest.mark.parametrize(
    ("metric", "measured"),
    [
        (HALF, {"type": "Resource", "resource": {
            "name": "cpu", "current": {"averageValue": "76m", "averageUtilization": 75}}}),
        (cpu(type="AverageValue", averageValue="1"),
         {"type": "Resource", "resource": {"name": "cpu", "current": {"averageValue": "76m"}}}),
        ({"type": "Pods", "pods": {"metric": {"name": "cpu"}, "target": {"type": "AverageValue", "averageValue": "1"}}},
         {"type": "Pods", "pods": {"metric": {"name": "cpu"}, "current": {"averageValue": "76m"}}}),
    ],
)  # fmt: skip
def test_the_status_shows_the_measured_values(metric: Json, measured: Json) -> None:
    world = World(using("75.1m", "75.1m"), metric)
    world.sync()
    assert world.status()["currentMetrics"] == [measured]
    wanted = {"AbleToScale": "True ReadyForNewScale", "ScalingActive": "True ValidMetricFound"}
    assert world.conditions() == wanted


FAILED = "Warning FailedGetResourceMetric "


@pytest.mark.parametrize(
    ("pods", "metrics", "text"),
    [
        ([], [HALF], "no metrics returned: no pod is ready"),
        (using("50m", ready=False), [HALF], "no metrics returned: no pod is ready"),
        (using("50m"), [], "the autoscaler has no metrics"),
        ([pod(0)], [HALF], "pod ns/p0 has no annotation simulator/cpu"),
        (using("50m", request=""), [HALF], "missing request for cpu in container c of Pod p0"),
        (using("50m"), [{"type": "External", "external": {}}], "the simulator has no External metrics"),
    ],
)
def test_a_metric_that_is_missing_is_reported(pods: list[corev1.Pod], metrics: list[Json], text: str) -> None:
    world = World(pods, *metrics, replicas=1)
    assert world.sync() == [FAILED + text]
    assert (world.replicas, world.conditions()) == (1, {"ScalingActive": "False FailedGetResourceMetric"})


def test_a_target_without_a_scale_is_reported() -> None:
    world = World(using("50m"), HALF, scaleTargetRef={"apiVersion": "v1", "kind": "Pod", "name": "d"})
    assert world.sync() == ["Warning FailedGetScale the simulator scales no Pod"]


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet"])
def test_each_kind_of_target_is_scaled(kind: str) -> None:
    world = World(using("100m"), HALF, scaleTargetRef={"apiVersion": "apps/v1", "kind": kind, "name": "d"})
    assert world.sync() == [busy(2)]


def test_a_target_of_size_zero_stays_so() -> None:
    world = World(using("100m"), HALF, replicas=0)
    assert (world.sync(), world.replicas) == ([], 0)


def test_the_next_sync_is_in_fifteen_seconds() -> None:
    world = World(using("50m"), HALF)
    world.sync()
    assert world.later == [("ns/h", 15.0)]


def test_a_condition_keeps_the_time_of_its_last_change() -> None:
    world = World(using("50m"), HALF)
    world.sync()
    first = {one["type"]: one["lastTransitionTime"] for one in world.status()["conditions"]}
    world.sync(60.0)
    assert {one["type"]: one["lastTransitionTime"] for one in world.status()["conditions"]} == first
    world.client.core_v1().pods("ns").delete(CTX, "p0", metav1.DeleteOptions())
    world.sync(60.0)
    changed = {one["type"]: one["lastTransitionTime"] for one in world.status()["conditions"]}
    assert changed["AbleToScale"] == first["AbleToScale"]
    assert changed["ScalingActive"] > first["ScalingActive"]
