"""What reads metadata from a cache. Mirrors metadata/metadatalister/interface.go.

The objects belong to the cache and are read-only.
"""

from __future__ import annotations

import builtins
from typing import Protocol

from clientgo.apimachinery import labels
from clientgo.apimachinery.apis.meta import v1 as metav1


class NamespaceLister(Protocol):
    """Reads the objects of one namespace."""

    def list(self, selector: labels.Selector) -> builtins.list[metav1.PartialObjectMetadata]:
        """The objects the selector matches."""
        ...

    def get(self, name: str) -> metav1.PartialObjectMetadata:
        """The named object. Raises StatusError (not found)."""
        ...


class Lister(Protocol):
    """Reads the objects of all namespaces."""

    def list(self, selector: labels.Selector) -> builtins.list[metav1.PartialObjectMetadata]:
        """The objects the selector matches."""
        ...

    def get(self, name: str) -> metav1.PartialObjectMetadata:
        """The object without a namespace of that name. Raises StatusError (not found)."""
        ...

    def namespace(self, namespace: str) -> NamespaceLister:
        """The reader of one namespace."""
        ...
