"""sigs.k8s.io/controller-runtime/pkg/cache/informertest: a cache for tests of sources and handlers."""

from clientgo.controller_runtime.cache.informertest.fake_cache import (
    FakeInformers,
)

__all__ = [
    "FakeInformers",
]
