"""Names of the protocols of port forwarding. Mirrors k8s.io/apimachinery/pkg/util/portforward."""

from clientgo.apimachinery.util.portforward.constants import (
    KUBERNETES_SUFFIX,
    PORT_FORWARD_V1_NAME,
    WEBSOCKETS_SPDY_TUNNELING_PORT_FORWARD_V1,
    WEBSOCKETS_SPDY_TUNNELING_PREFIX,
)

__all__ = [
    "KUBERNETES_SUFFIX",
    "PORT_FORWARD_V1_NAME",
    "WEBSOCKETS_SPDY_TUNNELING_PORT_FORWARD_V1",
    "WEBSOCKETS_SPDY_TUNNELING_PREFIX",
]
