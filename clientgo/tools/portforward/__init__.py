"""Local ports whose connections end at a pod. Mirrors k8s.io/client-go/tools/portforward.

`new_spdy_over_websocket_dialer` needs the extra `stream`: `pip install 'clientgo[stream]'`. kubectl uses both dialers:

    round_tripper, upgrader = spdy.round_tripper_for(config)
    dialer = portforward.new_fallback_dialer(
        portforward.new_spdy_over_websocket_dialer(url, config),
        spdy.new_dialer(upgrader, round_tripper, "POST", url),
        lambda err: httpstream.is_upgrade_failure(err) or httpstream.is_https_proxy_error(err),
    )
    portforward.new(dialer, ["8080:80"], stop, ready, sys.stdout, sys.stderr).forward_ports()
"""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.tools.portforward.fallback_dialer import FallbackDialer, new_fallback_dialer
    from clientgo.tools.portforward.portforward import (
        PORT_FORWARD_PROTOCOL_V1_NAME,
        ErrLostConnectionToPod,
        ForwardedPort,
        PortForwarder,
        new,
        new_on_addresses,
        new_on_addresses_with_context,
    )
    from clientgo.tools.portforward.tunneling_connection import TunnelingConnection, new_tunneling_connection
    from clientgo.tools.portforward.tunneling_dialer import PING_PERIOD, new_spdy_over_websocket_dialer
else:
    # The modules of the tunnel need the extra `stream`, the other ones do not.
    __getattr__, __dir__ = attach(
        __name__,
        {
            "fallback_dialer": ["FallbackDialer", "new_fallback_dialer"],
            "portforward": [
                "PORT_FORWARD_PROTOCOL_V1_NAME",
                "ErrLostConnectionToPod",
                "ForwardedPort",
                "PortForwarder",
                "new",
                "new_on_addresses",
                "new_on_addresses_with_context",
            ],
            "tunneling_connection": ["TunnelingConnection", "new_tunneling_connection"],
            "tunneling_dialer": ["PING_PERIOD", "new_spdy_over_websocket_dialer"],
        },
    )

__all__ = [
    "PING_PERIOD",
    "PORT_FORWARD_PROTOCOL_V1_NAME",
    "ErrLostConnectionToPod",
    "FallbackDialer",
    "ForwardedPort",
    "PortForwarder",
    "TunnelingConnection",
    "new",
    "new_fallback_dialer",
    "new_on_addresses",
    "new_on_addresses_with_context",
    "new_spdy_over_websocket_dialer",
    "new_tunneling_connection",
]
