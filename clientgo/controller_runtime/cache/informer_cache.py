"""A cache over the informers of one scope. Mirrors pkg/cache/informer_cache.go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.context import Context
from clientgo.controller_runtime.cache import internal
from clientgo.controller_runtime.cache.cache import (
    Informer,
    InformerGetOption,
    InformerGetOptions,
    block_until_synced,
)
from clientgo.controller_runtime.client import apiutil
from clientgo.controller_runtime.client.interfaces import ObjectKey
from clientgo.controller_runtime.client.object import Object, ObjectList, require_list, require_object
from clientgo.controller_runtime.client.options import GetOption, ListOption
from clientgo.gentype import methods_take_context
from clientgo.golang.functions import require_function
from clientgo.tools.cache.beyond.indexing import checked_values

T = TypeVar("T", bound=Object)
L = TypeVar("L", bound=ObjectList)

# The kind has no informer, and the options forbid to start one. Go: cache.ErrResourceNotCached.
ErrResourceNotCached: TypeAlias = internal.ErrResourceNotCached


class ErrCacheNotStarted(Exception):
    """Raised by reads from a cache that has not been started. Go: cache.ErrCacheNotStarted."""

    def __str__(self) -> str:
        return "the cache is not started, can not read objects"


@methods_take_context
class InformerCache:
    """A Cache over the informers of one scope: all namespaces, or one. Thread-safe. Go: informerCache.

    The first read of a kind starts its informer and blocks until that has synced; with
    `reader_fail_on_missing_informer` it raises ErrResourceNotCached instead. Every other read is a dictionary lookup.
    """

    def __init__(self, scheme: Scheme, informers: internal.Informers, reader_fail_on_missing_informer: bool) -> None:
        self._scheme = scheme
        self._informers = informers
        self._reader_fail_on_missing_informer = reader_fail_on_missing_informer

    def get(self, ctx: Context, key: ObjectKey, obj: type[T] | T, *opts: GetOption) -> T:
        require_object(obj)
        gvk = apiutil.gvk_for_object(obj, self._scheme)
        cls = obj if isinstance(obj, type) else type(obj)
        return self._reader(ctx, gvk, cls).get(key, cls)

    def list(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> L:
        require_list(obj)
        gvk = apiutil.gvk_for_object(obj, self._scheme)
        gvk = gvk.group_version().with_kind(gvk.kind.removesuffix("List"))
        return self._reader(ctx, gvk, self._item_class(obj, gvk)).list(obj, opts)

    def _reader(self, ctx: Context, gvk: GroupVersionKind, cls: type[Object]) -> internal.CacheReader:
        started, entry = self._informers.get(
            ctx, gvk, cls, self._reader_fail_on_missing_informer, internal.GetOptions()
        )
        if not started:
            raise ErrCacheNotStarted
        return entry.reader

    def _item_class(self, obj: ObjectList | type[ObjectList], gvk: GroupVersionKind) -> type[Object]:
        """Return the class of a list's items, as informers know it."""
        cls = obj if isinstance(obj, type) else type(obj)
        if issubclass(cls, UnstructuredList):
            return Unstructured
        if issubclass(cls, metav1.PartialObjectMetadataList):
            return metav1.PartialObjectMetadata
        return self._class_for(gvk)

    def _class_for(self, gvk: GroupVersionKind) -> type[Object]:
        cls = self._scheme.class_for(gvk)
        if not issubclass(cls, Object):
            raise TypeError(f"{cls.__name__} is not an Object")
        return cls

    def get_informer_for_kind(self, ctx: Context, gvk: GroupVersionKind, *opts: InformerGetOption) -> Informer:
        return self._informer(ctx, gvk, self._class_for(gvk), opts)

    def get_informer(self, ctx: Context, obj: type[T] | T, *opts: InformerGetOption) -> Informer:
        require_object(obj)
        gvk = apiutil.gvk_for_object(obj, self._scheme)
        return self._informer(ctx, gvk, obj if isinstance(obj, type) else type(obj), opts)

    def _informer(
        self, ctx: Context, gvk: GroupVersionKind, cls: type[Object], opts: Sequence[InformerGetOption]
    ) -> Informer:
        options = InformerGetOptions()
        for opt in opts:
            opt(options)
        _, entry = self._informers.get(ctx, gvk, cls, False, options)
        return entry.informer

    def remove_informer(self, ctx: Context, obj: type[T] | T) -> None:
        gvk = apiutil.gvk_for_object(obj, self._scheme)
        self._informers.remove(gvk, obj if isinstance(obj, type) else type(obj))

    def start(self, ctx: Context) -> None:
        self._informers.start(ctx)

    def wait_for_cache_sync(self, ctx: Context) -> bool:
        return self._informers.wait_for_cache_sync(ctx)

    def need_leader_election(self) -> bool:
        """Return False: a cache also runs on managers that are not the leader. Go: NeedLeaderElection."""
        return False

    def index_field(
        self, ctx: Context, obj: type[T] | T, field: str, extract_value: Callable[[T], Sequence[str]]
    ) -> None:
        index_by_field(self.get_informer(ctx, obj, block_until_synced(False)), field, extract_value)

    def __repr__(self) -> str:
        return f"<InformerCache over {self._informers!r}>"


def index_by_field(informer: Informer, field: str, extract_value: Callable[[Any], Sequence[str]]) -> None:
    """Add an index of a field, with one entry per namespace and one for all namespaces. Go: indexByField."""
    require_function(extract_value, f"the function of the field index {field!r}", "obj", may_yield=True)

    def index(obj: Any) -> list[str]:
        namespace = obj.get_namespace()
        values = checked_values(extract_value(obj) or (), extract_value)
        keys = [internal.key_to_namespaced_key(namespace, value) for value in values]
        if namespace:
            keys += [internal.key_to_namespaced_key("", value) for value in values]
        return keys

    informer.add_indexers({internal.field_index_name(field): index})
