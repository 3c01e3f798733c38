"""One sync of a simulated StatefulSet at a time: the pods that it creates and deletes. No server runs."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo import context
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.kubernetes import fake
from clientgo.testing.apiserver.simulator.revisions import REVISION_HASH, hash_text
from clientgo.testing.apiserver.simulator.statefulsets import StatefulSets
from clientgo.testing.apiserver.wire.times import Times
from clientgo.tools import record
from clientgo.utils.clock import testing as clocktesting

CTX = context.background()
START = 1_600_000_000.0
LABELS = {"app": "db"}
OWNER = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u", "controller": True}


def template(image: str) -> dict[str, Any]:
    return {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": image}]}}


def code(image: str) -> str:
    return hash_text(corev1.PodTemplateSpec.from_dict(template(image)).to_dict())


def pod(ordinal: int, image: str = "new", *, ready: float | None = 100.0, **more: Any) -> corev1.Pod:
    """Return a pod of the set. `ready`: the seconds since when it is ready, or None if it is not."""
    metadata = {
        "name": f"db-{ordinal}",
        "namespace": "ns",
        "uid": f"p{ordinal}",
        "labels": {**LABELS, REVISION_HASH: f"db-{code(image)}"},
        "ownerReferences": [OWNER],
    }
    if more.pop("deleted", False):
        metadata["deletionTimestamp"] = Times(clocktesting.new_fake_clock(START)).text(START)
    since = Times(clocktesting.new_fake_clock(START)).text(START - (ready or 0.0))
    condition = {"type": "Ready", "status": "False" if ready is None else "True", "lastTransitionTime": since}
    status = {"phase": "Running", "conditions": [condition], **more}
    return corev1.Pod.from_dict({"metadata": metadata, "spec": {}, "status": status})


class World:
    """A StatefulSet whose template has the image "new", and pods of it."""

    def __init__(self, *pods: corev1.Pod, replicas: int = 3, **spec: Any) -> None:
        self.clock = clocktesting.new_fake_clock(START)
        document = {
            "metadata": {"name": "db", "namespace": "ns", "uid": "u"},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": LABELS},
                "template": template("new"),
                "serviceName": "db",
                **spec,
            },
        }
        self.client = fake.new_clientset(appsv1.StatefulSet.from_dict(document), *pods)
        self.recorder = record.new_fake_recorder(100)
        self.later: list[float] = []
        times = Times(self.clock)
        self.sets = StatefulSets(self.client, times, self.recorder, lambda key, seconds: self.later.append(seconds))

    def sync(self) -> list[str]:
        """Return the messages of the events of one sync, shortened to the verb and the pod."""
        self.sets.sync(CTX, "ns", "db")
        channel = self.recorder.events
        assert channel is not None
        return [" ".join(str(channel.receive()[0]).split()[2:5:2]) for _ in range(len(channel))]

    def status(self) -> appsv1.StatefulSetStatus:
        return self.client.apps_v1().stateful_sets("ns").get(CTX, "db", metav1.GetOptions()).status


PARALLEL = {"podManagementPolicy": "Parallel"}


@pytest.mark.parametrize(
    ("pods", "spec", "steps"),
    [
        ([], {}, ["create db-0"]),
        ([], PARALLEL, ["create db-0", "create db-1", "create db-2"]),
        ([pod(0)], {}, ["create db-1"]),
        ([pod(0, ready=None)], {}, []),
        ([pod(0, ready=None)], PARALLEL, ["create db-1", "create db-2"]),
        ([pod(0, deleted=True)], {}, []),
        ([pod(1)], {}, ["create db-0"]),
        ([pod(0, phase="Failed")], {}, ["delete db-0"]),
        ([pod(0, phase="Succeeded"), pod(1), pod(2)], PARALLEL, ["delete db-0"]),
        ([], {"ordinals": {"start": 5}}, ["create db-5"]),
    ],
)
def test_missing_pods_are_created(pods: list[corev1.Pod], spec: dict[str, Any], steps: list[str]) -> None:
    assert World(*pods, **spec).sync() == steps


@pytest.mark.parametrize(
    ("pods", "spec", "steps"),
    [
        ([pod(0), pod(1), pod(2)], {}, ["delete db-2"]),
        ([pod(0), pod(1), pod(2)], PARALLEL, ["delete db-2", "delete db-1"]),
        ([pod(0), pod(1), pod(2, deleted=True)], {}, []),
        ([pod(0), pod(1), pod(2, deleted=True)], PARALLEL, ["delete db-1"]),
        ([pod(0, ready=None), pod(1)], {}, []),
    ],
)
def test_surplus_pods_are_deleted_from_the_highest_down(
    pods: list[corev1.Pod], spec: dict[str, Any], steps: list[str]
) -> None:
    assert World(*pods, replicas=1, **spec).sync() == steps


@pytest.mark.parametrize(
    ("pods", "spec", "steps"),
    [
        ([pod(0), pod(1), pod(2)], {}, []),
        ([pod(0, "old"), pod(1, "old"), pod(2, "old")], {}, ["delete db-2"]),
        ([pod(0, "old"), pod(1, "old"), pod(2)], {}, ["delete db-1"]),
        ([pod(0, "old"), pod(1, "old"), pod(2)], {"updateStrategy": {"type": "OnDelete"}}, []),
        # A pod that is still stopping, or is not ready yet, holds the others back.
        ([pod(0, "old"), pod(1, "old"), pod(2, "old", deleted=True)], PARALLEL, []),
        ([pod(0, "old"), pod(1, "old"), pod(2, ready=None)], PARALLEL, []),
        *(
            (
                [pod(0, "old"), pod(1, "old"), pod(2)],
                {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}},
                steps,
            )
            for partition, steps in ((0, ["delete db-1"]), (1, ["delete db-1"]), (2, []), (3, []))
        ),
    ],
)
def test_an_update_goes_down_to_the_partition(pods: list[corev1.Pod], spec: dict[str, Any], steps: list[str]) -> None:
    assert World(*pods, **spec).sync() == steps


@pytest.mark.parametrize(
    ("since", "steps", "later"), [(4.0, [], [6.0]), (10.0, ["create db-1"], []), (11.0, ["create db-1"], [])]
)
def test_a_pod_counts_after_its_least_time_of_readiness(since: float, steps: list[str], later: list[float]) -> None:
    world = World(pod(0, ready=since), minReadySeconds=10)
    assert world.sync() == steps
    assert sorted(set(world.later)) == later


def test_the_status_counts_the_pods_that_stay() -> None:
    world = World(pod(0), pod(1, ready=None), pod(2, deleted=True), updateStrategy={"type": "OnDelete"})
    world.sync()
    status = world.status()
    assert (status.replicas, status.ready_replicas, status.available_replicas) == (3, 1, 1)
    assert (status.updated_replicas, status.update_revision) == (2, f"db-{code('new')}")


def test_a_set_that_is_being_deleted_does_nothing() -> None:
    world = World(pod(0))
    sets = world.client.apps_v1().stateful_sets("ns")
    document = sets.get(CTX, "db", metav1.GetOptions()).to_dict()
    document["metadata"] |= {"deletionTimestamp": "2020-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"]}
    sets.update(CTX, appsv1.StatefulSet.from_dict(document), metav1.UpdateOptions())
    assert world.sync() == []
    assert world.status().replicas == 1
