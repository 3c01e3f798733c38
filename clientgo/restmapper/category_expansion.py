"""Expansion of categories, such as "all", to resources. Mirrors restmapper/category_expansion.go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from clientgo import klog
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource, parse_group_version
from clientgo.discovery import DiscoveryInterface, ErrGroupDiscoveryFailed


class CategoryExpander(Protocol):
    """An expander of categories."""

    def expand(self, category: str, /) -> tuple[list[GroupResource], bool]:
        """Return the resources, and whether the category is known."""
        ...


@dataclass(kw_only=True)
class SimpleCategoryExpander:
    """An expander with a fixed dict."""

    expansions: dict[str, list[GroupResource]] = field(default_factory=dict)

    def expand(self, category: str) -> tuple[list[GroupResource], bool]:
        return self.expansions.get(category, []), category in self.expansions


class _DiscoveryCategoryExpander:
    """An expander that asks the server at every call."""

    def __init__(self, client: DiscoveryInterface) -> None:
        self._client = client

    def expand(self, category: str) -> tuple[list[GroupResource], bool]:
        found = [
            GroupResource(group, resource.name)
            for group, resources in resources_by_group(self._client)
            for resource in resources
            if category in resource.categories
        ]
        return found, bool(found)


def resources_by_group(client: DiscoveryInterface) -> list[tuple[str, list[metav1.APIResource]]]:
    """Return pairs of a group and its resources in one version. Unreadable groups are omitted."""
    try:
        lists = client.server_groups_and_resources()[1]
    except Exception as err:
        klog.v(1).infof("Error loading discovery information: %s", err)
        lists = err.resources if isinstance(err, ErrGroupDiscoveryFailed) else []
    found = []
    for listed in lists:
        try:
            group = parse_group_version(listed.group_version).group
        except ValueError as err:
            klog.v(1).infof("Unable to parse groupversion = %s due to = %s", listed.group_version, err)
            continue
        found.append((group, list(listed.api_resources)))
    return found


def new_discovery_category_expander(client: DiscoveryInterface) -> CategoryExpander:
    """Return an expander with the server's categories. Raises ValueError without a client.

    Go: NewDiscoveryCategoryExpander.
    """
    if client is None:
        raise ValueError("Please provide discovery client to shortcut expander")
    return _DiscoveryCategoryExpander(client)


class UnionCategoryExpander(list[CategoryExpander]):
    """The union of several expanders' results, each resource once."""

    def expand(self, category: str) -> tuple[list[GroupResource], bool]:
        answers = [expander.expand(category) for expander in self]
        resources = dict.fromkeys(resource for found, _ in answers for resource in found)
        return list(resources), any(known for _, known in answers)
