"""sigs.k8s.io/controller-runtime/pkg/internal/controller/metrics."""

from clientgo.controller_runtime.internal.controller.metrics.metrics import (
    ACTIVE_WORKERS,
    RECONCILE_ERRORS,
    RECONCILE_PANICS,
    RECONCILE_TIME,
    RECONCILE_TIMEOUTS,
    RECONCILE_TOTAL,
    TERMINAL_RECONCILE_ERRORS,
    WORKER_COUNT,
)

__all__ = [
    "ACTIVE_WORKERS",
    "RECONCILE_ERRORS",
    "RECONCILE_PANICS",
    "RECONCILE_TIME",
    "RECONCILE_TIMEOUTS",
    "RECONCILE_TOTAL",
    "TERMINAL_RECONCILE_ERRORS",
    "WORKER_COUNT",
]
