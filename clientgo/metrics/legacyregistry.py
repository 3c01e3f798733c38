"""The registry of a program without a manager. Mirrors component-base/metrics/legacyregistry/registry.go.

Go's registry also hides, renames and deprecates metrics by Kubernetes version; those are flags of Kubernetes' own
programs and have no counterpart here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from clientgo.metrics import need_prometheus_client

need_prometheus_client(__name__)

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from clientgo.golang.http import server as http
from clientgo.metrics.exposition import Gatherer, handler_for

__all__ = ["REGISTRY", "handler", "must_register"]

C = TypeVar("C", bound=Gatherer)

REGISTRY = CollectorRegistry()
"""The registry. Register your own metrics here, for example `prometheus_client.Counter(..., registry=REGISTRY)`."""

# The counterparts of Go's collectors for the process and the runtime.
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
GCCollector(registry=REGISTRY)


def must_register(collector: C) -> C:
    """Add a collector to `REGISTRY` and return it. Raises ValueError if one of its names is taken.

    Go: legacyregistry.MustRegister.
    """
    # prometheus_client declares a base class, but only calls the methods.
    registered: Any = collector
    REGISTRY.register(registered)
    return collector


def handler() -> Callable[[http.ResponseWriter, http.Request], None]:
    """Return an HTTP handler that serves `REGISTRY`. Go: legacyregistry.Handler."""
    return handler_for(REGISTRY)
