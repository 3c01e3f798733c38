"""SPDY connections with a client's TLS and authentication. Mirrors k8s.io/client-go/transport/spdy."""

from clientgo.transport.spdy.spdy import Upgrader, negotiate, new_dialer, round_tripper_for

__all__ = ["Upgrader", "negotiate", "new_dialer", "round_tripper_for"]
