"""A dynamic lister as a cache.GenericLister. Mirrors dynamic/dynamiclister/shim.go."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from clientgo.apimachinery.runtime.object import Object
from clientgo.dynamic.dynamiclister.interface import Lister, NamespaceLister
from clientgo.tools import cache

if TYPE_CHECKING:
    from clientgo.apimachinery import labels


class _DynamicListerShim:
    def __init__(self, lister: Lister) -> None:
        self._lister = lister

    def list(self, selector: labels.Selector) -> builtins.list[Object]:
        return builtins.list(self._lister.list(selector))

    def get(self, name: str) -> Object:
        return self._lister.get(name)

    def by_namespace(self, namespace: str) -> cache.GenericNamespaceLister:
        return _DynamicNamespaceListerShim(self._lister.namespace(namespace))


class _DynamicNamespaceListerShim:
    def __init__(self, lister: NamespaceLister) -> None:
        self._lister = lister

    def list(self, selector: labels.Selector) -> builtins.list[Object]:
        return builtins.list(self._lister.list(selector))

    def get(self, name: str) -> Object:
        return self._lister.get(name)


def new_runtime_object_shim(lister: Lister) -> cache.GenericLister:
    """Return the lister as a generic one. Go: NewRuntimeObjectShim."""
    return _DynamicListerShim(lister)
