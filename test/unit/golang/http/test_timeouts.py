"""Real sockets that fall silent: each phase before there is an answer has its limit, here a shortened one; and a dead
network is noticed by TCP within 45 seconds.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from httpscript import Answer, ScriptedServer

from clientgo import context, rest
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.util import net
from clientgo.golang import http
from clientgo.golang.http.exchange import Exchange

CTX = context.background()
SHORT = 0.05


def failure_of_a_list(url: str) -> BaseException:
    tls = url.startswith("https")
    config = rest.Config(host=url, insecure=tls, group_version=GroupVersion("", "v1"), max_silence=SHORT)
    failure = rest.rest_client_for(config).get().resource("pods").do(CTX).error()
    assert failure is not None
    return failure


def is_timeout(failure: BaseException | None) -> bool:
    """Report whether `failure` or one of its causes is a timeout."""
    while failure is not None and not net.is_timeout(failure):
        failure = failure.__cause__
    return failure is not None


@contextmanager
def listener(backlog: int) -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=backlog) as listening:
        yield listening


def test_a_host_that_does_not_accept_the_connection() -> None:
    # One connection fills the queue; the next waits, as for a host that is switched off.
    with listener(backlog=0) as deaf, socket.create_connection(deaf.getsockname()):
        failure = failure_of_a_list(f"http://127.0.0.1:{deaf.getsockname()[1]}")
    assert is_timeout(failure)
    assert "dial tcp 127.0.0.1" in str(failure)


def test_a_server_that_does_not_shake_hands() -> None:
    with listener(backlog=5) as mute:
        assert is_timeout(failure_of_a_list(f"https://127.0.0.1:{mute.getsockname()[1]}"))


def test_a_server_that_does_not_answer() -> None:
    with listener(backlog=5) as mute:
        assert is_timeout(failure_of_a_list(f"http://127.0.0.1:{mute.getsockname()[1]}"))


def test_a_server_that_stops_in_the_middle_of_a_body() -> None:
    def half() -> Iterator[bytes]:
        yield b'{"kind":'
        server.closing.wait()

    with ScriptedServer(lambda request: Answer(chunks=half())) as server:
        assert is_timeout(failure_of_a_list(server.url))


@pytest.mark.skipif(not hasattr(socket, "TCP_KEEPIDLE"), reason="these options are Linux's")
def test_a_connection_is_probed_when_it_is_idle_and_given_up_45_seconds_later(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[socket.socket] = []

    class Recorded(socket.socket):
        def connect(self, address: Any) -> None:
            made.append(self)
            super().connect(address)

    def silent() -> Iterator[bytes]:
        server.closing.wait()
        yield from ()

    with ScriptedServer(lambda request: Answer(chunks=silent())) as server:
        config = rest.Config(host=server.url, group_version=GroupVersion("", "v1"))
        monkeypatch.setattr(socket, "socket", Recorded)
        watcher = rest.rest_client_for(config).get().resource("pods").watch(CTX)
        [sock] = made
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        tcp = {
            name: sock.getsockopt(socket.IPPROTO_TCP, getattr(socket, name))
            for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT")
        }
        watcher.stop()
    assert tcp == {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 45_000}


def test_a_request_without_limits_of_its_own_gives_up_on_a_connection_all_the_same() -> None:
    """Go: the dialer's Timeout."""
    with listener(backlog=0) as deaf, socket.create_connection(deaf.getsockname()):
        client = http.Client(http.Transport(connect_timeout=SHORT))
        with pytest.raises(http.URLError, match="i/o timeout") as caught:
            client.do(http.Request(method="GET", url=f"http://127.0.0.1:{deaf.getsockname()[1]}"))
    assert caught.value.timeout()


def test_a_socket_that_comes_after_the_abort_is_shut_down_at_once() -> None:
    """The abort comes from another thread, also between two of the sockets a request goes through."""
    near, far = socket.socketpair()
    with near, far:
        exchange = Exchange(http.Request(method="GET", url="http://a"))
        exchange.abort()
        exchange.attach(near, None)
        assert near.recv(1) == b""
        exchange.finish()
