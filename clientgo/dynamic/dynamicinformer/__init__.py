"""Informers for any resource. Mirrors k8s.io/client-go/dynamic/dynamicinformer."""

from clientgo.dynamic.dynamicinformer.informer import (
    new_dynamic_shared_informer_factory,
    new_filtered_dynamic_informer,
    new_filtered_dynamic_shared_informer_factory,
)
from clientgo.dynamic.dynamicinformer.interface import DynamicSharedInformerFactory, TweakListOptionsFunc

__all__ = [
    "DynamicSharedInformerFactory",
    "TweakListOptionsFunc",
    "new_dynamic_shared_informer_factory",
    "new_filtered_dynamic_informer",
    "new_filtered_dynamic_shared_informer_factory",
]
