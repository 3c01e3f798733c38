"""sigs.k8s.io/controller-runtime/pkg/webhook/admission/metrics."""

from clientgo.controller_runtime.webhook.admission.metrics.metrics import (
    WEBHOOK_PANICS,
)

__all__ = [
    "WEBHOOK_PANICS",
]
