"""The HTTP handler that serves a registry of prometheus_client as Go serves its own. No Go file: promhttp in Go."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from clientgo.metrics import need_prometheus_client

need_prometheus_client(__name__)

from prometheus_client.exposition import choose_encoder

from clientgo.golang.http import server as http

__all__ = ["Gatherer", "handler_for"]


class Gatherer(Protocol):
    """A source of metric families: a registry or a collector of prometheus_client. Go: prometheus.Gatherer."""

    def collect(self) -> Iterable[Any]:
        """Return the families with their current values."""
        ...


def handler_for(registry: Gatherer) -> Callable[[http.ResponseWriter, http.Request], None]:
    """Return a handler that serves `registry` in the text format that the request accepts. Go: promhttp.HandlerFor."""
    families: Any = _GoLikeRegistry(registry)

    def serve(resp: http.ResponseWriter, req: http.Request) -> None:
        encode, content_type = choose_encoder(req.headers.get("Accept", ""))
        resp.header()["Content-Type"] = content_type
        resp.write(encode(families))

    return serve


class _GoLikeRegistry:
    """A registry as Go exposes it: without empty families and without `_created` series."""

    def __init__(self, registry: Gatherer) -> None:
        self._registry = registry

    def collect(self) -> Iterable[Any]:
        for family in self._registry.collect():
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            if family.samples:
                yield family
