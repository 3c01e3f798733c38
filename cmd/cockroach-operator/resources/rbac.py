"""The service account of a cluster's pods, and its permissions. Mirrors pkg/resource/rbac.go.

Differs: the operator restores the permissions after a change.
"""

from __future__ import annotations

from typing import ClassVar

from clientgo.api.core import v1 as corev1
from clientgo.api.rbac import v1 as rbacv1
from clientgo.apimachinery.runtime import ResourceObject
from resources.builders import Manifest, metadata_of
from resources.cluster import Cluster


class ServiceAccountBuilder:
    """One for each cluster."""

    kind: ClassVar[type[ResourceObject]] = corev1.ServiceAccount
    digested = ()

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def resource_name(self) -> str:
        return self._cluster.service_account_name

    def build(self, existing: corev1.ServiceAccount | None) -> Manifest:
        return {"metadata": metadata_of(self._cluster)}


class RoleBuilder:
    """The Role of the pods: only the permission that OpenShift needs for pods that set their user."""

    kind: ClassVar[type[ResourceObject]] = rbacv1.Role
    digested = ()

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def resource_name(self) -> str:
        return self._cluster.role_name

    def build(self, existing: rbacv1.Role | None) -> Manifest:
        rule = {
            "apiGroups": ["security.openshift.io"],
            "resources": ["securitycontextconstraints"],
            "verbs": ["use"],
        }
        return {"metadata": metadata_of(self._cluster), "rules": [rule]}


class RoleBindingBuilder:
    """Of the role to the account."""

    kind: ClassVar[type[ResourceObject]] = rbacv1.RoleBinding
    digested = ()

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def resource_name(self) -> str:
        return self._cluster.role_binding_name

    def build(self, existing: rbacv1.RoleBinding | None) -> Manifest:
        account = {
            "kind": "ServiceAccount",
            "name": self._cluster.service_account_name,
            "namespace": self._cluster.namespace,
        }
        role = {"apiGroup": rbacv1.GROUP_NAME, "kind": "Role", "name": self._cluster.role_name}
        return {"metadata": metadata_of(self._cluster), "roleRef": role, "subjects": [account]}
