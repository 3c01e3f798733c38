"""The base class of informer factories.

client-go generates it into each factory.go; here the generated factories inherit it and add their API groups.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from clientgo import context
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import wait
from clientgo.context import Context, StopChannel
from clientgo.informers.internalinterfaces.factory_interfaces import NewInformerFunc, TweakListOptionsFunc
from clientgo.tools import cache
from clientgo.tools.cache.beyond.unstarted import StartWarnings, reporting_unstopped
from clientgo.tools.cache.beyond.unsynced import announce_start

SharedInformerOption = Callable[["BaseSharedInformerFactory"], "BaseSharedInformerFactory"]


class BaseSharedInformerFactory:
    """A factory that shares one informer per kind, and starts and stops all of them. Thread-safe.

    Call `start` after adding informers, as often as needed: it starts each one once.
    """

    def __init__(self, client: object, default_resync: float) -> None:
        """Initialize a factory for a clientset. `default_resync` is in seconds; 0 disables resyncs."""
        self._client = client
        self._default_resync = default_resync
        self.namespace = metav1.NAMESPACE_ALL
        self.tweak_list_options: TweakListOptionsFunc | None = None
        self._custom_resync: dict[type[runtime.Object], float] = {}
        self._transform: cache.TransformFunc | None = None
        self._informer_name: cache.InformerName | None = None
        # Guards the four fields below; held for dict operations and while an informer is created, not while one runs.
        self._lock = threading.Lock()
        self._informers: dict[type[runtime.Object], cache.SharedIndexInformer] = {}
        self._started: dict[type[runtime.Object], threading.Thread] = {}
        self._shutting_down = False
        self._warnings = StartWarnings()

    def informer_name(self) -> cache.InformerName | None:
        """Return the name set by `with_informer_name`. Go: InformerName."""
        return self._informer_name

    def start(self, stop_ch: StopChannel) -> None:
        """Start every informer not yet started; they run until `stop_ch` is set. Does not block. Go: Start."""
        self.start_with_context(wait.context_for_channel(stop_ch))

    def start_with_context(self, ctx: Context) -> None:
        """Start every informer not yet started; they run until `ctx` is done. Does not block.

        Does nothing once `shutdown` was called. Raises TypeError for a stop channel, which `start` is for.
        Go: StartWithContext.
        """
        if not isinstance(ctx, Context):
            raise TypeError(f"expected a context, got {ctx!r}")
        with self._lock:
            if self._shutting_down:
                return
            self._warnings.start_called()
            for object_class, informer in self._informers.items():
                if object_class in self._started:
                    continue
                thread = threading.Thread(
                    target=informer.run_with_context, args=(ctx,), name=f"informer-{object_class.__name__}", daemon=True
                )
                self._started[object_class] = thread
                announce_start(informer)
                thread.start()

    def shutdown(self) -> None:
        """Reject further starts and wait until all started informers have ended. Go: Shutdown.

        Blocks forever unless their context or stop channel is done.
        """
        with self._lock:
            self._shutting_down = True
            threads = list(self._started.values())
            informers = {kind.__name__: self._informers[kind] for kind in self._started}
        with reporting_unstopped(informers):
            for thread in threads:
                thread.join()
        if self._informer_name is not None:
            self._informer_name.release()

    def wait_for_cache_sync(self, stop_ch: StopChannel) -> dict[type[runtime.Object], bool]:
        """Wait until every started informer has synced or `stop_ch` is set; return each one's state.

        Go: WaitForCacheSync.
        """
        return self.wait_for_cache_sync_with_context(wait.context_for_channel(stop_ch)).synced

    def wait_for_cache_sync_with_context(self, ctx: Context) -> cache.SyncResult:
        """Wait until every started informer has synced or `ctx` is done. Go: WaitForCacheSyncWithContext."""
        with self._lock:
            informers = {kind: informer for kind, informer in self._informers.items() if kind in self._started}
            if not self._shutting_down:
                self._warnings.wait_called(kind.__name__ for kind in self._informers)
        cache.wait_for(ctx, "", *(informer.has_synced_checker() for informer in informers.values()))
        synced = {object_class: informer.has_synced() for object_class, informer in informers.items()}
        return cache.SyncResult(synced=synced, err=None if all(synced.values()) else context.cause(ctx))

    def informer_for(
        self, object_class: type[runtime.Object], new_func: NewInformerFunc
    ) -> cache.SharedIndexInformer:
        """Return the informer of a class. The first call creates it with `new_func`. Go: InformerFor."""
        with self._lock:
            informer = self._informers.get(object_class)
            if informer is not None:
                return informer
            informer = new_func(self._client, self._custom_resync.get(object_class, self._default_resync))
            if self._transform is not None:
                informer.set_transform(self._transform)
            self._informers[object_class] = informer
            self._warnings.requested(self._look_for_unstarted)
            return informer

    def _look_for_unstarted(self) -> None:
        with self._lock:
            unstarted = () if self._shutting_down else self._informers.keys() - self._started.keys()
            self._warnings.report_unstarted(kind.__name__ for kind in unstarted)

    def made(self) -> dict[type[runtime.Object], cache.SharedIndexInformer]:
        """Return the created informers, for inspection. Not in Go."""
        with self._lock:
            return dict(self._informers)

    def __repr__(self) -> str:
        with self._lock:
            kinds = ", ".join(kind.__name__ for kind in self._informers)
            return f"<{type(self).__name__} {len(self._started)} of {len(self._informers)} started: {kinds}>"


def with_custom_resync_config(resync_config: Mapping[type[runtime.Object], float]) -> SharedInformerOption:
    """Set the resync periods of single classes, in seconds. Go: WithCustomResyncConfig."""

    def apply(factory: BaseSharedInformerFactory) -> BaseSharedInformerFactory:
        factory._custom_resync.update(resync_config)
        return factory

    return apply


def with_tweak_list_options(tweak_list_options: TweakListOptionsFunc) -> SharedInformerOption:
    """Change the options of all the factory's lists and watches. Go: WithTweakListOptions."""

    def apply(factory: BaseSharedInformerFactory) -> BaseSharedInformerFactory:
        factory.tweak_list_options = tweak_list_options
        return factory

    return apply


def with_namespace(namespace: str) -> SharedInformerOption:
    """Restrict the factory to one namespace. Go: WithNamespace."""

    def apply(factory: BaseSharedInformerFactory) -> BaseSharedInformerFactory:
        factory.namespace = namespace
        return factory

    return apply


def with_transform(transform: cache.TransformFunc) -> SharedInformerOption:
    """Transform every object before it is cached. Go: WithTransform."""

    def apply(factory: BaseSharedInformerFactory) -> BaseSharedInformerFactory:
        factory._transform = transform
        return factory

    return apply


def with_informer_name(informer_name: cache.InformerName) -> SharedInformerOption:
    """Publish metrics of the informers under this name. Go: WithInformerName."""

    def apply(factory: BaseSharedInformerFactory) -> BaseSharedInformerFactory:
        factory._informer_name = informer_name
        return factory

    return apply
