"""One informer per kind, started on first use. Mirrors pkg/cache/internal/informers.go.

A kind has up to three informers: for typed, unstructured and metadata-only objects.

Differences: the informer's transform sets the objects' kind. Go wraps the metadata watch in a filter with its own
goroutine, and sets the kind of typed objects in the copies that readers get. When the cache ends it also joins the
informers that were removed.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from clientgo import context, dynamic, metadata, rest
from clientgo.apimachinery import watch
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime import ListObject, Object, ResourceObject, Scheme
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.runtime.serializer import PARAMETER_CODEC, new_codec_factory
from clientgo.context import Context
from clientgo.controller_runtime.cache.internal.cache_reader import CacheReader
from clientgo.controller_runtime.cache.internal.selector import Selector
from clientgo.controller_runtime.client import apiutil
from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.golang import channel
from clientgo.golang.http import Client as HTTPClient
from clientgo.golang.stop import Signal
from clientgo.tools import cache
from clientgo.tools.cache.beyond.unstarted import PATIENCE
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock.watchdog import checked_after

# Makes an informer. The arguments are the lister-watcher, an example object, the resync period in seconds and the
# indexers.
NewInformerFunc: TypeAlias = Callable[
    [cache.ListerWatcher, Object, float, Mapping[str, cache.IndexFunc]], cache.SharedIndexInformer
]

# The class of an informer's objects, and their kind.
_Key: TypeAlias = tuple[type[ResourceObject], GroupVersionKind]


class ErrResourceNotCached(Exception):
    """Raised for a kind without an informer when the options forbid to start one. Go: cache.ErrResourceNotCached."""

    def __init__(self, gvk: GroupVersionKind) -> None:
        super().__init__(gvk)
        self.gvk = gvk

    def __str__(self) -> str:
        return f"{self.gvk} is not cached"


@dataclass(kw_only=True)
class InformersOpts:
    """The settings of a cache's informers. Go: internal.InformersOpts."""

    http_client: HTTPClient
    scheme: Scheme
    mapper: meta.RESTMapper
    resync_period: float = 0.0
    """Seconds between two resyncs."""
    namespace: str = ""
    """The namespace to list and watch; "" selects all."""
    new_informer: NewInformerFunc | None = None
    selector: Selector = field(default_factory=Selector)
    transform: cache.TransformFunc | None = None
    enable_watch_bookmarks: bool = True
    watch_error_handler: cache.WatchErrorHandlerWithContext | None = None


@dataclass(kw_only=True)
class GetOptions:
    """The options of a request for an informer. Go: internal.GetOptions."""

    block_until_synced: bool | None = None
    """Wait until the informer has synced. None is True."""


@dataclass(eq=False)
class Cache:
    """An informer and its reader. Go: internal.Cache."""

    informer: cache.SharedIndexInformer
    reader: CacheReader
    # Stops this informer only.
    stop: Signal = field(default_factory=Signal)

    def start(self, ctx: Context) -> None:
        """Run the informer until `ctx` ends or it is stopped. Blocks. Go: Start."""
        own, cancel = context.with_cancel(ctx)
        remove = self.stop.add_done_callback(cancel)
        try:
            self.informer.run_with_context(own)
        finally:
            remove()
            cancel()


class Informers:
    """The informers of a cache. Thread-safe. Go: internal.Informers.

    Invariants (under the lock): before `start` no informer runs; from `start` to the end of its context each informer
    runs in its own thread; afterwards no informer starts.
    """

    def __init__(self, config: rest.Config, options: InformersOpts) -> None:
        self._config = config
        self._options = options
        self._codecs = new_codec_factory(options.scheme)
        # Guards the attributes below. Held while an informer is created, which may ask the server for the kind's
        # resource.
        self._lock = threading.Lock()
        self._tracker: dict[_Key, Cache] = {}
        # The context of `start`, or None before that call.
        self._ctx: Context | None = None
        self._stopped = False
        self._threads: list[threading.Thread] = []
        self._started = Signal()

    def start(self, ctx: Context) -> None:
        """Run all informers until `ctx` ends. Blocks until they have ended. Raises RuntimeError on a second call.

        Go: Start.
        """
        with self._lock:
            if self._ctx is not None:
                raise RuntimeError("informer already started")
            self._ctx = ctx
            for key, entry in self._tracker.items():
                self._start_informer(ctx, key, entry)
            self._started.set()
        ctx.done().wait()
        with self._lock:
            self._stopped = True
            threads, self._threads = self._threads, []
        for thread in threads:
            thread.join()

    def _start_informer(self, ctx: Context, key: _Key, entry: Cache) -> None:
        if self._stopped:
            return
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        name = f"cache {key[1].kind}"
        thread = threading.Thread(target=entry.start, args=(ctx,), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def wait_for_cache_sync(self, ctx: Context) -> bool:
        """Wait until `start` was called and all informers of that moment have synced. Returns False if `ctx` ends
        first.

        Go: WaitForCacheSync.
        """
        if not self._started.is_set():
            with checked_after(REAL_CLOCK, PATIENCE, self._report_unstarted):
                channel.select([self._started, ctx.done()])
        if not self._started.is_set():
            return False
        with self._lock:
            informers = [entry.informer for entry in self._tracker.values()]
        return cache.wait_for(ctx, "", *(informer.has_synced_checker() for informer in informers))

    def _report_unstarted(self) -> None:
        RUNTIME_LOG.info(
            "Warning: a wait for the cache to sync cannot end before the cache is started: start the manager, which "
            "starts its cache, or call start of the cache in a thread"
        )

    def peek(self, gvk: GroupVersionKind, cls: type[ResourceObject]) -> tuple[Cache | None, bool]:
        """Return the informer or None, and whether the cache is running. Never blocks. Go: Peek."""
        return self._tracker.get((_representation(cls), gvk)), self._started.is_set()

    def get(
        self,
        ctx: Context,
        gvk: GroupVersionKind,
        cls: type[ResourceObject],
        reader_fail_on_missing_informer: bool,
        options: GetOptions,
    ) -> tuple[bool, Cache]:
        """Return whether the cache is running, and the informer, which starts on first use. Go: Get.

        Blocks until a running informer has synced, unless the options say otherwise. Raises ErrResourceNotCached,
        StatusError (Timeout) when `ctx` ends first, and the mapper's errors.
        """
        entry, started = self.peek(gvk, cls)
        if entry is None:
            if reader_fail_on_missing_informer:
                raise ErrResourceNotCached(gvk)
            entry, started = self._add_informer(gvk, cls)
        if not started or entry.informer.has_synced() or options.block_until_synced is False:
            return started, entry
        if not cache.wait_for(ctx, "", entry.informer.has_synced_checker()):
            raise apierrors.new_timeout_error(f"failed waiting for {cls.__name__} Informer to sync", 0)
        return started, entry

    def remove(self, gvk: GroupVersionKind, cls: type[ResourceObject]) -> None:
        """Stop and forget an informer without waiting for its end. Go: Remove."""
        with self._lock:
            entry = self._tracker.pop((_representation(cls), gvk), None)
        if entry is not None:
            entry.stop.set()

    def _add_informer(self, gvk: GroupVersionKind, cls: type[ResourceObject]) -> tuple[Cache, bool]:
        key = _representation(cls), gvk
        with self._lock:
            entry = self._tracker.get(key)
            if entry is None:
                entry = self._tracker[key] = self._new_entry(gvk, key[0])
                if self._ctx is not None:
                    self._start_informer(self._ctx, key, entry)
            return entry, self._ctx is not None

    def _new_entry(self, gvk: GroupVersionKind, cls: type[ResourceObject]) -> Cache:
        options = self._options
        mapping = options.mapper.rest_mapping(gvk.group_kind(), gvk.version)
        new_informer = options.new_informer or cache.new_shared_index_informer
        informer = new_informer(
            self._restricted(self._make_list_watcher(mapping, cls)),
            _example(gvk, cls),
            _calculate_resync_period(options.resync_period),
            {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func},
        )
        if options.watch_error_handler is not None:
            informer.set_watch_error_handler_with_context(options.watch_error_handler)
        informer.set_transform(_add_kind(gvk, options.transform))
        return Cache(informer, CacheReader(informer.get_indexer(), gvk, mapping.scope.name()))

    def _restricted(self, list_watcher: cache.ListWatch) -> cache.ListerWatcher:
        """Return a lister-watcher that adds this cache's selectors to the options of each list and watch."""

        def restricted(given: metav1.ListOptions) -> metav1.ListOptions:
            options = given.deep_copy()
            self._options.selector.apply_to_list(options)
            return options

        def list_objects(ctx: Context, given: metav1.ListOptions) -> Object:
            return list_watcher.list_with_context(ctx, restricted(given))

        def watch_objects(ctx: Context, given: metav1.ListOptions) -> watch.Interface:
            options = restricted(given)
            options.watch = True
            options.allow_watch_bookmarks = self._options.enable_watch_bookmarks
            return list_watcher.watch_with_context(ctx, options)

        made = cache.ListWatch(list_with_context_func=list_objects, watch_func_with_context=watch_objects)
        if self._options.enable_watch_bookmarks:
            return made
        # A streamed list ends with a bookmark, which Go's informer never receives here.
        return cache.to_list_watcher_with_watch_list_semantics(made, _WithoutStreamedLists())

    def _make_list_watcher(self, mapping: meta.RESTMapping, cls: type[ResourceObject]) -> cache.ListWatch:
        namespace = ""
        if mapping.scope.name() == meta.RESTScopeName.NAMESPACE:
            namespace = _restrict_namespace_by_selector(self._options.namespace, self._options.selector)
        if issubclass(cls, Unstructured):
            resource = self._dynamic().resource(mapping.resource).namespace(namespace)
            return cache.ListWatch(list_with_context_func=resource.list, watch_func_with_context=resource.watch)
        if _is_metadata(cls):
            metadata_resource = self._metadata().resource(mapping.resource).namespace(namespace)
            return cache.ListWatch(
                list_with_context_func=metadata_resource.list, watch_func_with_context=metadata_resource.watch
            )
        return self._make_typed_list_watcher(mapping, namespace, cls)

    def _make_typed_list_watcher(
        self, mapping: meta.RESTMapping, namespace: str, cls: type[ResourceObject]
    ) -> cache.ListWatch:
        gvk = mapping.group_version_kind
        client = apiutil.rest_client_for_gvk(gvk, False, False, self._config, self._codecs, self._options.http_client)
        list_class: Any = self._options.scheme.class_for(gvk.group_version().with_kind(f"{gvk.kind}List"))

        def request(options: metav1.ListOptions) -> rest.Request:
            built = client.get().resource(mapping.resource.resource).versioned_params(options, PARAMETER_CODEC)
            return built.namespace(namespace) if namespace else built

        def list_objects(ctx: Context, options: metav1.ListOptions) -> ListObject:
            listed: ListObject = request(options).do(ctx).into(list_class)
            return listed

        def watch_objects(ctx: Context, options: metav1.ListOptions) -> watch.Interface:
            return request(options).watch(ctx, cls)

        return cache.ListWatch(list_with_context_func=list_objects, watch_func_with_context=watch_objects)

    def _dynamic(self) -> dynamic.Interface:
        return dynamic.new_for_config_and_client(self._without_serializer(), self._options.http_client)

    def _metadata(self) -> metadata.Interface:
        return metadata.new_for_config_and_client(self._without_serializer(), self._options.http_client)

    def _without_serializer(self) -> rest.Config:
        """Return a copy of the config without a serializer, since these clients bring their own."""
        config = rest.copy_config(self._config)
        config.negotiated_serializer = None
        return config

    def kinds(self) -> Iterable[GroupVersionKind]:
        """Return the kinds that have informers."""
        with self._lock:
            return [gvk for _, gvk in self._tracker]

    def __repr__(self) -> str:
        return f"<Informers of {len(self._tracker)} kinds, {'started' if self._started.is_set() else 'not started'}>"


class _WithoutStreamedLists:
    """A client wrapper that disables streamed lists. See `watchlist`."""

    def is_watch_list_semantics_un_supported(self) -> bool:
        return True


def _representation(cls: type[ResourceObject]) -> type[ResourceObject]:
    """Return the class of the informer for objects of `cls`: `cls`, or its base class without a declared kind."""
    for without_kind in (Unstructured, metav1.PartialObjectMetadata):
        if issubclass(cls, without_kind):
            return without_kind
    return cls


def _is_metadata(cls: type[ResourceObject]) -> bool:
    return issubclass(cls, metav1.PartialObjectMetadata)


def _example(gvk: GroupVersionKind, cls: type[ResourceObject]) -> ResourceObject:
    """Return an empty object that shows an informer the type of its objects."""
    example = cls()
    if issubclass(cls, (Unstructured, metav1.PartialObjectMetadata)):
        example.set_group_version_kind(gvk)
    return example


def _add_kind(gvk: GroupVersionKind, transform: cache.TransformFunc | None) -> cache.TransformFunc:
    """Return a transform that sets the objects' kind and then applies `transform`."""

    def name(obj: Any) -> Any:
        if isinstance(obj, ResourceObject) and not isinstance(obj, Unstructured):
            obj.set_group_version_kind(gvk)
        return obj if transform is None else transform(obj)

    return name


def _calculate_resync_period(resync: float) -> float:
    """Return the period changed by up to a tenth at random, so that kinds do not resync all at the same time."""
    return resync * random.uniform(0.9, 1.1)


def _restrict_namespace_by_selector(namespace: str, selector: Selector) -> str:
    """Return the namespace for requests: the given one, or the namespace that a field selector requires."""
    if namespace or selector.field is None or selector.field.empty():
        return namespace
    value, found = selector.field.requires_exact_match("metadata.namespace")
    return value if found else ""
