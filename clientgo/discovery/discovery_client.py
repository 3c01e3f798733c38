"""What groups, versions and resources a server has. Mirrors discovery/discovery_client.go.

Differs: where Go returns a partial result together with an error, `ErrGroupDiscoveryFailed` carries what was found; the
OpenAPI v2 document is read as JSON, not as protobuf.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, runtime_checkable

from clientgo import context
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource, GroupVersion, GroupVersionKind
from clientgo.apimachinery.util.errors import as_type
from clientgo.apimachinery.util.runtime import handle_crash
from clientgo.apimachinery.version import Info
from clientgo.discovery.aggregated_discovery import Failures, Resources, split_groups_and_resources
from clientgo.discovery.helper import ResourcePredicateFunc, filtered_by
from clientgo.golang.http import Client as HTTPClient
from clientgo.klog.exceptions import operational_error
from clientgo.openapi import Client as OpenAPIClient
from clientgo.openapi import new_client as new_openapi_client
from clientgo.rest.client import Interface
from clientgo.rest.config import (
    Config,
    copy_config,
    default_kubernetes_user_agent,
    unversioned_rest_client_for_config_and_client,
)
from clientgo.rest.request import parse_media_type
from clientgo.rest.transport import http_client_for

# How often discovery is tried while single groups fail.
_DEFAULT_RETRIES = 2
_DEFAULT_TIMEOUT = 32.0
# Discovery comes in bursts of one request a group version.
_DEFAULT_BURST = 300

_JSON = "application/json"
ACCEPT_V1 = _JSON
ACCEPT_V2BETA1 = _JSON + ";g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
ACCEPT_V2 = _JSON + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
ACCEPT_V2_NO_PEER = ACCEPT_V2 + ";profile=nopeer"
_ACCEPT_DISCOVERY_FORMATS = f"{ACCEPT_V2},{ACCEPT_V2BETA1},{ACCEPT_V1}"

_V2BETA1_GVK = GroupVersionKind("apidiscovery.k8s.io", "v2beta1", "APIGroupDiscoveryList")
_V2_GVK = GroupVersionKind("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList")

T = TypeVar("T")


class ServerGroupsInterface(Protocol):
    """Knows the groups. All methods of these interfaces block and raise StatusError, URLError."""

    def server_groups(self) -> metav1.APIGroupList:
        """The groups with their versions, the preferred one marked."""
        ...


class ServerResourcesInterface(Protocol):
    """Knows the resources."""

    def server_resources_for_group_version(self, group_version: str) -> metav1.APIResourceList:
        """The resources of one group version."""
        ...

    def server_groups_and_resources(self) -> tuple[list[metav1.APIGroup], list[metav1.APIResourceList]]:
        """All groups and all resources. Raises ErrGroupDiscoveryFailed with what was found when a group fails."""
        ...

    def server_preferred_resources(self) -> list[metav1.APIResourceList]:
        """Each resource once, in the version the server prefers. Raises as server_groups_and_resources does."""
        ...

    def server_preferred_namespaced_resources(self) -> list[metav1.APIResourceList]:
        """Of those the ones that live in namespaces."""
        ...


class ServerVersionInterface(Protocol):
    """Knows the server's version."""

    def server_version(self) -> Info: ...


class OpenAPISchemaInterface(Protocol):
    """Has the OpenAPI v2 document."""

    def openapi_schema(self) -> dict[str, Any]: ...


class OpenAPIV3SchemaInterface(Protocol):
    """Has the OpenAPI v3 documents."""

    def openapi_v3(self) -> OpenAPIClient: ...


class DiscoveryInterface(
    ServerGroupsInterface,
    ServerResourcesInterface,
    ServerVersionInterface,
    OpenAPISchemaInterface,
    OpenAPIV3SchemaInterface,
    Protocol,
):
    """Everything about what a server has."""

    def rest_client(self) -> Interface | None: ...

    def with_legacy(self) -> DiscoveryInterface:
        """A copy that never asks for the aggregated form."""
        ...


@runtime_checkable
class AggregatedDiscoveryInterface(DiscoveryInterface, Protocol):
    """Discovery that may learn groups and resources in one go."""

    def groups_and_maybe_resources(self) -> tuple[metav1.APIGroupList, Resources | None, Failures]:
        """(groups, resources by group version or None if the server does not aggregate, stale group versions)"""
        ...


@runtime_checkable
class CachedDiscoveryInterface(DiscoveryInterface, Protocol):
    """Discovery that remembers."""

    def fresh(self) -> bool:
        """False if asking again after `invalidate` may find more."""
        ...

    def invalidate(self) -> None:
        """Forget everything older than now."""
        ...


@operational_error
class ErrGroupDiscoveryFailed(Exception):
    """Some group versions could not be read. `groups` says why; the other two are what could be read."""

    def __init__(
        self,
        groups: Failures,
        server_groups: list[metav1.APIGroup] | None = None,
        resources: list[metav1.APIResourceList] | None = None,
    ) -> None:
        self.groups = groups
        self.server_groups = server_groups or []
        self.resources = resources or []
        listed = ", ".join(sorted(f"{gv}: {err}" for gv, err in groups.items()))
        super().__init__(f"unable to retrieve the complete list of server APIs: {listed}")

    def is_(self, target: object) -> bool:
        """Any two of these are the same error. Go: Is."""
        return isinstance(target, ErrGroupDiscoveryFailed) or target is ErrGroupDiscoveryFailed


def is_group_discovery_failed_error(err: BaseException | None) -> bool:
    """Report whether discovery failed for some groups only. Go: IsGroupDiscoveryFailedError."""
    return isinstance(err, ErrGroupDiscoveryFailed)


def group_discovery_failed_error_groups(err: BaseException | None) -> tuple[Failures | None, bool]:
    """(what failed, True) if the error, or one it was caused by, says so. Go: GroupDiscoveryFailedErrorGroups."""
    failure = as_type(err, ErrGroupDiscoveryFailed)
    return (failure.groups, True) if failure is not None else (None, False)


class DiscoveryClient:
    """Asks the server each time. Thread-safe. Implements AggregatedDiscoveryInterface."""

    def __init__(
        self,
        rest_client: Interface,
        *,
        legacy_prefix: str = "/api",
        use_legacy_discovery: bool = False,
        no_peer_discovery: bool = False,
    ) -> None:
        self._rest_client = rest_client
        self.legacy_prefix = legacy_prefix
        # Never ask for the aggregated form.
        self.use_legacy_discovery = use_legacy_discovery
        # Ask for what this server has, not for what others of its cluster have.
        self.no_peer_discovery = no_peer_discovery

    def rest_client(self) -> Interface:
        """The client below. Go: RESTClient."""
        return self._rest_client

    def groups_and_maybe_resources(self) -> tuple[metav1.APIGroupList, Resources | None, Failures]:
        """See AggregatedDiscoveryInterface: two requests, /api and /apis."""
        groups, resources, failed = self._download_legacy()
        api_groups, api_resources, failed_apis = self._download("/apis", self._plain_groups)
        groups.groups = [*groups.groups, *api_groups.groups]
        if resources is not None and api_resources is not None:
            resources = {**resources, **api_resources}
        else:
            resources = None
        return groups, resources, {**failed, **failed_apis}

    def _download_legacy(self) -> tuple[metav1.APIGroupList, Resources | None, Failures]:
        try:
            return self._download("/api", _api_versions_to_groups)
        except errors.StatusError as err:
            if not errors.is_not_found(err):
                raise
            # A server without the core group.
            return metav1.APIGroupList(), {}, {}

    def _download(
        self, path: str, plain: Callable[[dict[str, Any]], metav1.APIGroupList]
    ) -> tuple[metav1.APIGroupList, Resources | None, Failures]:
        request = self._rest_client.get().abs_path(path).set_header("Accept", self._accept_header())
        result = request.do(context.background())
        document = result.json_object()
        content_type = result.content_type()
        if any(content_type_is_gvk(content_type, gvk) for gvk in (_V2_GVK, _V2BETA1_GVK)):
            return split_groups_and_resources(document)
        return plain(document), None, {}

    def _accept_header(self) -> str:
        if self.use_legacy_discovery:
            return ACCEPT_V1
        no_peer = f"{ACCEPT_V2_NO_PEER}," if self.no_peer_discovery else ""
        return no_peer + _ACCEPT_DISCOVERY_FORMATS

    @staticmethod
    def _plain_groups(document: dict[str, Any]) -> metav1.APIGroupList:
        return metav1.APIGroupList.from_dict(document)

    def server_groups(self) -> metav1.APIGroupList:
        """See ServerGroupsInterface."""
        return self.groups_and_maybe_resources()[0]

    def server_resources_for_group_version(self, group_version: str) -> metav1.APIResourceList:
        """See ServerResourcesInterface. A missing core group is an empty one."""
        if not group_version:
            raise ValueError("groupVersion shouldn't be empty")
        legacy = self.legacy_prefix and group_version == "v1"
        path = f"{self.legacy_prefix}/v1" if legacy else f"/apis/{group_version}"
        try:
            found = self._rest_client.get().abs_path(path).do(context.background()).into(metav1.APIResourceList)
        except errors.StatusError as err:
            if group_version != "v1" or not errors.is_not_found(err):
                raise
            found = metav1.APIResourceList()
        if not found.group_version:
            found.group_version = group_version
        return found

    def server_groups_and_resources(self) -> tuple[list[metav1.APIGroup], list[metav1.APIResourceList]]:
        """See ServerResourcesInterface."""
        return _with_retries(_DEFAULT_RETRIES, lambda: server_groups_and_resources(self))

    def server_preferred_resources(self) -> list[metav1.APIResourceList]:
        """See ServerResourcesInterface."""
        return _with_retries(_DEFAULT_RETRIES, lambda: server_preferred_resources(self))

    def server_preferred_namespaced_resources(self) -> list[metav1.APIResourceList]:
        """See ServerResourcesInterface."""
        return server_preferred_namespaced_resources(self)

    def server_version(self) -> Info:
        """See ServerVersionInterface."""
        answer = self._rest_client.get().abs_path("/version").do(context.background()).raise_for_error()
        try:
            return Info.from_dict(answer.json_object())
        except ValueError as err:
            raise ValueError(f"unable to parse the server version: {err}") from err

    def openapi_schema(self) -> dict[str, Any]:
        """The OpenAPI v2 document as JSON. Go: OpenAPISchema."""
        request = self._rest_client.get().abs_path("/openapi/v2").set_header("Accept", _JSON)
        return request.do(context.background()).json_object()

    def openapi_v3(self) -> OpenAPIClient:
        """The client of the OpenAPI v3 documents. Go: OpenAPIV3."""
        return new_openapi_client(self._rest_client)

    def with_legacy(self) -> DiscoveryClient:
        """See DiscoveryInterface."""
        client = copy.copy(self)
        client.use_legacy_discovery = True
        return client

    def close(self) -> None:
        """Close the idle connections; the client can be used again."""
        self._rest_client.close()

    def __repr__(self) -> str:
        return f"<DiscoveryClient over {self._rest_client!r}>"


def _api_versions_to_groups(document: dict[str, Any]) -> metav1.APIGroupList:
    """The core group, from the answer to /api."""
    versions = [{"groupVersion": version, "version": version} for version in document.get("versions") or ()]
    group: dict[str, Any] = {"name": "", "versions": versions}
    if versions:
        group["preferredVersion"] = dict(versions[0])
    return metav1.APIGroupList.from_dict({"groups": [group]})


def content_type_is_gvk(content_type: str, gvk: GroupVersionKind) -> bool:
    """Report whether a Content-Type declares JSON of that kind. Go: ContentTypeIsGVK."""
    base, params = parse_media_type(content_type)
    said = (params.get("g"), params.get("v"), params.get("as"))
    return base == _JSON and said == (gvk.group, gvk.version, gvk.kind)


def server_groups_and_resources(
    d: DiscoveryInterface,
) -> tuple[list[metav1.APIGroup], list[metav1.APIResourceList]]:
    """All groups and resources, by as few requests as the server allows. Go: ServerGroupsAndResources."""
    groups, by_version, failed = groups_and_maybe_resources(d)
    listed = list(groups.groups)
    # Also a server that aggregates may know all group versions to be stale: then each is asked for by itself.
    if by_version:
        resources = list(by_version.values())
    else:
        fetched, failed = _fetch_group_version_resources(d, groups)
        resources = [fetched[gv] for gv in _group_versions(groups) if gv in fetched]
    if failed:
        raise ErrGroupDiscoveryFailed(failed, listed, resources)
    return listed, resources


def groups_and_maybe_resources(d: DiscoveryInterface) -> tuple[metav1.APIGroupList, Resources | None, Failures]:
    """See AggregatedDiscoveryInterface; a client that is not one knows groups only."""
    if isinstance(d, AggregatedDiscoveryInterface):
        return d.groups_and_maybe_resources()
    return d.server_groups(), None, {}


def _group_versions(groups: metav1.APIGroupList) -> list[GroupVersion]:
    return [GroupVersion(group.name, version.version) for group in groups.groups for version in group.versions]


def server_preferred_resources(d: DiscoveryInterface) -> list[metav1.APIResourceList]:
    """Each resource once, in the version the server prefers. Go: ServerPreferredResources."""
    groups, by_version, failed = groups_and_maybe_resources(d)
    if by_version is None:
        by_version, failed = _fetch_group_version_resources(d, groups)
    result = _preferred(groups, by_version)
    if failed:
        raise ErrGroupDiscoveryFailed(failed, [], result)
    return result


def _preferred(groups: metav1.APIGroupList, by_version: Resources) -> list[metav1.APIResourceList]:
    chosen: dict[GroupResource, tuple[GroupVersion, metav1.APIResource]] = {}
    lists: dict[GroupVersion, list[metav1.APIResource]] = {}
    names: dict[GroupVersion, str] = {}
    for group in groups.groups:
        preferred = group.preferred_version.version
        for version in group.versions:
            gv = GroupVersion(group.name, version.version)
            if gv not in by_version:
                continue
            lists[gv], names[gv] = [], version.group_version
            for resource in by_version[gv].api_resources:
                key = GroupResource(group.name, resource.name)
                if "/" not in resource.name and (key not in chosen or version.version == preferred):
                    chosen[key] = gv, resource
    for gv, resource in chosen.values():
        lists[gv].append(resource)
    return [metav1.APIResourceList(group_version=names[gv], api_resources=resources) for gv, resources in lists.items()]


def _fetch_group_version_resources(d: DiscoveryInterface, groups: metav1.APIGroupList) -> tuple[Resources, Failures]:
    """Ask for all group versions at once, each in a thread of its own."""
    resources: Resources = {}
    failed: Failures = {}
    # Guards the two above.
    lock = threading.Lock()

    def fetch(gv: GroupVersion) -> None:
        with handle_crash(go_on=True):
            try:
                found = d.server_resources_for_group_version(str(gv))
            except Exception as err:
                with lock:
                    failed[gv] = err
                return
            with lock:
                resources[gv] = found

    threads = [
        threading.Thread(target=fetch, args=(gv,), name=f"discovery {gv}", daemon=True)
        for gv in _group_versions(groups)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return resources, failed


def server_preferred_namespaced_resources(d: DiscoveryInterface) -> list[metav1.APIResourceList]:
    """Of the preferred resources those in namespaces. Go: ServerPreferredNamespacedResources."""
    namespaced = ResourcePredicateFunc(lambda group_version, resource: resource.namespaced)
    try:
        return filtered_by(namespaced, server_preferred_resources(d))
    except ErrGroupDiscoveryFailed as err:
        raise ErrGroupDiscoveryFailed(err.groups, [], filtered_by(namespaced, err.resources)) from err


def _with_retries(max_retries: int, f: Callable[[], T]) -> T:
    """Try again when only some groups failed."""
    for _ in range(max_retries - 1):
        try:
            return f()
        except ErrGroupDiscoveryFailed:
            continue
    return f()


def _set_discovery_defaults(c: Config) -> Config:
    config = copy_config(c)
    config.api_path = ""
    config.group_version = None
    config.timeout = config.timeout or _DEFAULT_TIMEOUT
    config.burst = config.burst or _DEFAULT_BURST
    config.user_agent = config.user_agent or default_kubernetes_user_agent()
    return config


def new_discovery_client_for_config(c: Config) -> DiscoveryClient:
    """A client with connections of its own. Go: NewDiscoveryClientForConfig. Raises ValueError, OSError."""
    config = _set_discovery_defaults(c)
    return new_discovery_client_for_config_and_client(config, http_client_for(config))


def new_discovery_client_for_config_and_client(c: Config, http_client: HTTPClient) -> DiscoveryClient:
    """A client over shared connections. Go: NewDiscoveryClientForConfigAndClient."""
    config = _set_discovery_defaults(c)
    return DiscoveryClient(unversioned_rest_client_for_config_and_client(config, http_client))


def new_discovery_client_for_config_or_die(c: Config) -> DiscoveryClient:
    """Return a client, like new_discovery_client_for_config. Go: NewDiscoveryClientForConfigOrDie."""
    return new_discovery_client_for_config(c)


def new_discovery_client(c: Interface) -> DiscoveryClient:
    """A client over a RESTClient. Go: NewDiscoveryClient."""
    return DiscoveryClient(c)
