"""Listers of Unstructured objects over an indexer. Mirrors dynamic/dynamiclister/lister.go."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.dynamic.dynamiclister.interface import Lister, NamespaceLister
from clientgo.tools import cache
from clientgo.tools.cache.beyond.unsynced import report_early_read

if TYPE_CHECKING:
    from clientgo.apimachinery import labels


class _DynamicLister:
    def __init__(self, indexer: cache.Indexer, gvr: GroupVersionResource) -> None:
        self._indexer = indexer
        self._gvr = gvr

    def list(self, selector: labels.Selector) -> builtins.list[Unstructured]:
        found: builtins.list[Unstructured] = []
        cache.list_all(self._indexer, selector, found.append)
        return found

    def get(self, name: str) -> Unstructured:
        return _get(self._indexer, name, self._gvr, name)

    def namespace(self, namespace: str) -> NamespaceLister:
        return _DynamicNamespaceLister(self._indexer, namespace, self._gvr)


class _DynamicNamespaceLister:
    def __init__(self, indexer: cache.Indexer, namespace: str, gvr: GroupVersionResource) -> None:
        self._indexer = indexer
        self._namespace = namespace
        self._gvr = gvr

    def list(self, selector: labels.Selector) -> builtins.list[Unstructured]:
        found: builtins.list[Unstructured] = []
        cache.list_all_by_namespace(self._indexer, self._namespace, selector, found.append)
        return found

    def get(self, name: str) -> Unstructured:
        return _get(self._indexer, f"{self._namespace}/{name}", self._gvr, name)


def _get(indexer: cache.Indexer, key: str, gvr: GroupVersionResource, name: str) -> Unstructured:
    obj, exists = indexer.get_by_key(key)
    if not exists:
        report_early_read(indexer)
        raise errors.new_not_found(gvr.group_resource(), name)
    assert isinstance(obj, Unstructured)
    return obj


def new(indexer: cache.Indexer, gvr: GroupVersionResource) -> Lister:
    """Return a lister over an informer's indexer. Go: New."""
    return _DynamicLister(indexer, gvr)
