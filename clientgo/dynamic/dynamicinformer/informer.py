"""Informers for any resource, over a dynamic client. Mirrors dynamic/dynamicinformer/informer.go."""

from __future__ import annotations

import threading

from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.util import wait
from clientgo.context import Context, StopChannel
from clientgo.dynamic import dynamiclister
from clientgo.dynamic.dynamicinformer.interface import DynamicSharedInformerFactory, TweakListOptionsFunc
from clientgo.dynamic.interface import Interface
from clientgo.informers.generic import GenericInformer
from clientgo.tools import cache


def new_dynamic_shared_informer_factory(client: Interface, default_resync: float) -> DynamicSharedInformerFactory:
    """A factory for all namespaces; `default_resync` in seconds, 0 for none (Go: NewDynamicSharedInformerFactory)."""
    return new_filtered_dynamic_shared_informer_factory(client, default_resync, metav1.NAMESPACE_ALL, None)


def new_filtered_dynamic_shared_informer_factory(
    client: Interface, default_resync: float, namespace: str, tweak_list_options: TweakListOptionsFunc | None
) -> DynamicSharedInformerFactory:
    """A factory for one namespace, or with other options (Go: NewFilteredDynamicSharedInformerFactory)."""
    return _DynamicSharedInformerFactory(client, default_resync, namespace, tweak_list_options)


class _DynamicSharedInformerFactory:
    def __init__(
        self, client: Interface, default_resync: float, namespace: str, tweak_list_options: TweakListOptionsFunc | None
    ) -> None:
        self._client = client
        self._default_resync = default_resync
        self._namespace = namespace
        self._tweak_list_options = tweak_list_options
        # Guards the rest; never held while an informer runs or ends.
        self._lock = threading.Lock()
        self._informers: dict[GroupVersionResource, GenericInformer] = {}
        self._started: dict[GroupVersionResource, threading.Thread] = {}
        self._shutting_down = False

    def for_resource(self, gvr: GroupVersionResource) -> GenericInformer:
        with self._lock:
            if gvr not in self._informers:
                indexers: cache.Indexers = {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}
                self._informers[gvr] = new_filtered_dynamic_informer(
                    self._client, gvr, self._namespace, self._default_resync, indexers, self._tweak_list_options
                )
            return self._informers[gvr]

    def start(self, stop_ch: StopChannel) -> None:
        ctx = wait.context_for_channel(stop_ch)
        with self._lock:
            if self._shutting_down:
                return
            for gvr, informer in self._informers.items():
                if gvr in self._started:
                    continue
                run = informer.informer().run_with_context
                thread = threading.Thread(target=run, args=(ctx,), name=f"informer-{gvr.resource}", daemon=True)
                self._started[gvr] = thread
                thread.start()

    def wait_for_cache_sync(self, stop_ch: StopChannel) -> dict[GroupVersionResource, bool]:
        with self._lock:
            informers = {gvr: self._informers[gvr].informer() for gvr in self._started}
        return {gvr: cache.wait_for_cache_sync(stop_ch, each.has_synced) for gvr, each in informers.items()}

    def shutdown(self) -> None:
        with self._lock:
            self._shutting_down = True
            threads = list(self._started.values())
        for thread in threads:
            thread.join()

    def __repr__(self) -> str:
        return f"<dynamic informer factory, {len(self._started)} of {len(self._informers)} informers started>"


def new_filtered_dynamic_informer(
    client: Interface,
    gvr: GroupVersionResource,
    namespace: str,
    resync_period: float,
    indexers: cache.Indexers,
    tweak_list_options: TweakListOptionsFunc | None,
) -> GenericInformer:
    """An informer of one resource (Go: NewFilteredDynamicInformer)."""

    def tweaked(options: metav1.ListOptions) -> metav1.ListOptions:
        if tweak_list_options is not None:
            options = options.deep_copy()
            tweak_list_options(options)
        return options

    def list_objects(ctx: Context, options: metav1.ListOptions) -> UnstructuredList:
        return client.resource(gvr).namespace(namespace).list(ctx, tweaked(options))

    def watch_objects(ctx: Context, options: metav1.ListOptions) -> watch.Interface:
        return client.resource(gvr).namespace(namespace).watch(ctx, tweaked(options))

    list_watch = cache.ListWatch(list_with_context_func=list_objects, watch_func_with_context=watch_objects)
    informer = cache.new_shared_index_informer_with_options(
        cache.to_list_watcher_with_watch_list_semantics(list_watch, client),
        Unstructured(),
        cache.SharedIndexInformerOptions(resync_period=resync_period, indexers=indexers, object_description=str(gvr)),
    )
    return _DynamicInformer(informer, gvr)


class _DynamicInformer(GenericInformer):
    def __init__(self, informer: cache.SharedIndexInformer, gvr: GroupVersionResource) -> None:
        super().__init__(informer, gvr.group_resource())
        self._gvr = gvr

    def lister(self) -> cache.GenericLister:
        lister = dynamiclister.new(self._informer.get_indexer(), self._gvr)
        return dynamiclister.new_runtime_object_shim(lister)
