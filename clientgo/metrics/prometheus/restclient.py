"""The metrics of REST clients. Mirrors component-base/metrics/prometheus/restclient/metrics.go.

Differs from Go: name lookups are served too (Go creates their histogram and does not register it). The counter of exec
plugin policies is absent, as in Go, which does not register it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from urllib.parse import urlsplit

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from clientgo.context import Context
from clientgo.metrics import instruments
from clientgo.metrics.instruments import Distribution, Number, Vec
from clientgo.metrics.legacyregistry import must_register
from clientgo.tools import metrics
from clientgo.utils.clock import REAL_CLOCK

__all__ = ["register"]

_LATENCIES = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0]
_SIZES = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216]
_HOUR, _DAY = 3600, 86400
_AGES = [
    _HOUR / 6,
    _HOUR / 2,
    _HOUR,
    4 * _HOUR,
    _DAY,
    7 * _DAY,
    30 * _DAY,
    90 * _DAY,
    180 * _DAY,
    360 * _DAY,
    1440 * _DAY,
]


def _counter(name: str, help: str, labels: list[str]) -> Vec[Number]:
    return must_register(instruments.counter_vec(name, help, labels))


def _histogram(name: str, help: str, labels: list[str], buckets: list[float]) -> Vec[Distribution]:
    return must_register(instruments.histogram_vec(name, help, labels, buckets))


_REQUEST_LATENCY = _histogram(
    "rest_client_request_duration_seconds",
    "Request latency in seconds. Broken down by verb, and host.",
    ["verb", "host"],
    [*_LATENCIES, 60.0],
)
_RESOLVER_LATENCY = _histogram(
    "rest_client_dns_resolution_duration_seconds",
    "DNS resolver latency in seconds. Broken down by host.",
    ["host"],
    _LATENCIES,
)
_REQUEST_SIZE = _histogram(
    "rest_client_request_size_bytes",
    "Request size in bytes. Broken down by verb and host.",
    ["verb", "host"],
    [float(size) for size in _SIZES],
)
_RESPONSE_SIZE = _histogram(
    "rest_client_response_size_bytes",
    "Response size in bytes. Broken down by verb and host.",
    ["verb", "host"],
    [float(size) for size in _SIZES],
)
_RATE_LIMITER_LATENCY = _histogram(
    "rest_client_rate_limiter_duration_seconds",
    "Client side rate limiter latency in seconds. Broken down by verb, and host.",
    ["verb", "host"],
    [*_LATENCIES, 60.0],
)
_REQUEST_RESULT = _counter(
    "rest_client_requests_total",
    "Number of HTTP requests, partitioned by status code, method, and host.",
    ["code", "method", "host"],
)
_REQUEST_RETRY = _counter(
    "rest_client_request_retries_total",
    "Number of request retries, partitioned by status code, verb, and host.",
    ["code", "verb", "host"],
)
_EXEC_PLUGIN_CERT_ROTATION = _histogram(
    "rest_client_exec_plugin_certificate_rotation_age",
    "Histogram of the number of seconds the last auth exec plugin client certificate lived before being rotated. If "
    "auth exec plugin client certificates are unused, histogram will contain no data.",
    [],
    _AGES,
)
_EXEC_PLUGIN_CALLS = _counter(
    "rest_client_exec_plugin_call_total",
    "Number of calls to an exec plugin, partitioned by the type of event encountered (no_error, "
    "plugin_execution_error, plugin_not_found_error, client_internal_error) and an optional exit code. The exit code "
    "will be set to 0 if and only if the plugin call was successful.",
    ["code", "call_status"],
)
_TRANSPORT_CACHE_ENTRIES = must_register(
    instruments.gauge_vec(
        "rest_client_transport_cache_entries", "Number of transport entries in the internal cache.", []
    )
)
_TRANSPORT_CREATE_CALLS = _counter(
    "rest_client_transport_create_calls_total",
    "Number of calls to get a new transport, partitioned by the result of the operation hit: obtained from the cache, "
    "miss: created and added to the cache, miss-gc: recreated and added back to the cache after being garbage "
    "collected, uncacheable: created and not cached",
    ["result"],
)
_TRANSPORT_CA_RELOADS = _counter(
    "rest_client_transport_ca_reload_total",
    "Number of times a CA reload is attempted, partitioned by the result and reason for the reload attempt",
    ["result", "reason"],
)
_TRANSPORT_CERT_ROTATION_GC_CALLS = _counter(
    "rest_client_transport_cert_rotation_gc_calls_total",
    "Number of times a cert rotation goroutine cancel func is called via GC cleanup of the associated transport",
    [],
)
_TRANSPORT_CACHE_GC_CALLS = _counter(
    "rest_client_transport_cache_gc_calls_total",
    "Number of times a GC cleanup attempts to delete a transport cache entry, partitioned by the result: deleted, "
    "skipped",
    ["result"],
)


class _ExpiryToTTL(Collector):
    """A gauge of the seconds until the client certificate of an exec plugin expires. Go: expiryToTTLAdapter."""

    def __init__(self) -> None:
        self._expiry: float | None = None

    def set(self, expiry: float | None, /) -> None:
        self._expiry = expiry

    def collect(self) -> Iterable[Metric]:
        expiry = self._expiry
        yield GaugeMetricFamily(
            "rest_client_exec_plugin_ttl_seconds",
            "Gauge of the shortest TTL (time-to-live) of the client certificate(s) managed by the auth exec plugin. "
            "The value is in seconds until certificate expiry (negative if already expired). If auth exec plugins are "
            "unused or manage no TLS certificates, the value will be +INF.",
            value=math.inf if expiry is None else expiry - REAL_CLOCK.now(),
        )


_EXEC_PLUGIN_CERT_TTL = must_register(_ExpiryToTTL())


class _LatencyAdapter:
    def __init__(self, histograms: Vec[Distribution]) -> None:
        self._histograms = histograms

    def observe(self, ctx: Context, verb: str, url: str, latency: float, /) -> None:
        self._histograms.labels(verb, urlsplit(url).netloc).observe(latency)


class _ResolverLatencyAdapter:
    def observe(self, ctx: Context, host: str, latency: float, /) -> None:
        _RESOLVER_LATENCY.labels(host).observe(latency)


class _SizeAdapter:
    def __init__(self, histograms: Vec[Distribution]) -> None:
        self._histograms = histograms

    def observe(self, ctx: Context, verb: str, host: str, size: float, /) -> None:
        self._histograms.labels(verb, host).observe(size)


class _ResultAdapter:
    def increment(self, ctx: Context, code: str, method: str, host: str, /) -> None:
        _REQUEST_RESULT.labels(code, method, host).inc()


class _RetryAdapter:
    def increment_retry(self, ctx: Context, code: str, method: str, host: str, /) -> None:
        _REQUEST_RETRY.labels(code, method, host).inc()


class _RotationAdapter:
    def observe(self, duration: float, /) -> None:
        _EXEC_PLUGIN_CERT_ROTATION.labels().observe(duration)


class _CallsAdapter:
    def increment(self, exit_code: int, call_status: str, /) -> None:
        _EXEC_PLUGIN_CALLS.labels(str(exit_code), call_status).inc()


class _TransportCacheAdapter:
    def observe(self, value: int, /) -> None:
        _TRANSPORT_CACHE_ENTRIES.labels().set(value)


class _TransportCreateCallsAdapter:
    def increment(self, result: str, /) -> None:
        _TRANSPORT_CREATE_CALLS.labels(result).inc()


class _TransportCAReloadsAdapter:
    def increment(self, result: str, reason: str, /) -> None:
        _TRANSPORT_CA_RELOADS.labels(result, reason).inc()


class _TransportCertRotationGCCallsAdapter:
    def increment(self) -> None:
        _TRANSPORT_CERT_ROTATION_GC_CALLS.labels().inc()


class _TransportCacheGCCallsAdapter:
    def increment(self, result: str, /) -> None:
        _TRANSPORT_CACHE_GC_CALLS.labels(result).inc()


def register() -> None:
    """Report the requests of all clients of the process, unless other hooks are registered already."""
    metrics.register(
        metrics.RegisterOpts(
            client_cert_expiry=_EXEC_PLUGIN_CERT_TTL,
            client_cert_rotation_age=_RotationAdapter(),
            request_latency=_LatencyAdapter(_REQUEST_LATENCY),
            resolver_latency=_ResolverLatencyAdapter(),
            request_size=_SizeAdapter(_REQUEST_SIZE),
            response_size=_SizeAdapter(_RESPONSE_SIZE),
            rate_limiter_latency=_LatencyAdapter(_RATE_LIMITER_LATENCY),
            request_result=_ResultAdapter(),
            request_retry=_RetryAdapter(),
            exec_plugin_calls=_CallsAdapter(),
            transport_cache_entries=_TransportCacheAdapter(),
            transport_create_calls=_TransportCreateCallsAdapter(),
            transport_ca_reloads=_TransportCAReloadsAdapter(),
            transport_cert_rotation_gc_calls=_TransportCertRotationGCCallsAdapter(),
            transport_cache_gc_calls=_TransportCacheGCCallsAdapter(),
        )
    )
