"""sigs.k8s.io/controller-runtime/pkg/webhook/internal/metrics."""

from clientgo.controller_runtime.webhook.internal.metrics.metrics import (
    REQUEST_IN_FLIGHT,
    REQUEST_LATENCY,
    REQUEST_TOTAL,
    instrumented_hook,
)

__all__ = [
    "REQUEST_IN_FLIGHT",
    "REQUEST_LATENCY",
    "REQUEST_TOTAL",
    "instrumented_hook",
]
