"""The StatefulSet of a cluster's nodes. Mirrors pkg/resource/statefulset.go.

Differs where a new StatefulSet could lose data or stop several nodes at once. This builder never lowers the number of
replicas, because nodes must be decommissioned first. Only the partitioned update changes the version and the image of a
database with data. Every other change of the template waits behind a partition, and the partitioned update applies it
to one node after the other, after a check of all nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from features import Feature, FeatureGates

from api.v1alpha1 import ClusterConditionType
from clientgo.api.apps import v1 as appsv1
from clientgo.apimachinery.runtime import ResourceObject
from resources.builders import (
    LAST_APPLIED,
    Manifest,
    digest_of,
    is_part_of,
    labels_of,
    metadata_of,
    pull_policy_of,
    selector_of,
)
from resources.cluster import (
    CONTAINER_IMAGE_ANNOTATION,
    DATA_DIR,
    DB_CONTAINER,
    RESTART_ANNOTATION,
    VERSION_ANNOTATION,
    Cluster,
)
from resources.pods import Pods

_DATA_PATH = "/cockroach/cockroach-data/"
_CERTS_PATH = "/cockroach/cockroach-certs/"
_GRACE_SECONDS = 300
# An annotation of the template: the version of the pod. A recreated StatefulSet reads it from its pods.
_KEPT = (RESTART_ANNOTATION, VERSION_ANNOTATION)


class StatefulSetBuilder:
    """A builder of the StatefulSet. `pods` are the existing pods, perhaps without a StatefulSet.

    `image` and `annotations` replace those of the nodes.
    """

    kind: ClassVar[type[ResourceObject]] = appsv1.StatefulSet
    digested = ("template",)

    def __init__(
        self,
        cluster: Cluster,
        gates: FeatureGates,
        pods: Pods | None = None,
        *,
        image: str = "",
        annotations: Mapping[str, str] = {},
    ) -> None:
        self._cluster = cluster
        self._gates = gates
        self._pods = pods
        self._image = image
        self._annotations = dict(annotations)

    def resource_name(self) -> str:
        return self._cluster.statefulset_name

    def build(self, existing: appsv1.StatefulSet | None) -> Manifest:
        image, kept = self._deployed(existing)
        image, kept = self._image or image, {**kept, **self._annotations}
        versions = {VERSION_ANNOTATION: kept[VERSION_ANNOTATION], CONTAINER_IMAGE_ANNOTATION: image}
        spec: Manifest = {"template": self._template(image, kept)}
        manifest = {"metadata": metadata_of(self._cluster, **versions), "spec": spec}
        spec["replicas"] = replicas = self._replicas(existing)
        partition = self._partition(existing, manifest, replicas)
        spec["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
        if existing is None:
            # What can never change.
            spec["serviceName"] = self._cluster.discovery_service_name
            spec["podManagementPolicy"] = "Parallel"
            spec["selector"] = {"matchLabels": selector_of(self._cluster)}
            spec["volumeClaimTemplates"] = self._claims()
        return manifest

    def _deployed(self, existing: appsv1.StatefulSet | None) -> tuple[str, dict[str, str]]:
        """Return the image to run, and the annotations of pods that must not be restarted."""
        template: Any = existing.spec.template if existing is not None else self._pods and self._pods.first()
        if not template or self._cluster.is_false(ClusterConditionType.INITIALIZED):
            status = self._cluster.status
            return status.crdb_container_image or self._cluster.image(), {VERSION_ANNOTATION: status.version}
        annotations = template.metadata.annotations
        image = next(each.image for each in template.spec.containers if each.name == DB_CONTAINER)
        kept = {name: annotations[name] for name in _KEPT if name in annotations}
        return image, {VERSION_ANNOTATION: "", **kept}

    def _replicas(self, existing: appsv1.StatefulSet | None) -> int:
        if existing is not None:
            standing = existing.spec.replicas or 0
        else:
            standing = self._pods.count if self._pods is not None else 0
        return max(standing, self._cluster.spec.nodes)

    def _partition(self, existing: appsv1.StatefulSet | None, manifest: Manifest, replicas: int) -> int:
        """Return the lowest ordinal whose pod the StatefulSet controller may update by itself."""
        if existing is None:
            return self._pods.count if self._pods is not None else 0
        if self._cluster.is_false(ClusterConditionType.INITIALIZED):
            return 0  # nothing to lose yet
        rolling = existing.spec.update_strategy.rolling_update
        before = rolling.partition or 0 if rolling is not None else 0
        return before if self._is_applied(existing, manifest) else replicas

    def _is_applied(self, existing: appsv1.StatefulSet, manifest: Manifest) -> bool:
        template = existing.spec.template.to_dict()
        applied = existing.metadata.annotations.get(LAST_APPLIED)
        return applied == digest_of(manifest, self.digested) and is_part_of(manifest["spec"]["template"], template)

    def _claims(self) -> list[Manifest]:
        volume = self._cluster.spec.data_store.pvc
        if volume is None:
            return []
        return [{"metadata": {"name": DATA_DIR, "labels": selector_of(self._cluster)}, "spec": volume.spec.to_dict()}]

    def _template(self, image: str, kept: dict[str, str]) -> Manifest:
        wanted = self._cluster.spec
        spec: Manifest = {
            "containers": [self._container(image)],
            "volumes": self._volumes(),
            "terminationGracePeriodSeconds": wanted.termination_grace_period_secs or _GRACE_SECONDS,
            "automountServiceAccountToken": wanted.automount_service_account_token,
            "serviceAccountName": self._cluster.service_account_name,
            "nodeSelector": dict(wanted.node_selector),
            **self._scheduling(),
        }
        if wanted.priority_class_name:
            spec["priorityClassName"] = wanted.priority_class_name
        if wanted.image is not None and wanted.image.pull_secret:
            spec["imagePullSecrets"] = [{"name": wanted.image.pull_secret}]
        annotations = {**wanted.additional_annotations, **kept}
        return {"metadata": {"labels": labels_of(self._cluster), "annotations": annotations}, "spec": spec}

    def _scheduling(self) -> Manifest:
        """Return the pods' scheduling constraints that the feature gates let the user set."""
        wanted, found = self._cluster.spec, Manifest()
        if wanted.affinity is not None and self._gates.enabled(Feature.AFFINITY_RULES):
            found["affinity"] = wanted.affinity.to_dict()
        if self._gates.enabled(Feature.TOLERATION_RULES):
            found["tolerations"] = [each.to_dict() for each in wanted.tolerations]
        if self._gates.enabled(Feature.TOPOLOGY_SPREAD_RULES):
            found["topologySpreadConstraints"] = [each.to_dict() for each in wanted.topology_spread_constraints]
        return found

    def _container(self, image: str) -> Manifest:
        wanted, secure = self._cluster.spec, self._cluster.secure_mode
        numbers = {"grpc": wanted.grpc_port, "http": wanted.http_port, "sql": wanted.sql_port}
        scheme = "HTTPS" if wanted.tls_enabled else "HTTP"
        probe = {"httpGet": {"path": "/health?ready=1", "port": "http", "scheme": scheme}}
        drain = f"/cockroach/cockroach node drain {secure} || exit 0"
        mounts = [{"name": DATA_DIR, "mountPath": _DATA_PATH}]
        if wanted.tls_enabled:
            mounts.append({"name": "certs", "mountPath": _CERTS_PATH})
        return {
            "name": DB_CONTAINER,
            "image": image,
            "imagePullPolicy": pull_policy_of(self._cluster),
            "command": ["/bin/bash", "-ecx", f"exec {' '.join(self._arguments())}"],
            "env": [
                {"name": "COCKROACH_CHANNEL", "value": "kubernetes-operator"},
                {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                *(each.to_dict() for each in wanted.pod_env_variables),
            ],
            "ports": [{"name": name, "containerPort": number, "protocol": "TCP"} for name, number in numbers.items()],
            "resources": wanted.resources.to_dict(),
            "volumeMounts": mounts,
            "lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", drain]}}},
            "readinessProbe": {**probe, "initialDelaySeconds": 10, "periodSeconds": 5, "failureThreshold": 2},
        }

    def _arguments(self) -> list[str]:
        cluster, wanted = self._cluster, self._cluster.spec
        domain = f"{cluster.discovery_service_name}.{cluster.namespace}"
        joined = ",".join(f"{cluster.statefulset_name}-{number}.{domain}:{wanted.grpc_port}" for number in range(3))
        arguments = [
            "/cockroach/cockroach.sh",
            "start",
            f"--advertise-host=$(POD_NAME).{domain}",
            cluster.secure_mode,
            f"--http-port={wanted.http_port}",
            f"--sql-addr=:{wanted.sql_port}",
            f"--listen-addr=:{wanted.grpc_port}",
            "--logtostderr=INFO",
            f"--cache={wanted.cache or '25%'}",
            f"--max-sql-memory={wanted.max_sql_memory or '25%'}",
            *wanted.additional_args,
        ]
        if not any("--join" in argument for argument in wanted.additional_args):
            arguments.append(f"--join={joined}")
        return arguments

    def _volumes(self) -> list[Manifest]:
        volumes: list[Manifest] = []
        if self._cluster.spec.data_store.pvc is None:
            volumes.append({"name": DATA_DIR, "emptyDir": {}})
        if self._cluster.spec.tls_enabled:
            node = {
                "name": self._cluster.node_tls_secret_name,
                "items": [
                    {"key": "ca.crt", "path": "ca.crt"},
                    {"key": "tls.crt", "path": "node.crt"},
                    {"key": "tls.key", "path": "node.key"},
                ],
            }
            root = {
                "name": self._cluster.client_tls_secret_name,
                "items": [
                    {"key": "tls.crt", "path": "client.root.crt"},
                    {"key": "tls.key", "path": "client.root.key"},
                ],
            }
            sources = [{"secret": node}, {"secret": root}]
            volumes.append({"name": "certs", "projected": {"defaultMode": 0o400, "sources": sources}})
        return volumes
