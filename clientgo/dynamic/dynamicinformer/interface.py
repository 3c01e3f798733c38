"""A factory of informers for any resource. Mirrors dynamic/dynamicinformer/interface.go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.context import StopChannel
from clientgo.informers.generic import GenericInformer

# A function that changes the options of every list and watch.
TweakListOptionsFunc = Callable[[metav1.ListOptions], None]


class DynamicSharedInformerFactory(Protocol):
    """A factory of shared informers, one per resource. Thread-safe."""

    def start(self, stop_ch: StopChannel) -> None:
        """Start the informers that are not running, until `stop_ch` is set. Does not block."""
        ...

    def for_resource(self, gvr: GroupVersionResource) -> GenericInformer:
        """Return the resource's informer, which is created on first use."""
        ...

    def wait_for_cache_sync(self, stop_ch: StopChannel) -> dict[GroupVersionResource, bool]:
        """Wait until all started informers have synced or `stop_ch` is set; return each one's state."""
        ...

    def shutdown(self) -> None:
        """Prevent further starts, and wait until all informers have ended. Set their `stop_ch` before."""
        ...
