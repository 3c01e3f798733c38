"""Informers by resource, for clients that serve any resource. No Go file: dynamicinformer and metadatainformer each
have a copy of it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.util import wait
from clientgo.context import StopChannel
from clientgo.informers.generic import GenericInformer
from clientgo.tools import cache
from clientgo.tools.cache.beyond.unstarted import StartWarnings, reporting_unstopped
from clientgo.tools.cache.beyond.unsynced import announce_start


class ResourceInformers:
    """A factory of shared informers, one per resource. Thread-safe."""

    def __init__(self, new_informer: Callable[[GroupVersionResource], GenericInformer]) -> None:
        self._new_informer = new_informer
        # Guards the other attributes; not held while an informer runs or ends.
        self._lock = threading.Lock()
        self._informers: dict[GroupVersionResource, GenericInformer] = {}
        self._started: dict[GroupVersionResource, threading.Thread] = {}
        self._shutting_down = False
        self._warnings = StartWarnings()

    def for_resource(self, gvr: GroupVersionResource) -> GenericInformer:
        """Return the resource's informer, which is created on first use."""
        with self._lock:
            if gvr not in self._informers:
                self._informers[gvr] = self._new_informer(gvr)
                self._warnings.requested(self._look_for_unstarted)
            return self._informers[gvr]

    def _look_for_unstarted(self) -> None:
        with self._lock:
            unstarted = () if self._shutting_down else self._informers.keys() - self._started.keys()
            self._warnings.report_unstarted(gvr.resource for gvr in unstarted)

    def start(self, stop_ch: StopChannel) -> None:
        """Start the informers that are not running, until `stop_ch` is set. Does not block."""
        ctx = wait.context_for_channel(stop_ch)
        with self._lock:
            if self._shutting_down:
                return
            self._warnings.start_called()
            for gvr, informer in self._informers.items():
                if gvr in self._started:
                    continue
                run = informer.informer().run_with_context
                thread = threading.Thread(target=run, args=(ctx,), name=f"informer-{gvr.resource}", daemon=True)
                self._started[gvr] = thread
                announce_start(informer.informer())
                thread.start()

    def wait_for_cache_sync(self, stop_ch: StopChannel) -> dict[GroupVersionResource, bool]:
        """Wait until all started informers have synced or `stop_ch` is set; return each one's state."""
        with self._lock:
            informers = {gvr: self._informers[gvr].informer() for gvr in self._started}
            if not self._shutting_down:
                self._warnings.wait_called(gvr.resource for gvr in self._informers)
        return {gvr: cache.wait_for_cache_sync(stop_ch, each.has_synced) for gvr, each in informers.items()}

    def shutdown(self) -> None:
        """Prevent further starts, and wait until all informers have ended. Set their `stop_ch` before."""
        with self._lock:
            self._shutting_down = True
            threads = list(self._started.values())
            informers = {gvr.resource: self._informers[gvr].informer() for gvr in self._started}
        with reporting_unstopped(informers):
            for thread in threads:
                thread.join()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, {len(self._started)} of {len(self._informers)} informers started>"
