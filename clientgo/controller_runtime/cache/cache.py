"""The interfaces, options and constructor of caches. Mirrors pkg/cache/cache.go.

    pods = cache.ByObject(namespaces={"kube-system": cache.Config()})
    c = cache.new(config, cache.Options(by_object={corev1.Pod: pods}))

Differs: kinds in `by_object` are classes, or GroupVersionKinds where there is no class. `unsafe_disable_deep_copy` does
nothing: a cache returns read-only objects, so it never copies them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeAlias, TypeVar, runtime_checkable

from clientgo import rest
from clientgo.apimachinery import fields, labels
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import ResourceObject, Scheme
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.context import Context
from clientgo.controller_runtime.cache import internal
from clientgo.controller_runtime.client import apiutil
from clientgo.controller_runtime.client.interfaces import FieldIndexer, Reader
from clientgo.controller_runtime.client.object import Object
from clientgo.golang.functions import check_options, require_instance
from clientgo.golang.http import Client as HTTPClient
from clientgo.golang.time import require_seconds
from clientgo.kubernetes.scheme import SCHEME
from clientgo.tools import cache as toolscache

# Seconds. Not zero, so that a handler recovers at some time from a change that it missed.
_DEFAULT_SYNC_PERIOD: Final = 10 * 3600.0

T = TypeVar("T", bound=Object)


# The options of `get_informer`. Go: cache.InformerGetOptions.
InformerGetOptions: TypeAlias = internal.GetOptions

# Changes the options. Go: cache.InformerGetOption.
InformerGetOption: TypeAlias = Callable[[InformerGetOptions], None]


def block_until_synced(should_block: bool) -> InformerGetOption:
    """Return an option that sets whether `get_informer` waits until the informer has synced.

    Go: cache.BlockUntilSynced.
    """

    def apply(options: InformerGetOptions) -> None:
        options.block_until_synced = should_block

    return apply


class Informer(Protocol):
    """The methods of a cache's informer that users may call. Any SharedIndexInformer implements them.

    Go: cache.Informer.
    """

    def add_event_handler(
        self, handler: toolscache.ResourceEventHandler
    ) -> toolscache.ResourceEventHandlerRegistration:
        """Notify `handler` of the current objects and then of every change. Resyncs follow the informer's period."""
        ...

    def add_event_handler_with_resync_period(
        self, handler: toolscache.ResourceEventHandler, resync_period: float
    ) -> toolscache.ResourceEventHandlerRegistration:
        """Add a handler with its own resync period in seconds."""
        ...

    def add_event_handler_with_options(
        self, handler: toolscache.ResourceEventHandler, options: toolscache.HandlerOptions
    ) -> toolscache.ResourceEventHandlerRegistration:
        """Add a handler with options."""
        ...

    def remove_event_handler(self, handle: toolscache.ResourceEventHandlerRegistration) -> None:
        """Remove a handler. Idempotent."""
        ...

    def add_indexers(self, indexers: toolscache.Indexers) -> None:
        """Add indexes, also to a running informer."""
        ...

    def has_synced(self) -> bool:
        """Report whether the first list is in the cache."""
        ...

    def has_synced_checker(self) -> toolscache.DoneChecker:
        """Return a checker that is done when the first list is in the cache."""
        ...

    def is_stopped(self) -> bool:
        """Report whether the informer has stopped. It does not restart."""
        ...


class Informers(FieldIndexer, Protocol):
    """A provider of one informer per kind, which starts on first use. Thread-safe. Go: cache.Informers."""

    def get_informer(self, ctx: Context, obj: type[T] | T, *opts: InformerGetOption) -> Informer:
        """Return the informer of a kind, and start it on first use.

        Blocks until it has synced if the cache is running (`block_until_synced(False)` does not wait). Raises the
        context's error when that ends first.
        """
        ...

    def get_informer_for_kind(self, ctx: Context, gvk: GroupVersionKind, *opts: InformerGetOption) -> Informer:
        """Return the informer of the kind with this name, as `get_informer` does."""
        ...

    def remove_informer(self, ctx: Context, obj: type[T] | T) -> None:
        """Stop and forget the informer of a kind. Does nothing if there is none."""
        ...

    def start(self, ctx: Context) -> None:
        """Run all informers, including later ones, until `ctx` ends. Blocks until all their threads have ended."""
        ...

    def wait_for_cache_sync(self, ctx: Context) -> bool:
        """Wait until all informers have synced. Returns False if `ctx` ends first."""
        ...


@runtime_checkable
class Cache(Reader, Informers, Protocol):
    """A reader of objects in memory, which informers keep up to date. Objects are read-only. Go: cache.Cache."""


# The key of the settings for all namespaces without an entry of their own. Go: cache.AllNamespaces.
ALL_NAMESPACES: Final = metav1.NAMESPACE_ALL

# A class, or a kind by name.
Kind: TypeAlias = type[Object] | GroupVersionKind


@dataclass(kw_only=True)
class Config:
    """The selectors and the transform for one namespace; None selects the default. Go: cache.Config.

    To override a default with nothing, pass `labels.everything()`, `fields.everything()` or a transform that returns
    its argument.
    """

    label_selector: labels.Selector | None = None
    field_selector: fields.Selector | None = None
    # Changes objects on their way into the cache.
    transform: toolscache.TransformFunc | None = None
    unsafe_disable_deep_copy: bool | None = None
    enable_watch_bookmarks: bool | None = None
    # Seconds.
    sync_period: float | None = None


@dataclass(kw_only=True)
class ByObject:
    """The settings of a kind in a cache. Go: cache.ByObject.

    An attribute that is None takes its value for each namespace from these settings, then from the cache's settings for
    that namespace, then from the cache's defaults.
    """

    # Settings by namespace; None selects the cache's default ones, {} all. Must be None for cluster-scoped kinds.
    namespaces: dict[str, Config] | None = None
    label: labels.Selector | None = None
    field: fields.Selector | None = None
    transform: toolscache.TransformFunc | None = None
    unsafe_disable_deep_copy: bool | None = None
    enable_watch_bookmarks: bool | None = None
    # Seconds.
    sync_period: float | None = None


@dataclass(kw_only=True)
class Options:
    """The settings of a cache. Go: cache.Options."""

    # The HTTP connections; None opens separate ones.
    http_client: HTTPClient | None = None
    # Maps classes to kinds; None selects the built-in kinds.
    scheme: Scheme | None = None
    # Maps kinds to resources; None selects a mapper that asks the server.
    mapper: meta.RESTMapper | None = None
    # Seconds, within ten percent, between two resyncs: updates without a change for all objects, from memory. None is
    # ten hours. To reconcile one object again sooner, let its reconciler requeue it; resyncs are for events that a
    # handler missed.
    sync_period: float | None = None
    # Raise ErrResourceNotCached on reads of a kind without an informer, instead of starting one.
    reader_fail_on_missing_informer: bool = False
    # The namespaces to cache; an empty mapping selects all.
    default_namespaces: dict[str, Config] | None = None
    default_label_selector: labels.Selector | None = None
    default_field_selector: fields.Selector | None = None
    default_transform: toolscache.TransformFunc | None = None
    # Called when a list or a watch ends with an error, before the informer retries.
    default_watch_error_handler: toolscache.WatchErrorHandlerWithContext | None = None
    default_unsafe_disable_deep_copy: bool | None = None
    # Ask for bookmarks in watches; None is True.
    default_enable_watch_bookmarks: bool | None = None
    by_object: dict[Kind, ByObject] = field(default_factory=dict)
    # Makes the informers, for tests.
    new_informer: internal.NewInformerFunc | None = None


# Makes a cache. Go: cache.NewCacheFunc.
NewCacheFunc: TypeAlias = Callable[[rest.Config, Options], Cache]


def new(cfg: rest.Config, opts: Options | None = None) -> Cache:
    """Return a cache of the server of `cfg`. It does nothing until `start`. Go: cache.New.

    Raises ValueError for contradictory options, and the mapper's errors.
    """
    from clientgo.controller_runtime.cache.delegating_by_gvk_cache import DelegatingByGVKCache
    from clientgo.controller_runtime.cache.multi_namespace_cache import new_multi_namespace_cache

    options = default_opts(cfg, opts or Options())
    scheme, mapper = options.scheme, options.mapper
    assert scheme is not None and mapper is not None
    new_cache = _new_cache(cfg, options)
    default_config = _option_defaults_to_config(options)
    default_cache: Cache = (
        new_multi_namespace_cache(new_cache, scheme, mapper, options.default_namespaces, default_config)
        if options.default_namespaces
        else new_cache(default_config, metav1.NAMESPACE_ALL)
    )
    if not options.by_object:
        return default_cache
    caches: dict[GroupVersionKind, Cache] = {}
    for kind, by_object in options.by_object.items():
        caches[_gvk_of(kind, scheme)] = (
            new_multi_namespace_cache(new_cache, scheme, mapper, by_object.namespaces, None)
            if by_object.namespaces
            else new_cache(_by_object_to_config(by_object), metav1.NAMESPACE_ALL)
        )
    return DelegatingByGVKCache(scheme, caches, default_cache)


def transform_strip_managed_fields() -> toolscache.TransformFunc:
    """Return a transform that drops metadata.managedFields, which are often half of an object.

    Go: cache.TransformStripManagedFields.
    """

    def strip(obj: Any) -> Any:
        return obj.without_managed_fields() if isinstance(obj, ResourceObject) else obj

    return strip


def _option_defaults_to_config(opts: Options) -> Config:
    return Config(
        label_selector=opts.default_label_selector,
        field_selector=opts.default_field_selector,
        transform=opts.default_transform,
        unsafe_disable_deep_copy=opts.default_unsafe_disable_deep_copy,
        enable_watch_bookmarks=opts.default_enable_watch_bookmarks,
        sync_period=opts.sync_period,
    )


def _by_object_to_config(by_object: ByObject) -> Config:
    return Config(
        label_selector=by_object.label,
        field_selector=by_object.field,
        transform=by_object.transform,
        unsafe_disable_deep_copy=by_object.unsafe_disable_deep_copy,
        enable_watch_bookmarks=by_object.enable_watch_bookmarks,
        sync_period=by_object.sync_period,
    )


# Makes the cache of one namespace, or of all namespaces. Go: newCacheFunc.
NewNamespaceCacheFunc: TypeAlias = Callable[[Config, str], Cache]


def _new_cache(rest_config: rest.Config, opts: Options) -> NewNamespaceCacheFunc:
    from clientgo.controller_runtime.cache.informer_cache import InformerCache

    def new_cache(config: Config, namespace: str) -> Cache:
        assert opts.http_client is not None and opts.scheme is not None and opts.mapper is not None
        informers_opts = internal.InformersOpts(
            http_client=opts.http_client,
            scheme=opts.scheme,
            mapper=opts.mapper,
            resync_period=_DEFAULT_SYNC_PERIOD
            if config.sync_period is None
            else require_seconds(config.sync_period, "sync_period"),
            namespace=namespace,
            new_informer=opts.new_informer,
            selector=internal.Selector(label=config.label_selector, field=config.field_selector),
            transform=config.transform,
            enable_watch_bookmarks=config.enable_watch_bookmarks is not False,
            watch_error_handler=opts.default_watch_error_handler,
        )
        informers = internal.Informers(rest_config, informers_opts)
        return InformerCache(opts.scheme, informers, opts.reader_fail_on_missing_informer)

    return new_cache


def default_opts(config: rest.Config, opts: Options) -> Options:
    """Return a copy of the options with all defaults set. Go: defaultOpts.

    Raises TypeError for options of other types, such as a list of namespaces.
    """
    check_options(opts, Options, "the options of a cache")
    for each in opts.by_object.values():
        check_options(each, ByObject, "a value of Options.by_object")
    for namespaces in (opts.default_namespaces, *(each.namespaces for each in opts.by_object.values())):
        for namespace, given in (namespaces or {}).items():
            check_options(given, Config, f"the value of the namespace {namespace!r}")
    if opts.scheme is not None:
        require_instance(opts.scheme, Scheme, "Options.scheme")
    config = rest.copy_config(config)
    config.user_agent = config.user_agent or rest.default_kubernetes_user_agent()
    http_client = opts.http_client or rest.http_client_for(config)
    opts = replace(
        opts,
        http_client=http_client,
        scheme=opts.scheme or SCHEME,
        mapper=opts.mapper or apiutil.new_dynamic_rest_mapper(config, http_client),
    )
    # Kinds before namespaces: a namespace without a selector takes the kind's selector before the default.
    by_object = {kind: _defaulted_kind(kind, given, opts) for kind, given in opts.by_object.items()}
    defaults = _option_defaults_to_config(opts)
    namespaces = {
        namespace: _with_other_namespaces_left_out(namespace, _default_config(given, defaults), opts.default_namespaces)
        for namespace, given in (opts.default_namespaces or {}).items()
    }
    return replace(opts, by_object=by_object, default_namespaces=namespaces)


def _defaulted_kind(kind: Kind, given: ByObject, opts: Options) -> ByObject:
    assert opts.scheme is not None and opts.mapper is not None
    name = kind.__name__ if isinstance(kind, type) else str(kind)
    try:
        is_namespaced = apiutil.is_gvk_namespaced(_gvk_of(kind, opts.scheme), opts.mapper)
    except Exception as err:
        raise RuntimeError(f"failed to determine if {name} is namespaced: {err}") from err
    if not is_namespaced and given.namespaces is not None:
        raise ValueError(f"type {name} is not namespaced, but its ByObject.namespaces setting is not nil")
    own, defaults = _by_object_to_config(given), _option_defaults_to_config(opts)
    default_namespaces = opts.default_namespaces or {}
    namespaces = given.namespaces
    if is_namespaced and namespaces is None:
        namespaces = opts.default_namespaces
    defaulted = {
        namespace: _with_other_namespaces_left_out(
            namespace,
            _default_config(config, own, default_namespaces.get(namespace, Config()), defaults),
            namespaces,
        )
        for namespace, config in (namespaces or {}).items()
    }
    result = replace(given, namespaces=None if namespaces is None else defaulted)
    if defaulted:
        return result
    # These settings take effect only after this point.
    config = _default_config(own, defaults)
    return replace(
        result,
        label=config.label_selector,
        field=config.field_selector,
        transform=config.transform,
        unsafe_disable_deep_copy=config.unsafe_disable_deep_copy,
        enable_watch_bookmarks=config.enable_watch_bookmarks,
        sync_period=config.sync_period,
    )


def _default_config(to_default: Config, *default_from: Config) -> Config:
    """Return a copy of the config; each missing setting comes from the first of the defaults that has it."""
    missing = [name for name, value in vars(to_default).items() if value is None]
    found: dict[str, Any] = {}
    for name in missing:
        found[name] = next((value for each in default_from if (value := getattr(each, name)) is not None), None)
    return replace(to_default, **found)


def _with_other_namespaces_left_out(namespace: str, config: Config, namespaces: Mapping[str, Config] | None) -> Config:
    """Return the settings for all namespaces, restricted to those without settings of their own."""
    if namespace != metav1.NAMESPACE_ALL:
        return config
    others = sorted(each for each in namespaces or () if each != metav1.NAMESPACE_ALL)
    selectors = [fields.one_term_not_equal_selector("metadata.namespace", each) for each in others]
    if config.field_selector is not None:
        selectors.append(config.field_selector)
    return replace(config, field_selector=fields.and_selectors(*selectors))


def _gvk_of(kind: Kind, scheme: Scheme) -> GroupVersionKind:
    return apiutil.gvk_for_object(kind, scheme) if isinstance(kind, type) else kind
