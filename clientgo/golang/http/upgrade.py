"""Requests that ask for another protocol on their connection. Replaces what Go's upgrading round trippers dial with.

`upgrading` connects for one request. The caller exchanges the heads on the socket, and keeps it if the server agrees.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from clientgo.golang.http import proxy as httpproxy
from clientgo.golang.http.dial import Dialer
from clientgo.golang.http.exchange import Exchange
from clientgo.golang.http.failures import as_builtin
from clientgo.golang.http.message import Request
from clientgo.golang.http.route import Route, route_to
from clientgo.golang.http.transport import CONNECT_TIMEOUT

__all__ = ["HANDSHAKE_TIMEOUT", "Dialing", "upgrading"]

# Seconds without a byte of the response. Go waits without limit.
HANDSHAKE_TIMEOUT: Final = 60.0


class _TunnelledRoute(Route):
    """A route on which an HTTP proxy never reads the request, since it could not forward the other protocol."""

    @property
    def is_forwarded(self) -> bool:
        return False

    @property
    def is_tunnelled(self) -> bool:
        return self.proxy is not None and not self.proxy.is_socks


@dataclass(frozen=True, kw_only=True)
class Dialing:
    """The settings of a connection: TLS, the verified name, the proxy, and the function that connects."""

    ssl_context: ssl.SSLContext | None = None
    server_name: str = ""
    # A function from a URL to the URL of its proxy, or None. By default the environment decides.
    proxy: Callable[[str], str | None] | None = None
    dial: Callable[[str, int], socket.socket] | None = None

    def proxy_of(self, url: str) -> str | None:
        """Return the URL of the proxy for a URL, or None."""
        choose = self.proxy if self.proxy is not None else httpproxy.from_environment().proxy_func()
        return choose(url)


@contextlib.contextmanager
def upgrading(request: Request, dialing: Dialing) -> Iterator[socket.socket]:
    """Yield a connected socket for the request; close it after an exception. Blocks.

    The end of the request's context aborts the connect and what the caller does with the socket, and is then the error.
    Raises OSError, EOFError, ValueError.
    """
    ended = request.ctx.err()
    if ended is not None:
        raise ended
    plain = route_to(urlsplit(request.url), dialing.proxy_of(request.url))
    route = _TunnelledRoute(plain.scheme, plain.host, plain.port, plain.proxy)
    exchange = Exchange(request)
    forget = request.ctx.add_done_callback(exchange.abort)
    try:
        sock = Dialer(dialing.dial, dialing.server_name).connect(exchange, route, dialing.ssl_context, CONNECT_TIMEOUT)
        try:
            exchange.set_timeout(request.header_timeout or HANDSHAKE_TIMEOUT)
            yield sock
        except Exception as err:
            sock.close()
            known = as_builtin(err)
            if known is err:
                raise
            raise known from err
        except BaseException:
            sock.close()
            raise
    except Exception as err:
        failure = exchange.failure(err)
        if failure is err:
            raise
        raise failure from err
    finally:
        forget()
        exchange.finish()
