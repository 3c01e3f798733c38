"""The implementation of cluster.Cluster. Mirrors pkg/cluster/internal.go."""

from __future__ import annotations

from dataclasses import dataclass

from clientgo import context, rest
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import Scheme
from clientgo.context import Context
from clientgo.controller_runtime.cache.cache import Cache
from clientgo.controller_runtime.client.interfaces import Client, FieldIndexer, Reader
from clientgo.controller_runtime.internal.recorder import Provider
from clientgo.golang.http import Client as HTTPClient
from clientgo.klog import Logger
from clientgo.tools import events, record

__all__ = ["ClusterImpl"]

# Seconds that the end of a cluster's cache waits for the delivery of the last events.
_EVENTS_TIMEOUT = 5.0


@dataclass(kw_only=True)
class ClusterImpl:
    """The parts that `cluster.new` made. Immutable."""

    config: rest.Config
    http_client: HTTPClient
    scheme: Scheme
    cache: Cache
    client: Client
    api_reader: Reader
    recorder_provider: Provider
    mapper: meta.RESTMapper
    logger: Logger

    def get_config(self) -> rest.Config:
        return self.config

    def get_http_client(self) -> HTTPClient:
        return self.http_client

    def get_client(self) -> Client:
        return self.client

    def get_scheme(self) -> Scheme:
        return self.scheme

    def get_field_indexer(self) -> FieldIndexer:
        return self.cache

    def get_cache(self) -> Cache:
        return self.cache

    def get_event_recorder_for(self, name: str) -> record.EventRecorder:
        return self.recorder_provider.get_event_recorder_for(name)

    def get_event_recorder(self, name: str) -> events.EventRecorder:
        return self.recorder_provider.get_event_recorder(name)

    def get_rest_mapper(self) -> meta.RESTMapper:
        return self.mapper

    def get_api_reader(self) -> Reader:
        return self.api_reader

    def get_logger(self) -> Logger:
        return self.logger

    def start(self, ctx: Context) -> None:
        """Run the cache until `ctx` ends, then stop the event recorders. Blocks."""
        try:
            self.cache.start(ctx)
        finally:
            ending, cancel = context.with_timeout(context.background(), _EVENTS_TIMEOUT)
            try:
                self.recorder_provider.stop(ending)
            finally:
                cancel()

    def __repr__(self) -> str:
        return f"<Cluster {self.config.host!r}>"
