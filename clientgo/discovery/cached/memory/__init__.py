"""Discovery with a cache in memory. Mirrors k8s.io/client-go/discovery/cached/memory."""

from clientgo.discovery.cached.memory.memcache import ErrCacheNotFound, new_mem_cache_client

__all__ = ["ErrCacheNotFound", "new_mem_cache_client"]
