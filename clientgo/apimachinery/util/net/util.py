"""What an exception of the network means: refused, reset.

Mirrors the error functions of k8s.io/apimachinery/pkg/util/net/util.go.
"""

from __future__ import annotations

from clientgo.apimachinery.util.net.http import family


def is_connection_reset(err: BaseException | None) -> bool:
    """Whether the other side broke the connection off. Go: net.IsConnectionReset."""
    return any(isinstance(each, ConnectionResetError) for each in family(err))


def is_connection_refused(err: BaseException | None) -> bool:
    """Whether nobody listens at the address: the server is not up (yet). Go: net.IsConnectionRefused."""
    return any(isinstance(each, ConnectionRefusedError) for each in family(err))
