"""k8s.io/apimachinery/pkg/util/cache: maps whose entries expire."""

from clientgo.apimachinery.util.cache.lruexpirecache import (
    LRUExpireCache,
    new_lru_expire_cache,
    new_lru_expire_cache_with_clock,
)

__all__ = ["LRUExpireCache", "new_lru_expire_cache", "new_lru_expire_cache_with_clock"]
