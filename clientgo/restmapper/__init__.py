"""Mappers between kinds and resources, from discovery. Mirrors k8s.io/client-go/restmapper."""

from clientgo.restmapper.category_expansion import (
    CategoryExpander,
    SimpleCategoryExpander,
    UnionCategoryExpander,
    new_discovery_category_expander,
)
from clientgo.restmapper.discovery import (
    APIGroupResources,
    DeferredDiscoveryRESTMapper,
    get_api_group_resources,
    new_deferred_discovery_rest_mapper,
    new_discovery_rest_mapper,
)
from clientgo.restmapper.shortcut import new_shortcut_expander

__all__ = [
    "APIGroupResources",
    "CategoryExpander",
    "DeferredDiscoveryRESTMapper",
    "SimpleCategoryExpander",
    "UnionCategoryExpander",
    "get_api_group_resources",
    "new_deferred_discovery_rest_mapper",
    "new_discovery_category_expander",
    "new_discovery_rest_mapper",
    "new_shortcut_expander",
]
