"""The end of a response's body, the reuse of connections, and the bytes of a request."""

from __future__ import annotations

import io
import socket
import threading
from collections.abc import Iterator

import pytest
from httpscript import Answer as Scripted
from httpscript import ScriptedServer
from patience import PATIENCE

from clientgo.golang import http
from clientgo.golang.http.connection import Answer, Connection
from clientgo.golang.http.message import Header
from clientgo.golang.http.route import Route, host_header, route_to, urlsplit
from clientgo.golang.io import ErrUnexpectedEOF


@pytest.fixture
def ends() -> Iterator[tuple[Connection, socket.socket]]:
    near, far = socket.socketpair()
    connection = Connection(near, Route("http", "a", 80, None), None)
    yield connection, far
    connection.close()
    far.close()


def answered(ends: tuple[Connection, socket.socket], head: bytes, method: str = "GET") -> Answer:
    connection, far = ends
    connection.send_request(method, "/", Header({"Host": "a"}), None)
    far.sendall(head + b"\r\n\r\n")
    return connection.answer()


# Chunked, length, whether the connection ends with the body.
FRAMES = [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 7", (False, 7, False)),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nContent-Length: 7", (False, 7, False)),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: Close", (False, 7, True)),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: foo, close", (False, 7, True)),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: closed", (False, 7, False)),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked", (True, None, False)),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 7", (True, None, False)),
    (b"HTTP/1.1 200 OK", (False, None, True)),
    (b"HTTP/1.1 204 No Content", (False, 0, False)),
    (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7", (False, 0, False)),
    (b"HTTP/1.1 101 Switching Protocols\r\nContent-Length: 7", (False, 0, False)),
    (b"HTTP/1.0 200 OK\r\nContent-Length: 7", (False, 7, True)),
    (b"HTTP/1.0 200 OK\r\nContent-Length: 7\r\nConnection: Keep-Alive", (False, 7, False)),
    (b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked", (False, None, True)),
]


@pytest.mark.parametrize(("head", "frame"), FRAMES)
def test_the_frame_of_a_body(ends, head, frame):
    answer = answered(ends, head)
    assert (answer.chunked, answer.length, answer.will_close) == frame
    answer.close()


@pytest.mark.parametrize("framing", [b"Content-Length: 7", b"Transfer-Encoding: chunked"])
def test_the_answer_to_head_has_no_body(ends, framing):
    answer = answered(ends, b"HTTP/1.1 200 OK\r\n" + framing, "HEAD")
    assert (answer.chunked, answer.length, answer.will_close) == (False, 0, False)
    answer.close()


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        (b"Content-Length: -7", 'bad Content-Length "-7"'),
        (b"Content-Length: +7", r'bad Content-Length "\+7"'),
        (b"Content-Length: 7 7", 'bad Content-Length "7 7"'),
        (b"Content-Length: ", 'bad Content-Length ""'),
        (b"Content-Length: 99999999999999999999", 'bad Content-Length "99999999999999999999"'),
        (b"Content-Length: 7\r\nContent-Length: 8", r'multiple Content-Length headers; got \["7" "8"\]'),
        (b"Transfer-Encoding: gzip", 'unsupported transfer encoding: "gzip"'),
        (b"Transfer-Encoding: gzip, chunked", 'unsupported transfer encoding: "gzip, chunked"'),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "too many transfer encodings"),
    ],
)
def test_a_frame_in_doubt_is_no_answer(ends, headers, reason):
    with pytest.raises(ValueError, match=reason):
        answered(ends, b"HTTP/1.1 200 OK\r\n" + headers)


@pytest.mark.parametrize("body", [b"abc", "a stream", None])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_goes_out(body, method):
    transport = http.Transport(disable_compression=True)
    with ScriptedServer(lambda request: Scripted(200, b"{}")) as server:
        sent = http.Request(method=method, url=f"{server.url}/x?q=%20#fragment")
        if body == "a stream":
            sent.body = io.BytesIO(b"abc")
            sent.headers["Content-Length"] = "3"  # the server here reads no chunks
        else:
            sent.body = body
        http.Client(transport).do(sent).body.read()
        transport.close_idle_connections()
    (received,) = server.requests
    assert (received.method, received.target, received.body) == (method, "/x?q=%20", b"abc" if body else b"")
    expected = {"Host": f"127.0.0.1:{server.port}", "Accept-Encoding": "identity"}
    if body is not None or method == "POST":
        expected["Content-Length"] = str(3 if body is not None else 0)
    assert dict(received.headers) == expected


def test_a_stream_of_unknown_length_goes_out_in_chunks(ends):
    connection, far = ends
    connection.send_request("POST", "/", Header({"Host": "a"}), io.BytesIO(b"abc"))
    connection.sock.shutdown(socket.SHUT_WR)
    sent = b"".join(iter(lambda: far.recv(1000), b""))
    assert sent == b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: a\r\n\r\n3\r\nabc\r\n0\r\n\r\n"


def test_a_server_that_refuses_a_body_while_it_is_sent_has_its_answer_read(ends):
    """It answers, and hangs up on the rest."""
    connection, far = ends
    far.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
    far.shutdown(socket.SHUT_RDWR)
    connection.send_request("POST", "/", Header({"Host": "a", "Content-Length": "8000000"}), b"x" * 8_000_000)
    assert connection.answer().status == 413


@pytest.mark.parametrize(
    ("url", "host", "header"),
    [
        ("http://A.example/", "a.example", "A.example"),
        ("http://u:p@a.example:8080", "a.example", "a.example:8080"),
        ("https://[fd00::1]:6443", "fd00::1", "[fd00::1]:6443"),
        ("https://[fe80::1%25eth0]:6443", "fe80::1%eth0", "[fe80::1]:6443"),
    ],
)
def test_the_host_of_a_url(url, host, header):
    parts = urlsplit(url)
    assert (route_to(parts, None).host, host_header(parts)) == (host, header)


@pytest.mark.parametrize(
    ("url", "proxy", "reason"),
    [
        ("ftp://a", None, 'unsupported protocol scheme "ftp"'),
        ("a/b", None, 'unsupported protocol scheme ""'),
        ("http:///x", None, "http: no Host in request URL"),
        ("http://a", "socks4://u:secret@p", 'proxyconnect tcp: unsupported protocol scheme "socks4"'),
    ],
)
def test_what_has_no_way_is_said_without_a_password(url, proxy, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        route_to(urlsplit(url), proxy)
    assert "secret" not in str(caught.value)


# --- whose body it is ---


def endless(server: ScriptedServer) -> Iterator[bytes]:
    yield b"first"
    server.closing.wait()


@pytest.mark.parametrize("how", ["close", "abort"])
@pytest.mark.parametrize("framed", [True, False])
def test_a_blocked_reader_ends_when_another_thread_lets_go(how, framed):
    def answer(request: object) -> Scripted:
        return Scripted(chunks=endless(server)) if framed else Scripted(body=b"first", claimed_length=9, keep_open=True)

    with ScriptedServer(answer) as server:
        body = http.Client(http.Transport()).do(http.Request(method="GET", url=server.url)).body
        assert body.read_some() == b"first"
        failures: list[BaseException] = []

        def read() -> None:
            try:
                body.read_some()
            except (OSError, EOFError) as err:
                failures.append(err)

        reader = threading.Thread(target=read)
        reader.start()
        getattr(body, how)()
        reader.join(PATIENCE)
        assert not reader.is_alive()
        assert isinstance(failures[0], ConnectionAbortedError | ErrUnexpectedEOF)
        body.close()
        body.close()


def test_an_aborted_body_without_a_length_is_not_taken_for_whole():
    """Its end is the connection's, which an abort brings about."""
    with ScriptedServer(lambda request: Scripted(raw=b"HTTP/1.1 200 OK\r\n\r\nhalf")) as server:
        body = http.Client(http.Transport()).do(http.Request(method="GET", url=server.url)).body
        body.abort()
        with pytest.raises(ConnectionAbortedError, match="use of closed network connection"):
            body.read()
        body.close()


def test_a_body_that_is_closed_before_its_end_takes_its_connection_along():
    transport = http.Transport()
    with ScriptedServer(lambda request: Scripted(200, b"x" * 100)) as server:
        for _ in range(2):
            http.Client(transport).do(http.Request(method="GET", url=server.url)).close()
    assert [request.connection for request in server.requests] == [1, 2]
