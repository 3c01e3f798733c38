"""The group version meta.k8s.io/v1 and the option kinds that every group version knows. Mirrors register.go."""

from __future__ import annotations

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta.v1 import types
from clientgo.apimachinery.runtime.parameters import PARAMETER_CODEC as PARAMETER_CODEC
from clientgo.apimachinery.runtime.schema import GroupKind, GroupResource, GroupVersion

GROUP_NAME = "meta.k8s.io"
SCHEME_GROUP_VERSION = GroupVersion(GROUP_NAME, "v1")
# The types that belong to the core group's v1 in every group: Status and the discovery documents.
UNVERSIONED = GroupVersion("", "v1")
WATCH_EVENT_KIND = "WatchEvent"

OPTION_TYPES: tuple[type[runtime.Object], ...] = (
    types.ListOptions,
    types.GetOptions,
    types.DeleteOptions,
    types.CreateOptions,
    types.UpdateOptions,
    types.PatchOptions,
)
UNVERSIONED_TYPES: tuple[type[runtime.Object], ...] = (
    types.Status,
    types.APIVersions,
    types.APIGroupList,
    types.APIGroup,
    types.APIResourceList,
)
META_TYPES: tuple[type[runtime.Object], ...] = (
    types.Table,
    types.TableOptions,
    types.PartialObjectMetadata,
    types.PartialObjectMetadataList,
)


def kind(name: str) -> GroupKind:
    """Return the kind of this group. Go: Kind."""
    return SCHEME_GROUP_VERSION.with_kind(name).group_kind()


def resource(name: str) -> GroupResource:
    """Return the resource of this group. Go: Resource."""
    return SCHEME_GROUP_VERSION.with_resource(name).group_resource()


def add_to_group_version(scheme: runtime.Scheme, group_version: GroupVersion) -> None:
    """Register the option kinds under `group_version`, and the unversioned kinds. Go: AddToGroupVersion.

    Version v1 of the core group gets the kind List, too. In Go, core/v1 registers its own copy of the type.
    """
    scheme.add_known_types(group_version, *OPTION_TYPES)
    if group_version == UNVERSIONED:
        scheme.add_known_types(group_version, types.List)
    scheme.add_unversioned_types(UNVERSIONED, *UNVERSIONED_TYPES)


def add_meta_to_scheme(scheme: runtime.Scheme) -> None:
    """Register the kinds of meta.k8s.io itself. Go: AddMetaToScheme."""
    scheme.add_known_types(SCHEME_GROUP_VERSION, *META_TYPES)
