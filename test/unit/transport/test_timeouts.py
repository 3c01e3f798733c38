"""Real sockets that fall silent before there is an answer: each phase has its limit, here a shortened one."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from httpscript import Answer, ScriptedServer

from clientgo import context, rest
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.util import net
from clientgo.transport import connection

CTX = context.background()
SHORT = 0.05


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "CONNECT_TIMEOUT", SHORT)


def failure_of_a_list(url: str) -> BaseException:
    tls = url.startswith("https")
    config = rest.Config(host=url, insecure=tls, group_version=GroupVersion("", "v1"), max_silence=SHORT)
    failure = rest.rest_client_for(config).get().resource("pods").do(CTX).error()
    assert failure is not None
    return failure


def is_timeout(failure: BaseException | None) -> bool:
    """Whether time ran out, in `failure` or in what it came from."""
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
