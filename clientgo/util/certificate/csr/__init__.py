"""Requests for certificates at the API server. Mirrors k8s.io/client-go/util/certificate/csr."""

from clientgo.util.certificate.csr.csr import (
    duration_to_expiration_seconds,
    expiration_seconds_to_duration,
    request_certificate,
    request_certificate_with_context,
    wait_for_certificate,
)

__all__ = [
    "duration_to_expiration_seconds",
    "expiration_seconds_to_duration",
    "request_certificate",
    "request_certificate_with_context",
    "wait_for_certificate",
]
