"""Discovery with a cache in memory or on disk. Mirrors k8s.io/client-go/discovery/cached."""

from clientgo.discovery.cached.memory import new_mem_cache_client

__all__ = ["new_mem_cache_client"]
