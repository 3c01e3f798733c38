"""What is needed to work with a cluster, in one place. Mirrors pkg/cluster/cluster.go."""

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
from clientgo.golang.http import Client as HTTPClient
from clientgo.klog import Logger
from clientgo.kubernetes.scheme import SCHEME
from clientgo.kubernetes.typed.events.v1 import events_client
from clientgo.tools import events, record

__all__ = ["Cluster", "MapperProvider", "NewClientFunc", "Option", "Options", "make_broadcaster_producer", "new"]

MapperProvider: TypeAlias = Callable[[rest.Config, HTTPClient], meta.RESTMapper]
"""Makes the REST mapper."""

NewClientFunc: TypeAlias = Callable[[rest.Config, ctrlclient.Options], ctrlclient.Client]
"""Makes the client. Go: client.NewClientFunc."""


class Cluster(Provider, Protocol):
    """Gives what is needed to work with a cluster. Go: cluster.Cluster. A manager is one.

    A program that works with several clusters adds further ones to its manager, which starts their caches.
    """

    def get_http_client(self) -> HTTPClient:
        """The connections all of it shares."""
        ...

    def get_config(self) -> rest.Config:
        """Where the cluster is."""
        ...

    def get_cache(self) -> ctrlcache.Cache:
        """What clients read from."""
        ...

    def get_scheme(self) -> Scheme:
        """What kinds are known by."""
        ...

    def get_client(self) -> ctrlclient.Client:
        """Reads from the cache, writes to the server."""
        ...

    def get_field_indexer(self) -> ctrlclient.FieldIndexer:
        """Adds indexes to the cache; before it is started."""
        ...

    def get_rest_mapper(self) -> meta.RESTMapper:
        """What resources are known by."""
        ...

    def get_api_reader(self) -> ctrlclient.Reader:
        """Reads from the server, also before anything is started. Use it sparingly."""
        ...

    def start(self, ctx: Context) -> None:
        """Run the cache until `ctx` ends. Blocks."""
        ...


@dataclass(kw_only=True)
class Options:
    """What can be chosen about a Cluster. Go: cluster.Options."""

    scheme: Scheme | None = None
    """That of the built-in kinds when None."""
    mapper_provider: MapperProvider | None = None
    """By default one that asks the server for what it does not know yet."""
    logger: Logger | None = None
    http_client: HTTPClient | None = None
    cache: ctrlcache.Options = field(default_factory=ctrlcache.Options)
    """What the cache is made with; all namespaces by default."""
    new_cache: ctrlcache.NewCacheFunc | None = None
    client: ctrlclient.Options = field(default_factory=ctrlclient.Options)
    """What the client is made with."""
    new_client: NewClientFunc | None = None
    event_broadcaster: record.EventBroadcaster | None = None
    """For other correlation of events than the usual. Deprecated in Go; it is not stopped with the cluster."""


Option: TypeAlias = Callable[[Options], None]
"""Changes the options. Go: cluster.Option."""


def new(config: rest.Config, *opts: Option) -> Cluster:
    """A Cluster for the server of `config`, not started. Go: cluster.New.

    Raises ValueError without a config, OSError when certificate files cannot be read, and what the cache raises for
    its options.
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
    """The options, with what the whole cluster shares where they do not say otherwise."""
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
    """Makes broadcasters that write to the server of `config`; `given` in place of the older kind."""
    sink_client = events_client.new_for_config_and_client(config, http_client)

    def make() -> tuple[record.EventBroadcaster, events.EventBroadcaster, bool]:
        current = events.new_broadcaster(events.EventSinkImpl(sink_client))
        return given or record.new_broadcaster(), current, given is None

    return make
