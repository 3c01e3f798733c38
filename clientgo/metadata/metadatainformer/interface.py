"""A factory of informers of metadata. Mirrors metadata/metadatainformer/interface.go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.context import StopChannel
from clientgo.informers.generic import GenericInformer

# Changes the options of every list and watch.
TweakListOptionsFunc = Callable[[metav1.ListOptions], None]


class SharedInformerFactory(Protocol):
    """Shares one informer a resource. Thread-safe."""

    def start(self, stop_ch: StopChannel) -> None:
        """Start what is not running yet, until `stop_ch` is set. Does not block."""
        ...

    def for_resource(self, gvr: GroupVersionResource) -> GenericInformer:
        """The informer of a resource, made when first asked for."""
        ...

    def wait_for_cache_sync(self, stop_ch: StopChannel) -> dict[GroupVersionResource, bool]:
        """Block until all started informers have synced or `stop_ch` is set; which have."""
        ...

    def shutdown(self) -> None:
        """Start no more, and wait until those that run have ended, which `stop_ch` makes them do."""
        ...
