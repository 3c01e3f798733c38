"""Streams over one upgraded HTTP connection. Mirrors k8s.io/apimachinery/pkg/util/httpstream."""

from clientgo.apimachinery.util.httpstream.httpstream import (
    HEADER_ACCEPTED_PROTOCOL_VERSIONS,
    HEADER_CONNECTION,
    HEADER_PROTOCOL_VERSION,
    HEADER_UPGRADE,
    Connection,
    Dialer,
    NewStreamHandler,
    Stream,
    UpgradeFailureError,
    UpgradeRoundTripper,
    is_https_proxy_error,
    is_upgrade_failure,
    no_op_new_stream_handler,
)

__all__ = [
    "HEADER_ACCEPTED_PROTOCOL_VERSIONS",
    "HEADER_CONNECTION",
    "HEADER_PROTOCOL_VERSION",
    "HEADER_UPGRADE",
    "Connection",
    "Dialer",
    "NewStreamHandler",
    "Stream",
    "UpgradeFailureError",
    "UpgradeRoundTripper",
    "is_https_proxy_error",
    "is_upgrade_failure",
    "no_op_new_stream_handler",
]
