"""The services, the budget and the version job of a cluster, as manifests.

Mirrors pkg/resource/{discovery_service,public_service,pod_distruption_budget,job}.go.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from typing import Any, ClassVar, Protocol

from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.api.policy import v1 as policyv1
from clientgo.apimachinery.runtime import ResourceObject
from resources.cluster import Cluster

Manifest = dict[str, Any]

# An annotation of each part: the digest of the manifest that was written last.
LAST_APPLIED = "crdb.io/last-applied"
JOB_CONTAINER = "crdb"
GET_VERSION = "/cockroach/cockroach.sh version | grep 'Build Tag:' | awk '{print $3}'"


class Builder(Protocol):
    """A builder of the desired state of one part of a cluster."""

    kind: ClassVar[type[ResourceObject]]

    @property
    def digested(self) -> Collection[str]:
        """The fields of the spec that the digest covers; none means all."""
        ...

    def resource_name(self) -> str: ...

    def build(self, existing: Any) -> Manifest:
        """Return the desired object without its status. `existing` is the current object, or None."""
        ...


def digest_of(manifest: Manifest, fields: Collection[str]) -> str:
    """Return the digest of the manifest, or of its metadata and these fields of its spec."""
    spec = manifest.get("spec")
    if spec is not None and fields:
        manifest = {**manifest, "spec": {name: value for name, value in spec.items() if name in fields}}
    text = json.dumps(manifest, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def is_part_of(wanted: Any, found: Any) -> bool:
    """Report whether `found` has all of `wanted`. The server adds defaults to objects, but no elements to lists."""
    if not wanted and found is None:
        return True
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(is_part_of(value, found.get(name)) for name, value in wanted.items())
    if isinstance(wanted, list) and isinstance(found, list):
        return len(wanted) == len(found) and all(is_part_of(*pair) for pair in zip(wanted, found, strict=True))
    return bool(wanted == found)


def selector_of(cluster: Cluster) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": "cockroachdb",
        "app.kubernetes.io/instance": cluster.name,
        "app.kubernetes.io/component": "database",
    }


def labels_of(cluster: Cluster) -> dict[str, str]:
    return {
        **cluster.spec.additional_labels,
        **selector_of(cluster),
        "app.kubernetes.io/part-of": "cockroachdb",
        "app.kubernetes.io/managed-by": "cockroach-operator",
    }


def metadata_of(cluster: Cluster, **annotations: str) -> Manifest:
    return {"labels": labels_of(cluster), "annotations": {**cluster.spec.additional_annotations, **annotations}}


def pull_policy_of(cluster: Cluster) -> str:
    image = cluster.spec.image
    return (image.pull_policy if image is not None else None) or "IfNotPresent"


def _ports_of(cluster: Cluster) -> list[Manifest]:
    spec = cluster.spec
    numbers = {"grpc": spec.grpc_port, "http": spec.http_port, "sql": spec.sql_port}
    return [{"name": name, "port": port, "protocol": "TCP", "targetPort": port} for name, port in numbers.items()]


class DiscoveryServiceBuilder:
    """The service that gives each pod a DNS name, ready or not, by which the nodes find each other."""

    kind: ClassVar[type[ResourceObject]] = corev1.Service
    digested = ()

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def resource_name(self) -> str:
        return self._cluster.discovery_service_name

    def build(self, existing: corev1.Service | None) -> Manifest:
        scraped = {
            "prometheus.io/scrape": "true",
            "prometheus.io/path": "_status/vars",
            "prometheus.io/port": str(self._cluster.spec.http_port),
        }
        spec = {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "ports": _ports_of(self._cluster),
            "selector": selector_of(self._cluster),
        }
        return {"metadata": metadata_of(self._cluster, **scraped), "spec": spec}


class PublicServiceBuilder:
    """The service for clients."""

    kind: ClassVar[type[ResourceObject]] = corev1.Service
    digested = ()

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def resource_name(self) -> str:
        return self._cluster.public_service_name

    def build(self, existing: corev1.Service | None) -> Manifest:
        spec = {"type": "ClusterIP", "ports": _ports_of(self._cluster), "selector": selector_of(self._cluster)}
        return {"metadata": metadata_of(self._cluster), "spec": spec}


class PdbBuilder:
    """The PodDisruptionBudget: the number of pods that may be evicted at a time."""

    kind: ClassVar[type[ResourceObject]] = policyv1.PodDisruptionBudget
    digested = ()

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def resource_name(self) -> str:
        return self._cluster.name

    def build(self, existing: policyv1.PodDisruptionBudget | None) -> Manifest:
        wanted = self._cluster.spec
        spec: Manifest = {"selector": {"matchLabels": selector_of(self._cluster)}}
        if wanted.min_available is not None:
            spec["minAvailable"] = wanted.min_available
        else:
            spec["maxUnavailable"] = 1 if wanted.max_unavailable is None else wanted.max_unavailable
        return {"metadata": metadata_of(self._cluster), "spec": spec}


class JobBuilder:
    """The Job that prints the version of the specified image."""

    kind: ClassVar[type[ResourceObject]] = batchv1.Job
    digested = ()

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def resource_name(self) -> str:
        return self._cluster.job_name

    def build(self, existing: batchv1.Job | None) -> Manifest:
        container = {
            "name": JOB_CONTAINER,
            "image": self._cluster.image(),
            "imagePullPolicy": pull_policy_of(self._cluster),
            "command": ["/bin/bash"],
            "args": ["-c", f"set -eo pipefail; {GET_VERSION}; sleep 150"],
            "resources": {
                "limits": {"cpu": "300m", "memory": "512Mi"},
                "requests": {"cpu": "300m", "memory": "256Mi"},
            },
        }
        pod = {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 60,
            "containers": [container],
        }
        # Without the selector's labels, because this pod is not a node of the cluster.
        template = {"metadata": {"annotations": dict(self._cluster.spec.additional_annotations)}, "spec": pod}
        spec = {"backoffLimit": 2, "ttlSecondsAfterFinished": 300, "template": template}
        return {"metadata": metadata_of(self._cluster), "spec": spec}
