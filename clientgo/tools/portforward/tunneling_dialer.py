"""SPDY streams inside a WebSocket, which servers from 1.30 on offer.

Mirrors tools/portforward/tunneling_dialer.go.
"""

from __future__ import annotations

from typing import Final

from clientgo import klog, rest
from clientgo.apimachinery.util import httpstream
from clientgo.apimachinery.util.httpstream import spdy
from clientgo.apimachinery.util.portforward import WEBSOCKETS_SPDY_TUNNELING_PREFIX
from clientgo.golang.http import Request
from clientgo.tools.portforward.tunneling_connection import new_tunneling_connection
from clientgo.transport import websocket

__all__ = ["PING_PERIOD", "new_spdy_over_websocket_dialer"]

PING_PERIOD: Final = 10.0


class _TunnelingDialer:
    """A dialer for one connection. Go: tunnelingDialer."""

    def __init__(self, url: str, config: rest.Config) -> None:
        self._url = url
        self._transport, self._holder = websocket.round_tripper_for(config)

    def dial(self, *protocols: str) -> tuple[httpstream.Connection, str]:
        """See Dialer. Go: tunnelingDialer.Dial."""
        offered = [WEBSOCKETS_SPDY_TUNNELING_PREFIX + protocol for protocol in protocols]
        klog.v(4).info("Before WebSocket Upgrade Connection...")
        # A WebSocket begins with GET.
        request = Request(method="GET", url=self._url)
        conn = websocket.negotiate(self._transport, self._holder, request, *offered)
        protocol = conn.subprotocol.removeprefix(WEBSOCKETS_SPDY_TUNNELING_PREFIX)
        klog.v(4).info("Negotiation complete", protocol=protocol)
        tunnel = new_tunneling_connection("client", conn)
        return spdy.new_client_connection_with_pings(tunnel, PING_PERIOD), protocol


def new_spdy_over_websocket_dialer(url: str, config: rest.Config) -> httpstream.Dialer:
    """Return a dialer of a connection to `url`. Raises ValueError, OSError for an invalid config.

    Go: NewSPDYOverWebsocketDialer.
    """
    return _TunnelingDialer(url, config)
