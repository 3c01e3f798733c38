"""Small value types shared by everything (k8s.io/apimachinery/pkg/types)."""

from clientgo.apimachinery.types.namespacedname import SEPARATOR, NamespacedName
from clientgo.apimachinery.types.nodename import NodeName
from clientgo.apimachinery.types.patch import PatchType
from clientgo.apimachinery.types.uid import UID

__all__ = ["SEPARATOR", "UID", "NamespacedName", "NodeName", "PatchType"]
