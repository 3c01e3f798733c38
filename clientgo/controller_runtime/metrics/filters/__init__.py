"""sigs.k8s.io/controller-runtime/pkg/metrics/filters: authentication and authorization for the metrics endpoint."""

from clientgo.controller_runtime.metrics.filters.filters import (
    with_authentication_and_authorization,
)

__all__ = [
    "with_authentication_and_authorization",
]
