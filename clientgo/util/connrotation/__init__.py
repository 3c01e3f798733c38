"""Connections that are closed when credentials change. Mirrors k8s.io/client-go/util/connrotation."""

from clientgo.util.connrotation.connrotation import (
    ConnectionTracker,
    Dialer,
    DialFunc,
    new_connection_tracker,
    new_dialer,
    new_dialer_with_tracker,
)

__all__ = [
    "ConnectionTracker",
    "DialFunc",
    "Dialer",
    "new_connection_tracker",
    "new_dialer",
    "new_dialer_with_tracker",
]
