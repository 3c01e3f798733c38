"""Connections: direct, or through a SOCKS or an HTTP proxy, and with TLS on top.

Replaces net.Dialer and the dialing part of Go's http.Transport.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from clientgo.golang.functions import describe_function
from clientgo.golang.http.exchange import Exchange
from clientgo.golang.http.failures import as_builtin, with_text
from clientgo.golang.http.head import read_head
from clientgo.golang.http.rejected import Certificate, peer_certificate_context, rejection
from clientgo.golang.http.route import Proxy, Route
from clientgo.golang.http.socks import socks_connect
from clientgo.utils.clock.clock import REAL_CLOCK

__all__ = ["Dial", "Dialer"]

# Opens a TCP connection to (host, port).
Dial = Callable[[str, int], socket.socket]

# A silent peer is probed after 30 s and given up 15 s later, as Go's HTTP/2 pings do.
_KEEP_ALIVE_IDLE: Final = 30
_KEEP_ALIVE_INTERVAL: Final = 5
_KEEP_ALIVE_PROBES: Final = 3

# Seconds without data on the connection that reads a rejected certificate.
_READ_CERTIFICATE_TIMEOUT: Final = 5.0


def _socket_options() -> list[tuple[int, int, int]]:
    """Return socket options that disable Nagle's delay and enable keep-alive with the times above, where supported."""
    options = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    dead_after = _KEEP_ALIVE_IDLE + _KEEP_ALIVE_INTERVAL * _KEEP_ALIVE_PROBES
    times = {
        "TCP_KEEPIDLE": _KEEP_ALIVE_IDLE,
        "TCP_KEEPALIVE": _KEEP_ALIVE_IDLE,  # the name on macOS
        "TCP_KEEPINTVL": _KEEP_ALIVE_INTERVAL,
        "TCP_KEEPCNT": _KEEP_ALIVE_PROBES,
        # The kernel sends no probes while data is unacknowledged; this option covers a request that never arrives.
        "TCP_USER_TIMEOUT": dead_after * 1000,
    }
    options += [
        (socket.IPPROTO_TCP, getattr(socket, name), value) for name, value in times.items() if hasattr(socket, name)
    ]
    return options


class Dialer:
    """A factory for a transport's connections. Immutable.

    It registers each socket with the exchange before anything blocks on it, so that the exchange can abort it.
    """

    def __init__(self, dial: Dial | None, server_name: str) -> None:
        """Initialize a dialer. `dial` replaces the default one; `server_name` replaces the URL's host in TLS
        verification.
        """
        self._dial = dial
        self._server_name = server_name

    def connect(
        self, exchange: Exchange, route: Route, context: ssl.SSLContext | None, timeout: float | None
    ) -> socket.socket:
        """Return a socket connected to the route's end. Blocks, in each step at most `timeout` seconds without data.

        If the server's certificate has another name or has expired, a second connection reads it for the error's text;
        nothing but a handshake is sent on it. Raises OSError, EOFError, ValueError.
        """
        sock = self._reach(exchange, route, context, timeout)
        if route.scheme != "https":
            return sock
        reopen = partial(self._reach, exchange, route, context, _at_most(timeout, _READ_CERTIFICATE_TIMEOUT))
        return _encrypted(exchange, sock, context, self._server_name or route.host, timeout, reopen)

    def _reach(
        self, exchange: Exchange, route: Route, context: ssl.SSLContext | None, timeout: float | None
    ) -> socket.socket:
        """Return a socket that is connected to the server, through the proxy if there is one, without TLS yet."""
        sock = self._connect_first(exchange, route, timeout)
        if route.proxy is None:
            return sock
        reopen = partial(self._connect_first, exchange, route, _at_most(timeout, _READ_CERTIFICATE_TIMEOUT))
        try:
            return _through_proxy(exchange, sock, route, route.proxy, context, timeout, reopen)
        except BaseException:
            sock.close()
            raise

    def _connect_first(self, exchange: Exchange, route: Route, timeout: float | None) -> socket.socket:
        proxy = route.proxy
        if proxy is None:
            return self._connect_tcp(exchange, route.host, route.port, timeout)
        try:
            return self._connect_tcp(exchange, proxy.host, proxy.port, timeout)
        except OSError as err:
            where = f"socks connect tcp {proxy.host}:{proxy.port}->{route.host}:{route.port}"
            prefix = where if proxy.is_socks else "proxyconnect tcp"
            raise with_text(err, f"{prefix}: {err.strerror or err}") from err

    def _connect_tcp(self, exchange: Exchange, host: str, port: int, timeout: float | None) -> socket.socket:
        """Return a connection to the first address that accepts it."""
        if self._dial is not None:
            sock = self._dial(host, port)
            if not hasattr(sock, "settimeout"):
                raise TypeError(f"{describe_function(self._dial)} returned {sock!r}: dial returns a connected socket")
            exchange.attach(sock, timeout)
            return sock
        failure: OSError | None = None
        for family, kind, protocol, _, address in _lookup(exchange, host, port):
            sock = socket.socket(family, kind, protocol)
            try:
                for option in _socket_options():
                    sock.setsockopt(*option)
                exchange.attach(sock, timeout)
                sock.connect(address)
                return sock
            except OSError as err:
                sock.close()
                failure = failure or _dial_error(err, address)
                if exchange.is_aborted:
                    break
        raise failure or OSError(f"dial tcp: lookup {host}: no addresses")


def _lookup(exchange: Exchange, host: str, port: int) -> list[Any]:
    start = REAL_CLOCK.now()
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as err:
        reason = "no such host" if err.errno in (socket.EAI_NONAME, -5) else (err.strerror or str(err))
        raise OSError(err.errno, f"dial tcp: lookup {host}: {reason}") from err
    except UnicodeError:
        raise OSError(f"dial tcp: lookup {host}: no such host") from None  # an invalid name
    finally:
        if exchange.request.trace is not None:
            exchange.request.trace.dns_done(host, REAL_CLOCK.since(start))


def _dial_error(err: OSError, address: Any) -> OSError:
    where = f"[{address[0]}]:{address[1]}" if ":" in str(address[0]) else f"{address[0]}:{address[1]}"
    if isinstance(err, TimeoutError):
        return TimeoutError(f"dial tcp {where}: i/o timeout")
    return type(err)(err.errno, f"dial tcp {where}: connect: {(err.strerror or str(err)).lower()}")


def _through_proxy(
    exchange: Exchange,
    sock: socket.socket,
    route: Route,
    proxy: Proxy,
    context: ssl.SSLContext | None,
    timeout: float | None,
    reopen: Callable[[], socket.socket],
) -> socket.socket:
    """Let the proxy connect to the route's target. Does nothing if the proxy forwards requests itself."""
    if proxy.is_socks:
        socks_connect(sock, proxy, route.host, route.port)
        return sock
    if proxy.scheme == "https":
        # As in Go, an https proxy needs a certificate that the cluster's authority signed.
        sock = _encrypted(exchange, sock, context, proxy.host, timeout, reopen)
    if route.is_tunnelled:
        try:
            _open_tunnel(sock, route, proxy)
        except BaseException:
            sock.close()
            raise
    return sock


def _open_tunnel(sock: socket.socket, route: Route, proxy: Proxy) -> None:
    """Send CONNECT. A TLS server does not send first, so all bytes up to the response's end belong to the proxy."""
    target = f"[{route.host}]:{route.port}" if ":" in route.host else f"{route.host}:{route.port}"
    headers = {"Host": target} | proxy.authorization()
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with _proxy_failures(), sock.makefile("rb") as answer:
        sock.sendall(f"CONNECT {target} HTTP/1.1\r\n{lines}\r\n".encode("latin-1"))
        head = read_head(answer)
    if head.status != 200:
        raise OSError(f"proxyconnect tcp: {head.status} {head.reason}".rstrip())


@contextlib.contextmanager
def _proxy_failures() -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, ValueError) as err:
        known = as_builtin(err)
        reason = known.strerror if isinstance(known, OSError) and known.strerror else str(known)
        raise type(known)(f"proxyconnect tcp: {reason}") from None


def _default_context() -> ssl.SSLContext:
    """Return a context that trusts the system's authorities and, as Go, does not check their certificates strictly."""
    context = ssl.create_default_context()
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.set_alpn_protocols(["http/1.1"])
    return context


def _encrypted(
    exchange: Exchange,
    sock: socket.socket,
    context: ssl.SSLContext | None,
    name: str,
    timeout: float | None,
    reopen: Callable[[], socket.socket],
) -> socket.socket:
    """Start TLS on the socket and verify the peer's name. `reopen` returns another socket like `sock`."""
    name = name.partition("%")[0].rstrip(".")
    try:
        wrapped = _wrapped(sock, context or _default_context(), name)
    except TimeoutError:
        sock.close()
        raise TimeoutError("net/http: TLS handshake timeout") from None
    except ssl.SSLCertVerificationError as err:
        sock.close()
        raise rejection(err, name, partial(_peer_certificate, reopen, name)) from None
    except (OSError, ValueError) as err:
        sock.close()
        raise as_builtin(err) from None
    except BaseException:
        sock.close()
        raise
    exchange.attach(wrapped, timeout)
    return wrapped


def _peer_certificate(reopen: Callable[[], socket.socket], name: str) -> Certificate:
    """Return the certificate that the peer presents for the name, without verifying it."""
    context = peer_certificate_context()
    sock = reopen()
    try:
        sock = _wrapped(sock, context, name)
        # `getpeercert` returns an empty dict unless its context verifies; the handshake is over by now.
        context.verify_mode = ssl.CERT_REQUIRED
        tls: Any = sock
        return tls.getpeercert() or {}
    finally:
        sock.close()


def _at_most(timeout: float | None, seconds: float) -> float:
    return seconds if timeout is None else min(timeout, seconds)


def _wrapped(sock: socket.socket, context: ssl.SSLContext, name: str) -> socket.socket:
    if not isinstance(sock, ssl.SSLSocket):
        return context.wrap_socket(sock, server_hostname=name)
    # TLS within TLS, for a proxy behind TLS. Imported here, since the import is slow (test/bench/start).
    from urllib3.util import ssl_wrap_socket

    inner: Any = ssl_wrap_socket(sock, server_hostname=name, ssl_context=context, tls_in_tls=True)
    return inner  # type: ignore[no-any-return]
