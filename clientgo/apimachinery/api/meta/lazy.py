"""A RESTMapper that is created on first use.

Mirrors k8s.io/apimachinery/pkg/api/meta/lazy.go.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from clientgo.apimachinery.api.meta.interfaces import RESTMapper, RESTMapping
from clientgo.apimachinery.api.meta.restmapper import maybe_reset_rest_mapper
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersionKind, GroupVersionResource


class _LazyObject:
    """A mapper that its loader creates once, on first use. Every call raises the loader's error. Thread-safe.

    Go: meta.lazyObject.
    """

    def __init__(self, loader: Callable[[], RESTMapper]) -> None:
        self._loader = loader
        # Held while the loader runs, so that all threads wait for the one result.
        self._lock = threading.Lock()
        self._loaded = False
        self._error: Exception | None = None
        self._mapper: RESTMapper | None = None

    def _get(self) -> RESTMapper:
        with self._lock:
            if not self._loaded:
                try:
                    self._mapper = self._loader()
                except Exception as err:
                    self._error = err
                self._loaded = True
            if self._error is not None:
                raise self._error
            assert self._mapper is not None
            return self._mapper

    def kind_for(self, resource: GroupVersionResource) -> GroupVersionKind:
        return self._get().kind_for(resource)

    def kinds_for(self, resource: GroupVersionResource) -> list[GroupVersionKind]:
        return self._get().kinds_for(resource)

    def resource_for(self, input: GroupVersionResource) -> GroupVersionResource:
        return self._get().resource_for(input)

    def resources_for(self, input: GroupVersionResource) -> list[GroupVersionResource]:
        return self._get().resources_for(input)

    def rest_mapping(self, gk: GroupKind, *versions: str) -> RESTMapping:
        return self._get().rest_mapping(gk, *versions)

    def rest_mappings(self, gk: GroupKind, *versions: str) -> list[RESTMapping]:
        return self._get().rest_mappings(gk, *versions)

    def resource_singularizer(self, resource: str) -> str:
        return self._get().resource_singularizer(resource)

    def reset(self) -> None:
        """Reset the mapper, if it exists and supports that."""
        with self._lock:
            mapper = self._mapper
        if mapper is not None:
            maybe_reset_rest_mapper(mapper)


def new_lazy_rest_mapper_loader(fn: Callable[[], RESTMapper]) -> RESTMapper:
    """Return a mapper that calls `fn` on first use to create the actual one. Go: meta.NewLazyRESTMapperLoader."""
    return _LazyObject(fn)
