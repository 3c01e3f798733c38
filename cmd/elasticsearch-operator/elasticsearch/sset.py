"""A cluster's StatefulSets and pods in the cache, and whether they agree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from api.v1 import Elasticsearch
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.context import Context
from clientgo.controller_runtime import client
from elasticsearch import label, names

POD_REVISION = "controller-revision-hash"

# By name, in the order of their names.
StatefulSets: TypeAlias = dict[str, appsv1.StatefulSet]


def by_name(found: Iterable[appsv1.StatefulSet]) -> StatefulSets:
    return {each.get_name(): each for each in sorted(found, key=lambda each: each.get_name())}


def replicas_of(stateful_set: appsv1.StatefulSet | None) -> int:
    """Return the number of its expected pods; 0 for None."""
    if stateful_set is None:
        return 0
    replicas = stateful_set.spec.replicas
    return 1 if replicas is None else replicas


def pod_names(stateful_set: appsv1.StatefulSet) -> list[str]:
    """Return the names of its pods, the lowest ordinal first."""
    return [names.pod(stateful_set.get_name(), ordinal) for ordinal in range(replicas_of(stateful_set))]


def all_pod_names(stateful_sets: StatefulSets) -> list[str]:
    """Return the names of all their pods."""
    return [name for each in stateful_sets.values() for name in pod_names(each)]


def node_count(stateful_sets: StatefulSets, role: str | None = None) -> int:
    """Return the number of expected nodes: of all, or of a role."""
    return sum(
        replicas_of(each)
        for each in stateful_sets.values()
        if role is None or label.has_role(each.spec.template, role)
    )


def is_master_set(stateful_set: appsv1.StatefulSet) -> bool:
    """Report whether its pods can be elected master."""
    return label.is_master_node(stateful_set.spec.template)


def master_names(stateful_sets: StatefulSets) -> list[str]:
    """Return the names of all pods that can be elected master."""
    return [name for each in stateful_sets.values() if is_master_set(each) for name in pod_names(each)]


def revision_of(pod: corev1.Pod) -> str:
    """Return the revision of the StatefulSet that created the pod."""
    return pod.get_labels().get(POD_REVISION, "")


def is_ready(pod: corev1.Pod) -> bool:
    """Report whether the pod is ready and not being deleted."""
    ready = any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)
    return ready and pod.get_deletion_timestamp() is None


def actual_stateful_sets(ctx: Context, reader: client.Reader, es: Elasticsearch) -> StatefulSets:
    """Return the cluster's StatefulSets in the cache."""
    chosen = client.MatchingLabels({label.CLUSTER_NAME: es.get_name()})
    return by_name(reader.list(ctx, appsv1.StatefulSetList, client.InNamespace(es.get_namespace()), chosen).items)


def actual_pods(ctx: Context, reader: client.Reader, es: Elasticsearch) -> list[corev1.Pod]:
    """Return the cluster's pods from the cache, sorted by name."""
    chosen = client.MatchingLabels({label.CLUSTER_NAME: es.get_name()})
    found = reader.list(ctx, corev1.PodList, client.InNamespace(es.get_namespace()), chosen).items
    return sorted(found, key=lambda pod: pod.get_name())


def pods_of(stateful_set: str, pods: Iterable[corev1.Pod]) -> list[corev1.Pod]:
    """Return the pods of a StatefulSet."""
    return [pod for pod in pods if pod.get_labels().get(label.STATEFUL_SET_NAME) == stateful_set]


def pending_reconciliation(stateful_sets: StatefulSets, pods: Iterable[corev1.Pod]) -> str:
    """Return a message about the StatefulSet controller's pending work; "" if sets and pods agree.

    They agree if exactly the expected pods exist, whether or not these run.
    """
    unseen = [
        name for name, each in stateful_sets.items() if each.get_generation() != each.status.observed_generation
    ]
    if unseen:
        return f"observedGeneration is not reconciled yet for StatefulSets {','.join(unseen)}"
    expected, actual = set(all_pod_names(stateful_sets)), {pod.get_name() for pod in pods}
    if missing := expected - actual:
        return f"Waiting for Pods to be created: {','.join(sorted(missing))}"
    if surplus := actual - expected:
        return f"Waiting for Pods to be deleted: {','.join(sorted(surplus))}"
    return ""
