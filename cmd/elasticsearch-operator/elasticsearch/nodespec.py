"""The expected StatefulSets of a cluster, each with its configuration and its headless Service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from api.v1 import Elasticsearch, NodeSet
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from elasticsearch import label, names, sset
from elasticsearch.reconciler import hash_of

DATA_VOLUME = "elasticsearch-data"
_DATA_PATH = "/usr/share/elasticsearch/data"
_CONFIG_PATH = "/usr/share/elasticsearch/config/elasticsearch.yml"
_HTTP_CERTS_PATH = "/usr/share/elasticsearch/config/http-certs"
_TRANSPORT_CERTS_PATH = "/usr/share/elasticsearch/config/transport-certs"
_DEFAULT_STORAGE = "1Gi"


@dataclass
class Resources:
    """The expected objects of one node set."""

    stateful_set: appsv1.StatefulSet
    service: corev1.Service
    # elasticsearch.yml.
    config: dict[str, Any]

    @property
    def name(self) -> str:
        return self.stateful_set.get_name()


def config_of(node_set: NodeSet) -> dict[str, Any]:
    """Return the user's settings of elasticsearch.yml."""
    return dict(node_set.config) if isinstance(node_set.config, dict) else {}


def roles_of(node_set: NodeSet) -> list[str]:
    """Return the roles of the nodes: all roles when the configuration names none."""
    roles = config_of(node_set).get("node.roles")
    return list(label.ROLES) if roles is None else [str(role) for role in roles]


def build_expected_resources(es: Elasticsearch) -> list[Resources]:
    """Return the resources of each node set, in the order of the spec."""
    return [_resources_of(es, node_set) for node_set in es.spec.node_sets]


def expected_stateful_sets(resources: list[Resources]) -> sset.StatefulSets:
    """Return the StatefulSets of all resources, by name."""
    return sset.by_name(each.stateful_set for each in resources)


def _resources_of(es: Elasticsearch, node_set: NodeSet) -> Resources:
    name = names.stateful_set(es.get_name(), node_set.name)
    labels = {**label.of_cluster(es.get_name()), label.STATEFUL_SET_NAME: name}
    config = _config(es, node_set)
    service = corev1.Service(metadata=metav1.ObjectMeta(namespace=es.get_namespace(), name=name, labels=labels))
    service.spec.cluster_ip = "None"
    service.spec.selector = labels
    service.spec.ports = [_port("https", names.HTTP_PORT)]
    return Resources(_stateful_set(es, node_set, name, labels, config), service, config)


def _config(es: Elasticsearch, node_set: NodeSet) -> dict[str, Any]:
    """Return the configuration: the user's settings override the operator's, except those that identify the node."""
    defaults = {
        "http.publish_host": "${POD_NAME}.${HEADLESS_SERVICE_NAME}.${NAMESPACE}.svc",
        "path.data": _DATA_PATH,
        "xpack.security.enabled": True,
        "xpack.security.http.ssl.certificate": f"{_HTTP_CERTS_PATH}/tls.crt",
        "xpack.security.http.ssl.key": f"{_HTTP_CERTS_PATH}/tls.key",
        "xpack.security.transport.ssl.certificate": f"{_TRANSPORT_CERTS_PATH}/tls.crt",
        "xpack.security.transport.ssl.key": f"{_TRANSPORT_CERTS_PATH}/tls.key",
        "discovery.seed_hosts": [f"{names.transport_service(es.get_name())}.{es.get_namespace()}.svc"],
    }
    return {**defaults, **config_of(node_set), "cluster.name": es.get_name(), "node.name": "${POD_NAME}"}


def _stateful_set(
    es: Elasticsearch, node_set: NodeSet, name: str, labels: dict[str, str], config: dict[str, Any]
) -> appsv1.StatefulSet:
    made = appsv1.StatefulSet(
        metadata=metav1.ObjectMeta(namespace=es.get_namespace(), name=name, labels=dict(labels))
    )
    spec = made.spec
    spec.service_name = name
    spec.replicas = node_set.count
    spec.selector = metav1.LabelSelector(match_labels=labels)
    # The operator restarts nodes, because it knows when that is safe.
    spec.pod_management_policy = "Parallel"
    spec.update_strategy = appsv1.StatefulSetUpdateStrategy(type="OnDelete")
    spec.revision_history_limit = 100
    spec.persistent_volume_claim_retention_policy = appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy(
        when_deleted="Delete", when_scaled="Delete"
    )
    spec.template = _pod_template(es, node_set, name, labels, config)
    spec.volume_claim_templates = volume_claims(node_set)
    return made


def volume_claims(node_set: NodeSet) -> list[corev1.PersistentVolumeClaim]:
    """Return the user's claim templates, or the default one for the data."""
    if node_set.volume_claim_templates:
        return [claim.deep_copy() for claim in node_set.volume_claim_templates]
    return [
        corev1.PersistentVolumeClaim.from_dict(
            {
                "metadata": {"name": DATA_VOLUME},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": _DEFAULT_STORAGE}},
                },
            }
        )
    ]


def _pod_template(
    es: Elasticsearch, node_set: NodeSet, name: str, labels: dict[str, str], config: dict[str, Any]
) -> corev1.PodTemplateSpec:
    """Return the user's pod template, completed with the parts of a node."""
    template = node_set.pod_template.deep_copy()
    own = {**labels, label.VERSION: es.spec.version, **label.of_roles(roles_of(node_set))}
    template.metadata.labels = {**dict(template.metadata.labels), **own}
    # A node reads its configuration when it starts, so a change must change the template.
    template.metadata.annotations = {**dict(template.metadata.annotations), names.CONFIG_HASH: hash_of(config)}
    spec = template.spec
    _add_volumes(es, name, spec)
    container = next((each for each in spec.containers if each.name == names.CONTAINER), None)
    if container is None:
        spec.containers.append(corev1.Container(name=names.CONTAINER))
        container = spec.containers[-1]
    container.image = container.image or es.spec.image or default_image(es.spec.version)
    container.ports = [_container_port("https", names.HTTP_PORT), _container_port("transport", names.TRANSPORT_PORT)]
    _add_environment(name, container)
    _add_mounts(node_set, container)
    return template


def default_image(version: str) -> str:
    """Return the image of a version."""
    return f"docker.elastic.co/elasticsearch/elasticsearch:{version}"


def image_of(stateful_set: appsv1.StatefulSet) -> str:
    """Return the image of its nodes."""
    containers = stateful_set.spec.template.spec.containers
    return next((each.image for each in containers if each.name == names.CONTAINER), "")


def _add_volumes(es: Elasticsearch, name: str, spec: corev1.PodSpec) -> None:
    for volume, secret in (
        ("elastic-internal-elasticsearch-config", names.config_secret(name)),
        ("elastic-internal-http-certificates", names.http_certificates(es.get_name())),
        ("elastic-internal-transport-certificates", names.transport_certificates(es.get_name())),
    ):
        source = corev1.SecretVolumeSource(secret_name=secret)
        spec.volumes.append(corev1.Volume(name=volume, secret=source))


def _add_environment(name: str, container: corev1.Container) -> None:
    given = {variable.name for variable in container.env}
    for variable, path in (("POD_NAME", "metadata.name"), ("NAMESPACE", "metadata.namespace")):
        if variable not in given:
            source = corev1.EnvVarSource(field_ref=corev1.ObjectFieldSelector(api_version="v1", field_path=path))
            container.env.append(corev1.EnvVar(name=variable, value_from=source))
    if "HEADLESS_SERVICE_NAME" not in given:
        container.env.append(corev1.EnvVar(name="HEADLESS_SERVICE_NAME", value=name))


def _add_mounts(node_set: NodeSet, container: corev1.Container) -> None:
    given = {mount.name for mount in container.volume_mounts}
    mounts = [
        corev1.VolumeMount(
            name="elastic-internal-elasticsearch-config",
            mount_path=_CONFIG_PATH,
            sub_path=names.CONFIG_FILE,
            read_only=True,
        ),
        corev1.VolumeMount(
            name="elastic-internal-http-certificates", mount_path=_HTTP_CERTS_PATH, read_only=True
        ),
        corev1.VolumeMount(
            name="elastic-internal-transport-certificates", mount_path=_TRANSPORT_CERTS_PATH, read_only=True
        ),
    ]
    if any(claim.get_name() == DATA_VOLUME for claim in volume_claims(node_set)):
        mounts.append(corev1.VolumeMount(name=DATA_VOLUME, mount_path=_DATA_PATH))
    container.volume_mounts.extend(mount for mount in mounts if mount.name not in given)


def _container_port(name: str, port: int) -> corev1.ContainerPort:
    return corev1.ContainerPort(name=name, container_port=port, protocol="TCP")


def _port(name: str, port: int) -> corev1.ServicePort:
    return corev1.ServicePort(name=name, port=port, protocol="TCP")


def config_secret(es: Elasticsearch, resources: Resources, initial_master_nodes: list[str]) -> corev1.Secret:
    """Return elasticsearch.yml as the pods mount it.

    The template's hash does not include the initial masters: a node needs them once, and must not restart to drop them.
    """
    config = dict(resources.config)
    if initial_master_nodes and sset.is_master_set(resources.stateful_set):
        config["cluster.initial_master_nodes"] = initial_master_nodes
    secret = corev1.Secret(
        metadata=metav1.ObjectMeta(
            namespace=es.get_namespace(),
            name=names.config_secret(resources.name),
            labels={**label.of_cluster(es.get_name()), label.STATEFUL_SET_NAME: resources.name},
        )
    )
    secret.data = {names.CONFIG_FILE: yaml.safe_dump(config, sort_keys=True).encode()}
    return secret
