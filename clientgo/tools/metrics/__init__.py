"""Metrics hooks of the rest client. Mirrors k8s.io/client-go/tools/metrics.

The hooks are attributes of the module `metrics.metrics`, which this package looks up at each access, so that it returns
a hook that `register` has replaced.
"""

from typing import Any

from clientgo.tools.metrics import metrics as _metrics
from clientgo.tools.metrics.metrics import (
    CallsMetric,
    DurationMetric,
    ExpiryMetric,
    LatencyMetric,
    PolicyCallsMetric,
    RegisterOpts,
    ResolverLatencyMetric,
    ResultMetric,
    RetryMetric,
    SizeMetric,
    TransportCacheGCCallsMetric,
    TransportCacheMetric,
    TransportCAReloadsMetric,
    TransportCertRotationGCCallsMetric,
    TransportCreateCallsMetric,
    register,
)

__all__ = [
    "CallsMetric",
    "DurationMetric",
    "ExpiryMetric",
    "LatencyMetric",
    "PolicyCallsMetric",
    "RegisterOpts",
    "ResolverLatencyMetric",
    "ResultMetric",
    "RetryMetric",
    "SizeMetric",
    "TransportCAReloadsMetric",
    "TransportCacheGCCallsMetric",
    "TransportCacheMetric",
    "TransportCertRotationGCCallsMetric",
    "TransportCreateCallsMetric",
    "register",
]


def __getattr__(name: str) -> Any:
    return getattr(_metrics, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_metrics)})
