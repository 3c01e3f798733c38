"""Serving HTTP: what shutting down waits for. Go: http.Server.Shutdown."""

from __future__ import annotations

import contextlib
import errno
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from patience import PATIENCE

from clientgo import klog
from clientgo.golang import http
from clientgo.golang.http import server_connection
from clientgo.golang.http.server import ListenError, Request, RequestBodyTooLarge, ResponseWriter, Server, listen
from clientgo.golang.http.transport import Transport


class Serving:
    """A server whose one handler waits for the test."""

    def __init__(self) -> None:
        self.asked, self.go_on = threading.Event(), threading.Event()
        self.server = Server(self._handle, name="shutdown")
        listener = listen("127.0.0.1:0")
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.answers: list[object] = []
        self._threads = [
            threading.Thread(target=self.server.serve, args=(listener,), name="serve"),
            threading.Thread(target=self._get, name="get"),
        ]
        for thread in self._threads:
            thread.start()
        assert self.asked.wait(PATIENCE)

    def _handle(self, resp: ResponseWriter, req: Request) -> None:
        self.asked.set()
        self.go_on.wait(PATIENCE)
        resp.write("done")

    def _get(self) -> None:
        transport = Transport()
        try:
            self.answers.append(http.Client(transport).do(http.Request(method="GET", url=self.url)).body.read())
        except Exception as err:
            self.answers.append(err)
        transport.close_idle_connections()

    def join(self) -> None:
        self.go_on.set()
        for thread in self._threads:
            thread.join()


@pytest.fixture
def serving() -> Iterator[Serving]:
    made = Serving()
    yield made
    made.join()


def test_shutting_down_waits_for_a_request_that_is_served(serving: Serving) -> None:
    done = threading.Event()

    def shutdown() -> None:
        serving.server.shutdown()
        done.set()

    thread = threading.Thread(target=shutdown, name="shutdown")
    thread.start()
    assert not done.wait(0.05)
    serving.go_on.set()
    thread.join()
    serving.join()
    assert serving.answers == [b"done"]


def test_a_request_that_takes_too_long_is_cut_off(serving: Serving) -> None:
    with pytest.raises(TimeoutError, match="context deadline exceeded"):
        serving.server.shutdown(0.0)
    serving.join()
    assert isinstance(serving.answers[0], Exception)


@contextlib.contextmanager
def serve(handler: Callable[[ResponseWriter, Request], None], tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve the handler, and yield the port."""
    server, listener = Server(handler, name="raw", tls=tls), listen("127.0.0.1:0")
    thread = threading.Thread(target=server.serve, args=(listener,), name="serve")
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.shutdown(PATIENCE)
        thread.join()


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def answer(port: int, data: bytes) -> bytes:
    """Send bytes, and return the whole response up to the end of the connection."""
    received = b""
    with connect(port) as sock, contextlib.suppress(ConnectionError):
        sock.sendall(data)
        while part := sock.recv(65536):
            received += part
    return received


def echo(resp: ResponseWriter, req: Request) -> None:
    try:
        resp.write(req.read_body(10))
    except RequestBodyTooLarge as err:
        resp.write(f"more than {err.limit}")
    except OSError as err:
        resp.write(f"incomplete: {err}")


HEAD = b"POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    ("data", "status", "body"),
    [
        (b"Content-Length: 3\r\n\r\nabc", 200, b"abc"),
        (b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\nTrailer: 1\r\n\r\n", 200, b"abc"),
        (b"Content-Length: 11\r\n\r\n", 200, b"more than 10"),
        (b"Transfer-Encoding: chunked\r\n\r\nb\r\n", 200, b"more than 10"),
        (b"Transfer-Encoding: chunked\r\n\r\nx\r\n", 200, b"incomplete: malformed chunk"),
        (b"\r\n", 200, b""),
        (b"Content-Length: -1\r\n\r\n", 400, b"400 Bad Request: bad Content-Length"),
        (b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, b"400 Bad Request: several values of Content-Length"),
        (b"Transfer-Encoding: gzip\r\n\r\n", 501, b"501 Not Implemented: unsupported transfer encoding"),
        (b"Expect: wonders\r\nContent-Length: 1\r\n\r\n", 417, b"417 Expectation Failed: unknown expectation"),
    ],
)
def test_a_body_is_read_by_the_rules_of_go(data: bytes, status: int, body: bytes) -> None:
    with serve(echo) as port:
        head, _, rest = answer(port, HEAD + data).partition(b"\r\n\r\n")
    assert (head[9:12], rest) == (str(status).encode(), body)


@pytest.mark.parametrize(
    ("version", "body", "continues"),
    [
        ("1.1", b"Content-Length: 3\r\n\r\nabc", True),
        ("1.1", b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", True),
        ("1.1", b"Content-Length: 0\r\n\r\n", False),
        ("1.1", b"Content-Length: 11\r\n\r\n", False),
        ("1.0", b"Content-Length: 3\r\n\r\nabc", False),
    ],
)
def test_a_client_that_waits_for_it_is_told_to_send_its_body(version: str, body: bytes, continues: bool) -> None:
    with serve(echo) as port:
        head = f"POST /a HTTP/{version}\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\n".encode()
        received = answer(port, head + body)
    assert received.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK" if continues else b"HTTP/1.1 200 OK")


class SlowClient:
    """A socket whose buffer has room for so many bytes; with None it is full."""

    def __init__(self, room: int | None) -> None:
        self.room = room
        self.received = b""

    def sendmsg(self, parts: tuple[bytes, ...], *_: object) -> int:
        if self.room is None:
            raise BlockingIOError
        self.received += b"".join(parts)[: self.room]
        return len(self.received)

    def settimeout(self, seconds: float) -> None: ...

    def sendall(self, data: bytes) -> None:
        self.received += data


@pytest.mark.parametrize("room", [None, 0, 1, 4, 5, 8, 9])
def test_a_response_that_must_wait_for_its_client_arrives_whole(room: int | None) -> None:
    sock: Any = SlowClient(room)
    server_connection.Connection(sock, None, None)._write(b"head", b"body")  # type: ignore[arg-type]
    assert sock.received == b"headbody"


def test_an_unread_body_is_no_second_request() -> None:
    seen: list[str] = []

    def ignore(resp: ResponseWriter, req: Request) -> None:
        seen.append(req.path)

    smuggled = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    with serve(ignore) as port:
        data = f"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: {len(smuggled)}\r\n\r\n".encode() + smuggled
        assert b"Connection: close" in answer(port, data)
    assert seen == ["/a"]


def test_a_query_ignores_the_pairs_that_go_ignores() -> None:
    request = Request("GET", "/?a=1&b=x;y&c=%zz&%f=2&d=%C3%BC&e=%e2%82&f&=g&&a=%26")
    assert request.query() == {"a": ["1", "&"], "d": ["ü"], "e": ["\udce2\udc82"], "f": [""], "": ["g"]}


def test_a_text_that_is_not_valid_utf_8_is_written_as_its_bytes() -> None:
    response = ResponseWriter()
    response.write("cut \udce2\udc82")
    assert bytes(response.body) == b"cut \xe2\x82"


def test_a_connection_carries_several_requests_and_their_names_are_canonical() -> None:
    def names(resp: ResponseWriter, req: Request) -> None:
        resp.write(",".join(name for name, _ in req.headers.items()) + f" {req.method} {req.path} {req.query()}")

    with serve(names) as port:
        received = answer(
            port,
            b"GET /a%20b?x=1&y HTTP/1.1\r\nHOST: x\r\ncontent-type: t\r\n\r\n"
            b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        )
    assert b"Host,Content-Type GET /a b {'x': ['1'], 'y': ['']}" in received
    assert received.count(b"HTTP/1.1 200 OK") == 2


@pytest.mark.parametrize("trailer", [b"", b"A: 1\r\n", b"GET /smuggled HTTP/1.1\r\nHost: x\r\n"])
def test_a_trailer_is_no_part_of_the_next_request(trailer: bytes) -> None:
    seen: list[str] = []

    def read(resp: ResponseWriter, req: Request) -> None:
        seen.append(f"{req.path} {req.read_body(10)!r} {[name for name, _ in req.headers.items()]}")

    chunked = b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: x\r\n\r\n2\r\nab\r\n0\r\n"
    with serve(read) as port:
        answer(port, chunked + trailer + b"\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert seen == ["/a b'ab' ['Transfer-Encoding', 'Host']", "/b b'' ['Host', 'Connection']"]


@pytest.mark.parametrize("data", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_a_head_must_arrive_in_time(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_connection, "_HEAD_SECONDS", 0.1)
    with serve(echo) as port, connect(port) as sock:
        sock.sendall(data)
        assert sock.recv(1) == b""


def test_an_idle_connection_makes_room_for_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_connection, "_MAX_CONNECTIONS", 1)
    with serve(echo) as port, connect(port) as first:
        first.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert first.recv(12) == b"HTTP/1.1 200"
        # Until the first connection is idle, the server refuses others with 503.
        for _ in range(10_000):
            if answer(port, HEAD + b"\r\n").startswith(b"HTTP/1.1 200 "):
                break
        else:
            raise AssertionError("the idle connection stayed")
        first.recv(65536)
        assert first.recv(1) == b""


class FullListener(socket.socket):
    """A listener of a process that has no free descriptor for the first three attempts, nor for the fifth."""

    attempts = 0

    def accept(self) -> tuple[socket.socket, Any]:
        self.attempts += 1
        if self.attempts in (1, 2, 3, 5):
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


def test_a_server_without_free_descriptors_says_so_each_time_and_recovers(caplog: pytest.LogCaptureFixture) -> None:
    server, listener = Server(echo, name="full"), FullListener(fileno=listen("127.0.0.1:0").detach())
    thread = threading.Thread(target=server.serve, args=(listener,), name="serve")
    thread.start()
    try:
        received = answer(listener.getsockname()[1], HEAD + b"\r\n")
        assert received.startswith(b"HTTP/1.1 200 ")
        assert listener.attempts == 4
        (line,) = caplog.messages
        assert line.startswith('"Not accepting connections" err="') and "oo many open files" in line
        received = answer(listener.getsockname()[1], HEAD + b"\r\n")
    finally:
        server.shutdown(PATIENCE)
        thread.join()
    assert received.startswith(b"HTTP/1.1 200 ")
    assert [message.partition(" err=")[0] for message in caplog.messages] == ['"Not accepting connections"'] * 2


class HandshakeContext(ssl.SSLContext):
    """A TLS context that reports the first read of a handshake."""

    reading: threading.Event

    def wrap_socket(self, *args: Any, **kwargs: Any) -> ssl.SSLSocket:
        secure = super().wrap_socket(*args, **kwargs)
        handshake = secure.do_handshake

        def do_handshake() -> None:
            self.reading.set()
            handshake()

        secure.do_handshake = do_handshake  # type: ignore[method-assign, assignment]
        return secure


def test_a_client_that_stops_in_the_handshake_does_not_delay_a_shutdown() -> None:
    tls = HandshakeContext(ssl.PROTOCOL_TLS_SERVER)
    tls.reading = threading.Event()
    server, listener = Server(echo, tls=tls), listen("127.0.0.1:0")
    thread = threading.Thread(target=server.serve, args=(listener,), name="serve")
    thread.start()
    with connect(listener.getsockname()[1]) as silent:
        silent.sendall(b"\x16\x03\x01")
        assert tls.reading.wait(PATIENCE)
        server.shutdown(PATIENCE)
        thread.join(16.0)
        assert not thread.is_alive()
        with contextlib.suppress(ConnectionError):
            assert silent.recv(1) == b""
    thread.join()


def test_an_address_in_use_is_named_once_in_words() -> None:
    """Go: net.Listen"""
    with listen("127.0.0.1:0") as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ListenError) as raised:
            listen(address)
    assert str(raised.value) == f"listen tcp {address}: bind: address already in use"
    assert raised.value.errno == errno.EADDRINUSE


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("8080", "listen tcp: address 8080: missing port in address"),
        (":http", "listen tcp: address :http: unknown port"),
        (":65536", "listen tcp: address 65536: invalid port"),
        (":", "listen tcp: address :: unknown port"),
        (":\u00b2", "listen tcp: address :\u00b2: unknown port"),
        (":" + "9" * 5000, f"listen tcp: address {'9' * 5000}: invalid port"),
    ],
)
def test_a_malformed_address_is_named(address: str, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{text}$") as raised:
        listen(address)
    assert klog.is_operational(raised.value), "a program logs it on one line"


@pytest.mark.parametrize("host", ["a" * 64, "a..b", "nul\0", "\ud800"])
def test_a_host_that_is_no_name_has_no_address(host: str) -> None:
    with pytest.raises(ListenError, match=": no such host$"):
        listen(f"{host}:0")


def test_a_host_without_an_address_is_named() -> None:
    with pytest.raises(ListenError, match="^listen tcp: lookup no-such-host.invalid: no such host$"):
        listen("no-such-host.invalid:0")


_RAISED = [ValueError("boom"), SystemExit(1), TimeoutError("too late")]


@pytest.mark.parametrize("error", _RAISED, ids=lambda error: type(error).__name__)
def test_a_handler_that_raises_is_logged_and_answered(error: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    """Go: http: panic serving; sys.exit would end the thread of the connection without a message."""

    def fail(resp: ResponseWriter, req: Request) -> None:
        raise error

    server, listener = Server(fail, name="failing"), listen("127.0.0.1:0")
    thread = threading.Thread(target=server.serve, args=(listener,), name="serve")
    thread.start()
    transport = Transport()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/x"
    answer = http.Client(transport).do(http.Request(method="GET", url=url))
    assert (answer.status_code, answer.body.read()) == (500, b"internal server error\n")
    transport.close_idle_connections()
    server.shutdown()
    thread.join()
    first = caplog.messages[0].splitlines()[0]
    text = "too late" if isinstance(error, TimeoutError) else f"{type(error).__name__}: "
    assert first.startswith(f'"http: panic serving" err="{text}') and 'path="/x"' in first
    assert 'at="test_server.py:' in first
