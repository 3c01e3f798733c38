"""A stream of bytes in the messages of a WebSocket."""

from __future__ import annotations

import pytest
from streamserver import stream_server
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection

from clientgo.golang.http import Request
from clientgo.golang.time import now
from clientgo.rest import Config
from clientgo.tools import portforward
from clientgo.tools.portforward import TunnelingConnection
from clientgo.transport import websocket


def tunnel(url: str) -> TunnelingConnection:
    round_tripper, holder = websocket.round_tripper_for(Config(host=url))
    conn = websocket.negotiate(round_tripper, holder, Request(method="GET", url=url), "tunnel")
    return portforward.new_tunneling_connection("client", conn)


def test_bytes_come_through_whatever_the_sizes_of_messages():
    """Go: TestTunnelingConnection_ReadWriteClose"""
    ends = []

    def script(conn: ServerConnection) -> None:
        try:
            while True:
                conn.send(conn.recv())
        except ConnectionClosed as err:
            ends.append(err.rcvd.code if err.rcvd else None)

    with stream_server(script, subprotocols=["tunnel"]) as url:
        conn = tunnel(url)
        conn.write(b"this is a test string")
        found = b""
        while len(found) < 21:
            piece = conn.read(4)
            assert 0 < len(piece) <= 4
            found += piece
        assert found == b"this is a test string"
        conn.close()
        conn.close()
        with pytest.raises(OSError):
            conn.write(b"x")
    assert ends == [1000]


def test_a_normal_close_is_the_end_of_the_stream():
    with stream_server(lambda conn: conn.close(1000), subprotocols=["tunnel"]) as url:
        conn = tunnel(url)
        assert conn.read() == b""
        conn.close()


def test_another_close_and_a_text_are_errors():
    with stream_server(lambda conn: conn.close(1011), subprotocols=["tunnel"]) as url:
        conn = tunnel(url)
        with pytest.raises(websocket.CloseError, match="close 1011"):
            conn.read()
        conn.close()
    with stream_server(lambda conn: conn.send("text"), subprotocols=["tunnel"]) as url:
        conn = tunnel(url)
        with pytest.raises(ValueError, match="invalid message type received"):
            conn.read()
        conn.close()


def test_it_has_the_addresses_of_its_socket():
    """Go: TestTunnelingConnection_LocalRemoteAddress"""
    seen = []
    with stream_server(lambda conn: seen.append(conn.remote_address), subprotocols=["tunnel"]) as url:
        conn = tunnel(url)
        assert conn.read() == b""
        assert conn.local_addr() == seen[0]
        assert conn.remote_addr()[1] == int(url.rstrip("/").rpartition(":")[2])
        conn.close()


def test_a_deadline_ends_a_read():
    """Go: TestTunnelingConnection_ReadWriteDeadlines"""

    def script(conn: ServerConnection) -> None:
        for _ in conn:
            pass

    with stream_server(script, subprotocols=["tunnel"]) as url:
        conn = tunnel(url)
        conn.set_deadline(now() - 1.0)
        with pytest.raises(TimeoutError, match="read: i/o timeout"):
            conn.read()
        conn.set_deadline(None)
        conn.write(b"works")
        conn.close()
