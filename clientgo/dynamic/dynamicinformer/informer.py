"""Informers for any resource, over a dynamic client. Mirrors dynamic/dynamicinformer/informer.go."""

from __future__ import annotations

from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.context import Context
from clientgo.dynamic import dynamiclister
from clientgo.dynamic.dynamicinformer.interface import DynamicSharedInformerFactory, TweakListOptionsFunc
from clientgo.dynamic.interface import Interface
from clientgo.informers.generic import GenericInformer
from clientgo.informers.internalinterfaces.factory_interfaces import checked_tweak
from clientgo.informers.resource_informers import ResourceInformers
from clientgo.tools import cache


def new_dynamic_shared_informer_factory(client: Interface, default_resync: float) -> DynamicSharedInformerFactory:
    """Return a factory for all namespaces. `default_resync` is in seconds; 0 disables resyncs.

    Go: NewDynamicSharedInformerFactory.
    """
    return new_filtered_dynamic_shared_informer_factory(client, default_resync, metav1.NAMESPACE_ALL, None)


def new_filtered_dynamic_shared_informer_factory(
    client: Interface, default_resync: float, namespace: str, tweak_list_options: TweakListOptionsFunc | None
) -> DynamicSharedInformerFactory:
    """Return a factory for one namespace, with optional list options. Go: NewFilteredDynamicSharedInformerFactory."""

    def new_informer(gvr: GroupVersionResource) -> GenericInformer:
        indexers: cache.Indexers = {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}
        return new_filtered_dynamic_informer(client, gvr, namespace, default_resync, indexers, tweak_list_options)

    return ResourceInformers(new_informer)


def new_filtered_dynamic_informer(
    client: Interface,
    gvr: GroupVersionResource,
    namespace: str,
    resync_period: float,
    indexers: cache.Indexers,
    tweak_list_options: TweakListOptionsFunc | None,
) -> GenericInformer:
    """Return an informer of one resource. Go: NewFilteredDynamicInformer."""

    def tweaked(options: metav1.ListOptions) -> metav1.ListOptions:
        if tweak_list_options is not None:
            options = options.deep_copy()
            checked_tweak(tweak_list_options)(options)
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
        lister = dynamiclister.new(self.informer().get_indexer(), self._gvr)
        return dynamiclister.new_runtime_object_shim(lister)
