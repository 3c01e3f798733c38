"""Discovery from a list of resources. Mirrors discovery/fake/discovery.go.

It is in this package because fake clientsets contain one; `discovery.fake` re-exports it. In Go, `kubernetes/fake`
imports both packages.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource, parse_group_version
from clientgo.apimachinery.version import Info
from clientgo.pkg import version
from clientgo.testing.actions import ActionImpl
from clientgo.testing.fake import Fake

__all__ = ["FakeDiscovery"]


class FakeDiscovery:
    """A fake discovery client that returns `fake.resources` and records its calls. Go: discovery/fake.FakeDiscovery."""

    def __init__(self, fake: Fake, server_version: Info | None = None) -> None:
        self.fake = fake
        """The holder of the resources and of the recorded actions."""
        self.faked_server_version = server_version
        """The result of `server_version`; None selects this library's version."""

    def server_resources_for_group_version(self, group_version: str) -> metav1.APIResourceList:
        """Return the resources of a group version. Raises NotFound if `resources` has none."""
        self._record("resource")
        for resources in self.fake.resources:
            if resources.group_version == group_version:
                return resources.deep_copy()
        raise apierrors.StatusError(
            metav1.Status(
                status=metav1.STATUS_FAILURE,
                code=404,
                reason=metav1.StatusReason.NOT_FOUND,
                message=f'the server could not find the requested resource, GroupVersion "{group_version}" not found',
            )
        )

    def server_groups(self) -> metav1.APIGroupList:
        """Return the groups of `resources`; the first version of each is the preferred one."""
        self._record("group")
        groups: dict[str, metav1.APIGroup] = {}
        for resources in self.fake.resources:
            group_version = parse_group_version(resources.group_version)
            entry = metav1.GroupVersionForDiscovery(
                group_version=resources.group_version, version=group_version.version
            )
            group = groups.get(group_version.group)
            if group is None:
                group = metav1.APIGroup(name=group_version.group, preferred_version=entry)
                groups[group_version.group] = group
            group.versions.append(entry)
        return metav1.APIGroupList(groups=list(groups.values()))

    def server_groups_and_resources(self) -> tuple[list[metav1.APIGroup], list[metav1.APIResourceList]]:
        """Return the groups, and all of `resources`."""
        groups = self.server_groups()
        self._record("resource")
        return list(groups.groups), [resources.deep_copy() for resources in self.fake.resources]

    def server_preferred_resources(self) -> list[metav1.APIResourceList]:
        """Return nothing, as in Go."""
        return []

    def server_preferred_namespaced_resources(self) -> list[metav1.APIResourceList]:
        """Return nothing, as in Go."""
        return []

    def server_version(self) -> Info:
        """Return `faked_server_version`, or this library's version."""
        self._record("version")
        return self.faked_server_version if self.faked_server_version is not None else version.get()

    def openapi_schema(self) -> dict[str, Any]:
        """Return an empty document."""
        return {}

    def openapi_v3(self) -> Any:
        """Raise NotImplementedError, as Go panics."""
        raise NotImplementedError("unimplemented")

    def with_legacy(self) -> Any:
        """Raise NotImplementedError, as Go panics."""
        raise NotImplementedError("unimplemented")

    def rest_client(self) -> None:
        """Return None, since there is no REST client."""

    def close(self) -> None:
        """Do nothing, since there are no connections."""

    def _record(self, resource: str) -> None:
        self.fake.invokes(ActionImpl(verb="get", resource=GroupVersionResource("", "", resource)), None)

    def __repr__(self) -> str:
        return f"<FakeDiscovery of {len(self.fake.resources)} group versions>"
