"""The route of a request: the server, and an optional proxy. Replaces connectMethod of Go's net/http."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from clientgo.golang.http.client import basic_auth
from clientgo.golang.http.proxy import PORTS
from clientgo.golang.strconv import quote

__all__ = ["Proxy", "Route", "host_header", "route_to"]


@dataclass(frozen=True)
class Proxy:
    """An http, https or socks5 proxy with an optional user."""

    scheme: str
    host: str
    port: int
    username: str = ""
    password: str = field(default="", repr=False)

    @property
    def is_socks(self) -> bool:
        return self.scheme.startswith("socks5")

    def authorization(self) -> dict[str, str]:
        """Return the header that authenticates to an HTTP proxy."""
        if not self.username and not self.password:
            return {}
        return {"Proxy-Authorization": basic_auth(self.username, self.password)}


class Route(NamedTuple):
    """The properties that all requests of a connection share."""

    scheme: str
    host: str
    port: int
    proxy: Proxy | None

    @property
    def is_forwarded(self) -> bool:
        """Report whether a proxy reads the request and sends its own; other proxies only forward bytes."""
        return self.proxy is not None and not self.proxy.is_socks and self.scheme == "http"

    @property
    def is_encrypted(self) -> bool:
        """Report whether the route uses TLS."""
        return self.scheme == "https" or (self.proxy is not None and self.proxy.scheme == "https")

    @property
    def is_tunnelled(self) -> bool:
        """Report whether the route uses a tunnel through an HTTP proxy."""
        return self.proxy is not None and not self.proxy.is_socks and self.scheme == "https"


def route_to(url: SplitResult, proxy: str | None) -> Route:
    """Return the route to a URL. Raises ValueError for an invalid scheme or port, without the URL's password."""
    if url.scheme not in ("http", "https"):
        raise ValueError(f"unsupported protocol scheme {quote(url.scheme)}")
    if not url.hostname:
        raise ValueError("http: no Host in request URL")
    # The percent sign before the zone of an IPv6 address is escaped in URLs.
    port = _port(url, "http")
    if proxy is not None and not isinstance(proxy, str):
        raise TypeError(f"the proxy function returned {proxy!r}: it returns the URL of a proxy, or None")
    return Route(url.scheme, unquote(url.hostname), port, _proxy(proxy) if proxy else None)


def _port(url: SplitResult, prefix: str) -> int:
    """Return the URL's port or the scheme's. The error has no part of the URL: it may be a password with a slash."""
    try:
        return url.port or PORTS[url.scheme]
    except ValueError:
        raise ValueError(f"{prefix}: invalid port in the URL") from None


def _proxy(url: str) -> Proxy:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ValueError("proxyconnect tcp: invalid URL of a proxy") from None
    if parts.scheme not in PORTS:
        raise ValueError(f"proxyconnect tcp: unsupported protocol scheme {quote(parts.scheme)}")
    username, password = unquote(parts.username or ""), unquote(parts.password or "")
    return Proxy(parts.scheme, parts.hostname or "", _port(parts, "proxyconnect tcp"), username, password)


def host_header(url: SplitResult) -> str:
    """Return the URL's host and port, without the user and without the zone of an address, which is local."""
    host = url.netloc.rpartition("@")[2]
    name, zone, rest = host.partition("%25")
    return f"{name}]{rest.partition(']')[2]}" if zone else host
