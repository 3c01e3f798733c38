"""WebSocket connections with a client's TLS and authentication.

Mirrors transport/websocket/roundtripper.go. Differences: a handshake without a byte of the response ends after 60
seconds, in Go never; `dial` of a rest.Config opens the connection; a message has at most 16 MiB (conn.py). As in Go, a
proxy that speaks TLS is refused, and `httpstream.is_https_proxy_error` reports it.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from typing import Any, Final, Protocol
from urllib.parse import urlsplit, urlunsplit

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidStatus, NegotiationError
from websockets.http11 import Request as Handshake

from clientgo import rest, transport
from clientgo.apimachinery.api.errors import StatusError
from clientgo.apimachinery.util.httpstream import UpgradeFailureError
from clientgo.apimachinery.util.httpstream.httpstream import status_in
from clientgo.golang import http
from clientgo.golang.http import Header, Request, Response
from clientgo.golang.http.header import encoded
from clientgo.golang.http.upgrade import Dialing, upgrading
from clientgo.golang.io import ErrUnexpectedEOF
from clientgo.golang.net import SocketConn
from clientgo.golang.strconv import quote
from clientgo.transport.websocket.conn import Conn
from clientgo.transport.websocket.handshake import ClientHandshake

__all__ = ["ConnectionHolder", "RoundTripper", "negotiate", "round_tripper_for"]

WEB_SOCKET_PROTOCOL_HEADER: Final = "Sec-Websocket-Protocol"
_BUFFER_SIZE: Final = 32 << 10
_MAX_ERROR: Final = 64 << 10
# The handshake has its own values for them.
_OF_THE_HANDSHAKE: Final = ("upgrade", "connection", "sec-websocket-key", "sec-websocket-version")


class ConnectionHolder(Protocol):
    """A holder of the connection after the handshake. Go: websocket.ConnectionHolder."""

    def data_buffer_size(self) -> int:
        """Return the size of the buffers in bytes."""
        ...

    def connection(self) -> Conn | None:
        """Return the connection, or None before the handshake."""
        ...


class RoundTripper:
    """A round tripper whose response is a WebSocket connection, for one request. Go: websocket.RoundTripper."""

    def __init__(
        self,
        tls_config: ssl.SSLContext | None = None,
        proxier: Callable[[str], str | None] | None = None,
        *,
        server_name: str = "",
        dial: Callable[[str, int], socket.socket] | None = None,
    ) -> None:
        """Initialize a round tripper. `proxier` returns the URL of a URL's proxy, or None; by default the environment
        decides.
        """
        self.tls_config = tls_config
        self.proxier = proxier
        self.conn: Conn | None = None
        self._server_name = server_name
        self._dial = dial

    def connection(self) -> Conn | None:
        """Return the connection, or None before `round_trip`. Go: Connection."""
        return self.conn

    def data_buffer_size(self) -> int:
        """Return the size of the buffers in bytes. Go: DataBufferSize."""
        return _BUFFER_SIZE

    def tls_client_config(self) -> ssl.SSLContext | None:
        """Return the TLS context. Go: TLSClientConfig."""
        return self.tls_config

    def round_trip(self, request: Request) -> Response:
        """Do the handshake; `connection` then returns the connection. Blocks. Go: RoundTrip.

        Raises UpgradeFailureError if the server does not agree, OSError, EOFError, ValueError.
        """
        dialing = Dialing(
            ssl_context=self.tls_config, server_name=self._server_name, proxy=self.proxier, dial=self._dial
        )
        url = urlsplit(request.url)
        if url.scheme not in ("http", "https"):
            raise ValueError(f"unknown url scheme: {url.scheme}")
        proxy = dialing.proxy_of(request.url)
        if proxy is not None and urlsplit(proxy).scheme == "https":
            raise ValueError("proxy: unknown scheme: https")
        protocols = request.headers.getlist(WEB_SOCKET_PROTOCOL_HEADER)
        target = urlunsplit(url._replace(scheme="wss" if url.scheme == "https" else "ws", fragment=""))
        protocol = ClientHandshake(target, protocols)
        with upgrading(request, dialing) as sock:
            handshake = protocol.connect()
            for name, value in encoded(request.headers).items():
                if name.lower() not in _OF_THE_HANDSHAKE and name.lower() != WEB_SOCKET_PROTOCOL_HEADER.lower():
                    if name.lower() == "host":
                        del handshake.headers["Host"]
                    handshake.headers[name] = value
            headers, frames = _shake_hands(sock, protocol, handshake, protocols)
            self.conn = Conn(SocketConn(sock), protocol, frames)
        return Response(status_code=101, reason="Switching Protocols", headers=headers)

    def __repr__(self) -> str:
        return f"<websocket.RoundTripper {self.conn!r}>"


def _shake_hands(
    sock: socket.socket, protocol: ClientProtocol, handshake: Handshake, protocols: list[str]
) -> tuple[Header, list[Any]]:
    """Send the request. Return the headers of the response, and the frames that came with it.

    Raises UpgradeFailureError, EOFError, OSError.
    """
    protocol.send_request(handshake)
    sock.sendall(b"".join(protocol.data_to_send()))
    events: list[Any] = []
    while protocol.handshake_exc is None and not events:
        data = sock.recv(_BUFFER_SIZE)
        if data:
            protocol.receive_data(data)
        else:
            protocol.receive_eof()
        events += protocol.events_received()
    failure = protocol.handshake_exc
    if failure is not None:
        raise _failure(failure, protocols) from failure
    chosen = protocol.subprotocol or ""
    if protocols and chosen not in protocols:
        raise UpgradeFailureError(ValueError(_invalid_protocol(protocols, chosen)))
    headers = Header()
    for name, value in events[0].headers.raw_items():
        headers.add(name, value)
    return headers, events[1:]


def _invalid_protocol(protocols: list[str], chosen: str) -> str:
    wanted = " ".join(quote(each) for each in protocols)
    return f"invalid protocol, expected one of [{wanted}], got {quote(chosen)}"


def _failure(err: Exception, protocols: list[str]) -> Exception:
    """Return the error of a handshake in Go's words."""
    if isinstance(err, InvalidStatus):
        return UpgradeFailureError(_cause(err))
    if isinstance(err, NegotiationError):
        return UpgradeFailureError(ValueError(_invalid_protocol(protocols, str(err).rpartition(": ")[2])))
    if isinstance(err, (EOFError, InvalidMessage)):
        cut = isinstance(err, EOFError) or isinstance(err.__cause__, EOFError)
        return ErrUnexpectedEOF() if cut else ValueError(f"malformed HTTP response: {err.__cause__ or err}")
    if isinstance(err, InvalidHandshake):
        return UpgradeFailureError(ValueError("websocket: bad handshake (101 Switching Protocols)"))
    return err


def _cause(err: InvalidStatus) -> Exception:
    """Return a StatusError if the response has one, otherwise an error with its status and text."""
    response = err.response
    text = f"websocket: bad handshake ({response.status_code} {response.reason_phrase})"
    body = bytes(response.body or b"")[:_MAX_ERROR]
    status = status_in(body)
    if status is not None:
        return StatusError(status)
    details = body.decode("utf-8", "replace").strip()
    return ValueError(f"{text}: {details}" if details else text)


def round_tripper_for(config: rest.Config) -> tuple[http.RoundTripper, ConnectionHolder]:
    """Return a round tripper with the config's authentication, and the holder of its connection. Go: RoundTripperFor.

    Raises ValueError, OSError for an invalid config.
    """
    transport_config = config.transport_config()
    upgrade_round_tripper = RoundTripper(
        transport.tls_config_for(transport_config),
        config.proxy,
        server_name=transport_config.tls.server_name,
        dial=config.dial,
    )
    return transport.http_wrappers_for_config(transport_config, upgrade_round_tripper), upgrade_round_tripper


def negotiate(rt: http.RoundTripper, connection_info: ConnectionHolder, req: Request, *protocols: str) -> Conn:
    """Open a connection with one of the subprotocols, the preferred one first. Blocks. Go: Negotiate.

    `rt` and `connection_info` come from one call of `round_tripper_for`. Raises UpgradeFailureError, OSError, EOFError.
    """
    req.headers.discard(WEB_SOCKET_PROTOCOL_HEADER)
    for protocol in protocols:
        req.headers.add(WEB_SOCKET_PROTOCOL_HEADER, protocol)
    rt.round_trip(req).close()
    connection = connection_info.connection()
    if connection is None:
        raise ValueError("negotiated websocket connection is nil")
    return connection
