"""The group version crdb.cockroachlabs.com/v1alpha1."""

from api.v1alpha1.action_types import ActionStatus, ActionType, ClusterAction
from api.v1alpha1.cluster_types import (
    CrdbCluster,
    CrdbClusterList,
    CrdbClusterSpec,
    CrdbClusterStatus,
    Ingress,
    IngressConfig,
    PodImage,
    Volume,
    VolumeClaim,
)
from api.v1alpha1.condition_types import ClusterCondition, ClusterConditionType
from api.v1alpha1.groupversion_info import GROUP_VERSION, SCHEME_BUILDER, add_to_scheme

__all__ = [
    "GROUP_VERSION",
    "SCHEME_BUILDER",
    "ActionStatus",
    "ActionType",
    "ClusterAction",
    "ClusterCondition",
    "ClusterConditionType",
    "CrdbCluster",
    "CrdbClusterList",
    "CrdbClusterSpec",
    "CrdbClusterStatus",
    "Ingress",
    "IngressConfig",
    "PodImage",
    "Volume",
    "VolumeClaim",
    "add_to_scheme",
]
