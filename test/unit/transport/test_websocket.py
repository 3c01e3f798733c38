"""WebSocket handshakes: authentication, TLS, proxies, and servers that refuse."""

from __future__ import annotations

import http
import json
import socket
import ssl
from collections.abc import Callable
from typing import Any

import pytest
from certificates import Authority
from proxies import HTTPProxy, SOCKSProxy
from streamserver import V5, stream_server
from websockets.datastructures import Headers
from websockets.http11 import Response
from websockets.sync.server import ServerConnection

from clientgo.apimachinery.api.errors import StatusError
from clientgo.apimachinery.util import httpstream
from clientgo.golang.goroutine import go
from clientgo.golang.http import Request
from clientgo.golang.io import ErrUnexpectedEOF
from clientgo.golang.net import ErrClosed
from clientgo.rest import Config
from clientgo.transport import websocket
from clientgo.transport.websocket.conn import BINARY, TEXT


def negotiate(config: Config, *protocols: str, url: str = "") -> websocket.Conn:
    round_tripper, holder = websocket.round_tripper_for(config)
    return websocket.negotiate(round_tripper, holder, Request(method="GET", url=url or config.host), *protocols)


def refusal(status: int, body: bytes) -> Callable[..., Any]:
    def process_request(conn: ServerConnection, request: Any) -> Response:
        phrase = http.HTTPStatus(status).phrase
        return Response(status, phrase, Headers({"Content-Length": str(len(body)), "Connection": "close"}), body)

    return process_request


def echo(conn: ServerConnection) -> None:
    for message in conn:
        conn.send(message)


def test_a_connection_has_the_negotiated_protocol_and_carries_messages():
    """
    Go: TestWebSocketRoundTripper_RoundTripperSucceeds
    Go: TestWebSocketRoundTripper_NegotiateCreatesConnection
    """
    with stream_server(echo, subprotocols=["other", V5]) as url:
        conn = negotiate(Config(host=url), V5)
        assert conn.subprotocol == V5
        for kind, data in ((BINARY, b"\x00\xff" * 70_000), (TEXT, b"text")):
            conn.write_message(kind, data)
            found = b""
            while True:
                piece = conn.read_piece()
                found += piece.data
                if piece.is_last:
                    break
            assert (piece.kind, found) == (kind, data)
        assert conn.remote_addr()[1] == int(url.rstrip("/").rpartition(":")[2])
        conn.write_close()
        with pytest.raises(websocket.CloseError, match=r"websocket: close 1000 \(normal\)"):
            conn.read_piece()
        with pytest.raises(ConnectionError, match="websocket: close sent"):
            conn.write_message(BINARY, b"x")
        conn.close()


@pytest.mark.parametrize(
    ("status", "body", "wanted"),
    [
        pytest.param(
            403, b"", "websocket: bad handshake (403 Forbidden)", id="Empty response body still returns status"
        ),
        pytest.param(
            500,
            b" \n",
            "websocket: bad handshake (500 Internal Server Error)",
            id="Empty response status still returns basic websocket error",
        ),
        pytest.param(
            403,
            b"RBAC violated\n",
            "websocket: bad handshake (403 Forbidden): RBAC violated",
            id="Error response body returned as string when can not be cast as metav1.Status",
        ),
        pytest.param(
            400,
            b'{"kind": "Pod"}',
            'websocket: bad handshake (400 Bad Request): {"kind": "Pod"}',
            id="JSON that is no Status",
        ),
    ],
)
def test_a_server_that_refuses_is_an_upgrade_failure_with_its_text(status, body, wanted):
    """Go: TestWebSocketRoundTripper_RoundTripperFails"""
    with stream_server(echo, process_request=refusal(status, body)) as url, pytest.raises(Exception) as caught:
        negotiate(Config(host=url), V5)
    assert httpstream.is_upgrade_failure(caught.value)
    assert str(caught.value) == f"unable to upgrade streaming request: {wanted}"


def test_a_status_of_the_server_is_the_cause():
    """Go: TestWebSocketRoundTripper_RoundTripperFails/Error returned as metav1.Status within response body"""
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "message": "not you"}
    body = json.dumps({**status, "code": 403}).encode()
    with stream_server(echo, process_request=refusal(403, body)) as url, pytest.raises(Exception) as caught:
        negotiate(Config(host=url), V5)
    assert isinstance(caught.value, httpstream.UpgradeFailureError)
    cause = caught.value.cause
    assert isinstance(cause, StatusError)
    assert (cause.status().reason, str(cause)) == ("Forbidden", "not you")


def test_a_server_without_our_protocol_is_an_upgrade_failure():
    def pick_another(conn: ServerConnection, request: Any, response: Response) -> Response:
        response.headers["Sec-WebSocket-Protocol"] = "v9"
        return response

    wanted = r'invalid protocol, expected one of \["v5.channel.k8s.io"\], got "v9"'
    with (
        stream_server(echo, subprotocols=[], process_response=pick_another) as url,
        pytest.raises(httpstream.UpgradeFailureError, match=wanted),
    ):
        negotiate(Config(host=url), V5)


def test_a_server_that_chooses_no_protocol_is_an_upgrade_failure():
    def pick_none(conn: ServerConnection, request: Any, response: Response) -> Response:
        del response.headers["Sec-WebSocket-Protocol"]
        return response

    with (
        stream_server(echo, process_response=pick_none) as url,
        pytest.raises(httpstream.UpgradeFailureError, match='got ""'),
    ):
        negotiate(Config(host=url), V5)


def test_a_wrong_key_is_an_upgrade_failure():
    def forget(conn: ServerConnection, request: Any, response: Response) -> Response:
        response.headers["Sec-WebSocket-Accept"] = "wrong"
        del response.headers["Sec-WebSocket-Accept"]
        return response

    with (
        stream_server(echo, process_response=forget) as url,
        pytest.raises(httpstream.UpgradeFailureError, match="bad handshake"),
    ):
        negotiate(Config(host=url), V5)


def test_a_server_that_hangs_up_is_no_upgrade_failure():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def hang_up() -> None:
            sock, _ = listener.accept()
            with sock:
                sock.recv(65536)

        server = go(hang_up, "test-server")
        with pytest.raises(ErrUnexpectedEOF):
            negotiate(Config(host=f"http://127.0.0.1:{listener.getsockname()[1]}/"), V5)
        server.result()


def test_the_handshake_has_the_clients_authentication():
    seen: list[Any] = []

    def look(conn: ServerConnection, request: Any) -> None:
        seen.append(request)

    with stream_server(echo, process_request=look) as url:
        config = Config(host=url, bearer_token="secret", user_agent="me/1")
        negotiate(config, V5, url=f"{url}api/v1/x?command=a%20b&command=c").close()
    headers = seen[0].headers
    assert (headers["Authorization"], headers["User-Agent"]) == ("Bearer secret", "me/1")
    assert (seen[0].path, headers["Upgrade"]) == ("/api/v1/x?command=a%20b&command=c", "websocket")
    assert headers.get_all("Sec-WebSocket-Protocol") == [V5]


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_a_proxy_only_forwards_bytes(kind):
    """Go: TestWebSocketClient_ProxySucceeds"""
    with stream_server(echo) as url:
        port = int(url.rstrip("/").rpartition(":")[2])
        with HTTPProxy(port) if kind == "http" else SOCKSProxy(port) as proxy:
            conn = negotiate(Config(host="http://cluster.example/", proxy=lambda _url: proxy.url), V5)
            conn.write_message(BINARY, b"through")
            assert conn.read_piece().data == b"through"
            conn.close()
            assert len(proxy.asked) == 1
            assert "cluster.example" in proxy.asked[0]


def test_a_proxy_that_speaks_tls_is_refused_as_in_go():
    """Go: TestFallbackClient_WebSocketHTTPSProxyNoFallback"""
    with pytest.raises(ValueError) as caught:
        negotiate(Config(host="http://cluster.example/", proxy=lambda _url: "https://proxy.example"), V5)
    assert httpstream.is_https_proxy_error(caught.value)
    assert not httpstream.is_upgrade_failure(caught.value)


def test_tls_verifies_the_server_and_carries_messages_in_both_directions(tmp_path):
    authority = Authority(tmp_path)
    pair = authority.issue("server", "IP:127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.cert, pair.key)
    with stream_server(echo, ssl=context) as url:
        secure = url.replace("http://", "https://")
        conn = negotiate(Config(host=secure, ca_data=authority.data), V5)
        sent = [b"%d " % number * 100 for number in range(500)]
        reader = go(lambda: [conn.read_piece().data for _ in sent], "test-reader")
        for data in sent:
            conn.write_message(BINARY, data)
        assert reader.result() == sent
        # A read that waits ends with the connection, in TLS too.
        waiting = go(conn.read_piece, "test-reader")
        conn.close()
        with pytest.raises(ErrClosed):
            waiting.result()
        with pytest.raises(OSError, match="failed to verify certificate"):
            negotiate(Config(host=secure), V5)


def test_another_scheme_is_refused():
    with pytest.raises(ValueError, match="unknown url scheme: ftp"):
        negotiate(Config(host="http://x"), V5, url="ftp://x/")


def test_a_round_tripper_shows_the_size_of_its_buffers() -> None:
    """Go: RoundTripper.DataBufferSize"""
    assert websocket.RoundTripper().data_buffer_size() == 32 * 1024
