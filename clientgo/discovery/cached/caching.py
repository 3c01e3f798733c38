"""What the discovery clients that remember have in common: all but the remembering. Mirrors no Go file of its own.

Go repeats these methods in cached/memory/memcache.go and cached/disk/cached_discovery.go.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import Any

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.version import Info
from clientgo.discovery import (
    CachedDiscoveryInterface,
    DiscoveryInterface,
    server_groups_and_resources,
    server_preferred_namespaced_resources,
    server_preferred_resources,
)
from clientgo.openapi import Client as OpenAPIClient
from clientgo.openapi.cached import new_client as new_cached_openapi_client
from clientgo.rest.client import Interface


class CachingDiscovery(ABC):
    """Asks a delegate what a subclass does not remember. Thread-safe. Implements CachedDiscoveryInterface."""

    def __init__(self, delegate: DiscoveryInterface) -> None:
        self.delegate = delegate
        # Guards what is remembered, here and in the subclass.
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
        """Drop what is remembered; the lock is held."""

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
        """See ServerVersionInterface; never remembered."""
        return self.delegate.server_version()

    def openapi_schema(self) -> dict[str, Any]:
        """See OpenAPISchemaInterface; never remembered."""
        return self.delegate.openapi_schema()

    def openapi_v3(self) -> OpenAPIClient:
        """See OpenAPIV3SchemaInterface; the documents are remembered in memory."""
        with self.lock:
            if self._openapi_client is None:
                self._openapi_client = new_cached_openapi_client(self.delegate.openapi_v3())
            return self._openapi_client

    def invalidate(self) -> None:
        """See CachedDiscoveryInterface. A delegate that remembers forgets too."""
        with self.lock:
            self.forget()
            self._openapi_client = None
            if isinstance(self.delegate, CachedDiscoveryInterface):
                self.delegate.invalidate()

    def rest_client(self) -> Interface | None:
        """The client below. Go: RESTClient."""
        return self.delegate.rest_client()

    def with_legacy(self) -> DiscoveryInterface:
        """Itself: what is remembered is the same either way."""
        return self

    def close(self) -> None:
        """Close the idle connections of the client below, if it has one."""
        client = self.rest_client()
        if client is not None:
            client.close()
