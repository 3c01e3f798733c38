"""The wire itself: what is an HTTP request and what is none, as Go's server sees it, and what no client may cost."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest
from apiclient import eventually
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE

from clientgo.golang.http import server_connection, server_request
from clientgo.golang.http.server_request import Malformed, parse_head
from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.wire import http
from clientgo.testing.apiserver.wire.warnings import warning_headers

pytestmark = pytest.mark.shared_server

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
# The fixture of conftest.py.
Send: TypeAlias = Callable[[Environment, bytes], bytes]


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment() as made:
        yield made


def connect(env: Environment) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(env.url.rpartition(":")[2])), timeout=PATIENCE)


def read_all(sock: socket.socket) -> bytes:
    answer = b""
    while part := sock.recv(65536):
        answer += part
    return answer


# ---- heads


def code_of(raw: bytes) -> int:
    try:
        request = parse_head(raw)
        if not server_request.is_chunked(request):
            server_request.content_length(request)
    except Malformed as err:
        return err.code
    return 200


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"GET / HTTP/1.1\r\nHost: x", 200),
        (b"GET / HTTP/1.1\nHost: x", 200),
        (b"GET / HTTP/1.0", 200),
        (b"GET / HTTP/1.9\r\nHost: x", 200),
        (b"get / HTTP/1.1\r\nhOST:x", 200),
        (b"GET http://x/api HTTP/1.1\r\nHost: x", 200),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: 1\r\n 2", 200),
        (b"GET / HTTP/1.1\r\nHost:", 200),
        (b"GET / HTTP/1.1", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nHost: x", 400),
        (b"GET / HTTP/1.1\r\nHost: a/b", 400),
        (b"GET / HTTP/1.10\r\nHost: x", 400),
        (b"GET / HTTP/1\r\nHost: x", 400),
        (b"GET / http/1.1\r\nHost: x", 400),
        (b"GET / HTTP/1.1 \r\nHost: x", 400),
        (b"GET  / HTTP/1.1\r\nHost: x", 400),
        (b"GET / HTTP/\xd9\xa1.1\r\nHost: x", 400),
        (b"GET / HTTP/2.0\r\nHost: x", 505),
        (b"GET / HTTP/0.9\r\nHost: x", 505),
        (b"G\x00T / HTTP/1.1\r\nHost: x", 400),
        ("GÉT / HTTP/1.1\r\nHost: x".encode(), 400),
        (b"GET nonsense HTTP/1.1\r\nHost: x", 400),
        (b"GET /%zz HTTP/1.1\r\nHost: x", 400),
        (b"GET http://[bad HTTP/1.1\r\nHost: x", 400),
        (b"GET / HTTP/1.1\r\n Host: x", 400),
        (b"GET / HTTP/1.1\r\nHost : x", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nno colon", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: a\rB: b", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: a\x00", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 5", 200),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: +5", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1_0", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x5", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: " + b"9" * 5000, 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: " + b"0" * 5000 + b"7", 200),
        (b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked", 200),
        (b"GET / HTTP/1.0\r\nTransfer-Encoding: gzip", 200),
        (b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked", 501),
        (b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity", 501),
        (b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 501),
    ],
)
def test_a_head_is_read_as_go_reads_it(raw: bytes, code: int) -> None:
    assert code_of(raw) == code


@pytest.mark.parametrize(
    ("line", "size"),
    [
        (b"a", 10), (b"0A;name=value", 10), (b"5 ", 5), (b"000", 0),
        (b"-5", None), (b"+5", None), (b"0x5", None), (b"1_0", None), (b"", None), (b";a", None), (b" 5", None),
        (b"g", None), (b"1" * 17, None), (b"5\rx", None),
    ],
)  # fmt: skip
def test_a_chunk_size_is_a_plain_hexadecimal_number(line: bytes, size: int | None) -> None:
    if size is not None:
        assert server_request.chunk_size(line) == size
        return
    with pytest.raises(Malformed):
        server_request.chunk_size(line)


PIECES = [b"GET", b" ", b"/", b"HTTP/1.1", b"\r\n", b"\n", b"\r", b":", b"Host", b"\x00", b"\xff", b"%", b"?", b"a"]
PIECES += [b"Content-Length", b"Transfer-Encoding", b"chunked", b"5", b"\t"]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join) | st.binary(max_size=60))
def test_any_bytes_are_a_request_or_malformed(raw: bytes) -> None:
    with contextlib.suppress(Malformed):
        request = parse_head(raw)
        server_request.is_chunked(request)
        server_request.content_length(request)
        assert isinstance(request.keep_alive, bool)


def test_repeated_headers_keep_their_values_apart() -> None:
    request = parse_head(b"GET / HTTP/1.1\r\nHost: x\r\nA: 1, 2\r\na: 3")
    # Go: Header.Get and Header.Values.
    assert (request.header("a"), request.header_values("a")) == ("1, 2", ["1, 2", "3"])
    assert (request.header_values("host"), request.header_values("b")) == (["x"], [])


def test_a_path_may_begin_with_two_slashes() -> None:
    assert parse_head(b"GET //api/v1?a=b HTTP/1.1\r\nHost: x").path == "//api/v1"


@pytest.mark.parametrize(
    ("version", "connection", "kept"),
    [
        ("1.1", "", True), ("1.1", "close", False), ("1.1", "Close, TE", False), ("1.1", "te, close", False),
        ("1.1", "closer", True), ("1.0", "", False), ("1.0", "Keep-Alive", True), ("1.0", "keep-alive, close", False),
    ],
)  # fmt: skip
def test_who_wants_to_keep_the_connection(env: Environment, version: str, connection: str, kept: bool) -> None:
    header = f"Connection: {connection}\r\n" if connection else ""
    with connect(env) as sock:
        sock.sendall(f"GET /readyz HTTP/{version}\r\nHost: x\r\n{header}\r\n".encode())
        answer = sock.recv(65536)
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert answer.endswith(b"\r\n\r\nok")
        assert (b"Connection: close" in answer) == (not kept)
        sock.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            assert (b"200 OK" in read_all(sock)) == kept


def test_a_watch_over_http_1_0_has_no_chunks_and_closes(env: Environment, send: Send) -> None:
    env.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old"}})
    path = f"{CONFIG_MAPS}?watch=1&timeoutSeconds=-1"
    answer = send(env, f"GET {path} HTTP/1.0\r\nAuthorization: Bearer {env.token}\r\n\r\n".encode())
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"Transfer-Encoding" not in head
    assert [json.loads(line)["type"] for line in body.splitlines()] == ["ADDED"]
    answer = send(env, f"GET {path}&resourceVersion=1 HTTP/1.0\r\nAuthorization: Bearer {env.token}\r\n\r\n".encode())
    assert b"Transfer-Encoding" not in answer


@pytest.mark.parametrize("connection", ["close", "close, te"])
def test_a_watch_closes_the_connection_that_is_not_to_be_kept(env: Environment, connection: str) -> None:
    path = f"{CONFIG_MAPS}?watch=1&timeoutSeconds=-1"
    head = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: {connection}\r\nAuthorization: Bearer {env.token}\r\n\r\n"
    with connect(env) as sock:
        sock.sendall(head.encode())
        answer = read_all(sock)
    assert b"Connection: close" in answer
    assert answer.endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("seconds", ["-1", "9223372036854775807"])
def test_a_watch_may_ask_for_any_number_of_seconds(env: Environment, seconds: str, send: Send) -> None:
    head = f"Host: x\r\nAuthorization: Bearer {env.token}\r\n"
    with connect(env) as sock:
        sock.sendall(f"GET {CONFIG_MAPS}?watch=1&timeoutSeconds={seconds} HTTP/1.1\r\n{head}\r\n".encode())
        assert sock.recv(12) == b"HTTP/1.1 200"
    path = f"{CONFIG_MAPS}?watch=1&timeoutSeconds={seconds}0"
    if seconds != "-1":
        assert b"value out of range" in send(env, f"GET {path} HTTP/1.1\r\n{head}\r\n".encode())


# ---- what no client may cost


@pytest.mark.parametrize("data", [b"GET / HT", b"GET / HTTP/1.1\r\nA: b\r\n"])
def test_a_head_has_to_arrive_in_time(env: Environment, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_connection, "_HEAD_SECONDS", 0.2)
    with connect(env) as sock:
        sock.sendall(data)
        assert sock.recv(65536) == b""


def test_drops_do_not_make_more_time(env: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is for the whole head: who sends a byte now and then is hung up on as well."""
    monkeypatch.setattr(server_connection, "_HEAD_SECONDS", 0.5)
    with connect(env) as sock:
        sock.settimeout(0.05)
        answer: bytes | None = None
        sent = 0
        while answer is None and sent < 1000:
            with contextlib.suppress(ConnectionError):
                sock.sendall(b"A")
            sent += 1
            try:
                answer = sock.recv(65536)
            except TimeoutError:
                continue
            except ConnectionError:
                answer = b""
    assert answer == b""


def test_a_body_has_to_arrive_in_time(env: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_connection, "_BODY_SECONDS", 0.2)
    with connect(env) as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nshort")
        assert sock.recv(65536) == b""


@pytest.mark.parametrize(
    "data",
    [
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nshort",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1" + b";" * 5000 + b"\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + (b"1;" + b"a" * 30 + b"\r\nx\r\n") * 2000,
    ],
)  # fmt: skip
def test_a_body_that_is_framed_wrongly_is_a_bad_request(env: Environment, data: bytes, send: Send) -> None:
    assert send(env, data).startswith(b"HTTP/1.1 400 ")


def test_a_large_head_is_refused_and_costs_linear_time(env: Environment, send: Send) -> None:
    line = b"a:b\r\n"
    head = b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    full = head + line * ((server_connection.MAX_HEAD - len(head) - 2) // len(line)) + b"\r\n"
    assert send(env, full).startswith(b"HTTP/1.1 200 ")
    assert send(env, head + line * (server_connection.MAX_HEAD // 2)).startswith(b"HTTP/1.1 431 ")


def test_a_header_of_many_lines_costs_linear_time() -> None:
    head = b"GET / HTTP/1.1\r\nHost: x\r\nA: 1\r\n" + b"\t2\r\n" * 240_000 + b"B: 3\r\n 4"
    started = time.thread_time()
    request = parse_head(head)
    assert time.thread_time() - started < 1.5, "copying the value for each line takes several seconds"
    assert (request.header("a"), request.header("b")) == ("1" + " 2" * 240_000, "3 4")


def test_an_answer_names_its_media_type_and_one_without_a_body_none(env: Environment, send: Send) -> None:
    media = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

    def asked(more: str) -> tuple[bytes, dict[str, str]]:
        request = f"GET /api HTTP/1.0\r\nAuthorization: Bearer {env.token}\r\nAccept: {media}\r\n{more}\r\n"
        head, _, body = send(env, request.encode()).partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")[1:]]
        return head[9:12] + body[:1], {name: value for name, _, value in lines}

    begin, full = asked("")
    assert (begin, full["Content-Type"]) == (b"200{", media)
    begin, unchanged = asked(f"If-None-Match: {full['ETag']}\r\n")
    assert (begin, "Content-Type" in unchanged) == (b"304", False)


def test_an_unknown_expectation_is_refused(env: Environment, send: Send) -> None:
    data = b"POST / HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nContent-Length: 1\r\n\r\nx"
    assert send(env, data).startswith(b"HTTP/1.1 417 ")


def test_an_idle_connection_makes_room_for_a_new_one(send: Send) -> None:
    with Environment() as env, contextlib.ExitStack() as stack:
        server = env.server.http
        server.max_connections = 3
        idle = []
        for _ in range(3):
            sock = stack.enter_context(connect(env))
            idle.append(sock)
            sock.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert sock.recv(65536).startswith(b"HTTP/1.1 200 ")
            # The answer is there before its thread waits for the next request: the first shall be idle the longest.
            eventually(lambda: all(each.idle_since is not None for each in server.connections()))
        assert send(env, b"GET /readyz HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 ")
        assert idle[0].recv(1) == b""


def test_connections_in_use_are_not_closed_for_new_ones(caplog: pytest.LogCaptureFixture) -> None:
    with Environment() as env, contextlib.ExitStack() as stack:
        env.server.http.max_connections = 2
        head = f"GET {CONFIG_MAPS}?watch=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {env.token}\r\n\r\n".encode()
        watches = [stack.enter_context(connect(env)) for _ in range(2)]
        for sock in watches:
            sock.sendall(head)
            assert sock.recv(12) == b"HTTP/1.1 200"
        for _ in range(2):
            with connect(env) as sock, contextlib.suppress(ConnectionError):
                assert read_all(sock).startswith(b"HTTP/1.1 503 ")
        refusals = [message for message in caplog.messages if "Refusing connections" in message]
        assert refusals == ['"Refusing connections: all that may be open are in use" server="apiserver" connections=2']
        watches.pop().close()
        env.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "news"}})
        assert watches[0].recv(65536)


# ---- warnings


def test_a_line_break_in_a_header_becomes_a_blank() -> None:
    head = server_request.head(200, {"A": "b\r\nC: d", "E": ["f", "g\n"]})
    assert head == b"HTTP/1.1 200 OK\r\nA: b  C: d\r\nE: f\r\nE: g \r\n\r\n"


def test_warnings_are_headers_of_their_own_without_control_characters() -> None:
    assert warning_headers(['say "x"', "a\r\nSet-Cookie: b", "c\\d", 'say "x"']) == [
        '299 - "say \\"x\\""',
        '299 - "c\\\\d"',
    ]
    many = warning_headers([f"{i} {'x' * 400}" for i in range(100)])
    assert {len(value) for value in many} == {len('299 - ""') + 256}
    assert len(many) == 16


def test_a_field_cannot_put_headers_into_the_answer(env: Environment, send: Send) -> None:
    body = json.dumps({"metadata": {"name": "w"}, "x\r\nInjected: yes": 1})
    head = f"POST {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {env.token}\r\n"
    answer = send(env, f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()).partition(b"\r\n\r\n")[0]
    assert b'Warning: 299 - "unknown field \\"x\\\\r\\\\nInjected: yes\\""' in answer
    assert b"\nInjected" not in answer


def test_a_stop_closes_the_connections_that_streams_have_taken_over() -> None:
    """Such a connection has no thread that would close it."""
    taken = threading.Event()

    def handle(request: http.Request, too_large: bool) -> http.Response:
        taken.set()
        return http.Response(200, stream=True)

    server = http.HttpServer("127.0.0.1", 0, handle, ssl.create_default_context)
    server.start()
    with socket.create_connection(server.address, timeout=PATIENCE) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert taken.wait(PATIENCE)
        server.stop()
        assert repr(server).endswith(" 0 connections>")
        assert client.recv(1) == b""
