"""CrdbCluster, written by hand as any API type is.

Its definition for the server, config/crd/crdbclusters.yaml, is generated from it by hack/update-codegen.
"""

from __future__ import annotations

from collections.abc import MutableMapping, MutableSequence

from api.v1alpha1.action_types import ClusterAction
from api.v1alpha1.condition_types import ClusterCondition
from clientgo.api.core import v1 as corev1
from clientgo.api.networking import v1 as networkingv1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import schema


def _port(default: int) -> runtime.Schema:
    return runtime.Schema(minimum=1, maximum=65535, default=default)


class PodImage(runtime.Struct):
    """The image of the database."""

    name: str = runtime.field("name", "string", default="", schema=runtime.Schema(required=True, min_length=1))
    pull_policy: str | None = runtime.field("pullPolicy", "*string", default=None)
    pull_secret: str | None = runtime.field("pullSecret", "*string", default=None)


class VolumeClaim(runtime.Struct):
    """The claim that each node gets one of."""

    spec: corev1.PersistentVolumeClaimSpec = runtime.field(
        "spec", "corev1.PersistentVolumeClaimSpec", default=runtime.EMPTY
    )


class Volume(runtime.Struct):
    """The volume with a node's data. Without a claim it is a folder of the pod, and is deleted with the pod."""

    pvc: VolumeClaim | None = runtime.field("pvc", "*VolumeClaim", default=None)
    supports_auto_resize: bool = runtime.field("supportsAutoResize", "bool", default=False)


class Ingress(runtime.Struct):
    """The Ingress of the page or of the database."""

    ingress_class_name: str = runtime.field("ingressClassName", "string", default="")
    annotations: MutableMapping[str, str] = runtime.field("annotations", "map[string]string", default=runtime.EMPTY)
    tls: MutableSequence[networkingv1.IngressTLS] = runtime.field(
        "tls", "[]networkingv1.IngressTLS", default=runtime.EMPTY
    )
    host: str = runtime.field("host", "string", default="", schema=runtime.Schema(required=True, min_length=1))


class IngressConfig(runtime.Struct):
    """The Ingresses of the database's page and of the database. A change of `sql.host` needs another certificate, with
    which the nodes are restarted one after the other.
    """

    ui: Ingress | None = runtime.field("ui", "*Ingress", default=None)
    sql: Ingress | None = runtime.field("sql", "*Ingress", default=None)


class CrdbClusterSpec(runtime.Struct):
    """The desired state of a cluster."""

    # Number of nodes (pods), at least three: each range of the data has three replicas.
    nodes: int = runtime.field("nodes", "int32", default=0, schema=runtime.Schema(required=True, minimum=3))
    # One of these two.
    image: PodImage | None = runtime.field("image", "*PodImage", default=None)
    cockroach_db_version: str = runtime.field("cockroachDBVersion", "string", default="")
    grpc_port: int = runtime.field("grpcPort", "int32", default=0, schema=_port(26258))
    http_port: int = runtime.field("httpPort", "int32", default=0, schema=_port(8080))
    sql_port: int = runtime.field("sqlPort", "int32", default=0, schema=_port(26257))
    tls_enabled: bool = runtime.field("tlsEnabled", "bool", default=False)
    # Secrets of the user, with ca.crt, tls.crt and tls.key.
    node_tls_secret: str = runtime.field("nodeTLSSecret", "string", default="")
    client_tls_secret: str = runtime.field("clientTLSSecret", "string", default="")
    # For the PodDisruptionBudget. Without either, one pod may be unavailable.
    max_unavailable: int | None = runtime.field(
        "maxUnavailable", "*int32", default=None, schema=runtime.Schema(minimum=0)
    )
    min_available: int | None = runtime.field("minAvailable", "*int32", default=None, schema=runtime.Schema(minimum=0))
    cache: str = runtime.field("cache", "string", default="")
    max_sql_memory: str = runtime.field("maxSQLMemory", "string", default="")
    additional_args: MutableSequence[str] = runtime.field("additionalArgs", "[]string", default=runtime.EMPTY)
    resources: corev1.ResourceRequirements = runtime.field(
        "resources", "corev1.ResourceRequirements", default=runtime.EMPTY
    )
    data_store: Volume = runtime.field(
        "dataStore", "Volume", default=runtime.EMPTY, schema=runtime.Schema(required=True)
    )
    additional_labels: MutableMapping[str, str] = runtime.field(
        "additionalLabels", "map[string]string", default=runtime.EMPTY
    )
    # A change of these restarts the nodes, one after the other.
    additional_annotations: MutableMapping[str, str] = runtime.field(
        "additionalAnnotations", "map[string]string", default=runtime.EMPTY
    )
    priority_class_name: str = runtime.field("priorityClassName", "string", default="")
    pod_env_variables: MutableSequence[corev1.EnvVar] = runtime.field(
        "podEnvVariables", "[]corev1.EnvVar", default=runtime.EMPTY
    )
    # The scheduling of the pods. Needs the feature gates AffinityRules, TopologySpreadRules and TolerationRules.
    affinity: corev1.Affinity | None = runtime.field("affinity", "*corev1.Affinity", default=None)
    topology_spread_constraints: MutableSequence[corev1.TopologySpreadConstraint] = runtime.field(
        "topologySpreadConstraints", "[]corev1.TopologySpreadConstraint", default=runtime.EMPTY
    )
    tolerations: MutableSequence[corev1.Toleration] = runtime.field(
        "tolerations", "[]corev1.Toleration", default=runtime.EMPTY
    )
    node_selector: MutableMapping[str, str] = runtime.field("nodeSelector", "map[string]string", default=runtime.EMPTY)
    ingress: IngressConfig | None = runtime.field("ingress", "*IngressConfig", default=None)
    automount_service_account_token: bool = runtime.field("automountServiceAccountToken", "bool", default=False)
    termination_grace_period_secs: int = runtime.field("terminationGracePeriodSecs", "int64", default=0)


class CrdbClusterStatus(runtime.Struct):
    """The observed state of a cluster."""

    conditions: MutableSequence[ClusterCondition] = runtime.field(
        "conditions", "[]ClusterCondition", default=runtime.EMPTY
    )
    operator_actions: MutableSequence[ClusterAction] = runtime.field(
        "operatorActions", "[]ClusterAction", default=runtime.EMPTY
    )
    version: str = runtime.field("version", "string", default="")
    crdb_container_image: str = runtime.field("crdbcontainerimage", "string", default="")
    # The host outside of the cluster for which the nodes have a certificate.
    sql_host: str = runtime.field("sqlHost", "string", default="")
    cluster_status: str = runtime.field("clusterStatus", "string", default="")


class CrdbCluster(runtime.ResourceObject):
    """A CockroachDB cluster: services, a StatefulSet, certificates, a budget for disruptions."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("crdb.cockroachlabs.com", "v1alpha1", "CrdbCluster")
    CRD = runtime.CustomResource(
        short_names=["crdb"],
        categories=["all", "cockroachdb"],
        printer_columns=[
            runtime.PrinterColumn("Nodes", ".spec.nodes", "integer"),
            runtime.PrinterColumn("Version", ".status.version"),
            runtime.PrinterColumn("Status", ".status.clusterStatus"),
        ],
        descriptions=False,
    )

    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    spec: CrdbClusterSpec = runtime.field(
        "spec", "CrdbClusterSpec", default=runtime.EMPTY, schema=runtime.Schema(required=True)
    )
    status: CrdbClusterStatus = runtime.field("status", "CrdbClusterStatus", default=runtime.EMPTY)


class CrdbClusterList(runtime.ListObject):
    """A list of CrdbClusters."""

    GROUP_VERSION_KIND = schema.GroupVersionKind("crdb.cockroachlabs.com", "v1alpha1", "CrdbClusterList")
    ITEM = CrdbCluster

    metadata: metav1.ListMeta = runtime.field("metadata", "metav1.ListMeta", default=runtime.EMPTY)
    items: MutableSequence[CrdbCluster] = runtime.field("items", "[]CrdbCluster", default=runtime.EMPTY)
