"""Connections that are closed together when credentials change."""

from __future__ import annotations

import os
import socket
import threading

import pytest
from patience import PATIENCE

from clientgo import context, kubernetes
from clientgo.golang.goroutine import go
from clientgo.rest import Config
from clientgo.testing.apiserver import Environment
from clientgo.util import connrotation


class Peers:
    """Opens socket pairs, and keeps the other ends."""

    def __init__(self) -> None:
        self.ends: list[socket.socket] = []
        self.asked: list[tuple[str, int]] = []

    def dial(self, ctx: context.Context, host: str, port: int) -> socket.socket:
        ours, theirs = socket.socketpair()
        self.asked.append((host, port))
        self.ends.append(theirs)
        return ours

    def close(self) -> None:
        for end in self.ends:
            end.close()


def test_all_connections_end_and_the_dialer_can_be_used_again():
    """Go: TestCloseAll"""
    peers = Peers()
    dialer = connrotation.new_dialer(peers.dial)
    for _ in range(5):
        peers.ends.clear()
        sockets = [dialer.dial("host", 1) for _ in range(10)]
        readers = [go(lambda sock=sock: sock.recv(1), "test-reader") for sock in sockets]  # type: ignore[misc]
        assert len(dialer) == 10
        dialer.close_all()
        assert [reader.result() for reader in readers] == [b""] * 10
        assert [end.recv(1) for end in peers.ends] == [b""] * 10
        assert len(dialer) == 0
        for sock in sockets:
            sock.close()
        peers.close()
    assert peers.asked == [("host", 1)] * 50


def test_no_connection_is_lost_between_a_dial_and_a_close():
    """Go: TestCloseAllRace"""
    peers = Peers()
    dialer = connrotation.new_dialer(peers.dial)
    begin = threading.Barrier(2)
    sockets: list[socket.socket] = []

    def close() -> None:
        begin.wait(PATIENCE)
        for _ in range(300):
            dialer.close_all()

    closing = go(close, "test-close")
    begin.wait(PATIENCE)
    for _ in range(300):
        sockets.append(dialer.dial("", 0))
    closing.result()
    dialer.close_all()
    assert [end.recv(1) for end in peers.ends] == [b""] * 300
    for sock in sockets:
        sock.close()
    peers.close()


def test_a_descriptor_that_was_closed_and_used_again_is_left_alone():
    peers = Peers()
    dialer = connrotation.new_dialer(peers.dial)
    sock = dialer.dial("", 0)
    descriptor = sock.fileno()
    other, peer = socket.socketpair()
    sock.close()
    # The other socket takes the number of the closed one.
    os.dup2(other.fileno(), descriptor)
    dialer.close_all()
    other.sendall(b"alive")
    assert peer.recv(10) == b"alive"
    os.close(descriptor)
    for each in (other, peer):
        each.close()
    peers.close()


def test_closed_connections_are_forgotten():
    peers = Peers()
    dialer = connrotation.new_dialer(peers.dial)
    for _ in range(500):
        dialer.dial("", 0).close()
        peers.ends.pop().close()
    assert len(dialer) < 100


def test_several_dialers_share_a_tracker():
    peers = Peers()
    tracker = connrotation.new_connection_tracker()
    one, other = (connrotation.new_dialer_with_tracker(peers.dial, tracker) for _ in range(2))
    sockets = [one.dial("a", 1), other.dial_context(context.background(), "b", 2)]
    assert len(tracker) == 2
    one.close_all()
    assert [sock.recv(1) for sock in sockets] == [b"", b""]
    for sock in sockets:
        sock.close()
    peers.close()


@pytest.mark.parametrize("secure", [False, True])
def test_a_client_continues_on_new_connections(secure):
    dialed = []

    def dial(ctx: context.Context, host: str, port: int) -> socket.socket:
        dialed.append(port)
        return socket.create_connection((host, port))

    with Environment() as env:
        dialer = connrotation.new_dialer(dial)
        config = Config(host=env.url, bearer_token=env.token, dial=dialer.dial)
        if secure:
            config.host = env.server.tls_url
            config.ca_data = env.server.ca_certificate.encode()
        client = kubernetes.new_for_config(config)
        ctx = context.background()
        watch = client.core_v1().pods("default").watch(ctx)
        client.core_v1().namespaces().get(ctx, "default")
        before = len(dialed)
        dialer.close_all()
        assert list(watch.result_chan()) == []  # the watch has ended
        watch.stop()
        client.core_v1().namespaces().get(ctx, "default")
        assert len(dialed) == before + 1
        client.close()
