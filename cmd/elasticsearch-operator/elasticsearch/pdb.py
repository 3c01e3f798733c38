"""The disruption budget of a cluster: the number of nodes that others may evict, for example to drain a machine."""

from __future__ import annotations

from api.v1 import Elasticsearch
from clientgo.api.policy import v1 as policyv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.controller_runtime import client
from elasticsearch import label, names, sset
from elasticsearch.client import HealthStatus
from elasticsearch.reconciler import reconcile_resource


def reconcile_disruption_budget(
    ctx: Context, c: client.Client, es: Elasticsearch, actual: sset.StatefulSets, health: HealthStatus
) -> None:
    """Create or update the PodDisruptionBudget of a cluster. Raises StatusError."""
    expected = policyv1.PodDisruptionBudget(
        metadata=metav1.ObjectMeta(
            namespace=es.get_namespace(),
            name=names.disruption_budget(es.get_name()),
            labels=label.of_cluster(es.get_name()),
        )
    )
    expected.spec.min_available = sset.node_count(actual) - allowed_disruptions(actual, health)
    expected.spec.selector = metav1.LabelSelector(match_labels={label.CLUSTER_NAME: es.get_name()})

    def update(expected: policyv1.PodDisruptionBudget, actual: policyv1.PodDisruptionBudget) -> None:
        actual.spec = expected.spec

    reconcile_resource(ctx, c, es, expected, update)


def allowed_disruptions(actual: sset.StatefulSets, health: HealthStatus) -> int:
    """Return the number of nodes that may be evicted: one if the cluster is healthy and depends on no single node.

    A cluster of one node allows its eviction; otherwise its machine could never be drained.
    """
    if sset.node_count(actual) == 1:
        return 1
    if health != HealthStatus.GREEN or _data_nodes(actual) == 1:
        return 0
    return 0 if any(sset.node_count(actual, role) == 1 for role in (label.MASTER, "ingest")) else 1


def _data_nodes(actual: sset.StatefulSets) -> int:
    return sum(sset.replicas_of(each) for each in actual.values() if label.is_data_node(each.spec.template))
