"""Idle connections: which one is used next, how many are kept and for how long, and what is closed when."""

from __future__ import annotations

import gc
import os
import socket
import ssl
import weakref
from collections.abc import Iterator

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from invariants import check_invariants

from clientgo.golang.http.connection import Connection
from clientgo.golang.http.pool import IDLE_CONNECTIONS_PER_ROUTE, IDLE_TIMEOUT, Pool
from clientgo.golang.http.route import Proxy, Route
from clientgo.utils.clock.testing import FakeClock

ROUTE = Route("http", "a", 80, None)


class Peers:
    """Connections and their other ends."""

    def __init__(self) -> None:
        self.made: list[tuple[Connection, socket.socket]] = []

    def connection(self, route: Route = ROUTE, context: ssl.SSLContext | None = None) -> Connection:
        near, far = socket.socketpair()
        connection = Connection(near, route, context)
        self.made.append((connection, far))
        return connection

    def far_end(self, connection: Connection) -> socket.socket:
        return next(far for each, far in self.made if each is connection)

    def close(self) -> None:
        for connection, far in self.made:
            connection.close()
            far.close()


@pytest.fixture
def peers() -> Iterator[Peers]:
    made = Peers()
    yield made
    made.close()


def is_open(connection: Connection) -> bool:
    return connection.sock is not None


def test_a_child_process_never_uses_a_connection_of_its_parent(peers, monkeypatch):
    pool = Pool(FakeClock(0.0))
    inherited = peers.connection()
    pool.put(inherited)

    monkeypatch.setattr(os, "getpid", lambda: -1)

    assert pool.take(ROUTE, None) is None
    assert not is_open(inherited)  # the child's descriptor; that of the parent is another one
    own = peers.connection()
    pool.put(own)
    assert pool.take(ROUTE, None) is own


def test_the_one_used_last_is_used_next(peers):
    pool = Pool(FakeClock(0.0))
    first, second = peers.connection(), peers.connection()
    pool.put(first)
    pool.put(second)
    assert [pool.take(ROUTE, None) for _ in range(3)] == [second, first, None]


def test_another_route_or_another_context_is_another_connection(peers):
    context, other = (ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) for _ in range(2))
    routes = [
        ROUTE,
        Route("https", "a", 80, None),
        Route("http", "b", 80, None),
        Route("http", "a", 81, None),
        Route("http", "a", 80, Proxy("http", "p", 1)),
        Route("http", "a", 80, Proxy("http", "p", 1, "user", "password")),
    ]
    pool = Pool(FakeClock(0.0))
    kept = [peers.connection(route, context) for route in routes]
    for connection in kept:
        pool.put(connection)
    assert [pool.take(route, other) for route in routes] == [None] * len(routes)
    assert [pool.take(route, context) for route in routes] == kept


def test_more_than_enough_are_closed(peers):
    """Go: MaxIdleConnsPerHost."""
    pool = Pool(FakeClock(0.0))
    many = [peers.connection() for _ in range(IDLE_CONNECTIONS_PER_ROUTE + 2)]
    for connection in many:
        pool.put(connection)
    assert [is_open(connection) for connection in many] == [True] * IDLE_CONNECTIONS_PER_ROUTE + [False] * 2


@pytest.mark.parametrize(("idle", "used"), [(IDLE_TIMEOUT - 1, True), (IDLE_TIMEOUT, False)])
def test_what_was_idle_for_long_is_closed(peers, idle, used):
    clock = FakeClock(0.0)
    pool = Pool(clock)
    connection = peers.connection()
    pool.put(connection)
    clock.step(idle)
    assert (pool.take(ROUTE, None) is connection) == used == is_open(connection)


def test_old_ones_do_not_wait_for_their_turn_to_be_closed(peers):
    """They are at the wrong end of the row: a busy pool would never come to them."""
    clock = FakeClock(0.0)
    pool = Pool(clock)
    old, new = peers.connection(), peers.connection()
    pool.put(old)
    clock.step(IDLE_TIMEOUT)
    pool.put(new)
    assert (is_open(old), is_open(new)) == (False, True)


@pytest.mark.parametrize("news", ["hung up", "speaks unasked"])
def test_a_connection_whose_peer_has_news_is_not_used(peers, news):
    """Go: TestReconnectBrokenTCP_HTTP1"""
    pool = Pool(FakeClock(0.0))
    good, bad = peers.connection(), peers.connection()
    pool.put(good)
    pool.put(bad)
    if news == "hung up":
        peers.far_end(bad).shutdown(socket.SHUT_RDWR)
    else:
        peers.far_end(bad).sendall(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
    assert pool.take(ROUTE, None) is good
    assert not is_open(bad)


def test_a_pool_that_is_forgotten_leaves_no_socket_open(peers):
    pool = Pool(FakeClock(0.0))
    connection = peers.connection()
    pool.put(connection)
    gone = weakref.ref(pool)
    del pool
    gc.collect()
    assert gone() is None
    assert not is_open(connection)


class PoolMachine(RuleBasedStateMachine):
    """Nothing is lost or handed out twice: each connection is in use, idle or closed."""

    @initialize()
    def begin(self) -> None:
        self.clock = FakeClock(0.0)
        self.pool = Pool(self.clock)
        self.peers = Peers()
        self.in_use: list[Connection] = []

    @rule(port=st.integers(1, 2))
    def take(self, port: int) -> None:
        route = Route("http", "a", port, None)
        connection = self.pool.take(route, None)
        if connection is None:
            connection = self.peers.connection(route)
        assert connection.route == route
        assert is_open(connection)
        assert connection not in self.in_use
        self.in_use.append(connection)

    @rule(data=st.data())
    def put(self, data: st.DataObject) -> None:
        if self.in_use:
            self.pool.put(self.in_use.pop(data.draw(st.integers(0, len(self.in_use) - 1))))

    @rule(seconds=st.sampled_from([1.0, IDLE_TIMEOUT / 2, IDLE_TIMEOUT]))
    def step(self, seconds: float) -> None:
        self.clock.step(seconds)

    @rule()
    def close_idle(self) -> None:
        self.pool.close_idle()
        assert {connection for connection, _ in self.peers.made if is_open(connection)} == set(self.in_use)

    @invariant()
    def used_connections_are_open(self) -> None:
        check_invariants(self.pool)
        assert all(map(is_open, self.in_use))

    def teardown(self) -> None:
        self.peers.close()


TestPoolMachine = PoolMachine.TestCase
TestPoolMachine.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
