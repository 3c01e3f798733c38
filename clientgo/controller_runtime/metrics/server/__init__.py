"""sigs.k8s.io/controller-runtime/pkg/metrics/server: the metrics server."""

from clientgo.controller_runtime.metrics.server.server import (
    DEFAULT_BIND_ADDRESS,
    Filter,
    FilterProvider,
    Options,
    Server,
    metrics_handler,
    new_server,
)

__all__ = [
    "DEFAULT_BIND_ADDRESS",
    "Filter",
    "FilterProvider",
    "Options",
    "Server",
    "metrics_handler",
    "new_server",
]
