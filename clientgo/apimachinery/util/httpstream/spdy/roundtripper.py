"""Requests that turn their connection into one with SPDY streams.

Mirrors apimachinery/pkg/util/httpstream/spdy/roundtripper.go. Differences: `dial` of a rest.Config opens the
connection, in Go it does not; there is no UpgradeTransport.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from clientgo.apimachinery.api.errors import StatusError
from clientgo.apimachinery.util.httpstream.httpstream import (
    HEADER_CONNECTION,
    HEADER_UPGRADE,
    Connection,
    UpgradeFailureError,
    status_in,
)
from clientgo.apimachinery.util.httpstream.spdy.connection import new_client_connection_with_pings
from clientgo.golang.http import BytesBody, Request, Response
from clientgo.golang.http.connection import Answer
from clientgo.golang.http.connection import Connection as HTTPConnection
from clientgo.golang.http.header import encoded
from clientgo.golang.http.route import host_header, route_to
from clientgo.golang.http.upgrade import Dialing, upgrading
from clientgo.golang.net import SocketConn

__all__ = [
    "HEADER_SPDY_31",
    "RoundTripperConfig",
    "SpdyRoundTripper",
    "new_round_tripper",
    "new_round_tripper_with_config",
    "new_round_tripper_with_proxy",
]

HEADER_SPDY_31: Final = "SPDY/3.1"
_MAX_ERROR: Final = 64 << 10


@dataclass(frozen=True, kw_only=True)
class RoundTripperConfig:
    """The settings of a SpdyRoundTripper. Go: spdy.RoundTripperConfig."""

    tls: ssl.SSLContext | None = None
    """None trusts the system's authorities."""
    server_name: str = ""
    """The name that TLS verifies, if it is not the URL's host."""
    proxier: Callable[[str], str | None] | None = None
    """A function from a URL to the URL of its proxy, or None. By default the environment decides."""
    dial: Callable[[str, int], socket.socket] | None = None
    """A function that opens a TCP connection to (host, port)."""
    ping_period: float = 0.0
    """Seconds between two pings; 0 for none."""


class _Upgraded(BytesBody):
    """The body of a response that agrees to the upgrade: the connection."""

    def __init__(self, conn: SocketConn) -> None:
        super().__init__(b"")
        self.conn: SocketConn | None = conn

    def close(self) -> None:
        """Close the connection, unless `new_connection` has taken it over."""
        if self.conn is not None:
            self.conn.close()


class SpdyRoundTripper:
    """A round tripper that asks for SPDY streams, for one request at a time. Go: spdy.SpdyRoundTripper."""

    def __init__(self, cfg: RoundTripperConfig) -> None:
        self._cfg = cfg
        self._dialing = Dialing(
            ssl_context=cfg.tls, server_name=cfg.server_name, proxy=cfg.proxier, dial=cfg.dial
        )

    def round_trip(self, request: Request) -> Response:
        """See RoundTripper. The response has any status; `new_connection` checks it. Go: RoundTrip."""
        request = request.clone()
        request.headers[HEADER_CONNECTION] = HEADER_UPGRADE
        request.headers[HEADER_UPGRADE] = HEADER_SPDY_31
        with upgrading(request, self._dialing) as sock:
            url = urlsplit(request.url)
            headers = encoded(request.headers)
            if "Host" not in headers:
                headers["Host"] = host_header(url)
            if request.method in ("POST", "PUT", "PATCH"):
                headers["Content-Length"] = "0"
            target = (url.path or "/") + (f"?{url.query}" if url.query else "")
            connection = HTTPConnection(sock, route_to(url, None), None)
            connection.send_request(request.method, target, headers, None)
            answer = connection.answer()
            head = answer.head
            if answer.status != 101:
                body = answer.read(_MAX_ERROR)
                sock.close()
                return Response(
                    status_code=answer.status, reason=answer.reason, headers=head.headers, body=BytesBody(body)
                )
            upgraded = _Upgraded(SocketConn(sock, _unread(sock, answer)))
            return Response(status_code=101, reason=answer.reason, headers=head.headers, body=upgraded)

    def new_connection(self, resp: Response) -> Connection:
        """Return the connection of the response. Go: NewConnection.

        Raises StatusError if the server sent one, UpgradeFailureError for another response.
        """
        agreed = (
            HEADER_UPGRADE.lower() in resp.headers.get(HEADER_CONNECTION, "").lower()
            and HEADER_SPDY_31.lower() in resp.headers.get(HEADER_UPGRADE, "").lower()
        )
        if resp.status_code != 101 or not agreed or not isinstance(resp.body, _Upgraded) or resp.body.conn is None:
            body = resp.body.read()
            resp.close()
            status = status_in(body)
            if status is not None:
                raise StatusError(status)
            text = body.decode("utf-8", "replace").strip()
            raise UpgradeFailureError(ValueError(f"unable to upgrade connection: {text}"))
        conn, resp.body.conn = resp.body.conn, None
        return new_client_connection_with_pings(conn, self._cfg.ping_period)

    def __repr__(self) -> str:
        return "<SpdyRoundTripper>"


def _unread(sock: socket.socket, answer: Answer) -> bytes:
    """Return the bytes after the head that were read with it."""
    sock.setblocking(False)
    with contextlib.suppress(ssl.SSLError, OSError, ValueError):
        return bytes(answer.fp.peek())
    return b""


def new_round_tripper(tls: ssl.SSLContext | None) -> SpdyRoundTripper:
    """Return a round tripper with this TLS context. Go: NewRoundTripper."""
    return SpdyRoundTripper(RoundTripperConfig(tls=tls))


def new_round_tripper_with_proxy(
    tls: ssl.SSLContext | None, proxier: Callable[[str], str | None] | None
) -> SpdyRoundTripper:
    """Return a round tripper that connects through a proxy. Go: NewRoundTripperWithProxy."""
    return SpdyRoundTripper(RoundTripperConfig(tls=tls, proxier=proxier))


def new_round_tripper_with_config(cfg: RoundTripperConfig) -> SpdyRoundTripper:
    """Return a round tripper with these settings. Go: NewRoundTripperWithConfig."""
    return SpdyRoundTripper(cfg)
