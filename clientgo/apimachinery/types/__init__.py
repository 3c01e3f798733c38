"""Small value types that many packages share (k8s.io/apimachinery/pkg/types)."""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.apimachinery.types.namespacedname import SEPARATOR, NamespacedName
    from clientgo.apimachinery.types.nodename import NodeName
    from clientgo.apimachinery.types.patch import PatchType
    from clientgo.apimachinery.types.uid import UID
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "namespacedname": ["SEPARATOR", "NamespacedName"],
            "nodename": ["NodeName"],
            "patch": ["PatchType"],
            "uid": ["UID"],
        },
    )

__all__ = ["SEPARATOR", "UID", "NamespacedName", "NodeName", "PatchType"]
