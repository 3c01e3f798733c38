"""The labels of clusters and of the roles of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from clientgo.api.core import v1 as corev1
from clientgo.controller_runtime import client

CLUSTER_NAME = "elasticsearch.k8s.elastic.co/cluster-name"
STATEFUL_SET_NAME = "elasticsearch.k8s.elastic.co/statefulset-name"
VERSION = "elasticsearch.k8s.elastic.co/version"
# The label of a Job that checks an image, and of its pods: the name of the cluster.
IMAGE_CHECK = "elasticsearch.k8s.elastic.co/image-check"
TYPE = "common.k8s.elastic.co/type"
TYPE_VALUE = "elasticsearch"

_ROLE_PREFIX = "elasticsearch.k8s.elastic.co/node-"
MASTER = "master"
# All roles. A node has all of them unless its configuration names some.
ROLES = (
    MASTER,
    "data",
    "data_content",
    "data_hot",
    "data_warm",
    "data_cold",
    "data_frozen",
    "ingest",
    "ml",
    "remote_cluster_client",
    "transform",
)

# An object with labels of roles: a pod, or a StatefulSet with a pod template.
Node: TypeAlias = client.Object | corev1.PodTemplateSpec


def of_cluster(name: str) -> dict[str, str]:
    """Return the labels of all objects of a cluster."""
    return {TYPE: TYPE_VALUE, CLUSTER_NAME: name}


def of_roles(roles: Iterable[str]) -> dict[str, str]:
    """Return a label for every role, with the value "true" if the node has the role, else "false"."""
    has = set(roles)
    return {role_label(role): "true" if role in has else "false" for role in ROLES}


def role_label(role: str) -> str:
    """Return the label of a role."""
    return _ROLE_PREFIX + role


def roles_of(node: Node) -> set[str]:
    """Return a node's roles."""
    labels = _labels_of(node)
    return {role for role in ROLES if labels.get(role_label(role)) == "true"}


def has_role(node: Node, role: str) -> bool:
    """Report whether the node has the role."""
    return _labels_of(node).get(role_label(role)) == "true"


def _labels_of(node: Node) -> Mapping[str, str]:
    return node.metadata.labels if isinstance(node, corev1.PodTemplateSpec) else node.get_labels()


def is_master_node(node: Node) -> bool:
    """Report whether the node can be elected master."""
    return has_role(node, MASTER)


def is_data_node(node: Node) -> bool:
    """Report whether the node holds shards."""
    return is_data(roles_of(node))


def is_data(roles: Iterable[str]) -> bool:
    """Report whether a node of these roles holds shards."""
    return any(role.startswith("data") for role in roles)


def master_pods(pods: Iterable[corev1.Pod]) -> list[corev1.Pod]:
    """Return the pods that can be elected master."""
    return [pod for pod in pods if is_master_node(pod)]
