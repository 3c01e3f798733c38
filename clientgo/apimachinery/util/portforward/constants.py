"""Names of the protocols of port forwarding. Mirrors apimachinery/pkg/util/portforward/constants.go."""

from __future__ import annotations

from typing import Final

__all__ = [
    "KUBERNETES_SUFFIX",
    "PORT_FORWARD_V1_NAME",
    "WEBSOCKETS_SPDY_TUNNELING_PORT_FORWARD_V1",
    "WEBSOCKETS_SPDY_TUNNELING_PREFIX",
]

PORT_FORWARD_V1_NAME: Final = "portforward.k8s.io"
WEBSOCKETS_SPDY_TUNNELING_PREFIX: Final = "SPDY/3.1+"
KUBERNETES_SUFFIX: Final = ".k8s.io"
WEBSOCKETS_SPDY_TUNNELING_PORT_FORWARD_V1: Final = WEBSOCKETS_SPDY_TUNNELING_PREFIX + PORT_FORWARD_V1_NAME
