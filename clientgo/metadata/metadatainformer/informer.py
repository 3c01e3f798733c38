"""Informers of the metadata of any resource. Mirrors metadata/metadatainformer/informer.go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.context import Context
from clientgo.informers.generic import GenericInformer
from clientgo.informers.internalinterfaces.factory_interfaces import checked_tweak
from clientgo.informers.resource_informers import ResourceInformers
from clientgo.metadata import metadatalister
from clientgo.metadata.interface import Interface
from clientgo.metadata.metadatainformer.interface import SharedInformerFactory, TweakListOptionsFunc
from clientgo.tools import cache


@dataclass(kw_only=True)
class _Options:
    transform: cache.TransformFunc | None = None


# An option of a factory. Go: SharedInformerOption.
SharedInformerOption = Callable[[_Options], None]


def with_transform(transform: cache.TransformFunc) -> SharedInformerOption:
    """Return an option that transforms the objects of all the factory's informers. Go: WithTransform."""

    def apply(options: _Options) -> None:
        options.transform = transform

    return apply


def new_shared_informer_factory(client: Interface, default_resync: float) -> SharedInformerFactory:
    """Return a factory for all namespaces. `default_resync` is in seconds; 0 disables resyncs.

    Go: NewSharedInformerFactory.
    """
    return new_filtered_shared_informer_factory(client, default_resync, metav1.NAMESPACE_ALL, None)


def new_filtered_shared_informer_factory(
    client: Interface, default_resync: float, namespace: str, tweak_list_options: TweakListOptionsFunc | None
) -> SharedInformerFactory:
    """Return a factory for one namespace, with optional list options. Go: NewFilteredSharedInformerFactory."""
    return _new_factory(client, default_resync, namespace, tweak_list_options, _Options())


def new_shared_informer_factory_with_options(
    client: Interface, default_resync: float, *options: SharedInformerOption
) -> SharedInformerFactory:
    """Return a factory for all namespaces with options. Go: NewSharedInformerFactoryWithOptions."""
    chosen = _Options()
    for option in options:
        option(chosen)
    return _new_factory(client, default_resync, metav1.NAMESPACE_ALL, None, chosen)


def _new_factory(
    client: Interface, resync: float, namespace: str, tweak: TweakListOptionsFunc | None, options: _Options
) -> SharedInformerFactory:
    def new_informer(gvr: GroupVersionResource) -> GenericInformer:
        indexers: cache.Indexers = {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func}
        made = new_filtered_metadata_informer(client, gvr, namespace, resync, indexers, tweak)
        if options.transform is not None:
            made.informer().set_transform(options.transform)
        return made

    return ResourceInformers(new_informer)


def new_filtered_metadata_informer(
    client: Interface,
    gvr: GroupVersionResource,
    namespace: str,
    resync_period: float,
    indexers: cache.Indexers,
    tweak_list_options: TweakListOptionsFunc | None,
) -> GenericInformer:
    """Return an informer of the metadata of one resource. Go: NewFilteredMetadataInformer."""

    def tweaked(options: metav1.ListOptions) -> metav1.ListOptions:
        if tweak_list_options is not None:
            options = options.deep_copy()
            checked_tweak(tweak_list_options)(options)
        return options

    def list_objects(ctx: Context, options: metav1.ListOptions) -> metav1.PartialObjectMetadataList:
        return client.resource(gvr).namespace(namespace).list(ctx, tweaked(options))

    def watch_objects(ctx: Context, options: metav1.ListOptions) -> watch.Interface:
        return client.resource(gvr).namespace(namespace).watch(ctx, tweaked(options))

    list_watch = cache.ListWatch(list_with_context_func=list_objects, watch_func_with_context=watch_objects)
    informer = cache.new_shared_index_informer_with_options(
        cache.to_list_watcher_with_watch_list_semantics(list_watch, client),
        metav1.PartialObjectMetadata(),
        cache.SharedIndexInformerOptions(resync_period=resync_period, indexers=indexers, object_description=str(gvr)),
    )
    return _MetadataInformer(informer, gvr)


class _MetadataInformer(GenericInformer):
    def __init__(self, informer: cache.SharedIndexInformer, gvr: GroupVersionResource) -> None:
        super().__init__(informer, gvr.group_resource())
        self._gvr = gvr

    def lister(self) -> cache.GenericLister:
        lister = metadatalister.new(self.informer().get_indexer(), self._gvr)
        return metadatalister.new_runtime_object_shim(lister)
