"""sigs.k8s.io/controller-runtime/pkg/certwatcher/metrics."""

from clientgo.controller_runtime.certwatcher.metrics.metrics import (
    READ_CERTIFICATE_ERRORS,
    READ_CERTIFICATE_TOTAL,
)

__all__ = [
    "READ_CERTIFICATE_ERRORS",
    "READ_CERTIFICATE_TOTAL",
]
