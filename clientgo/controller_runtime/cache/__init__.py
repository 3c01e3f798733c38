"""A client that reads objects from memory, which informers keep up to date. Mirrors pkg/cache."""

from clientgo.controller_runtime.cache.cache import (
    ALL_NAMESPACES,
    ByObject,
    Cache,
    Config,
    Informer,
    InformerGetOption,
    InformerGetOptions,
    Informers,
    NewCacheFunc,
    Options,
    block_until_synced,
    new,
    transform_strip_managed_fields,
)
from clientgo.controller_runtime.cache.informer_cache import (
    ErrCacheNotStarted,
    ErrResourceNotCached,
)

__all__ = [
    "ALL_NAMESPACES",
    "ByObject",
    "Cache",
    "Config",
    "ErrCacheNotStarted",
    "ErrResourceNotCached",
    "Informer",
    "InformerGetOption",
    "InformerGetOptions",
    "Informers",
    "NewCacheFunc",
    "Options",
    "block_until_synced",
    "new",
    "transform_strip_managed_fields",
]
