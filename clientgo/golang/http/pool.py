"""A pool of idle connections. Replaces the idle connections of Go's http.Transport."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Final, TypeAlias

from clientgo.golang.http.route import Route
from clientgo.utils.clock.clock import Clock

if TYPE_CHECKING:
    import ssl

    from clientgo.golang.http.connection import Connection

__all__ = ["IDLE_CONNECTIONS_PER_ROUTE", "IDLE_TIMEOUT", "Pool"]

# The limit of client-go's transport. The number of used connections is unlimited: each watch has its own.
IDLE_CONNECTIONS_PER_ROUTE: Final = 25

# Go does not reuse a connection after this idle time, since a middlebox may have dropped it.
IDLE_TIMEOUT: Final = 90.0

_Key: TypeAlias = "tuple[Route, ssl.SSLContext | None]"


class Pool:
    """A pool of idle connections, by route and TLS context. Thread-safe; never blocks.

    After a fork (Go has none), the child closes its copies of the connections and opens its own.

    Invariant: each list has the most recently used connection at its end, and is neither empty nor longer than the
    limit.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # Guards the next attribute.
        self._lock = threading.Lock()
        self._idle: dict[_Key, list[Connection]] = {}
        # A garbage-collected transport leaves no open sockets behind.
        weakref.finalize(self, _close_all, self._idle)

    def take(self, route: Route, context: ssl.SSLContext | None) -> Connection | None:
        """Remove and return the connection that was idle for the shortest time; None if it is too old or closed."""
        while True:
            with self._lock:
                connection = self._pop((route, context))
            if connection is None:
                return None
            if not (self._is_expired(connection) or connection.is_inherited() or connection.has_news()):
                return connection
            connection.close()

    def put(self, connection: Connection) -> None:
        """Add a connection, or close it if the pool is full."""
        connection.idle_since = self._clock.now()
        with self._lock:
            idle = self._idle.setdefault((connection.route, connection.context), [])
            surplus = [each for each in idle if self._is_expired(each)]
            idle[:] = [each for each in idle if each not in surplus]
            (idle if len(idle) < IDLE_CONNECTIONS_PER_ROUTE else surplus).append(connection)
        for each in surplus:
            each.close()

    def close_idle(self) -> None:
        """Close all idle connections."""
        with self._lock:
            idle = dict(self._idle)
            self._idle.clear()
        _close_all(idle)

    def _is_expired(self, connection: Connection) -> bool:
        return self._clock.since(connection.idle_since) >= IDLE_TIMEOUT

    def _pop(self, key: _Key) -> Connection | None:
        idle = self._idle.get(key)
        if idle is None:
            return None
        connection = idle.pop()
        if not idle:
            del self._idle[key]
        return connection

    def __repr__(self) -> str:
        return f"<Pool, {sum(map(len, list(self._idle.values())))} idle>"

    def _check(self) -> None:
        with self._lock:
            for idle in self._idle.values():
                assert 0 < len(idle) <= IDLE_CONNECTIONS_PER_ROUTE


def _close_all(idle: dict[_Key, list[Connection]]) -> None:
    for connections in idle.values():
        for connection in connections:
            connection.close()
