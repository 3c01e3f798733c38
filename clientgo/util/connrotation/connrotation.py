"""A dialer that tracks its connections and can close all of them. Mirrors util/connrotation/connrotation.go.

A connection authenticates once, so after a rotation of credentials it must be replaced. `dial` fits
`rest.Config.dial`:

    dialer = connrotation.new_dialer(lambda ctx, host, port: socket.create_connection((host, port)))
    config.dial = dialer.dial
    ...
    dialer.close_all()

Differences: a connection is a socket, and an address its host and port. TLS takes the descriptor of a socket over, so
the tracker knows connections by their descriptor and the number of the socket behind it, and holds nothing of a closed
one. `close_all` shuts the connections down, which ends blocked reads and writes in all threads; their owners close
them.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable
from typing import TypeAlias

from clientgo.context import Context, background

__all__ = [
    "ConnectionTracker",
    "DialFunc",
    "Dialer",
    "new_connection_tracker",
    "new_dialer",
    "new_dialer_with_tracker",
]

DialFunc: TypeAlias = Callable[[Context, str, int], socket.socket]
"""Opens a TCP connection to (host, port). Go: connrotation.DialFunc."""

# Closed connections are removed when this many are tracked, or twice as many as were open the last time.
_CLEAN_UP_AT = 64


class ConnectionTracker:
    """The connections that are open. Thread-safe. Go: connrotation.ConnectionTracker."""

    def __init__(self) -> None:
        # Guards the other attributes.
        self._lock = threading.Lock()
        # By descriptor: device and number of the socket.
        self._sockets: dict[int, tuple[int, int]] = {}
        self._clean_up_at = _CLEAN_UP_AT

    def track(self, conn: socket.socket) -> socket.socket:
        """Track a connection until it is closed, and return it. Go: ConnectionTracker.Track."""
        descriptor = conn.fileno()
        with self._lock:
            self._sockets[descriptor] = _identity(descriptor)
            if len(self._sockets) >= self._clean_up_at:
                self._sockets = {each: known for each, known in self._sockets.items() if _is_open(each, known)}
                self._clean_up_at = max(_CLEAN_UP_AT, 2 * len(self._sockets))
        return conn

    def close_all(self) -> None:
        """Shut all connections down. New ones may be opened meanwhile. Does not block. Go: CloseAll."""
        with self._lock:
            sockets, self._sockets = self._sockets, {}
        for descriptor, identity in sockets.items():
            _shut_down(descriptor, identity)

    def __len__(self) -> int:
        return len(self._sockets)

    def __repr__(self) -> str:
        return f"<ConnectionTracker {len(self._sockets)} connections>"


def _identity(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _is_open(descriptor: int, identity: tuple[int, int]) -> bool:
    try:
        return _identity(descriptor) == identity
    except OSError:
        return False


def _shut_down(descriptor: int, identity: tuple[int, int]) -> None:
    try:
        # The owner may close the descriptor at any time, and another file get its number; a duplicate stays the same.
        duplicate = os.dup(descriptor)
    except OSError:
        return
    if not _is_open(duplicate, identity):
        os.close(duplicate)
        return
    with socket.socket(fileno=duplicate) as handle, contextlib.suppress(OSError):
        handle.shutdown(socket.SHUT_RDWR)


class Dialer(ConnectionTracker):
    """A function that opens connections, and their tracker. Thread-safe. Go: connrotation.Dialer."""

    def __init__(self, dial: DialFunc, tracker: ConnectionTracker | None = None) -> None:
        """Initialize a dialer. Without `tracker` it tracks the connections itself."""
        super().__init__()
        self._dial = dial
        self._tracker = tracker if tracker is not None else self

    def dial(self, host: str, port: int) -> socket.socket:
        """Open a connection and track it. Blocks. Raises OSError. Go: Dialer.Dial."""
        return self.dial_context(background(), host, port)

    def dial_context(self, ctx: Context, host: str, port: int) -> socket.socket:
        """Open a connection and track it. Blocks until `ctx` is done. Raises OSError. Go: Dialer.DialContext."""
        return self._tracker.track(self._dial(ctx, host, port))

    def close_all(self) -> None:
        """Shut down the connections of the tracker. Go: Dialer.CloseAll."""
        if self._tracker is self:
            super().close_all()
        else:
            self._tracker.close_all()


def new_connection_tracker() -> ConnectionTracker:
    """Return a tracker for several dialers. Go: NewConnectionTracker."""
    return ConnectionTracker()


def new_dialer(dial: DialFunc) -> Dialer:
    """Return a dialer with a tracker of its own. Go: NewDialer."""
    return Dialer(dial)


def new_dialer_with_tracker(dial: DialFunc, tracker: ConnectionTracker | None) -> Dialer:
    """Return a dialer with this tracker; None for one of its own. Go: NewDialerWithTracker."""
    return Dialer(dial, tracker)
