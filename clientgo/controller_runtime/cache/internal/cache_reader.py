"""A reader of one kind of objects in an informer's indexer. Mirrors pkg/cache/internal/cache_reader.go.

Difference: a read returns the cached object itself, which the informer has frozen; Go copies it. Typed objects
therefore carry neither apiVersion nor kind, as in Go with UnsafeDisableDeepCopy; `client.group_version_kind_for`
returns their kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

from clientgo.apimachinery import fields
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import ListObject, ResourceObject
from clientgo.apimachinery.runtime.schema import GroupResource, GroupVersionKind
from clientgo.controller_runtime.client.interfaces import ObjectKey
from clientgo.controller_runtime.client.options import ListOption, ListOptions
from clientgo.controller_runtime.internal.field.selector import requires_exact_match
from clientgo.tools import cache

T = TypeVar("T", bound=ResourceObject)
L = TypeVar("L", bound=ListObject)

# The placeholder for the namespace in index entries that cover all namespaces.
_ALL_NAMESPACES_NAMESPACE: Final = "__all_namespaces"


class CacheReader:
    """A reader of one kind. Thread-safe; blocks only for the indexer's lock. Go: internal.CacheReader."""

    def __init__(self, indexer: cache.Indexer, gvk: GroupVersionKind, scope_name: meta.RESTScopeName) -> None:
        self._indexer = indexer
        self._gvk = gvk
        self._is_namespaced = scope_name != meta.RESTScopeName.ROOT

    def get(self, key: ObjectKey, cls: type[T]) -> T:
        """Return the cached object, read-only. Go: Get.

        Raises StatusError (NotFound), and TypeError for an object of another class.
        """
        namespace = key.namespace
        obj, exists = self._indexer.get_by_key(
            f"{namespace}/{key.name}" if namespace and self._is_namespaced else key.name
        )
        if not exists:
            # The error names the kind in place of the resource, which is unknown here.
            raise apierrors.new_not_found(GroupResource(self._gvk.group, self._gvk.kind), key.name)
        if not isinstance(obj, cls):
            raise TypeError(f"cache had type {type(obj).__name__}, but {cls.__name__} was asked for")
        return obj

    def list(self, obj: type[L] | L, opts: Sequence[ListOption]) -> L:
        """Return a read-only list of the cached objects that match the options. Go: List.

        Raises ValueError for options that a cache does not support, and the indexer's error for a missing index.
        """
        options = ListOptions().apply_options(opts)
        if options.continue_:
            raise ValueError("continue list option is not supported by the cache")
        objects = self._select(options)
        selector = options.label_selector
        if selector is not None and not selector.empty():
            objects = [each for each in objects if selector.matches(each.get_labels())]
        if options.limit > 0:
            objects = objects[: options.limit]
        return new_cached_list(obj, objects)

    def _select(self, options: ListOptions) -> Sequence[Any]:
        """Return the objects that match the field selector and the namespace."""
        if options.field_selector is not None:
            if not requires_exact_match(options.field_selector):
                raise ValueError("non-exact field matches are not supported by the cache")
            return _by_indexes(self._indexer, options.field_selector.requirements(), options.namespace)
        if options.namespace:
            return self._indexer.by_index(cache.NAMESPACE_INDEX, options.namespace)
        return self._indexer.list()

    def __repr__(self) -> str:
        return f"<CacheReader of {self._gvk}>"


def new_cached_list(obj: type[L] | L, objects: Sequence[ResourceObject], resource_version: str = "") -> L:
    """Return a read-only list that shares its objects with the cache; an example passes its kind on to the list."""
    cls = obj if isinstance(obj, type) else type(obj)
    document: dict[str, Any] = {"metadata": {"continue": "continue-not-supported"}}
    if resource_version:
        document["metadata"]["resourceVersion"] = resource_version
    if not isinstance(obj, type):
        api_version, kind = obj.group_version_kind().to_api_version_and_kind()
        document |= {"apiVersion": api_version, "kind": kind} if kind else {}
    return meta.new_list(cls, document, objects).freeze()


def _by_indexes(indexer: cache.Indexer, requires: fields.Requirements, namespace: str) -> Sequence[Any]:
    """Return the objects from the index of the first requirement that match the index functions of the others."""
    first, *others = requires
    objects = indexer.by_index(field_index_name(first.field), key_to_namespaced_key(namespace, first.value))
    indexers = indexer.get_indexers()
    for requirement in others:
        if not objects:
            break
        name = field_index_name(requirement.field)
        index_func = indexers.get(name)
        if index_func is None:
            raise ValueError(f"index with name {name} does not exist")
        value = key_to_namespaced_key(namespace, requirement.value)
        objects = [obj for obj in objects if value in index_func(obj)]
    return objects


def field_index_name(field: str) -> str:
    """Return the name of the index of a field. Go: internal.FieldIndexName."""
    return f"field:{field}"


def key_to_namespaced_key(ns: str, base_key: str) -> str:
    """Return the key of an index entry in a namespace, or in all namespaces for "". Go: internal.KeyToNamespacedKey."""
    return f"{ns or _ALL_NAMESPACES_NAMESPACE}/{base_key}"
