"""The proxy settings of the environment: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in upper or lower case.

Mirrors golang.org/x/net/http/httpproxy, which Go's http.ProxyFromEnvironment uses. The rules of urllib and requests
differ: they also use a proxy for the local machine, and read ALL_PROXY.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}

_IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# A predicate for an entry of NO_PROXY, on the host, the port and, if the host is one, the IP address.
_Matcher = Callable[[str, str, _IPAddress | None], bool]


@dataclass(frozen=True, kw_only=True)
class Config:
    """The proxy settings of the environment. Go: httpproxy.Config."""

    http_proxy: str = ""
    https_proxy: str = ""
    no_proxy: str = ""
    # True for a CGI script, in which HTTP_PROXY may be a header of an untrusted request.
    cgi: bool = False

    def proxy_func(self) -> Callable[[str], str | None]:
        """Return a function from a URL to the URL of its proxy, or None. Go: Config.ProxyFunc.

        The function raises ValueError for an http URL whose proxy is set in the environment of a CGI script.
        """
        http_proxy, https_proxy = _parse_proxy(self.http_proxy), _parse_proxy(self.https_proxy)
        matchers = _matchers(self.no_proxy)

        def proxy(url: str) -> str | None:
            parts = urlsplit(url)
            chosen = {"http": http_proxy, "https": https_proxy}.get(parts.scheme)
            if chosen is not None and parts.scheme == "http" and self.cgi:
                raise ValueError("refusing to use HTTP_PROXY value in CGI environment; see golang.org/s/cgihttpproxy")
            return chosen if chosen is not None and _use_proxy(parts, matchers) else None

        return proxy


def from_environment(environ: Mapping[str, str] = os.environ) -> Config:
    """Return the config of the current environment. Go: httpproxy.FromEnvironment."""

    def either(name: str) -> str:
        return environ.get(name) or environ.get(name.lower()) or ""

    return Config(
        http_proxy=either("HTTP_PROXY"),
        https_proxy=either("HTTPS_PROXY"),
        no_proxy=either("NO_PROXY"),
        cgi=bool(environ.get("REQUEST_METHOD")),
    )


def _parse_proxy(proxy: str) -> str | None:
    """Parse a URL or host:port. Returns None for "" and for an invalid proxy."""
    url = proxy if "://" in proxy else f"http://{proxy}"
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for an invalid port
    except ValueError:
        return None
    return url if parts.scheme and parts.hostname else None


def _use_proxy(parts: SplitResult, matchers: list[_Matcher]) -> bool:
    host = _ascii((parts.hostname or "").lower())
    address = _address(host)
    if not host or host == "localhost" or (address is not None and address.is_loopback):
        return False
    port = str(parts.port or PORTS[parts.scheme])
    return not any(matches(host, port, address) for matches in matchers)


def _ascii(host: str) -> str:
    """Return the host's name in DNS, as in "xn--bcher-kva.example"; an invalid name is unchanged."""
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host


def _address(host: str) -> _IPAddress | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped if mapped is not None else address


def _matchers(no_proxy: str) -> list[_Matcher]:
    entries = [entry.strip().lower() for entry in no_proxy.split(",")]
    if "*" in entries:
        return [lambda host, port, address: True]
    return [matcher for entry in entries if (matcher := _matcher(entry)) is not None]


def _matcher(entry: str) -> _Matcher | None:
    """Return the predicate of one entry: a network, or an address or domain with an optional port."""
    address, slash, bits = entry.partition("/")
    # ipaddress also accepts a netmask after the slash, and no address at all before a zone.
    if slash and bits.isdecimal() and "%" not in address:
        try:
            network = ipaddress.ip_network(entry, strict=False)
        except ValueError:
            pass
        else:
            return lambda host, port, address: address is not None and address in network
    wanted_host, wanted_port = _split_port(entry)
    if not wanted_host:
        return None
    wanted_address = _address(wanted_host)
    if wanted_address is not None:
        return lambda host, port, address: address == wanted_address and wanted_port in ("", port)
    # "a.b" matches itself and its subdomains; ".a.b" and "*.a.b" match only the subdomains.
    wanted_host = _ascii(wanted_host)
    itself = not wanted_host.startswith((".", "*."))
    suffix = f".{wanted_host}" if itself else wanted_host.removeprefix("*")
    return lambda host, port, address: (
        (host.endswith(suffix) or (itself and host == suffix[1:])) and wanted_port in ("", port)
    )


def _split_port(entry: str) -> tuple[str, str]:
    host, colon, port = entry.rpartition(":")
    if colon and (":" not in host or (host.startswith("[") and host.endswith("]"))):
        return host.strip("[]"), port
    return entry.strip("[]"), ""
