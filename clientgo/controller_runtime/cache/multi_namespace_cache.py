"""A cache of selected namespaces with separate informers for each. Mirrors pkg/cache/multi_namespace_cache.go.

It serves programs that may not list all namespaces. A separate cache holds cluster-scoped kinds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.context import Context, StopChannel
from clientgo.controller_runtime.cache.cache import (
    Cache,
    Config,
    Informer,
    InformerGetOption,
    NewNamespaceCacheFunc,
)
from clientgo.controller_runtime.cache.internal import new_cached_list
from clientgo.controller_runtime.cache.internal.starting import start_all
from clientgo.controller_runtime.client import apiutil
from clientgo.controller_runtime.client.apiutil import Example
from clientgo.controller_runtime.client.interfaces import ObjectKey
from clientgo.controller_runtime.client.object import Object, ObjectList
from clientgo.controller_runtime.client.options import GetOption, ListOption, ListOptions
from clientgo.gentype import methods_take_context
from clientgo.golang.stop import Signal, add_done_callback
from clientgo.tools import cache as toolscache

T = TypeVar("T", bound=Object)
L = TypeVar("L", bound=ObjectList)

# The key of the cache for cluster-scoped kinds.
_GLOBAL_CACHE: Final = "_cluster-scope"


def new_multi_namespace_cache(
    new_cache: NewNamespaceCacheFunc,
    scheme: Scheme,
    rest_mapper: meta.RESTMapper,
    namespaces: Mapping[str, Config],
    global_config: Config | None,
) -> Cache:
    """Return a cache of these namespaces. Without `global_config` it does not serve cluster-scoped kinds.

    Go: newMultiNamespaceCache.
    """
    caches = {namespace: new_cache(config, namespace) for namespace, config in namespaces.items()}
    cluster_cache = None if global_config is None else new_cache(global_config, metav1.NAMESPACE_ALL)
    return _MultiNamespaceCache(scheme, rest_mapper, caches, cluster_cache)


@methods_take_context
class _MultiNamespaceCache:
    """A cache that delegates to the cache of a namespace, to the global one, or to all of them. Thread-safe."""

    def __init__(
        self,
        scheme: Scheme,
        rest_mapper: meta.RESTMapper,
        namespace_to_cache: Mapping[str, Cache],
        cluster_cache: Cache | None,
    ) -> None:
        self._scheme = scheme
        self._rest_mapper = rest_mapper
        self._namespace_to_cache = dict(namespace_to_cache)
        self._cluster_cache = cluster_cache

    def get_informer(self, ctx: Context, obj: type[T] | T, *opts: InformerGetOption) -> Informer:
        return self._informer(self._is_namespaced(obj), lambda each: each.get_informer(ctx, obj, *opts))

    def get_informer_for_kind(self, ctx: Context, gvk: GroupVersionKind, *opts: InformerGetOption) -> Informer:
        is_namespaced = apiutil.is_gvk_namespaced(gvk, self._rest_mapper)
        return self._informer(is_namespaced, lambda each: each.get_informer_for_kind(ctx, gvk, *opts))

    def _informer(self, is_namespaced: bool, get_informer: Callable[[Cache], Informer]) -> Informer:
        caches = self._namespace_to_cache if is_namespaced else {_GLOBAL_CACHE: self._cluster()}
        return _MultiNamespaceInformer({namespace: get_informer(each) for namespace, each in caches.items()})

    def remove_informer(self, ctx: Context, obj: type[T] | T) -> None:
        for each in self._caches_for(obj):
            each.remove_informer(ctx, obj)

    def start(self, ctx: Context) -> None:
        starts = {
            namespace: _with_context(f"failed to start cache for namespace {namespace}", each.start)
            for namespace, each in self._namespace_to_cache.items()
        }
        if self._cluster_cache is not None:
            starts[_GLOBAL_CACHE] = _with_context("failed to start cluster-scoped cache", self._cluster_cache.start)
        start_all(ctx, starts)

    def wait_for_cache_sync(self, ctx: Context) -> bool:
        caches = [*self._namespace_to_cache.values(), *([self._cluster_cache] if self._cluster_cache else [])]
        return all(each.wait_for_cache_sync(ctx) for each in caches)

    def index_field(
        self, ctx: Context, obj: type[T] | T, field: str, extract_value: Callable[[T], Sequence[str]]
    ) -> None:
        for each in self._caches_for(obj):
            each.index_field(ctx, obj, field, extract_value)

    def get(self, ctx: Context, key: ObjectKey, obj: type[T] | T, *opts: GetOption) -> T:
        if not self._is_namespaced(obj):
            return self._cluster().get(ctx, key, obj, *opts)
        return self._cache_of_namespace("get", key.namespace, key).get(ctx, key, obj, *opts)

    def list(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> L:
        options = ListOptions().apply_options(opts)
        if options.continue_:
            raise ValueError("continue list option is not supported by the cache")
        if not self._is_namespaced(obj):
            return self._cluster().list(ctx, obj, *opts)
        if options.namespace:
            return self._cache_of_namespace("list", options.namespace, options.namespace).list(ctx, obj, *opts)
        return self._list_all(ctx, obj, options)

    def _list_all(self, ctx: Context, obj: type[L] | L, options: ListOptions) -> L:
        items: list[Any] = []
        resource_version = ""
        for each in self._namespace_to_cache.values():
            if options.limit > 0 and len(items) >= options.limit:
                break
            rest = replace(options, limit=options.limit - len(items)) if options.limit > 0 else options
            listed = each.list(ctx, obj, rest)
            items += meta.extract_list(listed)
            # The last list was read last, so its resourceVersion is probably the newest.
            resource_version = listed.get_resource_version()
        return new_cached_list(obj, items, resource_version)

    def _cache_of_namespace(self, verb: str, namespace: str, target: object) -> Cache:
        found = self._namespace_to_cache.get(namespace) or self._namespace_to_cache.get(metav1.NAMESPACE_ALL)
        if found is None:
            raise ValueError(f"unable to {verb}: {target} because of unknown namespace for the cache")
        return found

    def _caches_for(self, obj: Example) -> Iterable[Cache]:
        return self._namespace_to_cache.values() if self._is_namespaced(obj) else [self._cluster()]

    def _cluster(self) -> Cache:
        if self._cluster_cache is None:
            raise ValueError("this cache has only kinds that live in namespaces")
        return self._cluster_cache

    def _is_namespaced(self, obj: Example) -> bool:
        return apiutil.is_object_namespaced(obj, self._scheme, self._rest_mapper)

    def __repr__(self) -> str:
        return f"<MultiNamespaceCache of {sorted(self._namespace_to_cache)}>"


def _with_context(text: str, start: Callable[[Context], None]) -> Callable[[Context], None]:
    def run(ctx: Context) -> None:
        try:
            start(ctx)
        except Exception as err:
            raise RuntimeError(f"{text}: {err}") from err

    return run


class _AllDone:
    """A DoneChecker that is done when all the given ones are. It starts no thread."""

    def __init__(self, checkers: Mapping[str, toolscache.DoneChecker]) -> None:
        self._checkers = dict(checkers)
        self._done = Signal()
        # Guards the count of checkers that are not done.
        self._lock = threading.Lock()
        self._pending = len(self._checkers)
        if not self._checkers:
            self._done.set()
        for checker in self._checkers.values():
            add_done_callback(checker.done(), self._count_down)

    def _count_down(self) -> None:
        with self._lock:
            self._pending -= 1
            last = self._pending == 0
        if last:
            self._done.set()

    def name(self) -> str:
        return ", ".join(f"{namespace}: {checker.name()}" for namespace, checker in self._checkers.items())

    def done(self) -> StopChannel:
        return self._done


class _Registration:
    """The registrations of one handler with several informers. Go: multiNamespaceInformerHandlerRegistration."""

    def __init__(self, handles: Mapping[str, toolscache.ResourceEventHandlerRegistration]) -> None:
        self.handles = dict(handles)
        self._checker = _AllDone({ns: handle.has_synced_checker() for ns, handle in self.handles.items()})

    def has_synced(self) -> bool:
        return all(handle.has_synced() for handle in self.handles.values())

    def has_synced_checker(self) -> toolscache.DoneChecker:
        return self._checker

    def statistics(self) -> toolscache.HandlerStatistics:
        """Return the statistics of the handler in all namespaces together."""
        each = [handle.statistics() for handle in self.handles.values()]
        return toolscache.HandlerStatistics(
            handler=each[0].handler if each else "",
            pending=sum(one.pending for one in each),
            oldest_age=max((one.oldest_age for one in each), default=0.0),
            failed=sum(one.failed for one in each),
            merged=sum(one.merged for one in each),
            closed=all(one.closed for one in each),
        )


class _MultiNamespaceInformer:
    """Several informers behind the interface of one. Go: multiNamespaceInformer."""

    def __init__(self, namespace_to_informer: Mapping[str, Informer]) -> None:
        self._informers = dict(namespace_to_informer)
        self._checker = _AllDone({ns: each.has_synced_checker() for ns, each in self._informers.items()})

    def add_event_handler(
        self, handler: toolscache.ResourceEventHandler
    ) -> toolscache.ResourceEventHandlerRegistration:
        return _Registration({ns: each.add_event_handler(handler) for ns, each in self._informers.items()})

    def add_event_handler_with_resync_period(
        self, handler: toolscache.ResourceEventHandler, resync_period: float
    ) -> toolscache.ResourceEventHandlerRegistration:
        return _Registration(
            {
                ns: each.add_event_handler_with_resync_period(handler, resync_period)
                for ns, each in self._informers.items()
            }
        )

    def add_event_handler_with_options(
        self, handler: toolscache.ResourceEventHandler, options: toolscache.HandlerOptions
    ) -> toolscache.ResourceEventHandlerRegistration:
        return _Registration(
            {ns: each.add_event_handler_with_options(handler, options) for ns, each in self._informers.items()}
        )

    def remove_event_handler(self, handle: toolscache.ResourceEventHandlerRegistration) -> None:
        if not isinstance(handle, _Registration):
            raise TypeError("registration is not a registration returned by multiNamespaceInformer")
        for ns, informer in self._informers.items():
            if ns in handle.handles:
                informer.remove_event_handler(handle.handles[ns])

    def add_indexers(self, indexers: toolscache.Indexers) -> None:
        for each in self._informers.values():
            each.add_indexers(indexers)

    def has_synced(self) -> bool:
        return all(each.has_synced() for each in self._informers.values())

    def has_synced_checker(self) -> toolscache.DoneChecker:
        return self._checker

    def is_stopped(self) -> bool:
        return all(each.is_stopped() for each in self._informers.values())

    def __repr__(self) -> str:
        return f"<informers of {sorted(self._informers)}>"
