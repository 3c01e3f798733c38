"""Interfaces for reading metadata of any object, and for finding the resource of a kind.

Mirrors k8s.io/apimachinery/pkg/api/meta/interfaces.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from clientgo.apimachinery.apis.meta.v1.meta import ListInterface as List
from clientgo.apimachinery.apis.meta.v1.meta import ListMetaAccessor, Type
from clientgo.apimachinery.runtime.interfaces import ResourceVersioner
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersionKind, GroupVersionResource

__all__ = [
    "List",
    "ListMetaAccessor",
    "MetadataAccessor",
    "RESTMapper",
    "RESTMapping",
    "RESTScope",
    "RESTScopeName",
    "ResettableRESTMapper",
    "Type",
]


class MetadataAccessor(ResourceVersioner, Protocol):
    """An accessor for the metadata of any object. Raises TypeError for an object without metadata.

    Go: meta.MetadataAccessor.
    """

    def api_version(self, obj: Any) -> str: ...
    def set_api_version(self, obj: Any, version: str) -> None: ...
    def kind(self, obj: Any) -> str: ...
    def set_kind(self, obj: Any, kind: str) -> None: ...
    def namespace(self, obj: Any) -> str: ...
    def set_namespace(self, obj: Any, namespace: str) -> None: ...
    def name(self, obj: Any) -> str: ...
    def set_name(self, obj: Any, name: str) -> None: ...
    def generate_name(self, obj: Any) -> str: ...
    def set_generate_name(self, obj: Any, name: str) -> None: ...
    def uid(self, obj: Any) -> str: ...
    def set_uid(self, obj: Any, uid: str) -> None: ...
    def self_link(self, obj: Any) -> str: ...
    def set_self_link(self, obj: Any, self_link: str) -> None: ...
    def labels(self, obj: Any) -> dict[str, str]: ...
    def set_labels(self, obj: Any, labels: Mapping[str, str] | None) -> None: ...
    def annotations(self, obj: Any) -> dict[str, str]: ...
    def set_annotations(self, obj: Any, annotations: Mapping[str, str] | None) -> None: ...
    def continue_(self, obj: Any) -> str: ...
    def set_continue(self, obj: Any, c: str) -> None: ...


class RESTScopeName(StrEnum):
    """The name of a scope: namespaced or cluster-wide. Go: meta.RESTScopeName."""

    NAMESPACE = "namespace"
    ROOT = "root"


class RESTScope(Protocol):
    """The scope of a resource. Go: meta.RESTScope."""

    def name(self) -> RESTScopeName:
        """Return the scope's name."""
        ...


@dataclass(frozen=True, slots=True)
class RESTMapping:
    """The resource that serves a kind. Go: meta.RESTMapping."""

    resource: GroupVersionResource
    group_version_kind: GroupVersionKind
    scope: RESTScope


@runtime_checkable
class RESTMapper(Protocol):
    """A mapper between kinds and resources, whose names may be partial. Go: meta.RESTMapper.

    Methods raise NoResourceMatchError or NoKindMatchError without a match. Methods for one result raise
    AmbiguousResourceError or AmbiguousKindError for several matches. Mappers that ask a server block.
    """

    def kind_for(self, resource: GroupVersionResource) -> GroupVersionKind:
        """Return the only kind of a resource."""
        ...

    def kinds_for(self, resource: GroupVersionResource) -> list[GroupVersionKind]:
        """Return all kinds of a resource, the preferred one first."""
        ...

    def resource_for(self, input: GroupVersionResource) -> GroupVersionResource:
        """Return the only full name of a resource."""
        ...

    def resources_for(self, input: GroupVersionResource) -> list[GroupVersionResource]:
        """Return all full names of a resource, the preferred one first."""
        ...

    def rest_mapping(self, gk: GroupKind, *versions: str) -> RESTMapping:
        """Return the resource of a kind, in the first known one of these versions."""
        ...

    def rest_mappings(self, gk: GroupKind, *versions: str) -> list[RESTMapping]:
        """Return the resources of a kind in these versions, or in all."""
        ...

    def resource_singularizer(self, resource: str, /) -> str:
        """Return the singular of a resource's name."""
        ...


@runtime_checkable
class ResettableRESTMapper(RESTMapper, Protocol):
    """A mapper with a cache that can be reset. Go: meta.ResettableRESTMapper."""

    def reset(self) -> None:
        """Clear the cache; the next call looks up again."""
        ...
