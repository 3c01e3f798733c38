"""Group, version, kind and resource names (k8s.io/apimachinery/pkg/runtime/schema)."""

from clientgo.apimachinery.runtime.schema.group_version import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    GroupVersions,
    from_api_version_and_kind,
    parse_group_kind,
    parse_group_resource,
    parse_group_version,
    parse_kind_arg,
    parse_resource_arg,
)
from clientgo.apimachinery.runtime.schema.interfaces import EMPTY_OBJECT_KIND, ObjectKind

__all__ = [
    "EMPTY_OBJECT_KIND",
    "GroupKind",
    "GroupResource",
    "GroupVersion",
    "GroupVersionKind",
    "GroupVersionResource",
    "GroupVersions",
    "ObjectKind",
    "from_api_version_and_kind",
    "parse_group_kind",
    "parse_group_resource",
    "parse_group_version",
    "parse_kind_arg",
    "parse_resource_arg",
]
