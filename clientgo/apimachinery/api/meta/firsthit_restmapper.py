"""A RESTMapper that returns the first result of several mappers.

Mirrors k8s.io/apimachinery/pkg/api/meta/firsthit_restmapper.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from clientgo.apimachinery.api.meta.errors import is_no_match_error
from clientgo.apimachinery.api.meta.interfaces import RESTMapper, RESTMapping
from clientgo.apimachinery.api.meta.multirestmapper import MultiRESTMapper
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.util.errors import new_aggregate

T = TypeVar("T")


class FirstHitRESTMapper(MultiRESTMapper):
    """A mapper whose methods for one result return the first mapper's result, while the others combine all results.

    Go: meta.FirstHitRESTMapper.
    """

    def __str__(self) -> str:
        return f"FirstHitRESTMapper{{\n\t{super().__str__()}\n}}"

    def resource_for(self, input: GroupVersionResource) -> GroupVersionResource:
        """Return the resource of the first mapper that knows it. Go: FirstHitRESTMapper.ResourceFor."""
        return self._first(lambda mapper: mapper.resource_for(input))

    def kind_for(self, resource: GroupVersionResource) -> GroupVersionKind:
        """Return the kind of the first mapper that knows the resource. Go: FirstHitRESTMapper.KindFor."""
        return self._first(lambda mapper: mapper.kind_for(resource))

    def rest_mapping(self, gk: GroupKind, *versions: str) -> RESTMapping:
        """Return the mapping of the first mapper that knows the kind. Go: FirstHitRESTMapper.RESTMapping."""
        return self._first(lambda mapper: mapper.rest_mapping(gk, *versions))

    def _first(self, query: Callable[[RESTMapper], T]) -> T:
        errors: list[BaseException] = []
        for mapper in self:
            try:
                return query(mapper)
            except Exception as err:
                errors.append(err)
        if errors and (len(errors) == 1 or all(is_no_match_error(err) for err in errors)):
            raise errors[0]
        raise new_aggregate(errors) or LookupError("no RESTMapper was given")

    def reset(self) -> None:
        """Reset all mappers. Go: FirstHitRESTMapper.Reset."""
        super().reset()
