"""The interfaces of metadata listers. Mirrors metadata/metadatalister/interface.go.

The objects belong to the cache and are read-only.
"""

from __future__ import annotations

import builtins
from typing import Protocol

from clientgo.apimachinery import labels
from clientgo.apimachinery.apis.meta import v1 as metav1


class NamespaceLister(Protocol):
    """A lister of the objects of one namespace."""

    def list(self, selector: labels.Selector) -> builtins.list[metav1.PartialObjectMetadata]:
        """Return the objects that match the selector."""
        ...

    def get(self, name: str) -> metav1.PartialObjectMetadata:
        """Return the named object. Raises StatusError (not found)."""
        ...


class Lister(Protocol):
    """A lister of the objects of all namespaces."""

    def list(self, selector: labels.Selector) -> builtins.list[metav1.PartialObjectMetadata]:
        """Return the objects that match the selector."""
        ...

    def get(self, name: str) -> metav1.PartialObjectMetadata:
        """Return the cluster-scoped object of this name. Raises StatusError (not found)."""
        ...

    def namespace(self, namespace: str) -> NamespaceLister:
        """Return the lister of one namespace."""
        ...
