"""The Services of a cluster: one for its users, one by which its nodes find each other."""

from __future__ import annotations

from api.v1 import Elasticsearch
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.controller_runtime import client
from elasticsearch import label, names
from elasticsearch.reconciler import reconcile_resource


def reconcile_services(ctx: Context, c: client.Client, es: Elasticsearch) -> None:
    """Create or update both Services. Raises StatusError."""
    http = _service(es, names.http_service(es.get_name()))
    http.spec.ports = [corev1.ServicePort(name="https", port=names.HTTP_PORT, protocol="TCP")]
    reconcile_service(ctx, c, es, http)
    transport = _service(es, names.transport_service(es.get_name()))
    transport.spec.cluster_ip = "None"
    # Nodes must find each other before they can be ready.
    transport.spec.publish_not_ready_addresses = True
    transport.spec.ports = [corev1.ServicePort(name="tls-transport", port=names.TRANSPORT_PORT, protocol="TCP")]
    reconcile_service(ctx, c, es, transport)


def reconcile_service(ctx: Context, c: client.Client, es: Elasticsearch, expected: corev1.Service) -> None:
    """Create or update one Service. Keeps the address that the server has assigned. Raises StatusError."""

    def update(expected: corev1.Service, actual: corev1.Service) -> None:
        actual.spec.selector = dict(expected.spec.selector)
        actual.spec.ports = list(expected.spec.ports)
        actual.spec.publish_not_ready_addresses = expected.spec.publish_not_ready_addresses

    reconcile_resource(ctx, c, es, expected, update)


def _service(es: Elasticsearch, name: str) -> corev1.Service:
    labels = label.of_cluster(es.get_name())
    service = corev1.Service(metadata=metav1.ObjectMeta(namespace=es.get_namespace(), name=name, labels=dict(labels)))
    service.spec.selector = labels
    return service
