"""The parts of a cache. Mirrors pkg/cache/internal."""

from clientgo.controller_runtime.cache.internal.cache_reader import (
    CacheReader,
    field_index_name,
    key_to_namespaced_key,
    new_cached_list,
)
from clientgo.controller_runtime.cache.internal.informers import (
    Cache,
    ErrResourceNotCached,
    GetOptions,
    Informers,
    InformersOpts,
    NewInformerFunc,
)
from clientgo.controller_runtime.cache.internal.selector import Selector

__all__ = [
    "Cache",
    "CacheReader",
    "ErrResourceNotCached",
    "GetOptions",
    "Informers",
    "InformersOpts",
    "NewInformerFunc",
    "Selector",
    "field_index_name",
    "key_to_namespaced_key",
    "new_cached_list",
]
