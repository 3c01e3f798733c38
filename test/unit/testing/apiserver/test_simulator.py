"""The workload simulator: Deployments roll out, roll back, scale and go, with ReplicaSets and Pods as in a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from apiclient import eventually

from clientgo import context, kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.api.policy import v1 as policyv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.simulator import NODE, REVISION, Simulator

CTX = context.background()


@pytest.fixture
def client() -> Iterator[Any]:
    with Environment() as env, Simulator(env.server, ready_delay=0.0):
        clientset = kubernetes.new_for_config(env.config)
        yield clientset
        clientset.close()


def deployment(replicas: int, image: str = "example.com/web:1", **spec: Any) -> appsv1.Deployment:
    labels = {"app": "web"}
    pod = {"containers": [{"name": "web", "image": image}]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    doc = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template, **spec}
    return appsv1.Deployment.from_dict({"metadata": {"name": "web"}, "spec": doc})


def rolled_out(client: Any, replicas: int) -> Callable[[], bool]:
    """Return a condition for the end of a rollout, like `kubectl rollout status`."""

    def check() -> bool:
        now = client.apps_v1().deployments("default").get(CTX, "web")
        status = now.status
        return bool(
            status.observed_generation >= now.metadata.generation
            and status.updated_replicas == status.replicas == status.available_replicas == replicas
        )

    return check


def images(client: Any) -> set[str]:
    pods = client.core_v1().pods("default").list(CTX, metav1.ListOptions()).items
    return {pod.spec.containers[0].image for pod in pods if pod.metadata.deletion_timestamp is None}


def set_image(client: Any, image: str) -> None:
    patch = [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": image}]
    data = json.dumps(patch).encode()
    client.apps_v1().deployments("default").patch(CTX, "web", "application/json-patch+json", data)


@pytest.mark.parametrize("strategy", [{"type": "RollingUpdate"}, {"type": "Recreate"}])
def test_a_deployment_rolls_out_and_over_and_goes(client: Any, strategy: dict[str, str]) -> None:
    deployments = client.apps_v1().deployments("default")
    deployments.create(CTX, deployment(3, strategy=strategy))
    eventually(rolled_out(client, 3))
    assert images(client) == {"example.com/web:1"}

    set_image(client, "example.com/web:2")
    eventually(rolled_out(client, 3))
    assert images(client) == {"example.com/web:2"}
    sets = client.apps_v1().replica_sets("default").list(CTX, metav1.ListOptions()).items
    assert sorted((rs.metadata.annotations[REVISION], rs.spec.replicas) for rs in sets) == [("1", 0), ("2", 3)]

    set_image(client, "example.com/web:1")
    eventually(rolled_out(client, 3))
    assert deployments.get(CTX, "web").metadata.annotations[REVISION] == "3"
    assert len(client.apps_v1().replica_sets("default").list(CTX, metav1.ListOptions()).items) == 2

    deployments.delete(CTX, "web", metav1.DeleteOptions())
    eventually(lambda: not client.core_v1().pods("default").list(CTX, metav1.ListOptions()).items)


def test_a_rollout_stays_within_surge_and_unavailability(client: Any) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    deployments = client.apps_v1().deployments("default")
    deployments.create(CTX, deployment(4, strategy=strategy))
    eventually(rolled_out(client, 4))
    seen: list[tuple[int, int]] = []
    done = rolled_out(client, 4)
    set_image(client, "example.com/web:2")

    def watch() -> bool:
        sets = client.apps_v1().replica_sets("default").list(CTX, metav1.ListOptions()).items
        seen.append((sum(rs.spec.replicas or 0 for rs in sets), sum(rs.status.available_replicas for rs in sets)))
        return done()

    eventually(watch)
    assert max(total for total, _ in seen) <= 5
    assert min(available for _, available in seen) >= 4


def test_conditions_tell_availability_and_progress(client: Any) -> None:
    deployments = client.apps_v1().deployments("default")
    deployments.create(CTX, deployment(2))
    eventually(rolled_out(client, 2))

    def reasons() -> set[tuple[str, str]]:
        conditions = deployments.get(CTX, "web").status.conditions
        return {(condition.type, condition.reason) for condition in conditions}

    eventually(lambda: ("Progressing", "NewReplicaSetAvailable") in reasons())
    assert ("Available", "MinimumReplicasAvailable") in reasons()


def test_a_replica_set_carries_the_annotations_and_sizes_of_its_deployment(client: Any) -> None:
    deployments = client.apps_v1().deployments("default")
    deployments.create(CTX, deployment(4))
    eventually(rolled_out(client, 4))
    patch = {"metadata": {"annotations": {"kubernetes.io/change-cause": "first", "mine": "too"}}}
    deployments.patch(CTX, "web", "application/merge-patch+json", json.dumps(patch).encode())

    def annotations() -> dict[str, str]:
        (rs,) = client.apps_v1().replica_sets("default").list(CTX, metav1.ListOptions()).items
        return dict(rs.metadata.annotations)

    prefix = "deployment.kubernetes.io"
    wanted = {f"{prefix}/revision": "1", f"{prefix}/desired-replicas": "4", f"{prefix}/max-replicas": "5"}
    eventually(lambda: annotations() == {**wanted, "kubernetes.io/change-cause": "first", "mine": "too"})


def test_events_tell_the_story_of_a_pod(client: Any) -> None:
    client.apps_v1().deployments("default").create(CTX, deployment(1))
    eventually(rolled_out(client, 1))

    def story() -> set[tuple[str, str]]:
        events = client.core_v1().events("default").list(CTX, metav1.ListOptions()).items
        return {(event.involved_object.kind, event.reason) for event in events}

    pod = {("Pod", reason) for reason in ("Scheduled", "Pulled", "Created", "Started")}
    eventually(lambda: story() == {("Deployment", "ScalingReplicaSet"), ("ReplicaSet", "SuccessfulCreate"), *pod})


def budget(**spec: Any) -> policyv1.PodDisruptionBudget:
    doc = {"selector": {"matchLabels": {"app": "web"}}, **spec}
    return policyv1.PodDisruptionBudget.from_dict({"metadata": {"name": "guard"}, "spec": doc})


def numbers(client: Any) -> tuple[int, int, int, int]:
    status = client.policy_v1().pod_disruption_budgets("default").get(CTX, "guard").status
    return status.expected_pods, status.desired_healthy, status.current_healthy, status.disruptions_allowed


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"minAvailable": 2}, (3, 2, 3, 1)),
        ({"minAvailable": "50%"}, (3, 2, 3, 1)),
        ({"maxUnavailable": 1}, (3, 2, 3, 1)),
        ({"maxUnavailable": "50%"}, (3, 1, 3, 2)),
        ({"minAvailable": 4}, (3, 4, 3, 0)),
    ],
)
def test_a_budget_counts_its_pods(client: Any, spec: dict[str, Any], wanted: tuple[int, int, int, int]) -> None:
    client.apps_v1().deployments("default").create(CTX, deployment(3))
    client.policy_v1().pod_disruption_budgets("default").create(CTX, budget(**spec))
    eventually(lambda: numbers(client) == wanted)


def test_evictions_keep_to_the_budget_until_new_pods_are_ready(client: Any) -> None:
    client.apps_v1().deployments("default").create(CTX, deployment(3))
    client.policy_v1().pod_disruption_budgets("default").create(CTX, budget(minAvailable=2))
    evictions = client.policy_v1().evictions("default")
    pods = client.core_v1().pods("default")
    eventually(lambda: numbers(client) == (3, 2, 3, 1))
    first = {pod.metadata.name for pod in pods.list(CTX, metav1.ListOptions()).items}

    def evicted(name: str) -> bool:
        try:
            evictions.evict(CTX, policyv1.Eviction.from_dict({"metadata": {"name": name, "namespace": "default"}}))
        except errors.StatusError as err:
            assert errors.is_too_many_requests(err)
            assert numbers(client)[2] >= 2
            return False
        return True

    for name in sorted(first):
        eventually(lambda name=name: evicted(name))  # type: ignore[misc]
    eventually(lambda: numbers(client) == (3, 2, 3, 1))
    assert not first & {pod.metadata.name for pod in pods.list(CTX, metav1.ListOptions()).items}


def pod_of(name: str, **spec: Any) -> corev1.Pod:
    return corev1.Pod.from_dict(
        {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}
    )


def patch_node(client: Any, **spec: Any) -> None:
    data = json.dumps({"spec": spec}).encode()
    client.core_v1().nodes().patch(CTX, NODE, "application/merge-patch+json", data)


def is_running(client: Any, name: str) -> Callable[[], bool]:
    return lambda: client.core_v1().pods("default").get(CTX, name).status.phase == "Running"


def scheduling_message(client: Any, name: str) -> str:
    conditions = client.core_v1().pods("default").get(CTX, name).status.conditions
    return next((c.message for c in conditions if c.type == "PodScheduled" and c.status == "False"), "")


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"unschedulable": True}, "0/1 nodes are available: 1 node(s) were unschedulable."),
        (
            {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]},
            "0/1 nodes are available: 1 node(s) had untolerated taint {a: b}.",
        ),
    ],
)
def test_a_node_that_takes_no_pods_lets_them_wait(client: Any, spec: dict[str, Any], why: str) -> None:
    patch_node(client, **spec)
    tolerations = [{"operator": "Exists"}]
    pods = client.core_v1().pods("default")
    pods.create(CTX, pod_of("waits"))
    pods.create(CTX, pod_of("tolerates", tolerations=tolerations))
    eventually(is_running(client, "tolerates"))
    eventually(lambda: scheduling_message(client, "waits") == why)
    patch_node(client, unschedulable=None, taints=None)
    eventually(is_running(client, "waits"))


def test_a_pod_waits_for_a_node_with_its_labels(client: Any) -> None:
    client.core_v1().pods("default").create(CTX, pod_of("picky", nodeSelector={"disk": "fast"}))
    wanted = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
    eventually(lambda: scheduling_message(client, "picky") == wanted)
    data = json.dumps({"metadata": {"labels": {"disk": "fast"}}}).encode()
    client.core_v1().nodes().patch(CTX, NODE, "application/merge-patch+json", data)
    eventually(is_running(client, "picky"))


def test_a_taint_drives_pods_away(client: Any) -> None:
    pods = client.core_v1().pods("default")
    pods.create(CTX, pod_of("stays", tolerations=[{"key": "a", "operator": "Exists"}]))
    pods.create(CTX, pod_of("goes"))
    eventually(is_running(client, "stays"))
    eventually(is_running(client, "goes"))
    patch_node(client, taints=[{"key": "a", "effect": "NoExecute"}])
    eventually(lambda: [pod.metadata.name for pod in pods.list(CTX, metav1.ListOptions()).items] == ["stays"])


def job(**spec: Any) -> batchv1.Job:
    template = {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}
    return batchv1.Job.from_dict({"metadata": {"name": "work"}, "spec": {"template": template, **spec}})


def job_status(client: Any) -> dict[str, Any]:
    status: dict[str, Any] = client.batch_v1().jobs("default").get(CTX, "work").to_dict().get("status") or {}
    return status


def job_conditions(client: Any) -> dict[str, str]:
    return {condition["type"]: condition["status"] for condition in job_status(client).get("conditions") or ()}


def test_a_job_runs_its_pods_a_few_at_a_time_and_completes(client: Any) -> None:
    client.batch_v1().jobs("default").create(CTX, job(completions=5, parallelism=2))
    most = 0

    def complete() -> bool:
        nonlocal most
        pods = client.core_v1().pods("default").list(CTX, metav1.ListOptions()).items
        most = max(most, sum(pod.status.phase != "Succeeded" for pod in pods))
        return job_conditions(client).get("Complete") == "True"

    eventually(complete)
    assert most <= 2
    status = job_status(client)
    assert (status["succeeded"], status.get("active", 0)) == (5, 0)
    assert status["completionTime"] >= status["startTime"]
    pods = client.core_v1().pods("default").list(CTX, metav1.ListOptions()).items
    assert {pod.status.container_statuses[0].state.terminated.reason for pod in pods} == {"Completed"}


def test_a_suspended_job_waits(client: Any) -> None:
    jobs = client.batch_v1().jobs("default")
    jobs.create(CTX, job(suspend=True))
    eventually(lambda: job_conditions(client) == {"Suspended": "True"})
    assert not client.core_v1().pods("default").list(CTX, metav1.ListOptions()).items
    jobs.patch(CTX, "work", "application/merge-patch+json", b'{"spec":{"suspend":false}}')
    eventually(lambda: job_conditions(client).get("Complete") == "True")
    assert job_conditions(client)["Suspended"] == "False"
