"""A RESTMapper with short names, such as "po". Mirrors restmapper/shortcut.go."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import (
    GroupKind,
    GroupResource,
    GroupVersionKind,
    GroupVersionResource,
)
from clientgo.discovery import DiscoveryInterface
from clientgo.golang.strconv import quote
from clientgo.restmapper.category_expansion import resources_by_group

# Resources by group, in the order of discovery.
_Known = Iterable[tuple[str, list[metav1.APIResource]]]


class _Shortcut(NamedTuple):
    short: GroupResource
    long: GroupResource


class _ShortcutExpander:
    """A mapper that expands short names and asks another mapper."""

    def __init__(
        self, delegate: meta.RESTMapper, client: DiscoveryInterface, warning_handler: Callable[[str], None] | None
    ) -> None:
        self._delegate = delegate
        self._client = client
        self._warning_handler = warning_handler

    def kind_for(self, resource: GroupVersionResource) -> GroupVersionKind:
        try:
            return self._delegate.kind_for(self._expand(resource))
        except Exception as err:
            if not meta.is_no_match_error(err):
                raise
        # The delegate may have run discovery meanwhile, which may have found the short name.
        return self._delegate.kind_for(self._expand(resource))

    def kinds_for(self, resource: GroupVersionResource) -> list[GroupVersionKind]:
        return self._delegate.kinds_for(self._expand(resource))

    def resource_for(self, input: GroupVersionResource) -> GroupVersionResource:
        return self._delegate.resource_for(self._expand(input))

    def resources_for(self, input: GroupVersionResource) -> list[GroupVersionResource]:
        return self._delegate.resources_for(self._expand(input))

    def rest_mapping(self, gk: GroupKind, *versions: str) -> meta.RESTMapping:
        return self._delegate.rest_mapping(gk, *versions)

    def rest_mappings(self, gk: GroupKind, *versions: str) -> list[meta.RESTMapping]:
        return self._delegate.rest_mappings(gk, *versions)

    def resource_singularizer(self, resource: str) -> str:
        return self._delegate.resource_singularizer(self._expand(GroupVersionResource("", "", resource)).resource)

    def reset(self) -> None:
        meta.maybe_reset_rest_mapper(self._delegate)

    def _expand(self, resource: GroupVersionResource) -> GroupVersionResource:
        known = resources_by_group(self._client)
        if _is_full_name(resource, known):
            return resource
        shortcuts = _shortcuts(known)
        exact = [item for item in shortcuts if _matches(resource, item) and resource.group in ("", item.short.group)]
        if exact:
            self._warn_of_others(resource.resource, exact)
            return GroupVersionResource(exact[0].long.group, "", exact[0].long.resource)
        if not resource.group:
            return resource
        # "autoscal" is sufficient for "autoscaling".
        for item in shortcuts:
            if _matches(resource, item) and item.short.group.startswith(resource.group):
                return GroupVersionResource(item.long.group, resource.version, item.long.resource)
        return resource

    def _warn_of_others(self, name: str, matches: list[_Shortcut]) -> None:
        """Warn once about each other resource with the same short name; the first match is used."""
        others = dict.fromkeys(item.long for item in matches if item.long != matches[0].long)
        if self._warning_handler is not None:
            for other in others:
                self._warning_handler(f"short name {quote(name)} could also match lower priority resource {other}")


def _is_full_name(wanted: GroupVersionResource, known: _Known) -> bool:
    return any(
        wanted.resource in (resource.name, resource.singular_name)
        for group, resources in known
        if wanted.group in ("", group)
        for resource in resources
    )


def _shortcuts(known: _Known) -> list[_Shortcut]:
    return [
        _Shortcut(GroupResource(group, short_name), GroupResource(group, resource.name))
        for group, resources in known
        for resource in resources
        for short_name in resource.short_names
    ]


def _matches(resource: GroupVersionResource, item: _Shortcut) -> bool:
    return resource.resource == item.short.resource


def new_shortcut_expander(
    delegate: meta.RESTMapper, client: DiscoveryInterface, warning_handler: Callable[[str], None] | None = None
) -> meta.ResettableRESTMapper:
    """Return a mapper that expands short names; `warning_handler` receives warnings about ambiguous ones.

    Go: NewShortcutExpander.
    """
    return _ShortcutExpander(delegate, client, warning_handler)
