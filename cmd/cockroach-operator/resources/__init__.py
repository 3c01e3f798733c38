"""The Kubernetes objects of a cluster: their names and their builders."""

from resources.builders import (
    Builder,
    DiscoveryServiceBuilder,
    JobBuilder,
    PdbBuilder,
    PublicServiceBuilder,
    labels_of,
    selector_of,
)
from resources.cluster import Cluster
from resources.ingress import SQLIngressBuilder, UIIngressBuilder
from resources.pods import Pods
from resources.rbac import RoleBindingBuilder, RoleBuilder, ServiceAccountBuilder
from resources.reconciler import Reconciler
from resources.statefulset import StatefulSetBuilder

__all__ = [
    "Builder",
    "Cluster",
    "DiscoveryServiceBuilder",
    "JobBuilder",
    "PdbBuilder",
    "Pods",
    "PublicServiceBuilder",
    "Reconciler",
    "RoleBindingBuilder",
    "RoleBuilder",
    "SQLIngressBuilder",
    "ServiceAccountBuilder",
    "StatefulSetBuilder",
    "UIIngressBuilder",
    "labels_of",
    "selector_of",
]
