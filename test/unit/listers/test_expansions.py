"""The hand-written methods of listers, which find the workloads that select an object."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.api.apps import v1 as appsv1
from clientgo.api.apps import v1beta1 as appsv1beta1
from clientgo.api.apps import v1beta2 as appsv1beta2
from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.api.extensions import v1beta1 as extensionsv1beta1
from clientgo.api.policy import v1 as policyv1
from clientgo.api.policy import v1beta1 as policyv1beta1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.listers.apps import v1 as appslistersv1
from clientgo.listers.apps import v1beta1 as appslistersv1beta1
from clientgo.listers.apps import v1beta2 as appslistersv1beta2
from clientgo.listers.batch import v1 as batchlistersv1
from clientgo.listers.core import v1 as corelistersv1
from clientgo.listers.extensions import v1beta1 as extensionslistersv1beta1
from clientgo.listers.policy import v1 as policylistersv1
from clientgo.listers.policy import v1beta1 as policylistersv1beta1
from clientgo.tools import cache

LABELS = {"app": "web", "tier": "x"}
MATCHING = {"matchLabels": {"app": "web"}}
OTHER = {"matchLabels": {"app": "db"}}
EMPTY: dict[str, Any] = {}
INVALID = {"matchExpressions": [{"key": "app", "operator": "Sometimes"}]}

# Class of the workloads, maker of their lister, method, does an empty selector match, text for a pod without labels.
CASES: list[tuple[Any, Any, str, bool, str]] = [
    (appsv1.DaemonSet, appslistersv1.new_daemon_set_lister, "get_pod_daemon_sets", False, "no daemon sets found"),
    (
        appsv1beta2.DaemonSet,
        appslistersv1beta2.new_daemon_set_lister,
        "get_pod_daemon_sets",
        False,
        "no daemon sets found",
    ),
    (
        extensionsv1beta1.DaemonSet,
        extensionslistersv1beta1.new_daemon_set_lister,
        "get_pod_daemon_sets",
        False,
        "no daemon sets found",
    ),
    (appsv1.ReplicaSet, appslistersv1.new_replica_set_lister, "get_pod_replica_sets", False, "no ReplicaSets found"),
    (
        appsv1beta2.ReplicaSet,
        appslistersv1beta2.new_replica_set_lister,
        "get_pod_replica_sets",
        False,
        "no ReplicaSets found",
    ),
    (
        extensionsv1beta1.ReplicaSet,
        extensionslistersv1beta1.new_replica_set_lister,
        "get_pod_replica_sets",
        False,
        "no ReplicaSets found",
    ),
    (
        appsv1.StatefulSet,
        appslistersv1.new_stateful_set_lister,
        "get_pod_stateful_sets",
        False,
        "no StatefulSets found",
    ),
    (
        appsv1beta1.StatefulSet,
        appslistersv1beta1.new_stateful_set_lister,
        "get_pod_stateful_sets",
        False,
        "no StatefulSets found",
    ),
    (
        appsv1beta2.StatefulSet,
        appslistersv1beta2.new_stateful_set_lister,
        "get_pod_stateful_sets",
        False,
        "no StatefulSets found",
    ),
    (batchv1.Job, batchlistersv1.new_job_lister, "get_pod_jobs", True, "no jobs found"),
    (
        policyv1.PodDisruptionBudget,
        policylistersv1.new_pod_disruption_budget_lister,
        "get_pod_pod_disruption_budgets",
        True,
        "",
    ),
    (
        policyv1beta1.PodDisruptionBudget,
        policylistersv1beta1.new_pod_disruption_budget_lister,
        "get_pod_pod_disruption_budgets",
        False,
        "",
    ),
]


def workload(cls: Any, name: str, selector: Any, namespace: str = "ns") -> Any:
    spec = {} if selector is None else {"selector": selector}
    return cls.from_dict({"metadata": {"name": name, "namespace": namespace}, "spec": spec})


def indexer_of(*objects: Any) -> cache.Indexer:
    indexer = cache.new_indexer(cache.meta_namespace_key_func, {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func})
    for obj in objects:
        indexer.add(obj)
    return indexer


def pod(labels: dict[str, str] | None = None) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name="p", namespace="ns", labels=labels))


@pytest.mark.parametrize(("cls", "new_lister", "method", "empty_matches", "no_labels"), CASES)
def test_workloads_that_select_a_pod(
    cls: Any, new_lister: Any, method: str, empty_matches: bool, no_labels: str
) -> None:
    """Go: TestDaemonSetLister."""
    lister = new_lister(
        indexer_of(
            workload(cls, "match", MATCHING),
            workload(cls, "empty", EMPTY),
            workload(cls, "absent", None),
            workload(cls, "invalid", INVALID),
            workload(cls, "other", OTHER),
            workload(cls, "elsewhere", MATCHING, "ns2"),
        )
    )
    found = getattr(lister, method)(pod(LABELS))
    assert sorted(each.get_name() for each in found) == (["empty", "match"] if empty_matches else ["match"])


@pytest.mark.parametrize(("cls", "new_lister", "method", "empty_matches", "no_labels"), CASES)
def test_no_workload_is_an_error(cls: Any, new_lister: Any, method: str, empty_matches: bool, no_labels: str) -> None:
    lister = new_lister(indexer_of(workload(cls, "other", OTHER)))
    with pytest.raises(LookupError) as raised:
        getattr(lister, method)(pod(LABELS))
    assert str(raised.value).endswith(" for pod p in namespace ns with labels: map[app:web tier:x]")
    with pytest.raises(LookupError) as raised:
        getattr(lister, method)(pod())
    expected = f"{no_labels} for pod p because it has no labels" if no_labels else "in namespace ns with labels: map[]"
    assert str(raised.value).endswith(expected)


def test_replication_controllers_select_by_a_plain_map() -> None:
    lister = corelistersv1.new_replication_controller_lister(
        indexer_of(
            workload(corev1.ReplicationController, "match", {"app": "web"}),
            workload(corev1.ReplicationController, "empty", {}),
            workload(corev1.ReplicationController, "other", {"app": "db"}),
        )
    )
    assert [each.get_name() for each in lister.get_pod_controllers(pod(LABELS))] == ["match"]
    with pytest.raises(LookupError, match="no controllers found for pod p because it has no labels"):
        lister.get_pod_controllers(pod())
    with pytest.raises(LookupError, match="could not find controller for pod p in namespace ns"):
        lister.get_pod_controllers(pod({"app": "cache"}))


def test_daemon_sets_of_a_revision() -> None:
    lister = appslistersv1.new_daemon_set_lister(
        indexer_of(workload(appsv1.DaemonSet, "match", MATCHING), workload(appsv1.DaemonSet, "empty", EMPTY))
    )
    revision = appsv1.ControllerRevision(metadata=metav1.ObjectMeta(name="r", namespace="ns", labels=LABELS))
    assert [each.get_name() for each in lister.get_history_daemon_sets(revision)] == ["match"]
    revision.metadata.labels = {}
    with pytest.raises(LookupError, match="no DaemonSet found for ControllerRevision r because it has no labels"):
        lister.get_history_daemon_sets(revision)
