"""The base class of caching discovery clients. No Go file.

Go repeats these methods in cached/memory/memcache.go and cached/disk/cached_discovery.go.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.version import Info
from clientgo.discovery import (
    CachedDiscoveryInterface,
    DiscoveryInterface,
    server_groups_and_resources,
    server_preferred_namespaced_resources,
    server_preferred_resources,
)
from clientgo.rest.client import Interface

if TYPE_CHECKING:
    from clientgo.openapi import Client as OpenAPIClient


class CachingDiscovery(ABC):
    """A caching discovery client; subclasses implement the cache. Thread-safe. Implements CachedDiscoveryInterface."""

    def __init__(self, delegate: DiscoveryInterface) -> None:
        self.delegate = delegate
        # Guards the cache, here and in the subclass.
        self.lock = threading.Lock()
        self._openapi_client: OpenAPIClient | None = None

    @abstractmethod
    def server_resources_for_group_version(self, group_version: str) -> metav1.APIResourceList:
        """See ServerResourcesInterface."""

    @abstractmethod
    def server_groups(self) -> metav1.APIGroupList:
        """See ServerGroupsInterface."""

    @abstractmethod
    def fresh(self) -> bool:
        """See CachedDiscoveryInterface."""

    @abstractmethod
    def forget(self) -> None:
        """Clear the cache. The caller holds the lock."""

    def server_groups_and_resources(self) -> tuple[list[metav1.APIGroup], list[metav1.APIResourceList]]:
        """See ServerResourcesInterface."""
        return server_groups_and_resources(self)

    def server_preferred_resources(self) -> list[metav1.APIResourceList]:
        """See ServerResourcesInterface."""
        return server_preferred_resources(self)

    def server_preferred_namespaced_resources(self) -> list[metav1.APIResourceList]:
        """See ServerResourcesInterface."""
        return server_preferred_namespaced_resources(self)

    def server_version(self) -> Info:
        """See ServerVersionInterface. Never cached."""
        return self.delegate.server_version()

    def openapi_schema(self) -> dict[str, Any]:
        """See OpenAPISchemaInterface. Never cached."""
        return self.delegate.openapi_schema()

    def openapi_v3(self) -> OpenAPIClient:
        """See OpenAPIV3SchemaInterface. Cached in memory."""
        from clientgo.openapi.cached import new_client as new_cached_openapi_client

        with self.lock:
            if self._openapi_client is None:
                self._openapi_client = new_cached_openapi_client(self.delegate.openapi_v3())
            return self._openapi_client

    def invalidate(self) -> None:
        """See CachedDiscoveryInterface. Also invalidates a caching delegate."""
        with self.lock:
            self.forget()
            self._openapi_client = None
            if isinstance(self.delegate, CachedDiscoveryInterface):
                self.delegate.invalidate()

    def rest_client(self) -> Interface | None:
        """Return the REST client. Go: RESTClient."""
        return self.delegate.rest_client()

    def with_legacy(self) -> DiscoveryInterface:
        """Return this client, since the cache is the same for the legacy form."""
        return self

    def close(self) -> None:
        """Close the idle connections of the delegate, if it has any."""
        client = self.rest_client()
        if client is not None:
            client.close()
