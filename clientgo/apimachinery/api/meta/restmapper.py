"""A RESTMapper for kinds that the program adds.

Mirrors k8s.io/apimachinery/pkg/api/meta/restmapper.go. Where Go's order of results depends on a map, this mapper uses
the order in which the kinds were added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cmp_to_key
from typing import Final, TypeVar

from clientgo.apimachinery.api.meta.errors import AmbiguousResourceError, NoKindMatchError, NoResourceMatchError
from clientgo.apimachinery.api.meta.interfaces import ResettableRESTMapper, RESTMapper, RESTMapping, RESTScope
from clientgo.apimachinery.api.meta.interfaces import RESTScopeName as ScopeName
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersion, GroupVersionKind, GroupVersionResource

_API_VERSION_INTERNAL: Final = "__internal"
_UNPLURALIZED_SUFFIXES: Final = ("endpoints",)

N = TypeVar("N", GroupVersionKind, GroupVersionResource)


class _RESTScope:
    """Go: meta.restScope."""

    __slots__ = ("_name",)

    def __init__(self, name: ScopeName) -> None:
        self._name = name

    def name(self) -> ScopeName:
        return self._name

    def __repr__(self) -> str:
        return f"<RESTScope {self._name}>"


REST_SCOPE_NAMESPACE: Final[RESTScope] = _RESTScope(ScopeName.NAMESPACE)
"""The scope of namespaced objects. Go: meta.RESTScopeNamespace."""

REST_SCOPE_ROOT: Final[RESTScope] = _RESTScope(ScopeName.ROOT)
"""The scope of cluster-wide objects. Go: meta.RESTScopeRoot."""


class DefaultRESTMapper:
    """A mapper for the kinds that were added to it. Not thread-safe while kinds are added.

    Go: meta.DefaultRESTMapper.
    """

    def __init__(self, default_group_versions: Sequence[GroupVersion]) -> None:
        """Search `default_group_versions` in this order for requests without a version."""
        self._default_group_versions = list(default_group_versions)
        self._resource_to_kind: dict[GroupVersionResource, GroupVersionKind] = {}
        self._kind_to_plural_resource: dict[GroupVersionKind, GroupVersionResource] = {}
        self._kind_to_scope: dict[GroupVersionKind, RESTScope] = {}
        self._plural_to_singular: dict[GroupVersionResource, GroupVersionResource] = {}

    def __str__(self) -> str:
        pairs = " ".join(f"{kind}:{resource}" for kind, resource in self._kind_to_plural_resource.items())
        return f"DefaultRESTMapper{{kindToPluralResource=map[{pairs}]}}"

    def add(self, kind: GroupVersionKind, scope: RESTScope) -> None:
        """Add a kind and guess the name of its resource. Go: DefaultRESTMapper.Add."""
        plural, singular = unsafe_guess_kind_to_resource(kind)
        self.add_specific(kind, plural, singular, scope)

    def add_specific(
        self, kind: GroupVersionKind, plural: GroupVersionResource, singular: GroupVersionResource, scope: RESTScope
    ) -> None:
        """Add a kind with its resource's names. Go: DefaultRESTMapper.AddSpecific."""
        self._plural_to_singular[plural] = singular
        self._resource_to_kind[singular] = kind
        self._resource_to_kind[plural] = kind
        self._kind_to_plural_resource[kind] = plural
        self._kind_to_scope[kind] = scope

    def resource_singularizer(self, resource_type: str) -> str:
        """Return the singular of a resource's name. Raises ValueError. Go: DefaultRESTMapper.ResourceSingularizer."""
        resources = self.resources_for(GroupVersionResource(resource=resource_type))
        singulars = [self._plural_to_singular[each].resource for each in resources if each in self._plural_to_singular]
        if not singulars:
            raise ValueError(f"no singular of resource {resource_type} has been defined")
        if len(set(singulars)) > 1:
            shown = " ".join(str(each) for each in resources)
            raise ValueError(f"multiple possible singular resources ([{shown}]) found for {resource_type}")
        return singulars[0]

    def resources_for(self, input: GroupVersionResource) -> list[GroupVersionResource]:
        """Return all full names of a resource given in singular or plural. Go: DefaultRESTMapper.ResourcesFor."""
        wanted = _coerce_resource_for_matching(input)
        candidates = [
            (name, plural) for plural, singular in self._plural_to_singular.items() for name in (singular, plural)
        ]
        found = list(dict.fromkeys(_matching(wanted, candidates)))
        if not found:
            raise NoResourceMatchError(wanted)
        return self._by_preferred_group_version(found, lambda resource: resource.resource)

    def resource_for(self, input: GroupVersionResource) -> GroupVersionResource:
        """Return the only full name of a resource. Go: DefaultRESTMapper.ResourceFor."""
        resources = self.resources_for(input)
        if len(resources) > 1:
            raise AmbiguousResourceError(input, matching_resources=resources)
        return resources[0]

    def kinds_for(self, resource: GroupVersionResource) -> list[GroupVersionKind]:
        """Return all kinds of a resource. Go: DefaultRESTMapper.KindsFor."""
        wanted = _coerce_resource_for_matching(resource)
        found = list(dict.fromkeys(_matching(wanted, self._resource_to_kind.items())))
        if not found:
            raise NoResourceMatchError(resource)
        return self._by_preferred_group_version(found, lambda kind: kind.kind)

    def kind_for(self, resource: GroupVersionResource) -> GroupVersionKind:
        """Return the only kind of a resource. Go: DefaultRESTMapper.KindFor."""
        kinds = self.kinds_for(resource)
        if len(kinds) > 1:
            raise AmbiguousResourceError(resource, matching_kinds=kinds)
        return kinds[0]

    def rest_mapping(self, gk: GroupKind, *versions: str) -> RESTMapping:
        """Return the resource of a kind. Go: DefaultRESTMapper.RESTMapping."""
        return self.rest_mappings(gk, *versions)[0]

    def rest_mappings(self, gk: GroupKind, *versions: str) -> list[RESTMapping]:
        """Return the resources of a kind, in the first known of these versions or in all defaults. Go: RESTMappings."""
        kinds = [gk.with_version(version) for version in versions if version not in ("", _API_VERSION_INTERNAL)]
        if kinds:
            potential = [gvk for gvk in kinds if gvk in self._kind_to_plural_resource][:1]
        else:
            defaults = [gv for gv in self._default_group_versions if gv.group == gk.group]
            potential = [gk.with_version(gv.version) for gv in defaults]
        if not potential:
            raise NoKindMatchError(gk, versions)
        known = [gvk for gvk in potential if gvk in self._kind_to_plural_resource]
        if not known:
            raise NoResourceMatchError(GroupVersionResource(group=gk.group, resource=gk.kind))
        return [RESTMapping(self._kind_to_plural_resource[gvk], gvk, self._kind_to_scope[gvk]) for gvk in known]

    def _by_preferred_group_version(self, names: list[N], own_name: Callable[[N], str]) -> list[N]:
        """Return the values sorted by their group version's position among the defaults, then by name."""
        positions = {gv: index for index, gv in enumerate(self._default_group_versions)}

        def compare(left: N, right: N) -> int:
            if left.group_version() == right.group_version():
                return (own_name(left) > own_name(right)) - (own_name(left) < own_name(right))
            # Group versions outside of the defaults come last.
            last = len(positions)
            return positions.get(left.group_version(), last) - positions.get(right.group_version(), last)

        return sorted(names, key=cmp_to_key(compare))


def new_default_rest_mapper(default_group_versions: Sequence[GroupVersion]) -> DefaultRESTMapper:
    """Return a mapper without kinds, which prefers these versions. Go: meta.NewDefaultRESTMapper."""
    return DefaultRESTMapper(default_group_versions)


def unsafe_guess_kind_to_resource(kind: GroupVersionKind) -> tuple[GroupVersionResource, GroupVersionResource]:
    """Guess the plural and singular resource by rules of English; prefer discovery. Go: UnsafeGuessKindToResource.

    >>> [each.resource for each in unsafe_guess_kind_to_resource(GroupVersionKind(kind="NetworkPolicy"))]
    ['networkpolicies', 'networkpolicy']
    """
    if not kind.kind:
        return GroupVersionResource(), GroupVersionResource()
    name = kind.kind.lower()
    singular = kind.group_version().with_resource(name)
    if name.endswith(_UNPLURALIZED_SUFFIXES):
        return singular, singular
    if name.endswith("s"):
        plural = f"{name}es"
    elif name.endswith("y"):
        plural = f"{name[:-1]}ies"
    else:
        plural = f"{name}s"
    return kind.group_version().with_resource(plural), singular


def _coerce_resource_for_matching(resource: GroupVersionResource) -> GroupVersionResource:
    if not resource.resource:
        raise ValueError(f"a resource must be present, got: {resource}")
    version = "" if resource.version == _API_VERSION_INTERNAL else resource.version
    return GroupVersionResource(resource.group, version, resource.resource.lower())


def _matching(wanted: GroupVersionResource, candidates: Iterable[tuple[GroupVersionResource, N]]) -> list[N]:
    """Return the values whose resource matches the partial resource `wanted`.

    If no group matches exactly, a prefix of a group matches.
    """
    named = [(name, value) for name, value in candidates if name.resource == wanted.resource]
    if wanted.version:
        named = [(name, value) for name, value in named if name.version == wanted.version]
    if not wanted.group:
        return [value for _, value in named]
    exact = [value for name, value in named if name.group == wanted.group]
    if exact or wanted.version:
        return exact
    return [value for name, value in named if name.group.startswith(wanted.group)]


def maybe_reset_rest_mapper(mapper: RESTMapper) -> None:
    """Reset the mapper if it supports that. Go: meta.MaybeResetRESTMapper."""
    if isinstance(mapper, ResettableRESTMapper):
        mapper.reset()
