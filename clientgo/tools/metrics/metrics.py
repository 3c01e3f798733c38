"""The hooks through which the rest client and its transports report to a metrics system.

Mirrors tools/metrics/metrics.go.

Every hook is a module attribute that implements its Protocol, and does nothing until `register` is called. Read and
replace them as attributes of this module (`metrics.REQUEST_RESULT`), never through `from ... import`. Verbs and URLs
are strings; durations are seconds.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields
from typing import Any, Protocol, runtime_checkable

from clientgo.context import Context
from clientgo.golang.functions import require_methods


@runtime_checkable
class DurationMetric(Protocol):
    """A duration in seconds."""

    def observe(self, duration: float, /) -> None: ...


@runtime_checkable
class ExpiryMetric(Protocol):
    """A time of expiry, in seconds since 1970, or None."""

    def set(self, expiry: float | None, /) -> None: ...


@runtime_checkable
class LatencyMetric(Protocol):
    """Client latency in seconds, partitioned by verb and URL template."""

    def observe(self, ctx: Context, verb: str, url: str, latency: float, /) -> None: ...


@runtime_checkable
class ResolverLatencyMetric(Protocol):
    """The seconds of a host name lookup."""

    def observe(self, ctx: Context, host: str, latency: float, /) -> None: ...


@runtime_checkable
class SizeMetric(Protocol):
    """Sizes in bytes, partitioned by verb and host."""

    def observe(self, ctx: Context, verb: str, host: str, size: float, /) -> None: ...


@runtime_checkable
class ResultMetric(Protocol):
    """A count of responses by code, method and host."""

    def increment(self, ctx: Context, code: str, method: str, host: str, /) -> None: ...


@runtime_checkable
class CallsMetric(Protocol):
    """A count of calls of exec plugins by exit code and outcome."""

    def increment(self, exit_code: int, call_status: str, /) -> None: ...


@runtime_checkable
class PolicyCallsMetric(Protocol):
    """A count of exec plugins that a policy "allowed" or "denied"."""

    def increment(self, status: str, /) -> None: ...


@runtime_checkable
class RetryMetric(Protocol):
    """A count of retries by code, method and host."""

    def increment_retry(self, ctx: Context, code: str, method: str, host: str, /) -> None: ...


@runtime_checkable
class TransportCacheMetric(Protocol):
    """The number of transports in the cache."""

    def observe(self, value: int, /) -> None: ...


@runtime_checkable
class TransportCreateCallsMetric(Protocol):
    """A count of created transports by the cache's result: hit, miss, miss-gc, uncacheable."""

    def increment(self, result: str, /) -> None: ...


@runtime_checkable
class TransportCAReloadsMetric(Protocol):
    """A count of attempts to reload a certificate authority."""

    def increment(self, result: str, reason: str, /) -> None: ...


@runtime_checkable
class TransportCertRotationGCCallsMetric(Protocol):
    """A count of certificate rotations that garbage collection ended."""

    def increment(self) -> None: ...


@runtime_checkable
class TransportCacheGCCallsMetric(Protocol):
    """A count of cache entries that garbage collection visited: deleted, skipped."""

    def increment(self, result: str, /) -> None: ...


class _Silent:
    """The default of every hook, which ignores all reports."""

    def observe(self, *_: Any) -> None: ...

    def set(self, *_: Any) -> None: ...

    def increment(self, *_: Any) -> None: ...

    def increment_retry(self, *_: Any) -> None: ...


_SILENT = _Silent()

# The expiry time of a client certificate.
CLIENT_CERT_EXPIRY: ExpiryMetric = _SILENT
# The age of a certificate that has just been rotated.
CLIENT_CERT_ROTATION_AGE: DurationMetric = _SILENT
# The duration of requests, including retries.
REQUEST_LATENCY: LatencyMetric = _SILENT
# The duration of name lookups.
RESOLVER_LATENCY: ResolverLatencyMetric = _SILENT
# The size of request bodies.
REQUEST_SIZE: SizeMetric = _SILENT
# The size of response bodies.
RESPONSE_SIZE: SizeMetric = _SILENT
# The time that requests wait for the client's own rate limiter.
RATE_LIMITER_LATENCY: LatencyMetric = _SILENT
# Every response, by code.
REQUEST_RESULT: ResultMetric = _SILENT
# Every run of an exec plugin.
EXEC_PLUGIN_CALLS: CallsMetric = _SILENT
# Every policy decision on an exec plugin.
EXEC_PLUGIN_POLICY_CALLS: PolicyCallsMetric = _SILENT
# Every attempt after the first.
REQUEST_RETRY: RetryMetric = _SILENT
# Entries of the transport cache.
TRANSPORT_CACHE_ENTRIES: TransportCacheMetric = _SILENT
# Every created transport.
TRANSPORT_CREATE_CALLS: TransportCreateCallsMetric = _SILENT
# Every reload of a certificate authority.
TRANSPORT_CA_RELOADS: TransportCAReloadsMetric = _SILENT
# Rotations ended by garbage collection.
TRANSPORT_CERT_ROTATION_GC_CALLS: TransportCertRotationGCCallsMetric = _SILENT
# Cache entries visited by garbage collection.
TRANSPORT_CACHE_GC_CALLS: TransportCacheGCCallsMetric = _SILENT


@dataclass(kw_only=True)
class RegisterOpts:
    """The hooks to install; None keeps a hook."""

    client_cert_expiry: ExpiryMetric | None = None
    client_cert_rotation_age: DurationMetric | None = None
    request_latency: LatencyMetric | None = None
    resolver_latency: ResolverLatencyMetric | None = None
    request_size: SizeMetric | None = None
    response_size: SizeMetric | None = None
    rate_limiter_latency: LatencyMetric | None = None
    request_result: ResultMetric | None = None
    exec_plugin_calls: CallsMetric | None = None
    exec_plugin_policy_calls: PolicyCallsMetric | None = None
    request_retry: RetryMetric | None = None
    transport_cache_entries: TransportCacheMetric | None = None
    transport_create_calls: TransportCreateCallsMetric | None = None
    transport_ca_reloads: TransportCAReloadsMetric | None = None
    transport_cert_rotation_gc_calls: TransportCertRotationGCCallsMetric | None = None
    transport_cache_gc_calls: TransportCacheGCCallsMetric | None = None


_register_lock = threading.Lock()
_registered = False


def register(opts: RegisterOpts) -> None:
    """Install the given hooks. Only the first call in a process has an effect. Go: Register.

    Raises TypeError for a hook without its method.
    """
    global _registered
    for option in fields(opts):
        protocol = globals()[str(option.type).removesuffix(" | None")]
        if (hook := getattr(opts, option.name)) is not None:
            methods = [name for name in vars(protocol) if not name.startswith("_")]
            require_methods(hook, f"RegisterOpts.{option.name}", *methods)
    with _register_lock:
        if _registered:
            return
        _registered = True
    for option in fields(opts):
        hook = getattr(opts, option.name)
        if hook is not None:
            globals()[option.name.upper()] = hook
