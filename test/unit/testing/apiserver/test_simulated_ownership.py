"""Simulated controllers adopt what their selector matches, and release what it no longer matches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import eventually

from clientgo import context, kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.simulator import Simulator

CTX = context.background()
LIST, GET = metav1.ListOptions(), metav1.GetOptions()
ORPHAN = metav1.DeleteOptions(propagation_policy="Orphan")
LABELS = {"app": "web"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "web", "image": "example.com/web:1"}]}}


@pytest.fixture
def client() -> Iterator[Any]:
    with Environment() as env, Simulator(env.server, ready_delay=0.0):
        clientset = kubernetes.new_for_config(env.config)
        yield clientset
        clientset.close()


def deployment(replicas: int) -> appsv1.Deployment:
    spec = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": TEMPLATE}
    return appsv1.Deployment.from_dict({"metadata": {"name": "web"}, "spec": spec})


def replica_set(name: str, replicas: int) -> appsv1.ReplicaSet:
    spec = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": TEMPLATE}
    return appsv1.ReplicaSet.from_dict({"metadata": {"name": name}, "spec": spec})


def daemon_set() -> appsv1.DaemonSet:
    spec = {"selector": {"matchLabels": LABELS}, "template": TEMPLATE}
    return appsv1.DaemonSet.from_dict({"metadata": {"name": "web"}, "spec": spec})


def bare_pod(name: str, **spec: Any) -> corev1.Pod:
    pod = {"metadata": {"name": name, "labels": LABELS}, "spec": {**TEMPLATE["spec"], **spec}}
    return corev1.Pod.from_dict(pod)


def pods(client: Any) -> list[corev1.Pod]:
    return [pod for pod in client.core_v1().pods("default").list(CTX, LIST).items if not pod.get_deletion_timestamp()]


def uids(client: Any) -> set[str]:
    return {pod.get_uid() for pod in pods(client)}


def owners(client: Any) -> set[str]:
    """Return the names of the pods' controllers; "" is a pod without one."""
    found = (metav1.get_controller_of(pod) for pod in pods(client))
    return {owner.name if owner is not None else "" for owner in found}


def relabel(client: Any, pod: str, **labels: str) -> None:
    patch = json.dumps({"metadata": {"labels": labels}}).encode()
    client.core_v1().pods("default").patch(CTX, pod, "application/merge-patch+json", patch, metav1.PatchOptions())


def test_a_deployment_that_comes_back_takes_its_replica_set_and_pods(client: Any) -> None:
    deployments, sets = client.apps_v1().deployments("default"), client.apps_v1().replica_sets("default")
    deployments.create(CTX, deployment(3))
    eventually(lambda: deployments.get(CTX, "web", GET).status.ready_replicas == 3)
    before = uids(client)
    deployments.delete(CTX, "web", ORPHAN)
    eventually(lambda: not deployments.list(CTX, LIST).items)
    assert [metav1.get_controller_of(one) for one in sets.list(CTX, LIST).items] == [None]

    again = deployments.create(CTX, deployment(4))

    eventually(lambda: deployments.get(CTX, "web", GET).status.ready_replicas == 4)
    assert [metav1.is_controlled_by(one, again) for one in sets.list(CTX, LIST).items] == [True]
    assert before < uids(client)
    # And they end with it.
    deployments.delete(CTX, "web", metav1.DeleteOptions(propagation_policy="Background"))
    eventually(lambda: not pods(client))


def test_a_replica_set_takes_the_pods_that_another_left(client: Any) -> None:
    sets = client.apps_v1().replica_sets("default")
    sets.create(CTX, replica_set("first", 2))
    eventually(lambda: sets.get(CTX, "first", GET).status.ready_replicas == 2)
    before = uids(client)
    sets.delete(CTX, "first", ORPHAN)
    eventually(lambda: not sets.list(CTX, LIST).items)
    sets.create(CTX, replica_set("second", 2))
    eventually(lambda: sets.get(CTX, "second", GET).status.ready_replicas == 2)
    assert uids(client) == before
    assert owners(client) == {"second"}


def test_a_replica_set_takes_a_pod_that_appears_later_and_ends_one_too_many(client: Any) -> None:
    sets = client.apps_v1().replica_sets("default")
    sets.create(CTX, replica_set("web", 1))
    eventually(lambda: sets.get(CTX, "web", GET).status.ready_replicas == 1)
    client.core_v1().pods("default").create(CTX, bare_pod("extra"))
    eventually(lambda: len(pods(client)) == 1 and owners(client) == {"web"})


def test_a_pod_whose_label_changes_is_left_alone_and_replaced(client: Any) -> None:
    sets = client.apps_v1().replica_sets("default")
    sets.create(CTX, replica_set("web", 2))
    eventually(lambda: sets.get(CTX, "web", GET).status.ready_replicas == 2)
    one = pods(client)[0]
    relabel(client, one.get_name(), app="debug")
    eventually(lambda: len(pods(client)) == 3 and sets.get(CTX, "web", GET).status.ready_replicas == 2)
    freed = client.core_v1().pods("default").get(CTX, one.get_name(), GET)
    assert freed.get_uid() == one.get_uid()
    assert freed.get_owner_references() == []
    # With its label back, it is one too many.
    relabel(client, one.get_name(), app="web")
    eventually(lambda: len(pods(client)) == 2 and owners(client) == {"web"})


def test_a_pod_of_another_controller_is_not_taken(client: Any) -> None:
    sets = client.apps_v1().replica_sets("default")
    sets.create(CTX, replica_set("first", 1))
    eventually(lambda: sets.get(CTX, "first", GET).status.ready_replicas == 1)
    sets.create(CTX, replica_set("second", 1))
    eventually(lambda: sets.get(CTX, "second", GET).status.ready_replicas == 1)
    assert len(pods(client)) == 2
    assert owners(client) == {"first", "second"}


def test_a_daemon_set_that_comes_back_takes_its_pods(client: Any) -> None:
    sets = client.apps_v1().daemon_sets("default")
    sets.create(CTX, daemon_set())
    eventually(lambda: sets.get(CTX, "web", GET).status.number_ready == 1)
    before = uids(client)
    sets.delete(CTX, "web", ORPHAN)
    eventually(lambda: not sets.list(CTX, LIST).items)
    again = sets.create(CTX, daemon_set())
    eventually(lambda: sets.get(CTX, "web", GET).status.number_ready == 1)
    assert uids(client) == before
    revisions = client.apps_v1().controller_revisions("default").list(CTX, LIST).items
    assert [metav1.is_controlled_by(one, again) for one in revisions] == [True]


def test_a_daemon_set_bears_a_pod_without_a_node(client: Any) -> None:
    client.core_v1().pods("default").create(CTX, bare_pod("nowhere", nodeSelector={"no": "such"}))
    sets = client.apps_v1().daemon_sets("default")
    sets.create(CTX, daemon_set())
    eventually(lambda: sets.get(CTX, "web", GET).status.number_ready == 1)
    assert len(pods(client)) == 2


def test_a_job_takes_the_pods_that_its_selector_matches(client: Any) -> None:
    client.core_v1().pods("default").create(CTX, bare_pod("early"))
    template = {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
    spec = {"manualSelector": True, "selector": {"matchLabels": LABELS}, "template": template}
    jobs = client.batch_v1().jobs("default")
    jobs.create(CTX, batchv1.Job.from_dict({"metadata": {"name": "web"}, "spec": spec}))
    eventually(lambda: owners(client) == {"web"})
    assert [pod.get_name() for pod in pods(client)] == ["early"]


def test_a_stateful_set_takes_no_pod_of_another_name(client: Any) -> None:
    client.core_v1().pods("default").create(CTX, bare_pod("other-0"))
    spec = {"serviceName": "web", "replicas": 1, "selector": {"matchLabels": LABELS}, "template": TEMPLATE}
    sets = client.apps_v1().stateful_sets("default")
    sets.create(CTX, appsv1.StatefulSet.from_dict({"metadata": {"name": "web"}, "spec": spec}))
    eventually(lambda: sets.get(CTX, "web", GET).status.ready_replicas == 1)
    assert owners(client) == {"", "web"}
