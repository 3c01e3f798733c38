"""k8s.io/client-go/listers: typed reading from an informer's cache, one generated lister a resource."""

from clientgo.listers.generic_helpers import ResourceIndexer

__all__ = ["ResourceIndexer"]
