"""Opening connections: straight, through a SOCKS proxy or to an HTTP proxy, and breaking them off from another thread.

Stands for net.Dialer and the dialing part of Go's net/http.Transport.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable
from typing import Any

from clientgo.tools.metrics import metrics
from clientgo.transport.http import Request
from clientgo.transport.socks import SocksProxy
from clientgo.utils.clock import RealClock

# A peer that is silent is probed after 30 s and given up 15 s later, as Go's HTTP/2 pings do.
KEEP_ALIVE_IDLE = 30
KEEP_ALIVE_INTERVAL = 5
KEEP_ALIVE_PROBES = 3

# How the texts of errors begin that happened before a connection was there.
CONNECTING = ("dial ", "proxyconnect ", "socks ")


def socket_options() -> list[tuple[int, int, int]]:
    """No Nagle delay, and TCP keep-alive with the times above where the platform lets us set them."""
    options = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    dead_after = KEEP_ALIVE_IDLE + KEEP_ALIVE_INTERVAL * KEEP_ALIVE_PROBES
    times = {
        "TCP_KEEPIDLE": KEEP_ALIVE_IDLE,
        "TCP_KEEPALIVE": KEEP_ALIVE_IDLE,  # macOS calls it so
        "TCP_KEEPINTVL": KEEP_ALIVE_INTERVAL,
        "TCP_KEEPCNT": KEEP_ALIVE_PROBES,
        # Probes are not sent while data waits for its acknowledgement; this covers a request that never arrives.
        "TCP_USER_TIMEOUT": dead_after * 1000,
    }
    options += [
        (socket.IPPROTO_TCP, getattr(socket, name), value) for name, value in times.items() if hasattr(socket, name)
    ]
    return options


class Exchange:
    """One request on its way, and the means to break it off from another thread.

    Holds a file descriptor of its own for the connection: shutting that down ends a blocked connect, handshake or read
    of the connection itself, and it stays valid whatever urllib3 does with its socket objects.
    """

    def __init__(
        self, request: Request, dial: Callable[[str, int], socket.socket] | None, socks: SocksProxy | None
    ) -> None:
        self.request = request
        self.dial = dial
        self.socks = socks
        # Whether the current attempt made a connection; otherwise it runs over a kept one.
        self.connected = False
        # Guards the rest. Held for system calls that never block.
        self._lock = threading.Lock()
        self._descriptor = -1
        self._socket: socket.socket | None = None
        self.aborted = False

    def attach(self, sock: socket.socket) -> None:
        """From now on the request runs over this socket."""
        with self._lock:
            self._forget()
            self._socket = sock
            self._descriptor = os.dup(sock.fileno())
            if self.aborted:
                self._shut_down()

    def set_timeout(self, seconds: float | None) -> None:
        with self._lock:
            if self._socket is not None and self._socket.fileno() >= 0:
                self._socket.settimeout(seconds)

    def abort(self) -> None:
        with self._lock:
            self.aborted = True
            if self._descriptor >= 0:
                self._shut_down()

    def finish(self) -> None:
        """The request is over; its connection may serve another one."""
        with self._lock:
            self._forget()

    def _shut_down(self) -> None:
        with socket.socket(fileno=os.dup(self._descriptor)) as handle, contextlib.suppress(OSError):
            handle.shutdown(socket.SHUT_RDWR)

    def _forget(self) -> None:
        self._socket = None
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def connect(exchange: Exchange, host: str, port: int, timeout: float | None, *, via_proxy: bool) -> socket.socket:
    """A connection to (host, port), which is an HTTP proxy's if `via_proxy`; over the exchange's SOCKS proxy if any."""
    socks = exchange.socks
    try:
        sock = _dial(exchange, *((socks.host, socks.port) if socks is not None else (host, port)), timeout)
    except OSError as err:
        if socks is not None:
            raise _prefixed(err, f"socks connect tcp {socks.host}:{socks.port}->{host}:{port}") from err
        if via_proxy:
            raise _prefixed(err, "proxyconnect tcp") from err
        raise
    if socks is None:
        return sock
    try:
        socks.connect(sock, host, port)
    except OSError:
        sock.close()
        raise
    return sock


def _prefixed(err: OSError, prefix: str) -> OSError:
    return with_text(err, f"{prefix}: {err.strerror or err}")


def _dial(exchange: Exchange, host: str, port: int, timeout: float | None) -> socket.socket:
    """Connect to the first address that answers, telling the exchange about each socket before it blocks."""
    if exchange.dial is not None:
        sock = exchange.dial(host, port)
        exchange.attach(sock)
        return sock
    failure: OSError | None = None
    for family, kind, protocol, _, address in _lookup(exchange, host, port):
        sock = socket.socket(family, kind, protocol)
        try:
            for option in socket_options():
                sock.setsockopt(*option)
            sock.settimeout(timeout)
            exchange.attach(sock)
            sock.connect(address)
            return sock
        except OSError as err:
            sock.close()
            failure = failure or _dial_error(err, address)
            if exchange.aborted:
                break
    raise failure or OSError(f"dial tcp: lookup {host}: no addresses")


def _lookup(exchange: Exchange, host: str, port: int) -> list[Any]:
    clock = RealClock()
    start = clock.now()
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as err:
        reason = "no such host" if err.errno in (socket.EAI_NONAME, -5) else (err.strerror or str(err))
        raise OSError(err.errno, f"dial tcp: lookup {host}: {reason}") from err
    finally:
        metrics.RESOLVER_LATENCY.observe(exchange.request.ctx, host, clock.since(start))


def _dial_error(err: OSError, address: Any) -> OSError:
    where = f"[{address[0]}]:{address[1]}" if ":" in str(address[0]) else f"{address[0]}:{address[1]}"
    if isinstance(err, TimeoutError):
        return TimeoutError(f"dial tcp {where}: i/o timeout")
    return type(err)(err.errno, f"dial tcp {where}: connect: {(err.strerror or str(err)).lower()}")


def with_text(err: OSError, text: str) -> OSError:
    """The same kind of error with a text of ours."""
    same = type(err)(err.errno, text)
    same.strerror = text
    return same
