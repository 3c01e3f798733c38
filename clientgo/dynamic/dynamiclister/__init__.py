"""Listers of Unstructured objects. Mirrors k8s.io/client-go/dynamic/dynamiclister."""

from clientgo.dynamic.dynamiclister.interface import Lister, NamespaceLister
from clientgo.dynamic.dynamiclister.lister import new
from clientgo.dynamic.dynamiclister.shim import new_runtime_object_shim

__all__ = ["Lister", "NamespaceLister", "new", "new_runtime_object_shim"]
