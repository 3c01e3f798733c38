"""The ports and addresses of a forwarder, as text and parsed. The first part of tools/portforward/portforward.go."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from clientgo.golang.strconv import quote

__all__ = ["ForwardedPort", "ListenAddress", "parse_addresses", "parse_ports"]

_DIGITS = re.compile(r"\d+", re.ASCII)
_ZEROS = re.compile(r"(?<![\d])0+(?=\d)")


@dataclass
class ForwardedPort:
    """A local port and the pod's port. Go: portforward.ForwardedPort."""

    local: int
    remote: int


@dataclass(frozen=True)
class ListenAddress:
    """An address to listen on. One of those with failure mode "all" is enough; each with "any" is needed."""

    address: str
    is_ipv6: bool
    failure_mode: str


def parse_ports(ports: Sequence[str]) -> list[ForwardedPort]:
    """Parse "5000", "8888:5000", and ":5000" or "0:5000" for any free local port. Raises ValueError. Go: parsePorts."""
    return [_parse_port(text) for text in ports]


def _parse_port(text: str) -> ForwardedPort:
    parts = text.split(":")
    if len(parts) > 2:
        raise ValueError(f"invalid port format '{text}'")
    local, remote = (parts[0] or "0", parts[1]) if len(parts) == 2 else (parts[0], parts[0])
    forwarded = ForwardedPort(_number("local", local), _number("remote", remote))
    if forwarded.remote == 0:
        raise ValueError("remote port must be > 0")
    return forwarded


def _number(which: str, text: str) -> int:
    if not _DIGITS.fullmatch(text):
        raise ValueError(
            f"error parsing {which} port '{text}': strconv.ParseUint: parsing {quote(text)}: invalid syntax"
        )
    if len(text.lstrip("0")) > 5 or int(text) > 0xFFFF:
        raise ValueError(
            f"error parsing {which} port '{text}': strconv.ParseUint: parsing {quote(text)}: value out of range"
        )
    return int(text)


def parse_addresses(addresses: Sequence[str]) -> list[ListenAddress]:
    """Parse IP addresses and "localhost", which is an IPv4 and an IPv6 address. Sorted, each once.

    Raises ValueError. Go: parseAddresses.
    """
    found: dict[str, ListenAddress] = {}
    for address in addresses:
        if address == "localhost":
            found.setdefault("127.0.0.1", ListenAddress("127.0.0.1", False, "all"))
            found.setdefault("::1", ListenAddress("::1", True, "all"))
            continue
        try:
            # As in Go, leading zeros are allowed.
            version = ipaddress.ip_address(_ZEROS.sub("", address) if ":" not in address else address).version
        except ValueError:
            raise ValueError(f"{address} is not a valid IP") from None
        found[address] = ListenAddress(address, version == 6, "any")
    return [found[address] for address in sorted(found)]
