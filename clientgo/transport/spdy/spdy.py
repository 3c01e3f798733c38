"""SPDY connections with a client's TLS and authentication. Mirrors transport/spdy/spdy.go.

Its functions for callers of k8s.io/streaming are absent: here is one package httpstream.
"""

from __future__ import annotations

from typing import Final, Protocol

from clientgo import rest, transport
from clientgo.apimachinery.util import httpstream
from clientgo.apimachinery.util.httpstream import spdy
from clientgo.golang.http import Request, Response, RoundTripper

__all__ = ["Upgrader", "negotiate", "new_dialer", "round_tripper_for"]

_PING_PERIOD: Final = 5.0


class Upgrader(Protocol):
    """The check of a response to a request for an upgrade. Go: spdy.Upgrader."""

    def new_connection(self, resp: Response) -> httpstream.Connection:
        """Return the connection of a response that agrees. Raises UpgradeFailureError, StatusError."""
        ...


def round_tripper_for(config: rest.Config) -> tuple[RoundTripper, Upgrader]:
    """Return a round tripper with the config's authentication, and the upgrader of its responses. Go: RoundTripperFor.

    Raises ValueError, OSError for an invalid config.
    """
    transport_config = config.transport_config()
    upgrade_round_tripper = spdy.new_round_tripper_with_config(
        spdy.RoundTripperConfig(
            tls=transport.tls_config_for(transport_config),
            server_name=transport_config.tls.server_name,
            proxier=config.proxy,
            dial=config.dial,
            ping_period=_PING_PERIOD,
        )
    )
    return transport.http_wrappers_for_config(transport_config, upgrade_round_tripper), upgrade_round_tripper


class _Dialer:
    """A dialer of SPDY connections to one URL. Go: spdy.dialer."""

    def __init__(self, upgrader: Upgrader, client: RoundTripper, method: str, url: str) -> None:
        self._upgrader = upgrader
        self._client = client
        self._method = method
        self._url = url

    def dial(self, *protocols: str) -> tuple[httpstream.Connection, str]:
        """See Dialer."""
        return negotiate(self._upgrader, self._client, Request(method=self._method, url=self._url), *protocols)


def new_dialer(upgrader: Upgrader, client: RoundTripper, method: str, url: str) -> httpstream.Dialer:
    """Return a dialer that connects to `url`. Go: NewDialer."""
    return _Dialer(upgrader, client, method, url)


def negotiate(
    upgrader: Upgrader, client: RoundTripper, req: Request, *protocols: str
) -> tuple[httpstream.Connection, str]:
    """Send the request, and return a connection with the protocol that the server chose, "" for none. Go: Negotiate.

    `client` is the round tripper of `round_tripper_for`. Blocks. Raises OSError, StatusError, UpgradeFailureError.
    """
    for protocol in protocols:
        req.headers.add(httpstream.HEADER_PROTOCOL_VERSION, protocol)
    resp = client.round_trip(req)
    connection = upgrader.new_connection(resp)
    return connection, resp.headers.get(httpstream.HEADER_PROTOCOL_VERSION, "")
