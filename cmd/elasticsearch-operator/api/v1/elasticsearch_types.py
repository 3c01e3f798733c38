"""Elasticsearch, written by hand as any API type is.

Its definition for the server, config/crd/elasticsearches.yaml, is generated from it by hack/update-codegen.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from enum import StrEnum
from typing import Any

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import schema


class Phase(StrEnum):
    """The phase of a cluster's orchestration."""

    READY = "Ready"
    APPLYING_CHANGES = "ApplyingChanges"
    MIGRATING_DATA = "MigratingData"
    STALLED = "Stalled"
    INVALID = "Invalid"


class ConditionType(StrEnum):
    """The types of a cluster's conditions."""

    ELASTICSEARCH_IS_REACHABLE = "ElasticsearchIsReachable"
    RECONCILIATION_COMPLETE = "ReconciliationComplete"
    RUNNING_DESIRED_VERSION = "RunningDesiredVersion"


class ChangeBudget(runtime.Struct):
    """The bounds on the number of nodes during a change. Negative values are unbounded."""

    # How many nodes may be unavailable. (default 1)
    max_unavailable: int | None = runtime.field("maxUnavailable", "*int32", default=None)
    # How many more nodes than specified may exist. (default: unbounded)
    max_surge: int | None = runtime.field("maxSurge", "*int32", default=None)


class UpdateStrategy(runtime.Struct):
    """The rules for changes."""

    change_budget: ChangeBudget = runtime.field("changeBudget", "ChangeBudget", default=runtime.EMPTY)


class NodeSet(runtime.Struct):
    """Nodes that are alike: a StatefulSet."""

    name: str = runtime.field(
        "name",
        "string",
        default="",
        schema=runtime.Schema(required=True, max_length=23, pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"),
    )
    count: int = runtime.field("count", "int32", default=0, schema=runtime.Schema(minimum=0, default=1))
    # The settings of elasticsearch.yml.
    config: Any = runtime.field(
        "config", "runtime.RawExtension", default=None, schema=runtime.Schema(preserve_unknown_fields=True)
    )
    # The template of the pods. The operator completes it.
    pod_template: corev1.PodTemplateSpec = runtime.field(
        "podTemplate",
        "corev1.PodTemplateSpec",
        default=runtime.EMPTY,
        schema=runtime.Schema(preserve_unknown_fields=True),
    )
    volume_claim_templates: MutableSequence[corev1.PersistentVolumeClaim] = runtime.field(
        "volumeClaimTemplates",
        "[]corev1.PersistentVolumeClaim",
        default=runtime.EMPTY,
    )


class ElasticsearchSpec(runtime.Struct):
    """The desired state of a cluster."""

    version: str = runtime.field(
        "version", "string", default="", schema=runtime.Schema(required=True, pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")
    )
    # (default: the image of the version)
    image: str = runtime.field("image", "string", default="")
    node_sets: MutableSequence[NodeSet] = runtime.field(
        "nodeSets",
        "[]NodeSet",
        default=runtime.EMPTY,
        schema=runtime.Schema(required=True, min_items=1, list_type="map", list_map_keys=["name"]),
    )
    update_strategy: UpdateStrategy = runtime.field("updateStrategy", "UpdateStrategy", default=runtime.EMPTY)


class NewNode(runtime.Struct):
    """A node that is to come."""

    name: str = runtime.field("name", "string", default="")
    status: str = runtime.field("status", "string", default="")
    message: str = runtime.field("message", "string", default="")


class UpgradedNode(runtime.Struct):
    """A node that will be restarted, and the reason why it has not been restarted yet."""

    name: str = runtime.field("name", "string", default="")
    status: str = runtime.field("status", "string", default="")
    message: str = runtime.field("message", "string", default="")
    predicate: str = runtime.field("predicate", "string", default="")


class DownscaledNode(runtime.Struct):
    """A node that will be removed, and the progress of its shutdown."""

    name: str = runtime.field("name", "string", default="")
    shutdown_status: str = runtime.field("shutdownStatus", "string", default="")
    explanation: str = runtime.field("explanation", "string", default="")


class UpscaleOperation(runtime.Struct):
    """The nodes that are to come."""

    nodes: MutableSequence[NewNode] = runtime.field("nodes", "[]NewNode", default=runtime.EMPTY)


class UpgradeOperation(runtime.Struct):
    """The nodes that are to be restarted."""

    nodes: MutableSequence[UpgradedNode] = runtime.field("nodes", "[]UpgradedNode", default=runtime.EMPTY)


class DownscaleOperation(runtime.Struct):
    """The nodes that are to go."""

    nodes: MutableSequence[DownscaledNode] = runtime.field("nodes", "[]DownscaledNode", default=runtime.EMPTY)


class InProgressOperations(runtime.Struct):
    """The operations in progress."""

    upscale: UpscaleOperation = runtime.field("upscale", "UpscaleOperation", default=runtime.EMPTY)
    upgrade: UpgradeOperation = runtime.field("upgrade", "UpgradeOperation", default=runtime.EMPTY)
    downscale: DownscaleOperation = runtime.field("downscale", "DownscaleOperation", default=runtime.EMPTY)


class ElasticsearchStatus(runtime.Struct):
    """The observed state of a cluster."""

    available_nodes: int = runtime.field("availableNodes", "int32", default=0)
    # The lowest version of the running nodes.
    version: str = runtime.field("version", "string", default="")
    health: str = runtime.field("health", "string", default="")
    phase: str = runtime.field("phase", "string", default="")
    conditions: MutableSequence[metav1.Condition] = runtime.field(
        "conditions",
        "[]metav1.Condition",
        default=runtime.EMPTY,
        schema=runtime.Schema(list_type="map", list_map_keys=["type"]),
    )
    in_progress_operations: InProgressOperations = runtime.field(
        "inProgressOperations", "InProgressOperations", default=runtime.EMPTY
    )
    observed_generation: int = runtime.field("observedGeneration", "int64", default=0)


class Elasticsearch(runtime.ResourceObject):
    """A cluster of Elasticsearch."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("elasticsearch.k8s.elastic.co", "v1", "Elasticsearch")
    CRD = runtime.CustomResource(
        singular="elasticsearch",
        list_kind="ElasticsearchList",
        short_names=["es"],
        categories=["elastic"],
        printer_columns=[
            runtime.PrinterColumn("Health", ".status.health"),
            runtime.PrinterColumn("Nodes", ".status.availableNodes", "integer", "Available nodes"),
            runtime.PrinterColumn("Version", ".status.version", description="Elasticsearch version"),
            runtime.PrinterColumn("Phase", ".status.phase"),
            runtime.PrinterColumn("Age", ".metadata.creationTimestamp", "date"),
        ],
    )

    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    spec: ElasticsearchSpec = runtime.field("spec", "ElasticsearchSpec", default=runtime.EMPTY)
    status: ElasticsearchStatus = runtime.field("status", "ElasticsearchStatus", default=runtime.EMPTY)


class ElasticsearchList(runtime.ListObject):
    """A list of clusters."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("elasticsearch.k8s.elastic.co", "v1", "ElasticsearchList")
    ITEM = Elasticsearch

    metadata: metav1.ListMeta = runtime.field("metadata", "metav1.ListMeta", default=runtime.EMPTY)
    items: MutableSequence[Elasticsearch] = runtime.field("items", "[]Elasticsearch", default=runtime.EMPTY)
