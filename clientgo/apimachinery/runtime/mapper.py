"""A registry of resources that name the same objects. Mirrors runtime/mapper.go."""

from __future__ import annotations

import threading
from collections.abc import Callable

from clientgo.apimachinery.runtime.interfaces import EquivalentResourceRegistry
from clientgo.apimachinery.runtime.schema import GroupResource, GroupVersionKind, GroupVersionResource


class _EquivalentResourceRegistry:
    """Thread-safe; no method blocks longer than the lock.

    Invariants:
      * every resource of `resources[key]` has the key `keys[its group resource]`
    """

    def __init__(self, key_func: Callable[[GroupResource], str] | None = None) -> None:
        self._key_func = key_func
        self._lock = threading.Lock()
        # Key, then subresource, to the resources in the order they were registered.
        self._resources: dict[str, dict[str, list[GroupVersionResource]]] = {}
        self._kinds: dict[tuple[GroupVersionResource, str], GroupVersionKind] = {}
        self._keys: dict[GroupResource, str] = {}

    def equivalent_resources_for(self, resource: GroupVersionResource, subresource: str) -> list[GroupVersionResource]:
        with self._lock:
            key = self._keys.get(resource.group_resource(), "")
            return list(self._resources.get(key, {}).get(subresource, ()))

    def kind_for(self, resource: GroupVersionResource, subresource: str) -> GroupVersionKind:
        with self._lock:
            return self._kinds.get((resource, subresource), GroupVersionKind())

    def register_kind_for(self, resource: GroupVersionResource, subresource: str, kind: GroupVersionKind) -> None:
        group_resource = resource.group_resource()
        key = self._key_func(group_resource) if self._key_func is not None else ""
        key = key or str(group_resource)
        with self._lock:
            self._kinds[resource, subresource] = kind
            self._keys[group_resource] = key
            self._resources.setdefault(key, {}).setdefault(subresource, []).append(resource)


def new_equivalent_resource_registry() -> EquivalentResourceRegistry:
    """Return a registry that treats all versions of a resource as equivalent. Go: NewEquivalentResourceRegistry."""
    return _EquivalentResourceRegistry()


def new_equivalent_resource_registry_with_identity(
    key_func: Callable[[GroupResource], str],
) -> EquivalentResourceRegistry:
    """Return a registry that treats resources with the same `key_func` result as equivalent.

    A result of "" stands for the resource's own name. Go: NewEquivalentResourceRegistryWithIdentity.
    """
    return _EquivalentResourceRegistry(key_func)
