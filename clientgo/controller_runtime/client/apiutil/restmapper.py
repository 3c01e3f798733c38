"""A RESTMapper that discovers groups and versions on first use. Mirrors apiutil/restmapper.go.

It finds the kinds of CRDs that are installed while the program runs, and asks only about the required group and
version.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from clientgo import discovery, rest, restmapper
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersion, GroupVersionKind, GroupVersionResource
from clientgo.controller_runtime.client.apiutil.errors import ErrResourceDiscoveryFailed
from clientgo.golang.http import Client as HTTPClient

T = TypeVar("T")


def new_dynamic_rest_mapper(cfg: rest.Config, http_client: HTTPClient | None) -> meta.RESTMapper:
    """Return a mapper for the server of `cfg`, over the given connections. Sends no request yet.

    Its methods raise the errors of mappers, ErrResourceDiscoveryFailed, or RuntimeError with the server's error as its
    cause. Go: apiutil.NewDynamicRESTMapper.
    """
    if http_client is None:
        raise ValueError("http_client must not be None, consider using rest.http_client_for(c) to create a client")
    return _Mapper(discovery.new_discovery_client_for_config_and_client(cfg, http_client))


class _Mapper:
    """The mapper of new_dynamic_rest_mapper.

    Invariant: `mapper` is built from `known_groups` and is replaced after every change of them; readers take no lock.
    """

    def __init__(self, client: discovery.AggregatedDiscoveryInterface) -> None:
        self._client = client
        # Guards the other attributes. Held during requests, so that threads do not repeat each other's discovery.
        self._lock = threading.Lock()
        self._mapper = restmapper.new_discovery_rest_mapper([])
        # Groups, each with the resources of the versions that were asked for.
        self._known_groups: dict[str, restmapper.APIGroupResources] = {}
        # Groups with all their versions, as the server lists them.
        self._api_groups: dict[str, metav1.APIGroup] = {}
        self._initial_discovery_done = False

    def kind_for(self, resource: GroupVersionResource) -> GroupVersionKind:
        return self._find(lambda mapper: mapper.kind_for(resource), resource.group, resource.version)

    def kinds_for(self, resource: GroupVersionResource) -> list[GroupVersionKind]:
        return self._find(lambda mapper: mapper.kinds_for(resource), resource.group, resource.version)

    def resource_for(self, input: GroupVersionResource) -> GroupVersionResource:
        return self._find(lambda mapper: mapper.resource_for(input), input.group, input.version)

    def resources_for(self, input: GroupVersionResource) -> list[GroupVersionResource]:
        return self._find(lambda mapper: mapper.resources_for(input), input.group, input.version)

    def rest_mapping(self, gk: GroupKind, *versions: str) -> meta.RESTMapping:
        return self._find(lambda mapper: mapper.rest_mapping(gk, *versions), gk.group, *versions)

    def rest_mappings(self, gk: GroupKind, *versions: str) -> list[meta.RESTMapping]:
        return self._find(lambda mapper: mapper.rest_mappings(gk, *versions), gk.group, *versions)

    def resource_singularizer(self, resource: str) -> str:
        return self._mapper.resource_singularizer(resource)

    def _find(self, look: Callable[[meta.RESTMapper], T], group: str, *versions: str) -> T:
        try:
            return look(self._mapper)
        except Exception as err:
            if not meta.is_no_match_error(err):
                raise
        self._add_known_group_and_reload(group, [version for version in versions if version])
        return look(self._mapper)

    def _add_known_group_and_reload(self, group: str, versions: Sequence[str]) -> None:
        """Discover a group, or some of its versions, and rebuild the mapper."""
        with self._lock:
            # Aggregated discovery returns everything in two requests, so try it first, once.
            if not versions or not self._initial_discovery_done:
                api_group, is_complete = self._find_api_group(group)
                if not versions and api_group is not None:
                    versions = [version.version for version in api_group.versions]
                if is_complete:
                    self._require_known(group, versions)
                    return
            try:
                found = self._fetch_group_version_resources(group, versions)
            except ErrResourceDiscoveryFailed as err:
                raise RuntimeError(f"failed to get API group resources: {err}") from err
            self._add_and_reload(found)

    def _require_known(self, group: str, versions: Sequence[str]) -> None:
        known = self._known_groups.get(group)
        resources = known.versioned_resources if known is not None else {}
        missing: dict[GroupVersion, Exception] = {
            GroupVersion(group, version): meta.NoResourceMatchError(GroupVersionResource(group, version, ""))
            for version in versions
            if version not in resources
        }
        if missing:
            raise ErrResourceDiscoveryFailed(missing)

    def _find_api_group(self, group: str) -> tuple[metav1.APIGroup | None, bool]:
        """Return the group as the server lists it, and whether aggregated discovery has returned all resources."""
        found = self._api_groups.get(group)
        if found is not None:
            return found, False
        try:
            listed, resources, _ = self._client.groups_and_maybe_resources()
        except Exception as err:
            raise RuntimeError(f"failed to get server groups: {err}") from err
        if not listed.groups:
            raise RuntimeError("received an empty API groups list")
        self._initial_discovery_done = True
        for api_group in listed.groups:
            self._api_groups[api_group.name] = api_group
        if resources:
            self._add_and_reload(resources)
        return self._api_groups.get(group), bool(resources)

    def _fetch_group_version_resources(
        self, group: str, versions: Sequence[str]
    ) -> dict[GroupVersion, metav1.APIResourceList]:
        """Return the resources of these versions. If the server does not have a version, forget the group's cached
        version list.
        """
        found: dict[GroupVersion, metav1.APIResourceList] = {}
        failed: dict[GroupVersion, Exception] = {}
        for version in versions:
            group_version = GroupVersion(group, version)
            try:
                found[group_version] = self._client.server_resources_for_group_version(str(group_version))
            except Exception as err:
                if apierrors.is_not_found(err):
                    self._forget(group_version)
                else:
                    failed[group_version] = err
        if failed:
            raise ErrResourceDiscoveryFailed(failed)
        return found

    def _forget(self, group_version: GroupVersion) -> None:
        api_group = self._api_groups.get(group_version.group)
        if api_group is not None and any(each.version == group_version.version for each in api_group.versions):
            del self._api_groups[group_version.group]
        known = self._known_groups.get(group_version.group)
        if known is not None and group_version.version in known.versioned_resources:
            del self._known_groups[group_version.group]

    def _add_and_reload(self, found: Mapping[GroupVersion, metav1.APIResourceList]) -> None:
        for group_version, resources in found.items():
            self._add(group_version, list(resources.api_resources))
        self._mapper = restmapper.new_discovery_rest_mapper(list(self._known_groups.values()))

    def _add(self, group_version: GroupVersion, resources: list[metav1.APIResource]) -> None:
        name, version = group_version.group, group_version.version
        known = self._known_groups.setdefault(
            name, restmapper.APIGroupResources(group=metav1.APIGroup(name=name), versioned_resources={})
        )
        known.versioned_resources[version] = resources
        versions = known.group.versions
        if any(each.version == version for each in versions):
            return
        added = metav1.GroupVersionForDiscovery(group_version=str(group_version), version=version)
        # The first version is the preferred one.
        api_group = self._api_groups.get(name)
        preferred = api_group is not None and api_group.preferred_version.version == version
        versions.insert(0 if preferred else len(versions), added)

    def __repr__(self) -> str:
        return f"<dynamic RESTMapper, {len(self._known_groups)} groups known>"
