"""The two ways in which a client turns its connection into streams: a WebSocket, and SPDY.

Mirrors the handshakes of apimachinery/pkg/util/httpstream and of wsstream.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from clientgo.apimachinery.util.httpstream import (
    HEADER_ACCEPTED_PROTOCOL_VERSIONS,
    HEADER_PROTOCOL_VERSION,
    NewStreamHandler,
)
from clientgo.apimachinery.util.httpstream.spdy import HEADER_SPDY_31, new_server_connection_with_pings
from clientgo.golang.net import SocketConn
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.errors import ApiError, PlainError
from clientgo.testing.apiserver.wire.http import Request, head

if TYPE_CHECKING:
    from clientgo.apimachinery.util.httpstream.spdy.connection import SpdyConnection
    from clientgo.transport.websocket import Conn as WebSocket

__all__ = ["is_spdy", "is_web_socket", "spdy_connection", "web_socket"]

_PING_PERIOD = 5.0


def _asks_for(request: Request, protocol: str) -> bool:
    return "upgrade" in request.headers.get("connection", "").lower() and request.header("upgrade").lower() == protocol


def is_web_socket(request: Request) -> bool:
    """Report whether the client asks for a WebSocket. Go: wsstream.IsWebSocketRequest."""
    return _asks_for(request, "websocket")


def is_spdy(request: Request) -> bool:
    """Report whether the client asks for SPDY."""
    return _asks_for(request, HEADER_SPDY_31.lower())


def _socket(request: Request) -> SocketConn:
    """Take the connection over from the server."""
    connection = request.connection
    unread = bytes(connection.buffer)
    connection.buffer.clear()
    return SocketConn(connection.sock, unread)


def _listed(request: Request, header: str) -> list[str]:
    """Return the elements of a header's values, which commas separate."""
    return [each.strip() for value in request.header_values(header) for each in value.split(",") if each.strip()]


def web_socket(request: Request, protocols: Sequence[str]) -> WebSocket:
    """Agree to a WebSocket with the first of the client's subprotocols that the server has. Raises ApiError."""
    if find_spec("websockets") is None:
        raise ApiError(501, "NotImplemented", "WebSockets need the extra `stream` of clientgo", {})
    # Here, not above: the extra may be absent, and other requests do not need it.
    from clientgo.transport.websocket.conn import Conn
    from clientgo.transport.websocket.handshake import ServerHandshake

    offered = _listed(request, "sec-websocket-protocol")
    chosen = next((each for each in offered if each in protocols), None)
    if chosen is None and (offered or "" not in protocols):
        raise errors.bad_request(f"unable to upgrade: unable to negotiate protocol: client supports {offered}")
    protocol = ServerHandshake(chosen or "")
    # The package parses the request again, and checks what belongs to the handshake.
    lines = [f"{request.method} / HTTP/1.1", *(f"{name}: {value}" for name, value in request.headers.items())]
    protocol.receive_data("".join(f"{line}\r\n" for line in [*lines, ""]).encode("utf-8", "replace"))
    events = protocol.events_received()
    if not events:
        raise errors.bad_request("unable to upgrade: invalid WebSocket handshake")
    response = protocol.accept(events[0])  # type: ignore[arg-type]  # a Request
    if response.status_code != 101:
        raise errors.bad_request(f"unable to upgrade: {bytes(response.body or b'').decode('utf-8', 'replace')}")
    protocol.send_response(response)
    conn = _socket(request)
    conn.write(b"".join(protocol.data_to_send()))
    return Conn(conn, protocol)


def spdy_connection(
    request: Request, protocols: Sequence[str], handler: NewStreamHandler
) -> tuple[SpdyConnection, str]:
    """Agree to SPDY with the first of the client's versions that the server has. Raises PlainError.

    Go: httpstream.Handshake.
    """
    offered = _listed(request, HEADER_PROTOCOL_VERSION.lower())
    if not offered:
        raise PlainError(400, f"unable to upgrade: header {HEADER_PROTOCOL_VERSION} does not exist in request\n")
    chosen = next((each for each in offered if each in protocols), None)
    if chosen is None:
        text = (
            f"unable to upgrade: unable to negotiate protocol: client supports [{' '.join(offered)}], "
            f"server accepts [{' '.join(protocols)}]; {HEADER_ACCEPTED_PROTOCOL_VERSIONS}\n"
        )
        raise PlainError(403, text)
    conn = _socket(request)
    answer = {"Connection": "Upgrade", "Upgrade": HEADER_SPDY_31, HEADER_PROTOCOL_VERSION: chosen}
    conn.write(head(101, answer))
    return new_server_connection_with_pings(conn, handler, _PING_PERIOD), chosen
