"""A cache that delegates some kinds to separate caches. Mirrors pkg/cache/delegating_by_gvk_cache.go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.context import Context
from clientgo.controller_runtime.cache.cache import Cache, Informer, InformerGetOption
from clientgo.controller_runtime.cache.internal.starting import start_all
from clientgo.controller_runtime.client import apiutil
from clientgo.controller_runtime.client.apiutil import Example
from clientgo.controller_runtime.client.interfaces import ObjectKey
from clientgo.controller_runtime.client.object import Object, ObjectList
from clientgo.controller_runtime.client.options import GetOption, ListOption
from clientgo.gentype import methods_take_context

T = TypeVar("T", bound=Object)
L = TypeVar("L", bound=ObjectList)


@methods_take_context
class DelegatingByGVKCache:
    """A cache that delegates to the kind's cache, or to the default one. Thread-safe. Go: delegatingByGVKCache."""

    def __init__(self, scheme: Scheme, caches: Mapping[GroupVersionKind, Cache], default_cache: Cache) -> None:
        self._scheme = scheme
        self._caches = dict(caches)
        self._default_cache = default_cache

    def get(self, ctx: Context, key: ObjectKey, obj: type[T] | T, *opts: GetOption) -> T:
        return self._cache_for_object(obj).get(ctx, key, obj, *opts)

    def list(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> L:
        return self._cache_for_object(obj).list(ctx, obj, *opts)

    def remove_informer(self, ctx: Context, obj: type[T] | T) -> None:
        self._cache_for_object(obj).remove_informer(ctx, obj)

    def get_informer(self, ctx: Context, obj: type[T] | T, *opts: InformerGetOption) -> Informer:
        return self._cache_for_object(obj).get_informer(ctx, obj, *opts)

    def get_informer_for_kind(self, ctx: Context, gvk: GroupVersionKind, *opts: InformerGetOption) -> Informer:
        return self._cache_for_gvk(gvk).get_informer_for_kind(ctx, gvk, *opts)

    def start(self, ctx: Context) -> None:
        start_all(ctx, {str(gvk): each.start for gvk, each in self._caches.items()} | {"": self._default_cache.start})

    def wait_for_cache_sync(self, ctx: Context) -> bool:
        return all(each.wait_for_cache_sync(ctx) for each in (*self._caches.values(), self._default_cache))

    def index_field(
        self, ctx: Context, obj: type[T] | T, field: str, extract_value: Callable[[T], Sequence[str]]
    ) -> None:
        self._cache_for_object(obj).index_field(ctx, obj, field, extract_value)

    def _cache_for_object(self, obj: Example) -> Cache:
        gvk = apiutil.gvk_for_object(obj, self._scheme)
        return self._cache_for_gvk(gvk.group_version().with_kind(gvk.kind.removesuffix("List")))

    def _cache_for_gvk(self, gvk: GroupVersionKind) -> Cache:
        return self._caches.get(gvk, self._default_cache)

    def __repr__(self) -> str:
        kinds = ", ".join(gvk.kind for gvk in self._caches)
        return f"<DelegatingByGVKCache for {kinds}, otherwise {self._default_cache!r}>"
