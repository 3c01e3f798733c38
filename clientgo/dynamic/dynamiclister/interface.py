"""What reads Unstructured objects from a cache. Mirrors dynamic/dynamiclister/interface.go.

The objects belong to the cache and are read-only.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Protocol

from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured

if TYPE_CHECKING:
    from clientgo.apimachinery import labels


class NamespaceLister(Protocol):
    """Reads the objects of one namespace."""

    def list(self, selector: labels.Selector) -> builtins.list[Unstructured]:
        """The objects the selector matches."""
        ...

    def get(self, name: str) -> Unstructured:
        """The named object. Raises StatusError (not found)."""
        ...


class Lister(Protocol):
    """Reads the objects of all namespaces."""

    def list(self, selector: labels.Selector) -> builtins.list[Unstructured]:
        """The objects the selector matches."""
        ...

    def get(self, name: str) -> Unstructured:
        """The object without a namespace of that name. Raises StatusError (not found)."""
        ...

    def namespace(self, namespace: str) -> NamespaceLister:
        """The reader of one namespace."""
        ...
