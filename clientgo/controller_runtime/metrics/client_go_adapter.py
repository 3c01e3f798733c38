"""The metrics of REST clients. Mirrors pkg/metrics/client_go_adapter.go."""

from __future__ import annotations

from clientgo.context import Context
from clientgo.controller_runtime.metrics.registry import new_counter_vec
from clientgo.tools import metrics as clientmetrics

__all__ = ["register_client_metrics"]

_REQUEST_RESULT = new_counter_vec(
    "rest_client_requests_total",
    "Number of HTTP requests, partitioned by status code, method, and host.",
    ["code", "method", "host"],
)


class _ResultAdapter:
    def increment(self, ctx: Context, code: str, method: str, host: str) -> None:
        _REQUEST_RESULT.labels(code, method, host).inc()


def register_client_metrics() -> None:
    """Count the requests of all clients of the process, unless other metrics are registered already."""
    clientmetrics.register(clientmetrics.RegisterOpts(request_result=_ResultAdapter()))
