"""The interfaces of dynamic listers. Mirrors dynamic/dynamiclister/interface.go.

The objects belong to the cache and are read-only.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Protocol

from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured

if TYPE_CHECKING:
    from clientgo.apimachinery import labels


class NamespaceLister(Protocol):
    """A lister of the objects of one namespace."""

    def list(self, selector: labels.Selector) -> builtins.list[Unstructured]:
        """Return the objects that match the selector."""
        ...

    def get(self, name: str) -> Unstructured:
        """Return the named object. Raises StatusError (not found)."""
        ...


class Lister(Protocol):
    """A lister of the objects of all namespaces."""

    def list(self, selector: labels.Selector) -> builtins.list[Unstructured]:
        """Return the objects that match the selector."""
        ...

    def get(self, name: str) -> Unstructured:
        """Return the cluster-scoped object of this name. Raises StatusError (not found)."""
        ...

    def namespace(self, namespace: str) -> NamespaceLister:
        """Return the lister of one namespace."""
        ...
