"""The group version elasticsearch.k8s.elastic.co/v1."""

from api.v1.elasticsearch_types import (
    ChangeBudget,
    ConditionType,
    DownscaledNode,
    DownscaleOperation,
    Elasticsearch,
    ElasticsearchList,
    ElasticsearchSpec,
    ElasticsearchStatus,
    InProgressOperations,
    NewNode,
    NodeSet,
    Phase,
    UpdateStrategy,
    UpgradedNode,
    UpgradeOperation,
    UpscaleOperation,
)
from api.v1.groupversion_info import GROUP_VERSION, SCHEME_BUILDER, add_to_scheme

__all__ = [
    "GROUP_VERSION",
    "SCHEME_BUILDER",
    "ChangeBudget",
    "ConditionType",
    "DownscaleOperation",
    "DownscaledNode",
    "Elasticsearch",
    "ElasticsearchList",
    "ElasticsearchSpec",
    "ElasticsearchStatus",
    "InProgressOperations",
    "NewNode",
    "NodeSet",
    "Phase",
    "UpdateStrategy",
    "UpgradeOperation",
    "UpgradedNode",
    "UpscaleOperation",
    "add_to_scheme",
]
