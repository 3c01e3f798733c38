"""A client for any resource, whose objects are Unstructured. Mirrors k8s.io/client-go/dynamic."""

from clientgo.dynamic.interface import (
    APIPathResolverFunc,
    Interface,
    NamespaceableResourceInterface,
    ResourceInterface,
    legacy_api_path_resolver_func,
)
from clientgo.dynamic.simple import (
    DynamicClient,
    config_for,
    new,
    new_for_config,
    new_for_config_and_client,
    new_for_config_or_die,
)

__all__ = [
    "APIPathResolverFunc",
    "DynamicClient",
    "Interface",
    "NamespaceableResourceInterface",
    "ResourceInterface",
    "config_for",
    "legacy_api_path_resolver_func",
    "new",
    "new_for_config",
    "new_for_config_and_client",
    "new_for_config_or_die",
]
