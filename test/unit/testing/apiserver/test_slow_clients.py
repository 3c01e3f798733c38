"""Clients that read slowly, or not at all, and those that are refused: they cost the server little memory and time."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest
from apiclient import Api, eventually
from patience import PATIENCE

from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.store import watch as watching

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
# A watch that ends only when its client goes.
ENDLESS = 2**63 - 1
# The fixture of conftest.py.
Send: TypeAlias = Callable[[Environment, bytes], bytes]


@pytest.fixture
def env() -> Iterator[Environment]:
    with Environment() as made:
        yield made


@pytest.fixture
def api(env: Environment) -> Iterator[Api]:
    client = Api(env)
    yield client
    client.close()


def connect(env: Environment) -> socket.socket:
    sock = socket.socket()
    # Before it connects, because the kernel announces the size then.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(PATIENCE)
    sock.connect(("127.0.0.1", int(env.url.rpartition(":")[2])))
    return sock


def watch(env: Environment, query: str) -> socket.socket:
    """Begin a watch and read only the start of its head."""
    sock = connect(env)
    head = f"GET {CONFIG_MAPS}?watch=1&{query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {env.token}\r\n\r\n"
    sock.sendall(head.encode())
    assert sock.recv(12) == b"HTTP/1.1 200"
    return sock


def pump_of(env: Environment) -> watching.Pump:
    pump = env.server._pump
    assert isinstance(pump, watching.Pump)
    return pump


def write(api: Api, name: str, size: int) -> None:
    api("POST", CONFIG_MAPS, {"metadata": {"name": name}, "data": {"k": "x" * size}}, want=201)


# ---- watches


def test_ended_watches_leave_neither_timers_nor_initial_states(
    env: Environment, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_MAX_DEAD_TIMERS", 10)
    write(api, "old", 1000)
    pump = pump_of(env)
    for _ in range(50):
        watch(env, f"timeoutSeconds={ENDLESS}").close()
    eventually(lambda: not env.server.http.connections() or len(env.server.http.connections()) == 1)
    assert len(pump._timers) <= 11
    assert [watcher.source for _, _, watcher in pump._timers] == [None] * len(pump._timers)


def test_a_client_that_does_not_read_the_end_of_its_watch_is_dropped(
    env: Environment, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_CLOSING_SECONDS", 0.3)
    for i in range(12):  # More than the buffers of the kernel take.
        write(api, f"c{i}", 1_000_000)
    api.close()
    with watch(env, "timeoutSeconds=1"):
        eventually(lambda: not env.server.http.connections())
    # A client that reads its watch keeps its connection.
    with connect(env) as sock:
        head = f"Host: x\r\nAuthorization: Bearer {env.token}\r\n\r\n"
        sock.sendall(f"GET {CONFIG_MAPS}?watch=1&timeoutSeconds=-1&resourceVersion=1000 HTTP/1.1\r\n{head}".encode())
        answer = b""
        while not answer.endswith(b"0\r\n\r\n"):
            answer += sock.recv(65536)
        sock.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert sock.recv(12) == b"HTTP/1.1 200"


def test_slow_watchers_of_different_objects_have_one_bound_of_memory(
    env: Environment, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MAX_BACKLOG", 1 << 30)
    monkeypatch.setattr(watching, "MAX_BACKLOG_IN_ALL", 6_000_000)
    now = api("GET", CONFIG_MAPS)["metadata"]["resourceVersion"]
    pump = pump_of(env)
    slow = [watch(env, f"resourceVersion={now}&labelSelector=a!=v{i}") for i in range(6)]
    with watch(env, f"resourceVersion={now}") as healthy:
        for i in range(20):
            write(api, f"c{i:02d}", 1_000_000)
            received = b""
            while not received.endswith(b"}}\n\r\n"):
                received = received[-10:] + healthy.recv(1 << 20)
        eventually(lambda: pump._added < 1_000_000)
        watchers = [watcher for views in pump._watchers.values() for view in views.values() for watcher in view]
        assert sum(watcher.backlog for watcher in watchers) <= 6_000_000 + 7 * 1_100_000
        assert any(watcher.view.selection is None for watcher in watchers), "a client that reads is not dropped"
    for sock in slow:
        sock.close()


# ---- bodies of requests that are refused


def test_a_body_is_not_read_before_the_request_is_admitted(env: Environment) -> None:
    head = f"POST {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3000000\r\n"
    with connect(env) as sock:
        sock.sendall(f"{head}Authorization: Bearer of-nothing\r\n\r\n".encode())
        assert sock.recv(12) == b"HTTP/1.1 401"
    with connect(env) as sock:
        sock.sendall(f"{head}Authorization: Bearer {env.token}\r\nImpersonate-User: eve\r\n\r\n".encode())
        assert sock.recv(12) == b"HTTP/1.1 403"
    with connect(env) as sock:
        sock.sendall(f"{head}Authorization: Bearer {env.token}\r\n\r\n".encode())
        assert sock.recv(12) == b"HTTP/1.1 100"


@pytest.mark.parametrize(
    ("size", "codes"), [(10, [b"403", b"200"]), (256 * 1024, [b"403", b"200"]), (256 * 1024 + 1, [b"403"])]
)
def test_a_refused_request_keeps_its_connection_if_its_body_is_small(
    env: Environment, send: Send, size: int, codes: list[bytes]
) -> None:
    first = b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (CONFIG_MAPS.encode(), size, b"x" * size)
    answer = send(env, first + b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
    assert [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]] == codes


def test_a_refused_request_with_a_malformed_body_is_a_bad_request(env: Environment, send: Send) -> None:
    head = f"POST {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n"
    assert send(env, head.encode()).startswith(b"HTTP/1.1 400 ")


def test_a_body_above_the_limit_is_too_large_for_admitted_requests_only(env: Environment, send: Send) -> None:
    head = f"POST {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n"
    assert send(env, f"{head}\r\n".encode()).startswith(b"HTTP/1.1 403 ")
    answer = send(env, f"{head}Authorization: Bearer {env.token}\r\n\r\n".encode())
    status = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert (status["code"], status["message"]) == (413, "Request entity too large: limit is 3145728")
