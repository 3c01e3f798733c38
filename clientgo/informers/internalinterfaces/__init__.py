"""k8s.io/client-go/informers/internalinterfaces: what informers and their factory know of each other."""

from clientgo.informers.internalinterfaces.factory_interfaces import (
    InformerOptions,
    NewInformerFunc,
    SharedInformerFactory,
    TweakListOptionsFunc,
    identifier,
)

__all__ = ["InformerOptions", "NewInformerFunc", "SharedInformerFactory", "TweakListOptionsFunc", "identifier"]
