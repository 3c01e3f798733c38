"""A bounded map that forgets what was used longest ago (k8s.io/utils/lru)."""

from clientgo.utils.lru.lru import Cache, new, new_with_eviction_func

__all__ = ["Cache", "new", "new_with_eviction_func"]
