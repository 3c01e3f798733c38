"""Helpers on discovery results. Mirrors discovery/helper.go."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionResource, parse_group_version
from clientgo.apimachinery.version import Info
from clientgo.golang.strconv import quote
from clientgo.klog.answers import is_true

if TYPE_CHECKING:
    from clientgo.discovery.discovery_client import DiscoveryInterface


def is_resource_enabled(client: DiscoveryInterface, resource_to_check: GroupVersionResource) -> bool:
    """Report whether the server has the resource. Raises StatusError, URLError. Go: IsResourceEnabled."""
    try:
        resources = client.server_resources_for_group_version(str(resource_to_check.group_version()))
    except errors.StatusError as err:
        if errors.is_not_found(err):
            return False
        raise
    return any(resource.name == resource_to_check.resource for resource in resources.api_resources)


def matches_server_version(client_version: Info, client: DiscoveryInterface) -> None:
    """Raise ValueError unless the server is of exactly this build. Go: MatchesServerVersion."""
    try:
        server = client.server_version()
    except Exception as err:
        raise ValueError(f"couldn't read version from server: {err}") from err
    compared = ("git_version", "git_commit", "git_tree_state")
    if any(getattr(server, attr) != getattr(client_version, attr) for attr in compared):
        raise ValueError(f"server version ({server!r}) differs from client version ({client_version!r})")


def server_supports_version(client: DiscoveryInterface, required_gv: GroupVersion) -> None:
    """Raise ValueError if the server does not have the group version. Go: ServerSupportsVersion.

    A server without any groups passes, since it may only forbid discovery.
    """
    groups = client.server_groups()
    versions = {version.group_version for group in groups.groups for version in group.versions}
    if versions and str(required_gv) not in versions:
        raise ValueError(f"server does not support API version {quote(str(required_gv))}")


def group_version_resources(rls: Iterable[metav1.APIResourceList]) -> set[GroupVersionResource]:
    """Return the resources of all lists. Go: GroupVersionResources. Raises ValueError for a malformed group version."""
    return {
        parse_group_version(rl.group_version).with_resource(resource.name)
        for rl in rls
        for resource in rl.api_resources
    }


class ResourcePredicate(Protocol):
    """A filter of resources."""

    def match(self, group_version: str, r: metav1.APIResource, /) -> bool: ...


class ResourcePredicateFunc:
    """A function as a ResourcePredicate."""

    def __init__(self, fn: Callable[[str, metav1.APIResource], bool]) -> None:
        self._fn = fn

    def match(self, group_version: str, r: metav1.APIResource) -> bool:
        return is_true(self._fn, group_version, r)


def filtered_by(pred: ResourcePredicate, rls: Iterable[metav1.APIResourceList]) -> list[metav1.APIResourceList]:
    """Return the lists with only the resources that the predicate accepts; omits empty ones. Go: FilteredBy."""
    result = []
    for rl in rls:
        chosen = [resource for resource in rl.api_resources if is_true(pred.match, rl.group_version, resource)]
        if chosen:
            filtered = rl.deep_copy()
            filtered.api_resources = chosen
            result.append(filtered)
    return result


@dataclass(kw_only=True)
class SupportsAllVerbs:
    """A filter for resources that have all these verbs."""

    verbs: list[str] = field(default_factory=list)

    def match(self, group_version: str, r: metav1.APIResource) -> bool:
        return set(self.verbs) <= set(r.verbs)
