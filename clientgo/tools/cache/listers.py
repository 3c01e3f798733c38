"""Listers, which read a store by label selector, namespace and name.

Mirrors tools/cache/listers.go. The listers of the kinds (clientgo.listers) use these functions; GenericLister reads
any kind.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import Any, Protocol, cast

from clientgo import klog
from clientgo.apimachinery import labels
from clientgo.apimachinery.api import errors, meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Object
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.tools.cache.beyond.unsynced import report_early_read
from clientgo.tools.cache.index import NAMESPACE_INDEX, Indexer
from clientgo.tools.cache.store import Store

AppendFunc = Callable[[Any], object]
"""Receives a matching object, such as the `append` of a list. Go: AppendFunc."""


def list_all(store: Store, selector: labels.Selector, append_func: AppendFunc) -> None:
    """Call `append_func` with each object whose labels match.

    Raises TypeError for a selector with requirements and an object without metadata. Go: ListAll.
    """
    if labels.matches_nothing(selector):
        return
    report_early_read(store)
    _append_matching(store.list(), selector, append_func)


def list_all_by_namespace(
    indexer: Indexer, namespace: str, selector: labels.Selector, append_func: AppendFunc
) -> None:
    """Call `append_func` with each object of the namespace whose labels match; "" selects all namespaces.

    Uses the index by namespace. Without this index it logs a warning and checks all objects. Raises the same exceptions
    as `list_all`. Go: ListAllByNamespace.
    """
    if labels.matches_nothing(selector):
        return
    if namespace == metav1.NAMESPACE_ALL:
        list_all(indexer, selector, append_func)
        return
    report_early_read(indexer)
    try:
        objs = indexer.index(NAMESPACE_INDEX, metav1.ObjectMeta(namespace=namespace))
    except Exception as err:
        klog.todo().info("Warning: can not retrieve list of objects using index", err=err)
        objs = [obj for obj in indexer.list() if meta.accessor(obj).get_namespace() == namespace]
    _append_matching(objs, selector, append_func)


def _append_matching(objs: Iterable[Any], selector: labels.Selector, append_func: AppendFunc) -> None:
    if selector.empty():
        # Most callers list all objects, and need not pay for reading labels.
        for obj in objs:
            append_func(obj)
        return
    for obj in objs:
        if selector.matches(meta.accessor(obj).get_labels()):
            append_func(obj)


class GenericLister(Protocol):
    """A lister of the objects of one kind. They are shared: never change them. Go: GenericLister."""

    def list(self, selector: labels.Selector) -> builtins.list[Object]:
        """Return the objects of all namespaces whose labels match."""
        ...

    def get(self, name: str) -> Object:
        """Return the object with that key. Raises a StatusError, NotFound, if there is none."""
        ...

    def by_namespace(self, namespace: str) -> GenericNamespaceLister:
        """Return a lister for one namespace."""
        ...


class GenericNamespaceLister(Protocol):
    """A lister of the objects of one kind in one namespace. Go: GenericNamespaceLister."""

    def list(self, selector: labels.Selector) -> builtins.list[Object]:
        """Return the objects of the namespace whose labels match."""
        ...

    def get(self, name: str) -> Object:
        """Return the object with that name. Raises a StatusError, NotFound, if there is none."""
        ...


def new_generic_lister(indexer: Indexer, resource: GroupResource) -> GenericLister:
    """Return a lister of `indexer`; its errors name `resource`. Go: NewGenericLister."""
    return _GenericLister(indexer, resource)


class _GenericLister:
    """The GenericLister. Go: genericLister."""

    def __init__(self, indexer: Indexer, resource: GroupResource) -> None:
        self._indexer = indexer
        self._resource = resource

    def list(self, selector: labels.Selector) -> builtins.list[Object]:
        """See GenericLister.list."""
        objs: builtins.list[Object] = []
        list_all(self._indexer, selector, objs.append)
        return objs

    def by_namespace(self, namespace: str) -> GenericNamespaceLister:
        """See GenericLister.by_namespace."""
        return _GenericNamespaceLister(self._indexer, namespace, self._resource)

    def get(self, name: str) -> Object:
        """See GenericLister.get."""
        return _get_or_raise(self._indexer, name, self._resource, name)


class _GenericNamespaceLister:
    """The GenericNamespaceLister. Go: genericNamespaceLister."""

    def __init__(self, indexer: Indexer, namespace: str, resource: GroupResource) -> None:
        self._indexer = indexer
        self._namespace = namespace
        self._resource = resource

    def list(self, selector: labels.Selector) -> builtins.list[Object]:
        """See GenericNamespaceLister.list."""
        objs: builtins.list[Object] = []
        list_all_by_namespace(self._indexer, self._namespace, selector, objs.append)
        return objs

    def get(self, name: str) -> Object:
        """See GenericNamespaceLister.get."""
        return _get_or_raise(self._indexer, f"{self._namespace}/{name}", self._resource, name)


def _get_or_raise(indexer: Indexer, key: str, resource: GroupResource, name: str) -> Object:
    obj, exists = indexer.get_by_key(key)
    if not exists:
        report_early_read(indexer)
        raise errors.new_not_found(resource, name)
    return cast(Object, obj)
