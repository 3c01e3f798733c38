"""sigs.k8s.io/controller-runtime/pkg/webhook/conversion/metrics."""

from clientgo.controller_runtime.webhook.conversion.metrics.metrics import (
    WEBHOOK_PANICS,
)

__all__ = [
    "WEBHOOK_PANICS",
]
