"""Categories, such as "all", as the resources they stand for. Mirrors restmapper/category_expansion.go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource, parse_group_version
from clientgo.discovery import DiscoveryInterface, ErrGroupDiscoveryFailed


class CategoryExpander(Protocol):
    """Knows what categories stand for."""

    def expand(self, category: str) -> tuple[list[GroupResource], bool]:
        """(resources, whether the category is known)"""
        ...


@dataclass(kw_only=True)
class SimpleCategoryExpander:
    """Looks categories up in a dict."""

    expansions: dict[str, list[GroupResource]] = field(default_factory=dict)

    def expand(self, category: str) -> tuple[list[GroupResource], bool]:
        return self.expansions.get(category, []), category in self.expansions


class _DiscoveryCategoryExpander:
    """Asks the server each time."""

    def __init__(self, client: DiscoveryInterface) -> None:
        self._client = client

    def expand(self, category: str) -> tuple[list[GroupResource], bool]:
        found = [
            GroupResource(parse_group_version(listed.group_version).group, resource.name)
            for listed in resource_lists(self._client)
            for resource in listed.api_resources
            if category in resource.categories
        ]
        return found, bool(found)


def resource_lists(client: DiscoveryInterface) -> list[metav1.APIResourceList]:
    """The resources of the groups that can be read."""
    try:
        return client.server_groups_and_resources()[1]
    except ErrGroupDiscoveryFailed as err:
        return err.resources
    except Exception:  # what cannot be discovered has no categories and no short names
        return []


def new_discovery_category_expander(client: DiscoveryInterface) -> CategoryExpander:
    """Categories as the server has them (Go: NewDiscoveryCategoryExpander)."""
    return _DiscoveryCategoryExpander(client)


class UnionCategoryExpander(list[CategoryExpander]):
    """What any of several expanders says, each resource once."""

    def expand(self, category: str) -> tuple[list[GroupResource], bool]:
        answers = [expander.expand(category) for expander in self]
        resources = dict.fromkeys(resource for found, _ in answers for resource in found)
        return list(resources), any(known for _, known in answers)
