"""sigs.k8s.io/controller-runtime/pkg/healthz: health checks over HTTP."""

from clientgo.controller_runtime.healthz.healthz import (
    Checker,
    CheckHandler,
    Handler,
    ping,
)

__all__ = [
    "CheckHandler",
    "Checker",
    "Handler",
    "ping",
]
