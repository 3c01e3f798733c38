"""A RESTMapper made from discovery, and one that runs discovery on first use. Mirrors restmapper/discovery.go."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from clientgo import klog
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersion, GroupVersionKind, GroupVersionResource
from clientgo.discovery import CachedDiscoveryInterface, DiscoveryInterface, ErrGroupDiscoveryFailed

T = TypeVar("T")


@dataclass(kw_only=True)
class APIGroupResources:
    """A group with its resources by version."""

    group: metav1.APIGroup
    versioned_resources: dict[str, list[metav1.APIResource]] = field(default_factory=dict)


def new_discovery_rest_mapper(group_resources: Iterable[APIGroupResources]) -> meta.RESTMapper:
    """Return a mapper that prefers v1 of the core group, then groups and versions as discovery orders them.

    Go: NewDiscoveryRESTMapper.
    """
    mappers = meta.MultiRESTMapper()
    versions = [GroupVersion("", "v1")]
    groups: list[str] = []
    for each in group_resources:
        groups.append(each.group.name)
        preferred = each.group.preferred_version.version
        if preferred in each.versioned_resources:
            versions.append(GroupVersion(each.group.name, preferred))
        for version in each.group.versions:
            resources = each.versioned_resources.get(version.version)
            if resources is None:
                continue
            gv = GroupVersion(each.group.name, version.version)
            # After the preferred version, for resources that exist only there.
            if version.version != preferred:
                versions.append(gv)
            mappers.append(_version_mapper(gv, resources))
    versions += [GroupVersion(group, meta.ANY_VERSION) for group in groups]
    return meta.PriorityRESTMapper(
        delegate=mappers,
        resource_priority=[gv.with_resource(meta.ANY_RESOURCE) for gv in versions],
        kind_priority=[gv.with_kind(meta.ANY_KIND) for gv in versions],
    )


def _version_mapper(gv: GroupVersion, resources: Iterable[metav1.APIResource]) -> meta.DefaultRESTMapper:
    mapper = meta.new_default_rest_mapper([gv])
    for resource in resources:
        if "/" in resource.name:
            continue  # subresources have no kinds of their own
        scope = meta.REST_SCOPE_NAMESPACE if resource.namespaced else meta.REST_SCOPE_ROOT
        kind = gv.with_kind(resource.kind)
        plural, singular = gv.with_resource(resource.name), gv.with_resource(resource.singular_name)
        if not resource.singular_name:
            _, singular = meta.unsafe_guess_kind_to_resource(kind)
        mapper.add_specific(gv.with_kind(resource.kind.lower()), plural, singular, scope)
        mapper.add_specific(kind, plural, singular, scope)
        mapper.add(gv.with_kind(resource.kind + "List"), scope)
    mapper.add(gv.with_kind("List"), meta.REST_SCOPE_ROOT)
    return mapper


def get_api_group_resources(cl: DiscoveryInterface) -> list[APIGroupResources]:
    """Return the server's resources by group; skip unreadable groups. Go: GetAPIGroupResources."""
    try:
        groups, lists = cl.server_groups_and_resources()
    except ErrGroupDiscoveryFailed as err:
        if not err.server_groups:
            raise
        groups, lists = err.server_groups, err.resources
    by_version = {listed.group_version: list(listed.api_resources) for listed in lists}
    return [
        APIGroupResources(
            group=group,
            versioned_resources={
                version.version: by_version[version.group_version]
                for version in group.versions
                if version.group_version in by_version
            },
        )
        for group in groups
    ]


class DeferredDiscoveryRESTMapper:
    """A mapper that runs discovery on first use, and again if outdated results lack an item. Thread-safe."""

    def __init__(self, cl: CachedDiscoveryInterface) -> None:
        self._cl = cl
        # Guards _delegate; held during discovery.
        self._lock = threading.Lock()
        self._delegate: meta.RESTMapper | None = None

    def _get_delegate(self) -> meta.RESTMapper:
        with self._lock:
            if self._delegate is None:
                self._delegate = new_discovery_rest_mapper(get_api_group_resources(self._cl))
            return self._delegate

    def _query(self, query: Callable[[meta.RESTMapper], T]) -> T:
        """Ask the delegate, and a new one if it has no match and may be outdated."""
        delegate = self._get_delegate()
        try:
            return query(delegate)
        except Exception:
            if self._cl.fresh():
                raise
        self.reset()
        return self._query(query)

    def reset(self) -> None:
        """Drop the discovery results. Go: Reset."""
        klog.v(5).info("Invalidating discovery information")
        with self._lock:
            self._cl.invalidate()
            self._delegate = None

    def kind_for(self, resource: GroupVersionResource) -> GroupVersionKind:
        """See meta.RESTMapper. This and all other methods also raise the errors of discovery."""
        return self._query(lambda mapper: mapper.kind_for(resource))

    def kinds_for(self, resource: GroupVersionResource) -> list[GroupVersionKind]:
        return self._query(lambda mapper: mapper.kinds_for(resource))

    def resource_for(self, input: GroupVersionResource) -> GroupVersionResource:
        return self._query(lambda mapper: mapper.resource_for(input))

    def resources_for(self, input: GroupVersionResource) -> list[GroupVersionResource]:
        return self._query(lambda mapper: mapper.resources_for(input))

    def rest_mapping(self, gk: GroupKind, *versions: str) -> meta.RESTMapping:
        return self._query(lambda mapper: mapper.rest_mapping(gk, *versions))

    def rest_mappings(self, gk: GroupKind, *versions: str) -> list[meta.RESTMapping]:
        return self._query(lambda mapper: mapper.rest_mappings(gk, *versions))

    def resource_singularizer(self, resource: str) -> str:
        return self._query(lambda mapper: mapper.resource_singularizer(resource))

    def __str__(self) -> str:
        try:
            return f"DeferredDiscoveryRESTMapper{{\n\t{self._get_delegate()}\n}}"
        except Exception as err:
            return f"DeferredDiscoveryRESTMapper{{{err}}}"


def new_deferred_discovery_rest_mapper(cl: CachedDiscoveryInterface) -> DeferredDiscoveryRESTMapper:
    """Return a mapper that runs discovery on first use. Go: NewDeferredDiscoveryRESTMapper."""
    return DeferredDiscoveryRESTMapper(cl)
