"""Listers of the metadata of objects. Mirrors k8s.io/client-go/metadata/metadatalister."""

from clientgo.metadata.metadatalister.interface import Lister, NamespaceLister
from clientgo.metadata.metadatalister.lister import new
from clientgo.metadata.metadatalister.shim import new_runtime_object_shim

__all__ = ["Lister", "NamespaceLister", "new", "new_runtime_object_shim"]
