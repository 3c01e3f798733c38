"""A RESTMapper that resolves ambiguous results by a list of preferences.

Mirrors k8s.io/apimachinery/pkg/api/meta/priority.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from clientgo.apimachinery.api.meta.errors import AmbiguousKindError, AmbiguousResourceError
from clientgo.apimachinery.api.meta.interfaces import RESTMapper, RESTMapping
from clientgo.apimachinery.api.meta.restmapper import maybe_reset_rest_mapper
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersion, GroupVersionKind, GroupVersionResource

ANY_GROUP: Final = "*"
"""Go: meta.AnyGroup."""
ANY_VERSION: Final = "*"
"""Go: meta.AnyVersion."""
ANY_RESOURCE: Final = "*"
"""Go: meta.AnyResource."""
ANY_KIND: Final = "*"
"""Go: meta.AnyKind."""

P = TypeVar("P")
V = TypeVar("V")


@dataclass(frozen=True)
class PriorityRESTMapper:
    """A mapper that filters the results of `delegate` pattern by pattern until one is left.

    Go: meta.PriorityRESTMapper.
    """

    delegate: RESTMapper
    resource_priority: Sequence[GroupVersionResource] = field(default_factory=list)
    kind_priority: Sequence[GroupVersionKind] = field(default_factory=list)

    def __str__(self) -> str:
        resources = " ".join(str(each) for each in self.resource_priority)
        kinds = " ".join(str(each) for each in self.kind_priority)
        return f"PriorityRESTMapper{{\n\t[{resources}]\n\t[{kinds}]\n\t{self.delegate}\n}}"

    def resource_for(self, input: GroupVersionResource) -> GroupVersionResource:
        """Return the matching resource of the highest priority. Go: PriorityRESTMapper.ResourceFor."""
        found = self.delegate.resources_for(input)
        remaining = _narrow(found, self.resource_priority, _resource_matches)
        if len(remaining) == 1:
            return remaining[0]
        raise AmbiguousResourceError(input, matching_resources=found)

    def kind_for(self, resource: GroupVersionResource) -> GroupVersionKind:
        """Return the matching kind of the highest priority. Go: PriorityRESTMapper.KindFor."""
        found = self.delegate.kinds_for(resource)
        remaining = _narrow(found, self.kind_priority, _kind_matches)
        if len(remaining) == 1:
            return remaining[0]
        raise AmbiguousResourceError(resource, matching_kinds=found)

    def rest_mapping(self, gk: GroupKind, *versions: str) -> RESTMapping:
        """Return the mapping of the highest priority, the given versions first. Go: PriorityRESTMapper.RESTMapping."""
        found = self.delegate.rest_mappings(gk, *versions)
        preferred = [GroupVersion(gk.group, version).with_kind(ANY_KIND) for version in versions]
        remaining = _narrow(
            found,
            [*preferred, *self.kind_priority],
            lambda pattern, mapping: _kind_matches(pattern, mapping.group_version_kind),
        )
        if len(remaining) == 1:
            return remaining[0]
        kinds = [mapping.group_version_kind for mapping in found]
        raise AmbiguousKindError(gk.with_version(""), matching_kinds=kinds)

    def rest_mappings(self, gk: GroupKind, *versions: str) -> list[RESTMapping]:
        """Return the delegate's mappings. Go: PriorityRESTMapper.RESTMappings."""
        return self.delegate.rest_mappings(gk, *versions)

    def resource_singularizer(self, resource: str) -> str:
        """Return the delegate's singular. Go: PriorityRESTMapper.ResourceSingularizer."""
        return self.delegate.resource_singularizer(resource)

    def resources_for(self, input: GroupVersionResource) -> list[GroupVersionResource]:
        """Return the delegate's resources. Go: PriorityRESTMapper.ResourcesFor."""
        return self.delegate.resources_for(input)

    def kinds_for(self, resource: GroupVersionResource) -> list[GroupVersionKind]:
        """Return the delegate's kinds. Go: PriorityRESTMapper.KindsFor."""
        return self.delegate.kinds_for(resource)

    def reset(self) -> None:
        """Reset the delegate. Go: PriorityRESTMapper.Reset."""
        maybe_reset_rest_mapper(self.delegate)


def _narrow(values: list[V], patterns: Iterable[P], matches: Callable[[P, V], bool]) -> list[V]:
    """Return the values that the patterns match, one pattern after the other. Ignores a pattern without a match."""
    remaining = values
    for pattern in patterns:
        if len(remaining) == 1:
            break
        remaining = [value for value in remaining if matches(pattern, value)] or remaining
    return remaining


def _resource_matches(pattern: GroupVersionResource, resource: GroupVersionResource) -> bool:
    return (
        pattern.group in (ANY_GROUP, resource.group)
        and pattern.version in (ANY_VERSION, resource.version)
        and pattern.resource in (ANY_RESOURCE, resource.resource)
    )


def _kind_matches(pattern: GroupVersionKind, kind: GroupVersionKind) -> bool:
    return (
        pattern.group in (ANY_GROUP, kind.group)
        and pattern.version in (ANY_VERSION, kind.version)
        and pattern.kind in (ANY_KIND, kind.kind)
    )
