"""Discovery with a cache on disk. Mirrors k8s.io/client-go/discovery/cached/disk."""

from clientgo.discovery.cached.disk.cached_discovery import (
    CachedDiscoveryClient,
    new_cached_discovery_client_for_config,
)

__all__ = ["CachedDiscoveryClient", "new_cached_discovery_client_for_config"]
