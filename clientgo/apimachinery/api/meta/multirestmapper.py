"""A RESTMapper that combines the results of several mappers.

Mirrors k8s.io/apimachinery/pkg/api/meta/multirestmapper.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from clientgo.apimachinery.api.meta.errors import (
    AmbiguousKindError,
    AmbiguousResourceError,
    NoKindMatchError,
    NoResourceMatchError,
    is_no_match_error,
)
from clientgo.apimachinery.api.meta.interfaces import RESTMapper, RESTMapping
from clientgo.apimachinery.api.meta.restmapper import maybe_reset_rest_mapper
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.util.errors import new_aggregate

N = TypeVar("N", GroupVersionKind, GroupVersionResource)


class MultiRESTMapper(list[RESTMapper]):
    """A mapper that asks all its mappers and skips those without a match. Go: meta.MultiRESTMapper."""

    def __str__(self) -> str:
        nested = "\n\t".join(str(mapper).replace("\n", "\n\t") for mapper in self)
        return f"MultiRESTMapper{{\n\t{nested}\n}}"

    def resource_singularizer(self, resource: str) -> str:
        """Return the result of the first mapper that does not fail. Go: MultiRESTMapper.ResourceSingularizer."""
        last: Exception | None = None
        for mapper in self:
            try:
                return mapper.resource_singularizer(resource)
            except Exception as err:
                last = err
        if last is not None:
            raise last
        return ""

    def resources_for(self, input: GroupVersionResource) -> list[GroupVersionResource]:
        """Return the results of all mappers. Go: MultiRESTMapper.ResourcesFor."""
        return self._collect(input, lambda mapper: mapper.resources_for(input))

    def kinds_for(self, resource: GroupVersionResource) -> list[GroupVersionKind]:
        """Return the results of all mappers. Go: MultiRESTMapper.KindsFor."""
        return self._collect(resource, lambda mapper: mapper.kinds_for(resource))

    def _collect(self, resource: GroupVersionResource, query: Callable[[RESTMapper], list[N]]) -> list[N]:
        found: dict[N, None] = {}
        for mapper in self:
            try:
                found.update(dict.fromkeys(query(mapper)))
            except Exception as err:
                if not is_no_match_error(err):
                    raise
        if not found:
            raise NoResourceMatchError(resource)
        return list(found)

    def resource_for(self, input: GroupVersionResource) -> GroupVersionResource:
        """Return the only result of all mappers. Go: MultiRESTMapper.ResourceFor."""
        resources = self.resources_for(input)
        if len(resources) > 1:
            raise AmbiguousResourceError(input, matching_resources=resources)
        return resources[0]

    def kind_for(self, resource: GroupVersionResource) -> GroupVersionKind:
        """Return the only result of all mappers. Go: MultiRESTMapper.KindFor."""
        kinds = self.kinds_for(resource)
        if len(kinds) > 1:
            raise AmbiguousResourceError(resource, matching_kinds=kinds)
        return kinds[0]

    def rest_mapping(self, gk: GroupKind, *versions: str) -> RESTMapping:
        """Return the only result of all mappers; ignores errors if there is a result.

        Go: MultiRESTMapper.RESTMapping.
        """
        mappings, errors = self._query_all(lambda mapper: [mapper.rest_mapping(gk, *versions)])
        if len(mappings) == 1:
            return mappings[0]
        if mappings:
            kinds = [mapping.group_version_kind for mapping in mappings]
            raise AmbiguousKindError(gk.with_version(""), matching_kinds=kinds)
        raise new_aggregate(errors) or NoKindMatchError(gk, versions)

    def rest_mappings(self, gk: GroupKind, *versions: str) -> list[RESTMapping]:
        """Return the results of all mappers. Raises the first error. Go: MultiRESTMapper.RESTMappings."""
        mappings, errors = self._query_all(lambda mapper: mapper.rest_mappings(gk, *versions))
        if aggregate := new_aggregate(errors):
            raise aggregate
        if not mappings:
            raise NoKindMatchError(gk, versions)
        return mappings

    def _query_all(
        self, query: Callable[[RESTMapper], list[RESTMapping]]
    ) -> tuple[list[RESTMapping], list[BaseException]]:
        mappings: list[RESTMapping] = []
        errors: list[BaseException] = []
        for mapper in self:
            try:
                mappings += query(mapper)
            except Exception as err:
                if not is_no_match_error(err):
                    errors.append(err)
        return mappings, errors

    def reset(self) -> None:
        """Reset every mapper that supports it. Go: MultiRESTMapper.Reset."""
        for mapper in self:
            maybe_reset_rest_mapper(mapper)
