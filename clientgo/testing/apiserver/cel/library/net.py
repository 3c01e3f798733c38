"""Addresses, networks and URLs. Mirrors Kubernetes' pkg/cel/library/ip.go, cidr.go and urls.go."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from clientgo.golang.strconv import quote as go_quote
from clientgo.testing.apiserver.cel.common.types import (
    BOOL,
    CIDR,
    INT,
    IP,
    LIST_STRING,
    STRING,
    URL,
    Type,
    map_of,
)
from clientgo.testing.apiserver.cel.common.values import Cidr, EvalError, Url
from clientgo.testing.apiserver.cel.library.declare import Function, must, no_overload

_ADDRESS = (IPv4Address, IPv6Address)
_GLOBAL_NOT = ("is_loopback", "is_multicast", "is_link_local", "is_unspecified")


# ---- addresses


def _parse_ip(text: Any) -> IPv4Address | IPv6Address:
    must(str, "ip", text)
    failed = f"IP Address {go_quote(text)} parse error during conversion from string:"
    if "%" in text:
        raise EvalError(f"IP address {go_quote(text)} with zone value is not allowed")
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        raise EvalError(f"{failed} ParseAddr({go_quote(text)}): unable to parse IP") from None
    if isinstance(found, IPv6Address) and found.ipv4_mapped:
        raise EvalError(f"IPv4-mapped IPv6 address {go_quote(text)} is not allowed")
    return found


def _ip(value: Any) -> Any:
    return value.address if isinstance(value, Cidr) else _parse_ip(value)


def _parse_cidr(text: Any) -> Cidr:
    must(str, "cidr", text)
    failed = "network address parse error during conversion from string:"
    head, slash, bits = text.partition("/")
    try:
        address = _parse_ip(head)
    except EvalError as err:
        raise EvalError(f"{failed} netip.ParsePrefix({go_quote(text)}): {err}") from None
    if not slash or not re.fullmatch(r"0|[1-9][0-9]{0,2}", bits) or int(bits) > address.max_prefixlen:
        raise EvalError(f"{failed} netip.ParsePrefix({go_quote(text)}): bad bits after slash: {go_quote(bits)}")
    return Cidr(address, int(bits))


def _is(parse: Callable[[Any], Any]) -> Callable[[Any], bool]:
    def body(text: Any) -> bool:
        must(str, "is", text)
        try:
            parse(text)
        except EvalError:
            return False
        return True

    return body


def _is_canonical(text: Any) -> bool:
    canonical: bool = str(_parse_ip(text)) == text
    return canonical


def _is_global(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv4Address) and address == IPv4Address("255.255.255.255"):
        return False
    return not any(getattr(address, name) for name in _GLOBAL_NOT)


def _is_local_multicast(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv4Address):
        return address in ipaddress.IPv4Network("224.0.0.0/24")
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 2


def _of_ip(name: str, function: Callable[[Any], Any], to: Type = BOOL) -> Function:
    def body(address: Any) -> Any:
        must(_ADDRESS, name, address)
        return function(address)

    return Function(name, body).method(IP, to=to)


# ---- networks


def _contains_ip(cidr: Any, other: Any) -> bool:
    must(Cidr, "containsIP", cidr, other)
    address = _parse_ip(other) if isinstance(other, str) else other
    must(_ADDRESS, "containsIP", address)
    inside: bool = address.version == cidr.address.version and address in cidr.network
    return inside


def _contains_cidr(cidr: Any, other: Any) -> bool:
    must(Cidr, "containsCIDR", cidr, other)
    inner = _parse_cidr(other) if isinstance(other, str) else other
    must(Cidr, "containsCIDR", inner)
    if inner.address.version != cidr.address.version or inner.prefix < cidr.prefix:
        return False
    return inner.address in cidr.network


def _masked(cidr: Any) -> Cidr:
    must(Cidr, "masked", cidr)
    return Cidr(cidr.network.network_address, cidr.prefix)


def _prefix_length(cidr: Any) -> int:
    must(Cidr, "prefixLength", cidr)
    return int(cidr.prefix)


# ---- URLs


def _parse_url(text: Any) -> Url:
    """Parse an absolute URL or an absolute path, as Go's url.ParseRequestURI does. Raises EvalError."""
    must(str, "url", text)
    failed = "URL parse error during conversion from string: parse " + go_quote(text)
    if not text:
        raise EvalError(f"{failed}: empty url")
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise EvalError(f"{failed}: net/url: invalid control character in URL")
    scheme = re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text)
    rest = text[scheme.end() :] if scheme else text
    if not rest.startswith("/"):
        raise EvalError(f"{failed}: invalid URI for request")
    if re.search(r"%(?![0-9A-Fa-f]{2})", rest):
        raise EvalError(f"{failed}: invalid URL escape")
    if scheme and rest.startswith("//"):
        host = re.match(r"//(?:[^/?]*@)?(\[[0-9A-Fa-f:.%]*\]|[^/?:\[\]]*)(?::[0-9]*)?(?=[/?]|$)", rest)
        if host is None or re.search(r"[ <>\"`{}|^\\]", host[1]):
            raise EvalError(f"{failed}: invalid character in host name or port")
    try:
        return Url(text, urlsplit(text if scheme else f"//{text}" if text.startswith("//") else text))
    except ValueError as err:
        raise EvalError(f"{failed}: {err}") from None


def _host(url: Url) -> str:
    return url.parts.netloc.rpartition("@")[2]


def _hostname(url: Url) -> str:
    host = _host(url)
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def _port(url: Url) -> str:
    return _host(url).rpartition("]")[2].partition(":")[2]


def _escaped_path(url: Url) -> str:
    path = url.parts.path
    plain = re.fullmatch(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/\[\]]|%[0-9A-Fa-f]{2})*", path)
    return path if plain else quote(unquote(path), safe="/$&+,:;=@-_.~")


def _query(url: Url) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in parse_qsl(url.parts.query, keep_blank_values=True):
        found.setdefault(name, []).append(value)
    return found


def _of_url(name: str, function: Callable[[Url], Any], to: Type = STRING) -> Function:
    def body(url: Any) -> Any:
        if not isinstance(url, Url):
            raise no_overload(name, url)
        return function(url)

    return Function(name, body).method(URL, to=to)


FUNCTIONS = [
    Function("ip", _ip).call(STRING, to=IP).method(CIDR, to=IP),
    Function("isIP", _is(_parse_ip)).call(STRING, to=BOOL),
    Function("ip.isCanonical", _is_canonical).call(STRING, to=BOOL),
    _of_ip("family", lambda address: address.version, INT),
    _of_ip("isUnspecified", lambda address: address.is_unspecified),
    _of_ip("isLoopback", lambda address: address.is_loopback),
    _of_ip("isLinkLocalMulticast", _is_local_multicast),
    _of_ip("isLinkLocalUnicast", lambda address: address.is_link_local),
    _of_ip("isGlobalUnicast", _is_global),
    Function("cidr", _parse_cidr).call(STRING, to=CIDR),
    Function("isCIDR", _is(_parse_cidr)).call(STRING, to=BOOL),
    Function("containsIP", _contains_ip).method(CIDR, STRING, to=BOOL).method(CIDR, IP, to=BOOL),
    Function("containsCIDR", _contains_cidr).method(CIDR, STRING, to=BOOL).method(CIDR, CIDR, to=BOOL),
    Function("masked", _masked).method(CIDR, to=CIDR),
    Function("prefixLength", _prefix_length).method(CIDR, to=INT),
    Function("url", _parse_url).call(STRING, to=URL),
    Function("isURL", _is(_parse_url)).call(STRING, to=BOOL),
    _of_url("getScheme", lambda url: url.parts.scheme),
    _of_url("getHost", _host),
    _of_url("getHostname", _hostname),
    _of_url("getPort", _port),
    _of_url("getEscapedPath", _escaped_path),
    _of_url("getQuery", _query, map_of(STRING, LIST_STRING)),
]
