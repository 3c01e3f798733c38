"""Classification of network exceptions: connection refused, connection reset.

Mirrors the error functions of k8s.io/apimachinery/pkg/util/net/util.go.
"""

from __future__ import annotations

from clientgo.apimachinery.util.net.http import family


def is_connection_reset(err: BaseException | None) -> bool:
    """Report whether the peer reset the connection. Go: net.IsConnectionReset."""
    return any(isinstance(each, ConnectionResetError) for each in family(err))


def is_connection_refused(err: BaseException | None) -> bool:
    """Report whether the connection was refused, because no server listens at the address.

    Go: net.IsConnectionRefused.
    """
    return any(isinstance(each, ConnectionRefusedError) for each in family(err))
