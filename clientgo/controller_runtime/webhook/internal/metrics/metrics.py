"""The metrics of webhook servers. Mirrors pkg/webhook/internal/metrics/metrics.go."""

from __future__ import annotations

from collections.abc import Callable

from clientgo.controller_runtime.metrics.registry import (
    exponential_buckets,
    new_counter_vec,
    new_gauge_vec,
    new_histogram_vec,
)
from clientgo.golang.http.server import HandlerLike, Request, ResponseWriter, to_handler
from clientgo.utils.clock import REAL_CLOCK

__all__ = ["REQUEST_IN_FLIGHT", "REQUEST_LATENCY", "REQUEST_TOTAL", "instrumented_hook"]

REQUEST_LATENCY = new_histogram_vec(
    "controller_runtime_webhook_latency_seconds",
    "Histogram of the latency of processing admission requests",
    ["webhook"],
    exponential_buckets(10e-9, 10, 12),
)
REQUEST_TOTAL = new_counter_vec(
    "controller_runtime_webhook_requests_total",
    "Total number of admission requests by HTTP status code.",
    ["webhook", "code"],
)
REQUEST_IN_FLIGHT = new_gauge_vec(
    "controller_runtime_webhook_requests_in_flight",
    "Current number of admission requests being served.",
    ["webhook"],
)


def instrumented_hook(path: str, hook_raw: HandlerLike) -> Callable[[ResponseWriter, Request], None]:
    """Return a handler that counts and times the requests under `path`. Go: metrics.InstrumentedHook."""
    function = to_handler(hook_raw)
    latency, in_flight = REQUEST_LATENCY.labels(path), REQUEST_IN_FLIGHT.labels(path)
    # Create the common codes at the start, so that rates include the first request.
    for code in ("200", "500"):
        REQUEST_TOTAL.labels(path, code)

    def serve(resp: ResponseWriter, req: Request) -> None:
        started_at = REAL_CLOCK.now()
        in_flight.inc()
        try:
            function(resp, req)
        finally:
            in_flight.dec()
            latency.observe(REAL_CLOCK.since(started_at))
            REQUEST_TOTAL.labels(path, str(resp.status or 200)).inc()

    return serve
