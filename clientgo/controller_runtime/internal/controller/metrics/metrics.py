"""The metrics of controllers. Mirrors pkg/internal/controller/metrics/metrics.go."""

from __future__ import annotations

from typing import Any

from clientgo.controller_runtime.metrics.registry import (
    AVAILABLE,
    REGISTRY,
    new_counter_vec,
    new_gauge_vec,
    new_histogram_vec,
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

RECONCILE_TOTAL = new_counter_vec(
    "controller_runtime_reconcile_total",
    "Total number of reconciliations per controller",
    ["controller", "result"],
)
RECONCILE_ERRORS = new_counter_vec(
    "controller_runtime_reconcile_errors_total",
    "Total number of reconciliation errors per controller",
    ["controller"],
)
TERMINAL_RECONCILE_ERRORS = new_counter_vec(
    "controller_runtime_terminal_reconcile_errors_total",
    "Total number of terminal reconciliation errors per controller",
    ["controller"],
)
RECONCILE_PANICS = new_counter_vec(
    "controller_runtime_reconcile_panics_total",
    "Total number of reconciliation panics per controller",
    ["controller"],
)
# fmt: off
_TIMES = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0,
    1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]
# fmt: on
RECONCILE_TIME = new_histogram_vec(
    "controller_runtime_reconcile_time_seconds",
    "Length of time per reconciliation per controller",
    ["controller"],
    _TIMES,
)
WORKER_COUNT = new_gauge_vec(
    "controller_runtime_max_concurrent_reconciles",
    "Maximum number of concurrent reconciles per controller",
    ["controller"],
)
ACTIVE_WORKERS = new_gauge_vec(
    "controller_runtime_active_workers",
    "Number of currently used workers per controller",
    ["controller"],
)
RECONCILE_TIMEOUTS = new_counter_vec(
    "controller_runtime_reconcile_timeouts_total",
    "Total number of reconciliation timeouts per controller",
    ["controller"],
)

if AVAILABLE:
    # The counterparts of Go's collectors for the process and the runtime.
    from prometheus_client import GCCollector, PlatformCollector, ProcessCollector

    _registry: Any = REGISTRY
    ProcessCollector(registry=_registry)
    PlatformCollector(registry=_registry)
    GCCollector(registry=_registry)
