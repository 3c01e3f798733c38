"""The base class of all generated listers. Mirrors listers/generic_helpers.go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from clientgo.apimachinery import runtime
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.tools import cache
from clientgo.tools.cache.beyond.unsynced import report_early_read

if TYPE_CHECKING:
    from clientgo.apimachinery.labels import Selector

T = TypeVar("T", bound=runtime.ResourceObject)


class ResourceIndexer(Generic[T]):
    """An indexer's objects of one resource, in all namespaces or in one. Go: listers.ResourceIndexer.

    The objects are shared and read-only: use `deep_copy()` before a change.
    """

    def __init__(self, indexer: cache.Indexer, resource: GroupResource, namespace: str = "") -> None:
        """Initialize a lister. `namespace` is "" for all namespaces and for cluster-scoped kinds. Go: listers.New."""
        self.indexer = indexer
        self.resource = resource
        self._namespace = namespace

    def list(self, selector: Selector) -> list[T]:
        """Return the objects whose labels match. O(n), with n the objects of the namespace if it is indexed.

        Raises TypeError for a string, a dict and None; functions of `labels` make selectors.
        """
        if isinstance(selector, str):
            raise TypeError(f"expected a selector, got {selector!r}; labels.parse makes one of it")
        if isinstance(selector, dict):
            raise TypeError(f"expected a selector, got {selector!r}; labels.selector_from_set makes one of it")
        if selector is None:
            raise TypeError("expected a selector, got None; labels.everything() selects all objects")
        found: list[T] = []

        def collect(obj: Any) -> None:
            found.append(obj)

        # An empty namespace means all of them.
        cache.list_all_by_namespace(self.indexer, self._namespace, selector, collect)
        return found

    def get(self, name: str) -> T:
        """Return the object of that name. Raises StatusError for which `is_not_found` returns True. O(1)."""
        key = f"{self._namespace}/{name}" if self._namespace else name
        obj, exists = self.indexer.get_by_key(key)
        if not exists:
            report_early_read(self.indexer)
            raise errors.new_not_found(self.resource, name)
        found: T = obj
        return found
