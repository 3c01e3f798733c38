"""Streams over SPDY/3.1. Mirrors k8s.io/apimachinery/pkg/util/httpstream/spdy."""

from clientgo.apimachinery.util.httpstream.spdy.connection import (
    new_client_connection,
    new_client_connection_with_pings,
    new_server_connection,
    new_server_connection_with_pings,
)
from clientgo.apimachinery.util.httpstream.spdy.roundtripper import (
    HEADER_SPDY_31,
    RoundTripperConfig,
    SpdyRoundTripper,
    new_round_tripper,
    new_round_tripper_with_config,
    new_round_tripper_with_proxy,
)

__all__ = [
    "HEADER_SPDY_31",
    "RoundTripperConfig",
    "SpdyRoundTripper",
    "new_client_connection",
    "new_client_connection_with_pings",
    "new_round_tripper",
    "new_round_tripper_with_config",
    "new_round_tripper_with_proxy",
    "new_server_connection",
    "new_server_connection_with_pings",
]
