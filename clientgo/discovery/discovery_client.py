"""Discovery of a server's groups, versions and resources. Mirrors discovery/discovery_client.go.

Differences: where Go returns a partial result together with an error, `ErrGroupDiscoveryFailed` contains the partial
result. The OpenAPI v2 document is read as JSON, not as protobuf.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

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
from clientgo.golang.mime import MediaTypeError, parse_media_type
from clientgo.klog.exceptions import operational_error
from clientgo.rest.client import Interface
from clientgo.rest.config import (
    Config,
    copy_config,
    default_kubernetes_user_agent,
    unversioned_rest_client_for_config_and_client,
)
from clientgo.rest.transport import http_client_for

if TYPE_CHECKING:
    from clientgo.openapi import Client as OpenAPIClient

# The number of attempts while single groups fail.
_DEFAULT_RETRIES = 2
_DEFAULT_TIMEOUT = 32.0
# Discovery sends bursts of one request per group version.
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
    """A client for the groups. All methods of these interfaces block and raise StatusError, URLError."""

    def server_groups(self) -> metav1.APIGroupList:
        """Return the groups with their versions, the preferred one marked."""
        ...


class ServerResourcesInterface(Protocol):
    """A client for the resources."""

    def server_resources_for_group_version(self, group_version: str) -> metav1.APIResourceList:
        """Return the resources of one group version."""
        ...

    def server_groups_and_resources(self) -> tuple[list[metav1.APIGroup], list[metav1.APIResourceList]]:
        """Return all groups and all resources.

        Raises ErrGroupDiscoveryFailed with the partial result if a group fails.
        """
        ...

    def server_preferred_resources(self) -> list[metav1.APIResourceList]:
        """Return each resource once, in the server's preferred version. Raises errors as server_groups_and_resources
        does.
        """
        ...

    def server_preferred_namespaced_resources(self) -> list[metav1.APIResourceList]:
        """Return the preferred resources that are namespaced."""
        ...


class ServerVersionInterface(Protocol):
    """A client for the server's version."""

    def server_version(self) -> Info: ...


class OpenAPISchemaInterface(Protocol):
    """A client for the OpenAPI v2 document."""

    def openapi_schema(self) -> dict[str, Any]: ...


class OpenAPIV3SchemaInterface(Protocol):
    """A client for the OpenAPI v3 documents."""

    def openapi_v3(self) -> OpenAPIClient: ...


class DiscoveryInterface(
    ServerGroupsInterface,
    ServerResourcesInterface,
    ServerVersionInterface,
    OpenAPISchemaInterface,
    OpenAPIV3SchemaInterface,
    Protocol,
):
    """A client for all discovery information."""

    def rest_client(self) -> Interface | None: ...

    def with_legacy(self) -> DiscoveryInterface:
        """Return a copy that never requests the aggregated form."""
        ...


@runtime_checkable
class AggregatedDiscoveryInterface(DiscoveryInterface, Protocol):
    """A discovery client that may fetch groups and resources together."""

    def groups_and_maybe_resources(self) -> tuple[metav1.APIGroupList, Resources | None, Failures]:
        """Return groups, resources by group version (None without aggregation), and stale group versions."""
        ...


@runtime_checkable
class CachedDiscoveryInterface(DiscoveryInterface, Protocol):
    """A discovery client with a cache."""

    def fresh(self) -> bool:
        """Report whether all results are current. If False, calls after `invalidate` may return more."""
        ...

    def invalidate(self) -> None:
        """Drop all older results."""
        ...


@operational_error
class ErrGroupDiscoveryFailed(Exception):
    """Raised if some group versions could not be read. `groups` holds the errors, the other attributes the results."""

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
        """Report whether `target` is any error of this class. Go: Is."""
        return isinstance(target, ErrGroupDiscoveryFailed) or target is ErrGroupDiscoveryFailed


def is_group_discovery_failed_error(err: BaseException | None) -> bool:
    """Report whether discovery failed for some groups only. Go: IsGroupDiscoveryFailedError."""
    return isinstance(err, ErrGroupDiscoveryFailed)


def group_discovery_failed_error_groups(err: BaseException | None) -> tuple[Failures | None, bool]:
    """Return the failures and True if the error or one of its causes has them, otherwise None and False.

    Go: GroupDiscoveryFailedErrorGroups.
    """
    failure = as_type(err, ErrGroupDiscoveryFailed)
    return (failure.groups, True) if failure is not None else (None, False)


class DiscoveryClient:
    """A discovery client that sends a request at every call. Implements AggregatedDiscoveryInterface. Thread-safe."""

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
        # Never request the aggregated form.
        self.use_legacy_discovery = use_legacy_discovery
        # Request only this server's resources, not those of its peers.
        self.no_peer_discovery = no_peer_discovery

    def rest_client(self) -> Interface:
        """Return the REST client. Go: RESTClient."""
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
        """See ServerResourcesInterface. A missing core group counts as empty."""
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
        """Return the OpenAPI v2 document as JSON. Go: OpenAPISchema."""
        request = self._rest_client.get().abs_path("/openapi/v2").set_header("Accept", _JSON)
        return request.do(context.background()).json_object()

    def openapi_v3(self) -> OpenAPIClient:
        """Return the client of the OpenAPI v3 documents. Go: OpenAPIV3."""
        from clientgo.openapi import new_client as new_openapi_client

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
    """Return the core group from the response to /api."""
    versions = [{"groupVersion": version, "version": version} for version in document.get("versions") or ()]
    group: dict[str, Any] = {"name": "", "versions": versions}
    if versions:
        group["preferredVersion"] = dict(versions[0])
    return metav1.APIGroupList.from_dict({"groups": [group]})


def content_type_is_gvk(content_type: str, gvk: GroupVersionKind) -> bool:
    """Report whether a Content-Type declares JSON of that kind. Go: ContentTypeIsGVK."""
    try:
        base, params = parse_media_type(content_type)
    except MediaTypeError:
        return False
    named = (params.get("g"), params.get("v"), params.get("as"))
    return base == _JSON and named == (gvk.group, gvk.version, gvk.kind)


def server_groups_and_resources(
    d: DiscoveryInterface,
) -> tuple[list[metav1.APIGroup], list[metav1.APIResourceList]]:
    """Return all groups and resources, with as few requests as the server allows. Go: ServerGroupsAndResources."""
    groups, by_version, failed = groups_and_maybe_resources(d)
    listed = list(groups.groups)
    # An aggregating server may report all group versions as stale: then fetch each one separately.
    if by_version:
        resources = list(by_version.values())
    else:
        fetched, failed = _fetch_group_version_resources(d, groups)
        resources = [fetched[gv] for gv in _group_versions(groups) if gv in fetched]
    if failed:
        raise ErrGroupDiscoveryFailed(failed, listed, resources)
    return listed, resources


def groups_and_maybe_resources(d: DiscoveryInterface) -> tuple[metav1.APIGroupList, Resources | None, Failures]:
    """See AggregatedDiscoveryInterface. Other clients return only groups."""
    if isinstance(d, AggregatedDiscoveryInterface):
        return d.groups_and_maybe_resources()
    return d.server_groups(), None, {}


def _group_versions(groups: metav1.APIGroupList) -> list[GroupVersion]:
    return [GroupVersion(group.name, version.version) for group in groups.groups for version in group.versions]


def server_preferred_resources(d: DiscoveryInterface) -> list[metav1.APIResourceList]:
    """Return each resource once, in the server's preferred version. Go: ServerPreferredResources."""
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
    """Fetch all group versions concurrently, each in its own thread."""
    resources: Resources = {}
    failed: Failures = {}
    # Guards the two dicts above.
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
    """Return the preferred resources that are namespaced. Go: ServerPreferredNamespacedResources."""
    namespaced = ResourcePredicateFunc(lambda group_version, resource: resource.namespaced)
    try:
        return filtered_by(namespaced, server_preferred_resources(d))
    except ErrGroupDiscoveryFailed as err:
        raise ErrGroupDiscoveryFailed(err.groups, [], filtered_by(namespaced, err.resources)) from err


def _with_retries(max_retries: int, f: Callable[[], T]) -> T:
    """Call `f` again while only some groups fail."""
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
    """Return a client with connections of its own. Go: NewDiscoveryClientForConfig. Raises ValueError, OSError."""
    config = _set_discovery_defaults(c)
    return new_discovery_client_for_config_and_client(config, http_client_for(config))


def new_discovery_client_for_config_and_client(c: Config, http_client: HTTPClient) -> DiscoveryClient:
    """Return a client over shared connections. Go: NewDiscoveryClientForConfigAndClient."""
    config = _set_discovery_defaults(c)
    return DiscoveryClient(unversioned_rest_client_for_config_and_client(config, http_client))


def new_discovery_client_for_config_or_die(c: Config) -> DiscoveryClient:
    """Return a client, like new_discovery_client_for_config. Go: NewDiscoveryClientForConfigOrDie."""
    return new_discovery_client_for_config(c)


def new_discovery_client(c: Interface) -> DiscoveryClient:
    """Return a client on a RESTClient. Go: NewDiscoveryClient."""
    return DiscoveryClient(c)
