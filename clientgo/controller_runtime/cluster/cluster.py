"""The shared dependencies of a program that works with one cluster. Mirrors pkg/cluster/cluster.go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from clientgo import rest
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import Scheme
from clientgo.context import Context
from clientgo.controller_runtime import cache as ctrlcache
from clientgo.controller_runtime import client as ctrlclient
from clientgo.controller_runtime.client import apiutil
from clientgo.controller_runtime.cluster.internal import ClusterImpl
from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.controller_runtime.internal.recorder import EventBroadcasterProducer, new_provider
from clientgo.controller_runtime.recorder.recorder import Provider
from clientgo.golang.functions import require_instance
from clientgo.golang.http import Client as HTTPClient
from clientgo.klog import Logger
from clientgo.kubernetes.scheme import SCHEME
from clientgo.kubernetes.typed.events.v1 import events_client
from clientgo.tools import events, record

__all__ = ["Cluster", "MapperProvider", "NewClientFunc", "Option", "Options", "make_broadcaster_producer", "new"]

MapperProvider: TypeAlias = Callable[[rest.Config, HTTPClient], meta.RESTMapper]
"""A function that makes the REST mapper."""

NewClientFunc: TypeAlias = Callable[[rest.Config, ctrlclient.Options], ctrlclient.Client]
"""A function that makes the client. Go: client.NewClientFunc."""


class Cluster(Provider, Protocol):
    """The shared dependencies for one cluster: clients, a cache and a scheme. A manager is one. Go: cluster.Cluster.

    A program that works with several clusters adds the others to its manager, which starts their caches.
    """

    def get_http_client(self) -> HTTPClient:
        """Return the HTTP connections that all parts share."""
        ...

    def get_config(self) -> rest.Config:
        """Return the config of the connection."""
        ...

    def get_cache(self) -> ctrlcache.Cache:
        """Return the cache that clients read from."""
        ...

    def get_scheme(self) -> Scheme:
        """Return the scheme, which maps classes to kinds."""
        ...

    def get_client(self) -> ctrlclient.Client:
        """Return the client that reads from the cache and writes to the server."""
        ...

    def get_field_indexer(self) -> ctrlclient.FieldIndexer:
        """Return the cache's registry of field indexes. Add indexes before `start`."""
        ...

    def get_rest_mapper(self) -> meta.RESTMapper:
        """Return the mapper from kinds to resources."""
        ...

    def get_api_reader(self) -> ctrlclient.Reader:
        """Return a client that reads from the server, also before `start`. Use it sparingly."""
        ...

    def start(self, ctx: Context) -> None:
        """Run the cache until `ctx` ends. Blocks."""
        ...


@dataclass(kw_only=True)
class Options:
    """The settings of a Cluster. Go: cluster.Options."""

    scheme: Scheme | None = None
    """Maps classes to kinds; None selects the built-in kinds."""
    mapper_provider: MapperProvider | None = None
    """Makes the REST mapper; None selects one that discovers kinds on first use."""
    logger: Logger | None = None
    http_client: HTTPClient | None = None
    cache: ctrlcache.Options = field(default_factory=ctrlcache.Options)
    """The settings of the cache; by default it covers all namespaces."""
    new_cache: ctrlcache.NewCacheFunc | None = None
    client: ctrlclient.Options = field(default_factory=ctrlclient.Options)
    """The settings of the client."""
    new_client: NewClientFunc | None = None
    event_broadcaster: record.EventBroadcaster | None = None
    """A broadcaster with other correlation of events than the default. Deprecated in Go. The cluster does not stop it.
    """


Option: TypeAlias = Callable[[Options], None]
"""A function that changes the options. Go: cluster.Option."""


def new(config: rest.Config, *opts: Option) -> Cluster:
    """Return a Cluster for the server of `config`. It does nothing until `start`. Go: cluster.New.

    Raises ValueError without a config, OSError if certificate files cannot be read, and the cache's errors for its
    options.
    """
    if config is None:
        raise ValueError("must specify Config")
    original = config
    config = rest.copy_config(config)
    config.user_agent = config.user_agent or rest.default_kubernetes_user_agent()
    options = Options()
    for opt in opts:
        opt(options)
    http_client = options.http_client or rest.http_client_for(config)
    scheme = options.scheme or SCHEME
    require_instance(scheme, Scheme, "Options.scheme")
    logger = options.logger or RUNTIME_LOG.with_name("cluster")
    try:
        mapper = (options.mapper_provider or apiutil.new_dynamic_rest_mapper)(config, http_client)
    except Exception as err:
        logger.error(err, "Failed to get API Group-Resources")
        raise
    new_cache = (options.new_cache or ctrlcache.new)(config, _cache_options(options.cache, scheme, mapper, http_client))
    client_options = _client_options(options.client, scheme, mapper, http_client, new_cache)
    return ClusterImpl(
        config=original,
        http_client=http_client,
        scheme=scheme,
        cache=new_cache,
        client=(options.new_client or ctrlclient.new)(config, client_options),
        api_reader=ctrlclient.new(config, ctrlclient.Options(http_client=http_client, scheme=scheme, mapper=mapper)),
        recorder_provider=new_provider(
            config,
            http_client,
            scheme,
            logger.with_name("events"),
            make_broadcaster_producer(config, http_client, options.event_broadcaster),
        ),
        mapper=mapper,
        logger=logger,
    )


def _cache_options(
    given: ctrlcache.Options, scheme: Scheme, mapper: meta.RESTMapper, http_client: HTTPClient
) -> ctrlcache.Options:
    """Return a copy of the options; missing values come from the cluster."""
    options = replace(given)
    options.scheme = options.scheme or scheme
    options.mapper = options.mapper or mapper
    options.http_client = options.http_client or http_client
    return options


def _client_options(
    given: ctrlclient.Options,
    scheme: Scheme,
    mapper: meta.RESTMapper,
    http_client: HTTPClient,
    reader: ctrlclient.Reader,
) -> ctrlclient.Options:
    options = replace(given)
    options.scheme = options.scheme or scheme
    options.mapper = options.mapper or mapper
    options.http_client = options.http_client or http_client
    options.cache = replace(options.cache) if options.cache is not None else ctrlclient.CacheOptions()
    options.cache.reader = options.cache.reader or reader
    return options


def make_broadcaster_producer(
    config: rest.Config, http_client: HTTPClient, given: record.EventBroadcaster | None
) -> EventBroadcasterProducer:
    """Return a producer of broadcasters that write to the server of `config`. `given` replaces the core/v1 broadcaster.
    """
    sink_client = events_client.new_for_config_and_client(config, http_client)

    def make() -> tuple[record.EventBroadcaster, events.EventBroadcaster, bool]:
        current = events.new_broadcaster(events.EventSinkImpl(sink_client))
        return given or record.new_broadcaster(), current, given is None

    return make
