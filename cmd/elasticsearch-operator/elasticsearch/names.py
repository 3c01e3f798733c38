"""Names of a cluster's objects."""

from __future__ import annotations

from api.v1 import Elasticsearch

CONTAINER = "elasticsearch"
CONFIG_FILE = "elasticsearch.yml"
HTTP_PORT = 9200
TRANSPORT_PORT = 9300
# Annotations of a cluster: its uuid, once it is formed; before that, the names of the nodes that form it.
CLUSTER_UUID = "elasticsearch.k8s.elastic.co/cluster-uuid"
INITIAL_MASTER_NODES = "elasticsearch.k8s.elastic.co/initial-master-nodes"
# The annotation that disables predicates: their names, separated by commas, or "*" for all.
DISABLE_PREDICATES = "eck.k8s.elastic.co/disable-upgrade-predicates"
CONFIG_HASH = "elasticsearch.k8s.elastic.co/config-hash"
# The prefix of an annotation with a StatefulSet that will be recreated; the StatefulSet's name follows.
RECREATE = "elasticsearch.k8s.elastic.co/recreate-"
# The label with the hash of the object that the operator requested.
TEMPLATE_HASH = "common.k8s.elastic.co/template-hash"


def stateful_set(es: str, node_set: str) -> str:
    return f"{es}-es-{node_set}"


def config_secret(stateful_set: str) -> str:
    return f"{stateful_set}-es-config"


def image_check(es: str, hash: str) -> str:
    return f"{es}-es-image-{hash}"


def http_service(es: str) -> str:
    return f"{es}-es-http"


def transport_service(es: str) -> str:
    return f"{es}-es-transport"


def http_certificates(es: str) -> str:
    return f"{es}-es-http-certs-internal"


def public_http_certificates(es: str) -> str:
    return f"{es}-es-http-certs-public"


def transport_certificates(es: str) -> str:
    return f"{es}-es-transport-certs"


def elastic_user(es: str) -> str:
    return f"{es}-es-elastic-user"


def disruption_budget(es: str) -> str:
    return f"{es}-es-default"


def pod(stateful_set: str, ordinal: int) -> str:
    return f"{stateful_set}-{ordinal}"


def ordinal(pod: str) -> int:
    """Return a pod's ordinal. Raises ValueError when the name is not one of a StatefulSet's pods."""
    return int(pod.rpartition("-")[2])


def initial_master_nodes(es: Elasticsearch) -> list[str]:
    """Return the nodes that form the cluster; empty if it is formed or has not begun."""
    text = es.get_annotations().get(INITIAL_MASTER_NODES, "")
    return text.split(",") if text else []


def is_formed(es: Elasticsearch) -> bool:
    """Report whether the cluster has been formed once."""
    return bool(es.get_annotations().get(CLUSTER_UUID))
