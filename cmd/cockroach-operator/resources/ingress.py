"""The Ingresses of a cluster. Mirrors pkg/resource/{ui_ingress,sql_ingress}.go, for networking.k8s.io/v1."""

from __future__ import annotations

from typing import ClassVar

from api.v1alpha1 import Ingress
from clientgo.api.networking import v1 as networkingv1
from clientgo.apimachinery.runtime import ResourceObject
from resources.builders import Manifest, metadata_of
from resources.cluster import Cluster

# The nodes themselves serve the page with TLS.
_PASS_THROUGH = {"nginx.ingress.kubernetes.io/ssl-passthrough": "true"}


class UIIngressBuilder:
    """The Ingress of the database's page. Use it only if the cluster exposes the page."""

    kind: ClassVar[type[ResourceObject]] = networkingv1.Ingress
    digested = ()

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def resource_name(self) -> str:
        return self._cluster.ui_ingress_name

    def build(self, existing: networkingv1.Ingress | None) -> Manifest:
        wanted = _asked_for(self._cluster.ui_ingress)
        manifest = _manifest(self._cluster, wanted, "http", _PASS_THROUGH)
        manifest["spec"]["tls"] = [each.to_dict() for each in wanted.tls]
        return manifest


class SQLIngressBuilder:
    """The Ingress of the database. Use it only if the cluster exposes the database."""

    kind: ClassVar[type[ResourceObject]] = networkingv1.Ingress
    digested = ()

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def resource_name(self) -> str:
        return self._cluster.sql_ingress_name

    def build(self, existing: networkingv1.Ingress | None) -> Manifest:
        return _manifest(self._cluster, _asked_for(self._cluster.sql_ingress), "sql", {})


def _asked_for(ingress: Ingress | None) -> Ingress:
    if ingress is None:
        raise ValueError("ingressConfig not found")
    return ingress


def _manifest(cluster: Cluster, wanted: Ingress, port: str, annotations: dict[str, str]) -> Manifest:
    service = {"name": cluster.public_service_name, "port": {"name": port}}
    path = {"pathType": "ImplementationSpecific", "backend": {"service": service}}
    spec: Manifest = {
        "ingressClassName": wanted.ingress_class_name or None,
        "rules": [{"host": wanted.host, "http": {"paths": [path]}}],
    }
    return {"metadata": metadata_of(cluster, **{**annotations, **wanted.annotations}), "spec": spec}
