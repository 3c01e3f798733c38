"""The simulator's other workloads: StatefulSets, DaemonSets, CronJobs, claims, endpoints, autoscalers, failing pods."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from apiclient import eventually
from virtualcluster import VirtualCluster

from clientgo import context, kubernetes
from clientgo.api.apps import v1 as appsv1
from clientgo.api.autoscaling import v2 as autoscalingv2
from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.api.policy import v1 as policyv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.simulator import NODE, Simulator
from clientgo.testing.apiserver.simulator.schedules import Schedule
from clientgo.testing.apiserver.simulator.statefulsets import StatefulSets
from clientgo.testing.apiserver.store.storage import Event

CTX = context.background()
LIST, GET = metav1.ListOptions(), metav1.GetOptions()
LABELS = {"app": "db"}


@pytest.fixture
def client() -> Iterator[Any]:
    with Environment() as env, Simulator(env.server, ready_delay=0.0):
        clientset = kubernetes.new_for_config(env.config)
        yield clientset
        clientset.close()


def template(image: str = "example.com/db:1", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "db", "image": image, "resources": {"requests": {"cpu": "100m"}}}]
    return {"metadata": {"labels": LABELS}, "spec": {"containers": containers, **spec}}


def stateful_set(replicas: int, **spec: Any) -> appsv1.StatefulSet:
    doc = {"serviceName": "db", "replicas": replicas, "selector": {"matchLabels": LABELS}, "template": template()}
    return appsv1.StatefulSet.from_dict({"metadata": {"name": "db"}, "spec": {**doc, **spec}})


def claim_template(size: str = "1Gi") -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return {"metadata": {"name": "data"}, "spec": spec}


def pods(client: Any) -> dict[str, corev1.Pod]:
    return {pod.get_name(): pod for pod in client.core_v1().pods("default").list(CTX, LIST).items}


def ready_pods(client: Any) -> dict[str, corev1.Pod]:
    return {
        name: pod
        for name, pod in pods(client).items()
        if pod.metadata.deletion_timestamp is None
        and any(one.type == "Ready" and one.status == "True" for one in pod.status.conditions)
    }


def ready(client: Any) -> list[str]:
    return sorted(ready_pods(client))


def images(client: Any) -> dict[str, str]:
    return {name: pod.spec.containers[0].image[-1] for name, pod in sorted(pods(client).items())}


def merge(resource: Any, name: str, patch: dict[str, Any]) -> None:
    resource.patch(CTX, name, "application/merge-patch+json", json.dumps(patch).encode(), metav1.PatchOptions())


def annotate(client: Any, pod: str, **annotations: str | None) -> None:
    named = {f"simulator/{key.replace('_', '-')}": value for key, value in annotations.items()}
    merge(client.core_v1().pods("default"), pod, {"metadata": {"annotations": named}})


def set_image(resource: Any, version: int) -> None:
    merge(resource, "db", {"spec": {"template": template(f"example.com/db:{version}")}})


def events(client: Any, kind: str) -> list[str]:
    found = client.core_v1().events("default").list(CTX, LIST).items
    return [event.message for event in found if event.involved_object.kind == kind]


def names(count: int) -> list[str]:
    return [f"db-{ordinal}" for ordinal in range(count)]


def test_pods_of_a_stateful_set_start_in_order_each_when_the_one_before_is_ready(client: Any) -> None:
    sets = client.apps_v1().stateful_sets("default")
    sets.create(CTX, stateful_set(3, template={**template(), "metadata": {"labels": LABELS}}))
    eventually(lambda: ready(client) == names(3))
    created = [f"create Pod {name} in StatefulSet db successful" for name in names(3)]
    eventually(lambda: [text for text in events(client, "StatefulSet") if text.startswith("create Pod")] == created)
    for ordinal, pod in enumerate(pods(client)[name] for name in names(3)):
        assert pod.spec.hostname == pod.get_name()
        assert pod.spec.subdomain == "db"
        assert pod.metadata.labels["statefulset.kubernetes.io/pod-name"] == pod.get_name()
        assert pod.metadata.labels["apps.kubernetes.io/pod-index"] == str(ordinal)
    eventually(lambda: sets.get(CTX, "db", GET).status.available_replicas == 3)
    status = sets.get(CTX, "db", GET).status
    assert (status.replicas, status.ready_replicas, status.current_replicas, status.updated_replicas) == (3, 3, 3, 3)
    assert status.current_revision == status.update_revision


def test_a_pod_that_is_not_ready_holds_back_those_behind_it(client: Any) -> None:
    sets = client.apps_v1().stateful_sets("default")
    sets.create(CTX, stateful_set(1))
    eventually(lambda: ready(client) == names(1))
    annotate(client, "db-0", ready="false")
    eventually(lambda: ready(client) == [])
    merge(sets, "db", {"spec": {"replicas": 3}})
    eventually(lambda: sets.get(CTX, "db", GET).status.observed_generation == 2)
    assert list(pods(client)) == names(1)
    annotate(client, "db-0", ready=None)
    eventually(lambda: ready(client) == names(3))


def test_parallel_sets_wait_for_nobody(client: Any) -> None:
    sets = client.apps_v1().stateful_sets("default")
    never = template(nodeSelector={"disk": "none"})
    sets.create(CTX, stateful_set(3, podManagementPolicy="Parallel", template=never))
    eventually(lambda: sorted(pods(client)) == names(3))


def test_a_stateful_set_scales_down_from_the_highest_ordinal(client: Any) -> None:
    sets = client.apps_v1().stateful_sets("default")
    sets.create(CTX, stateful_set(3))
    eventually(lambda: ready(client) == names(3))
    merge(sets, "db", {"spec": {"replicas": 1}})
    eventually(lambda: sorted(pods(client)) == names(1))
    deleted = [f"delete Pod db-{ordinal} in StatefulSet db successful" for ordinal in (2, 1)]
    eventually(
        lambda: sorted(text for text in events(client, "StatefulSet") if text.startswith("delete Pod"))
        == sorted(deleted)
    )


def test_a_rolling_update_goes_down_to_the_partition_and_on_when_it_falls(client: Any) -> None:
    sets = client.apps_v1().stateful_sets("default")
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    sets.create(CTX, stateful_set(3, updateStrategy=strategy))
    eventually(lambda: sets.get(CTX, "db", GET).status.available_replicas == 3)
    set_image(sets, 2)
    eventually(lambda: images(client) == {"db-0": "1", "db-1": "1", "db-2": "2"} and ready(client) == names(3))
    eventually(lambda: sets.get(CTX, "db", GET).status.updated_replicas == 1)
    status = sets.get(CTX, "db", GET).status
    assert status.current_replicas == 2
    assert status.current_revision != status.update_revision
    # What dies below the partition comes back as it was.
    client.core_v1().pods("default").delete(CTX, "db-0", metav1.DeleteOptions())
    eventually(lambda: ready(client) == names(3))
    assert images(client)["db-0"] == "1"

    merge(sets, "db", {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})
    eventually(lambda: images(client) == dict.fromkeys(names(3), "2") and ready(client) == names(3))
    eventually(lambda: sets.get(CTX, "db", GET).status.current_revision == status.update_revision)


def test_an_update_stops_at_a_pod_that_does_not_become_healthy(client: Any) -> None:
    sets = client.apps_v1().stateful_sets("default")
    sets.create(CTX, stateful_set(3))
    eventually(lambda: sets.get(CTX, "db", GET).status.available_replicas == 3)
    merge(sets, "db", {"spec": {"template": template("example.com/db:2", nodeSelector={"disk": "none"})}})
    eventually(lambda: images(client) == {"db-0": "1", "db-1": "1", "db-2": "2"})
    eventually(lambda: sets.get(CTX, "db", GET).status.observed_generation == 2)
    assert ready(client) == names(2)


def test_on_delete_updates_only_what_is_deleted(client: Any) -> None:
    sets = client.apps_v1().stateful_sets("default")
    sets.create(CTX, stateful_set(2, updateStrategy={"type": "OnDelete"}))
    eventually(lambda: sets.get(CTX, "db", GET).status.available_replicas == 2)
    set_image(sets, 2)
    eventually(lambda: sets.get(CTX, "db", GET).status.observed_generation == 2)
    assert images(client) == {"db-0": "1", "db-1": "1"}
    client.core_v1().pods("default").delete(CTX, "db-0", metav1.DeleteOptions())
    eventually(lambda: images(client) == {"db-0": "2", "db-1": "1"})


def test_claims_outlive_their_pods_and_go_when_the_policy_says_so(client: Any) -> None:
    sets, claims = client.apps_v1().stateful_sets("default"), client.core_v1().persistent_volume_claims("default")

    def claimed() -> dict[str, str]:
        return {claim.get_name(): claim.status.phase for claim in claims.list(CTX, LIST).items}

    policy = {"whenDeleted": "Delete", "whenScaled": "Retain"}
    sets.create(
        CTX, stateful_set(2, volumeClaimTemplates=[claim_template()], persistentVolumeClaimRetentionPolicy=policy)
    )
    eventually(lambda: ready(client) == names(2))
    assert claimed() == {"data-db-0": "Bound", "data-db-1": "Bound"}
    (volume,) = pods(client)["db-1"].spec.volumes[:1]
    assert volume.persistent_volume_claim is not None
    assert volume.persistent_volume_claim.claim_name == "data-db-1"
    merge(sets, "db", {"spec": {"replicas": 1}})
    eventually(lambda: sorted(pods(client)) == names(1))
    assert "data-db-1" in claimed()
    merge(sets, "db", {"spec": {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}, "replicas": 2}})
    eventually(lambda: ready(client) == names(2))
    merge(sets, "db", {"spec": {"replicas": 1}})
    eventually(lambda: claimed() == {"data-db-0": "Bound"})
    sets.delete(CTX, "db", metav1.DeleteOptions())
    eventually(lambda: claimed() == {})
    eventually(lambda: client.core_v1().persistent_volumes().list(CTX, LIST).items == [])


def test_a_claim_that_goes_with_its_set_is_the_sets_from_its_first_moment_on() -> None:
    owners: list[Any] = []

    def look(bucket: str, event: Event) -> None:
        if bucket == "/persistentvolumeclaims" and event.type == "ADDED":
            owners.append([owner["kind"] for owner in event.new.obj["metadata"].get("ownerReferences", ())])

    with VirtualCluster() as cluster:
        cluster.each_change(look)
        policy = {"whenDeleted": "Delete", "whenScaled": "Retain"}
        wanted = stateful_set(2, volumeClaimTemplates=[claim_template()], persistentVolumeClaimRetentionPolicy=policy)
        cluster.clientset.apps_v1().stateful_sets("default").create(CTX, wanted)
        cluster.until(lambda: len(owners) == 2)
    assert owners == [["StatefulSet"]] * 2


def test_the_volume_of_a_claim_that_is_made_anew_at_once_goes() -> None:
    with VirtualCluster() as cluster:
        core = cluster.clientset.core_v1()
        claims, volumes = core.persistent_volume_claims("default"), core.persistent_volumes()

        def is_bound() -> bool:
            return bool(claims.get(CTX, "data", GET).status.phase == "Bound")

        claim = corev1.PersistentVolumeClaim.from_dict(claim_template("1Gi"))
        claims.create(CTX, claim)
        cluster.until(is_bound)
        merge(claims, "data", {"metadata": {"finalizers": None}})
        claims.delete(CTX, "data")
        claims.create(CTX, claim)
        cluster.until(is_bound)
        volume = claims.get(CTX, "data", GET).spec.volume_name
        cluster.until(lambda: [each.get_name() for each in volumes.list(CTX, LIST).items] == [volume], seconds=60.0)


def test_a_volume_that_waits_for_a_claim_of_some_name_is_not_that_of_one_that_has_gone() -> None:
    reference = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "data"}
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/mine"}}
    spec |= {"claimRef": reference, "persistentVolumeReclaimPolicy": "Delete"}
    with VirtualCluster() as cluster:
        core = cluster.clientset.core_v1()
        claims, volumes = core.persistent_volume_claims("default"), core.persistent_volumes()
        volumes.create(CTX, corev1.PersistentVolume.from_dict({"metadata": {"name": "mine"}, "spec": spec}))
        claims.create(CTX, corev1.PersistentVolumeClaim.from_dict(claim_template("1Gi")))
        cluster.until(lambda: claims.get(CTX, "data", GET).status.phase == "Bound")
        cluster.bubble.sleep(5.0)
        assert volumes.get(CTX, "mine", GET).metadata.deletion_timestamp is None


def test_a_claim_grows_with_its_request(client: Any) -> None:
    claims = client.core_v1().persistent_volume_claims("default")
    claims.create(CTX, corev1.PersistentVolumeClaim.from_dict(claim_template("1Gi")))

    def capacity() -> Any:
        return (claims.get(CTX, "data", GET).to_dict().get("status") or {}).get("capacity", {}).get("storage")

    eventually(lambda: capacity() == "1Gi")
    merge(claims, "data", {"spec": {"resources": {"requests": {"storage": "2Gi"}}}})
    eventually(lambda: capacity() == "2Gi")


def test_a_pod_waits_for_its_claim(client: Any) -> None:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    spec = {"containers": [{"name": "c", "image": "i"}], "volumes": [volume]}
    client.core_v1().pods("default").create(CTX, corev1.Pod.from_dict({"metadata": {"name": "db-0"}, "spec": spec}))

    def message() -> str:
        return next((one.message for one in pods(client)["db-0"].status.conditions if one.type == "PodScheduled"), "")

    eventually(lambda: 'persistentvolumeclaim "data" not found' in message())
    claims = client.core_v1().persistent_volume_claims("default")
    claims.create(CTX, corev1.PersistentVolumeClaim.from_dict(claim_template()))
    eventually(lambda: ready(client) == ["db-0"])


def make_node(client: Any, name: str, **spec: Any) -> None:
    conditions = [{"type": "Ready", "status": "True"}]
    doc = {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}, "spec": spec}
    node = client.core_v1().nodes().create(CTX, corev1.Node.from_dict(doc))
    document = {**node.to_dict(), "status": {"conditions": conditions}}
    client.core_v1().nodes().update_status(CTX, corev1.Node.from_dict(document), metav1.UpdateOptions())


def daemon_set(**spec: Any) -> appsv1.DaemonSet:
    doc = {"selector": {"matchLabels": LABELS}, "template": template(), **spec}
    return appsv1.DaemonSet.from_dict({"metadata": {"name": "db"}, "spec": doc})


def test_a_daemon_set_has_a_pod_on_each_node_that_takes_it(client: Any) -> None:
    make_node(client, "second", unschedulable=True)
    make_node(client, "tainted", taints=[{"key": "own", "effect": "NoSchedule"}])
    sets = client.apps_v1().daemon_sets("default")
    sets.create(CTX, daemon_set())

    def nodes() -> list[str]:
        return sorted(pods(client)[name].spec.node_name for name in ready(client))

    eventually(lambda: nodes() == ["second", NODE])
    make_node(client, "third")
    eventually(lambda: nodes() == ["second", NODE, "third"])
    eventually(lambda: sets.get(CTX, "db", GET).status.number_available == 3)
    assert sets.get(CTX, "db", GET).status.desired_number_scheduled == 3

    set_image(sets, 2)
    eventually(lambda: set(images(client).values()) == {"2"} and nodes() == ["second", NODE, "third"])
    eventually(lambda: sets.get(CTX, "db", GET).status.updated_number_scheduled == 3)


def test_a_failing_node_takes_the_readiness_of_its_pods(client: Any) -> None:
    client.apps_v1().stateful_sets("default").create(CTX, stateful_set(1))
    eventually(lambda: ready(client) == names(1))
    nodes = client.core_v1().nodes()

    def set_ready(status: str) -> None:
        document = nodes.get(CTX, NODE, GET).to_dict()
        document["status"]["conditions"][0]["status"] = status
        nodes.update_status(CTX, corev1.Node.from_dict(document), metav1.UpdateOptions())

    set_ready("Unknown")
    eventually(lambda: ready(client) == [])
    set_ready("True")
    eventually(lambda: ready(client) == names(1))


def test_a_pod_that_crashes_starts_again_and_one_that_fails_is_replaced(client: Any) -> None:
    client.apps_v1().stateful_sets("default").create(CTX, stateful_set(1))
    eventually(lambda: ready(client) == names(1))
    uid = pods(client)["db-0"].metadata.uid
    annotate(client, "db-0", crash="1")
    eventually(lambda: pods(client)["db-0"].status.container_statuses[0].restart_count == 1)
    eventually(lambda: ready(client) == names(1))
    assert pods(client)["db-0"].metadata.uid == uid
    annotate(client, "db-0", phase="Failed")
    eventually(lambda: [pod.metadata.uid != uid for pod in ready_pods(client).values()] == [True])


def test_a_service_knows_the_addresses_of_its_pods(client: Any) -> None:
    spec = {"selector": LABELS, "clusterIP": "None", "ports": [{"name": "sql", "port": 26257, "targetPort": 26257}]}
    client.core_v1().services("default").create(
        CTX, corev1.Service.from_dict({"metadata": {"name": "db"}, "spec": spec})
    )
    client.apps_v1().stateful_sets("default").create(CTX, stateful_set(2))
    eventually(lambda: ready(client) == names(2))

    def shown() -> dict[str, bool]:
        options = metav1.ListOptions(label_selector="kubernetes.io/service-name=db")
        slices = client.discovery_v1().endpoint_slices("default").list(CTX, options).items
        return {
            one["hostname"]: one["conditions"]["ready"]
            for piece in slices
            for one in piece.to_dict().get("endpoints") or ()
        }

    eventually(lambda: shown() == {"db-0": True, "db-1": True})
    annotate(client, "db-1", ready="false")
    eventually(lambda: shown() == {"db-0": True, "db-1": False})

    def listed() -> list[tuple[list[str], list[int]]]:
        subsets = client.core_v1().endpoints("default").get(CTX, "db", GET).subsets
        return [([one.hostname for one in part.addresses], [one.port for one in part.ports]) for part in subsets]

    eventually(lambda: listed() == [(["db-0"], [26257])])


def test_an_autoscaler_follows_what_pods_say_they_use(client: Any) -> None:
    deployments = client.apps_v1().deployments("default")
    doc = {"replicas": 2, "selector": {"matchLabels": LABELS}, "template": template()}
    deployments.create(CTX, appsv1.Deployment.from_dict({"metadata": {"name": "db"}, "spec": doc}))
    eventually(lambda: len(ready(client)) == 2)
    for name in ready(client):
        annotate(client, name, cpu="200m")
    resource = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 100}}
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "db"},
        "minReplicas": 1,
        "maxReplicas": 3,
        "metrics": [{"type": "Resource", "resource": resource}],
    }
    scalers = client.autoscaling_v2().horizontal_pod_autoscalers("default")
    scalers.create(CTX, autoscalingv2.HorizontalPodAutoscaler.from_dict({"metadata": {"name": "db"}, "spec": spec}))
    # Twice as much as asked for would be four pods; the autoscaler may have three.
    eventually(lambda: deployments.get(CTX, "db", GET).spec.replicas == 3)
    eventually(lambda: scalers.get(CTX, "db", GET).status.desired_replicas == 3)


def cron_job(schedule: str, **spec: Any) -> batchv1.CronJob:
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    job = {"spec": {"template": {"spec": pod}}}
    doc = {"metadata": {"name": "tick"}, "spec": {"schedule": schedule, "jobTemplate": job, **spec}}
    return batchv1.CronJob.from_dict(doc)


def test_a_cron_job_starts_jobs_when_they_are_due_and_keeps_the_last_ones(client: Any) -> None:
    cron_jobs, jobs = client.batch_v1().cron_jobs("default"), client.batch_v1().jobs("default")
    cron_jobs.create(CTX, cron_job("@every 1s", successfulJobsHistoryLimit=1, concurrencyPolicy="Forbid"))
    eventually(lambda: cron_jobs.get(CTX, "tick", GET).status.last_successful_time is not None)
    merge(cron_jobs, "tick", {"spec": {"suspend": True}})
    eventually(lambda: not cron_jobs.get(CTX, "tick", GET).status.active)
    assert len(jobs.list(CTX, LIST).items) <= 2
    cron_jobs.delete(CTX, "tick", metav1.DeleteOptions())
    eventually(lambda: jobs.list(CTX, LIST).items == [])
    with pytest.raises(errors.StatusError):
        cron_jobs.get(CTX, "tick", GET)


def test_a_job_whose_pods_fail_is_given_up_after_as_many_as_it_allows(client: Any) -> None:
    jobs, pods = client.batch_v1().jobs("default"), client.core_v1().pods("default")
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    failing = {"metadata": {"annotations": {"simulator/phase": "Failed"}}, "spec": pod}
    doc = {"metadata": {"name": "work"}, "spec": {"backoffLimit": 2, "parallelism": 1, "template": failing}}
    jobs.create(CTX, batchv1.Job.from_dict(doc))
    eventually(lambda: "Failed" in [each.type for each in jobs.get(CTX, "work", GET).status.conditions])
    status = jobs.get(CTX, "work", GET).status
    assert (status.failed, status.active, status.completion_time) == (3, 0, None)
    (reason,) = {each.reason for each in status.conditions}
    assert reason == "BackoffLimitExceeded"
    assert [one.status.phase for one in pods.list(CTX, LIST).items] == ["Failed"] * 3
    eventually(lambda: "Job has reached the specified backoff limit" in events(client, "Job"))


def moment(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("schedule", "zone", "after", "expected"),
    [
        ("* * * * *", None, "2026-01-01 00:00:00", "2026-01-01 00:01:00"),
        ("*/15 * * * *", None, "2026-01-01 00:15:00", "2026-01-01 00:30:00"),
        ("0 0 1 1 *", None, "2026-01-01 00:00:00", "2027-01-01 00:00:00"),
        ("0 0 29 2 *", None, "2026-01-01 00:00:00", "2028-02-29 00:00:00"),
        ("0 0 13 * 5", None, "2026-01-01 00:00:00", "2026-01-02 00:00:00"),  # a Friday, or the 13th
        ("0 0 */2 * 1", None, "2026-01-01 00:00:00", "2026-01-03 00:00:00"),
        ("0 0 * * sun", None, "2026-01-01 00:00:00", "2026-01-04 00:00:00"),
        ("@weekly", None, "2026-01-01 00:00:00", "2026-01-04 00:00:00"),
        ("30 9 * * *", "Asia/Shanghai", "2026-01-01 00:00:00", "2026-01-01 01:30:00"),
        ("@every 90s", None, "2026-01-01 00:00:00", "2026-01-01 00:01:30"),
    ],
)
def test_schedules_are_those_of_cron(schedule: str, zone: str | None, after: str, expected: str) -> None:
    assert Schedule(schedule, zone).next(moment(after)) == moment(expected)


def test_a_schedule_that_never_comes_has_no_next_time() -> None:
    assert Schedule("0 0 30 2 *", None).next(moment("2026-01-01 00:00:00")) is None


def test_a_budget_counts_what_a_stateful_set_asks_for(client: Any) -> None:
    client.apps_v1().stateful_sets("default").create(CTX, stateful_set(3))
    budgets = client.policy_v1().pod_disruption_budgets("default")
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": LABELS}}
    budgets.create(CTX, policyv1.PodDisruptionBudget.from_dict({"metadata": {"name": "db"}, "spec": spec}))
    eventually(lambda: ready(client) == names(3))
    eventually(lambda: budgets.get(CTX, "db", GET).status.disruptions_allowed == 1)
    status = budgets.get(CTX, "db", GET).status
    assert (status.expected_pods, status.desired_healthy) == (3, 2)
    annotate(client, "db-2", ready="false")
    eventually(lambda: budgets.get(CTX, "db", GET).status.disruptions_allowed == 0)


def test_a_stateful_set_deleted_without_its_pods_comes_back_around_them(client: Any) -> None:
    sets = client.apps_v1().stateful_sets("default")
    sets.create(CTX, stateful_set(2, volumeClaimTemplates=[claim_template("1Gi")]))
    eventually(lambda: ready(client) == names(2))
    before = {name: pod.metadata.uid for name, pod in pods(client).items()}
    sets.delete(CTX, "db", metav1.DeleteOptions(propagation_policy="Orphan"))
    eventually(lambda: not sets.list(CTX, LIST).items)
    assert all(metav1.get_controller_of(pod) is None for pod in pods(client).values())

    again = sets.create(CTX, stateful_set(2, volumeClaimTemplates=[claim_template("2Gi")]))

    eventually(lambda: sets.get(CTX, "db", GET).status.ready_replicas == 2)
    assert {name: pod.metadata.uid for name, pod in pods(client).items()} == before
    assert all(metav1.is_controlled_by(pod, again) for pod in pods(client).values())
    revisions = client.apps_v1().controller_revisions("default").list(CTX, LIST).items
    assert [metav1.is_controlled_by(one, again) for one in revisions] == [True]
    # And it updates them as its own.
    set_image(sets, 2)
    eventually(lambda: images(client) == {"db-0": "2", "db-1": "2"})


class DeletedMeanwhile:
    """A client with which the set is deleted after it was read, and before its pods are listed."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def apps_v1(self) -> Any:
        return self._client.apps_v1()

    def core_v1(self) -> Any:
        self._client.apps_v1().stateful_sets("default").delete(CTX, "db")
        return self._client.core_v1()


def test_a_set_that_is_deleted_meanwhile_adopts_no_pod() -> None:
    """A deletion with the policy Orphan would otherwise delete the pods of the set with it."""
    with Environment() as env:
        client = kubernetes.new_for_config(env.config)
        held = stateful_set(1)
        held.metadata.finalizers = ["example.com/hold"]
        client.apps_v1().stateful_sets("default").create(CTX, held)
        pod = corev1.Pod.from_dict({**template(), "metadata": {"name": "db-0", "labels": LABELS}})
        client.core_v1().pods("default").create(CTX, pod)
        unused: Any = None
        controller = StatefulSets(DeletedMeanwhile(client), unused, unused, unused)  # type: ignore[arg-type]
        with pytest.raises(RuntimeError, match="default/db has just been deleted at"):
            controller.sync(CTX, "default", "db")
        assert metav1.get_controller_of(pods(client)["db-0"]) is None
        client.close()


def test_containers_of_a_stateful_set_mount_what_its_claim_templates_name(client: Any) -> None:
    sets = client.apps_v1().stateful_sets("default")
    mounting = template()
    mounting["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    sets.create(CTX, stateful_set(1, template=mounting, volumeClaimTemplates=[claim_template()]))
    eventually(lambda: ready(client) == names(1))
    mounting["spec"]["containers"][0]["volumeMounts"][0]["name"] = "other"
    with pytest.raises(errors.StatusError, match=r'volumeMounts\[0\].name: Not found: "other"'):
        sets.create(CTX, stateful_set(1, template=mounting, volumeClaimTemplates=[claim_template()]))


def test_the_status_of_a_set_counts_the_pods_that_were_created_and_deleted_just_before() -> None:
    reported: list[tuple[int, int]] = []
    there: list[tuple[int, int]] = []
    stays: dict[str, bool] = {}

    def look(bucket: str, event: Event) -> None:
        metadata, status = event.new.obj["metadata"], event.new.obj.get("status") or {}
        if bucket == "/pods":
            stays[metadata["name"]] = "deletionTimestamp" not in metadata
            if event.type == "DELETED":
                del stays[metadata["name"]]
        elif bucket == "apps/statefulsets" and status:
            reported.append((status["replicas"], status.get("currentReplicas", 0)))
            there.append((len(stays), sum(stays.values())))

    with VirtualCluster() as cluster:
        cluster.each_change(look)
        sets = cluster.clientset.apps_v1().stateful_sets("default")
        sets.create(CTX, stateful_set(3, podManagementPolicy="Parallel"))
        cluster.until(lambda: len(stays) == 3)
        sets.patch(CTX, "db", "application/merge-patch+json", b'{"spec": {"replicas": 1}}')
        cluster.until(lambda: len(stays) == 1)
        cluster.bubble.sleep(1.0)
    assert reported == there


def test_what_comes_due_while_time_stands_still_is_due() -> None:
    """A clock of floats that read today's date is up to a quarter of a microsecond behind the time that was waited."""
    spec = {"containers": [{"name": "c", "image": "i"}]}
    with VirtualCluster() as cluster:
        pods, cron_jobs = cluster.clientset.core_v1().pods("default"), cluster.clientset.batch_v1().cron_jobs("default")
        cron_jobs.create(CTX, cron_job("@every 7s"))
        for number in range(40):
            name = f"p{number}"
            cluster.bubble.sleep(0.1234567 * (number % 7) + 0.0000003)
            pods.create(CTX, corev1.Pod.from_dict({"metadata": {"name": name}, "spec": spec}))
            # Looked at again before it is due: from then on its rest is a difference of dates.
            cluster.bubble.sleep(0.3036945)
            merge(pods, name, {"metadata": {"annotations": {"looked": "at"}}})
            cluster.until(lambda name=name: pods.get(CTX, name, GET).status.phase == "Running")
        assert cluster.clientset.batch_v1().jobs("default").list(CTX).items


def test_a_pod_that_selects_nodes_by_linux_runs_on_the_simulated_node(client: Any) -> None:
    document = daemon_set(template=template(nodeSelector={"kubernetes.io/os": "linux"}))
    client.apps_v1().daemon_sets("default").create(CTX, document)
    eventually(lambda: client.apps_v1().daemon_sets("default").get(CTX, "db").status.number_ready == 1)
