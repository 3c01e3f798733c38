"""Informers of the metadata of any resource. Mirrors k8s.io/client-go/metadata/metadatainformer."""

from clientgo.metadata.metadatainformer.informer import (
    SharedInformerOption,
    new_filtered_metadata_informer,
    new_filtered_shared_informer_factory,
    new_shared_informer_factory,
    new_shared_informer_factory_with_options,
    with_transform,
)
from clientgo.metadata.metadatainformer.interface import SharedInformerFactory, TweakListOptionsFunc

__all__ = [
    "SharedInformerFactory",
    "SharedInformerOption",
    "TweakListOptionsFunc",
    "new_filtered_metadata_informer",
    "new_filtered_shared_informer_factory",
    "new_shared_informer_factory",
    "new_shared_informer_factory_with_options",
    "with_transform",
]
