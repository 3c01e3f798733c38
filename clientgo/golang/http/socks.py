"""A SOCKS version 5 client (RFC 1928, with passwords as in RFC 1929).

Replaces the SOCKS client inside Go's net/http. As in Go, the proxy resolves names.
"""

from __future__ import annotations

import ipaddress
import socket

from clientgo.golang.http.route import Proxy

__all__ = ["socks_connect"]

_VERSION = 5
_PASSWORD_VERSION = 1
_CONNECT = 1
_NO_AUTHENTICATION, _PASSWORD, _NOTHING_ACCEPTABLE = 0, 2, 0xFF
_IPV4, _NAME, _IPV6 = 1, 3, 4

# The texts of reply codes, as in golang.org/x/net/internal/socks.
_REPLIES = {
    1: "general SOCKS server failure",
    2: "connection not allowed by ruleset",
    3: "network unreachable",
    4: "host unreachable",
    5: "connection refused",
    6: "TTL expired",
    7: "command not supported",
    8: "address type not supported",
}


def socks_connect(sock: socket.socket, proxy: Proxy, host: str, port: int) -> None:
    """Request a connection to (host, port) over a connection to the proxy. Blocks. Raises OSError.

    Afterwards the socket is connected to the host.
    """
    try:
        _authenticate(sock, proxy)
        _send_connect(sock, host, port)
        _read_reply(sock)
    except OSError as err:
        where = f"socks connect tcp {proxy.host}:{proxy.port}->{host}:{port}"
        raise type(err)(f"{where}: {err.strerror or err}") from err


def _authenticate(sock: socket.socket, proxy: Proxy) -> None:
    methods = [_NO_AUTHENTICATION, _PASSWORD] if proxy.username else [_NO_AUTHENTICATION]
    sock.sendall(bytes([_VERSION, len(methods), *methods]))
    version, method = _read(sock, 2)
    if version != _VERSION:
        raise OSError(f"unexpected protocol version {version}")
    if method == _NO_AUTHENTICATION:
        return
    if method == _NOTHING_ACCEPTABLE or method not in methods:
        raise OSError("no acceptable authentication methods")
    username, password = proxy.username.encode(), proxy.password.encode()
    if max(len(username), len(password)) > 255:
        raise OSError("invalid username/password")
    sock.sendall(bytes([_PASSWORD_VERSION, len(username), *username, len(password), *password]))
    version, status = _read(sock, 2)
    if version != _PASSWORD_VERSION:
        raise OSError("invalid username/password version")
    if status != 0:
        raise OSError("username/password authentication failed")


def _send_connect(sock: socket.socket, host: str, port: int) -> None:
    sock.sendall(bytes([_VERSION, _CONNECT, 0]) + _encoded(host) + port.to_bytes(2, "big"))


def _encoded(host: str) -> bytes:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        name = _name(host)
        if len(name) > 255:
            raise OSError("FQDN too long") from None
        return bytes([_NAME, len(name)]) + name
    return bytes([_IPV4 if address.version == 4 else _IPV6]) + address.packed


def _name(host: str) -> bytes:
    try:
        return host.encode("ascii" if host.isascii() else "idna")
    except UnicodeError:
        raise OSError("invalid host name") from None  # a label of more than 63 bytes


def _read_reply(sock: socket.socket) -> None:
    version, code, reserved, kind = _read(sock, 4)
    if version != _VERSION:
        raise OSError(f"unexpected protocol version {version}")
    if code != 0:
        raise OSError(_REPLIES.get(code, f"unknown code: {code}"))
    if reserved != 0:
        raise OSError("non-zero reserved field")
    # The address from which the proxy connects, which is read to reach the data after it.
    lengths = {_IPV4: 4, _IPV6: 16}
    if kind not in lengths and kind != _NAME:
        raise OSError(f"unknown address type {kind}")
    _read(sock, (lengths[kind] if kind in lengths else _read(sock, 1)[0]) + 2)


def _read(sock: socket.socket, size: int) -> bytes:
    """Read exactly `size` bytes: the following bytes belong to another protocol layer."""
    data = b""
    while len(data) < size:
        piece = sock.recv(size - len(data))
        if not piece:
            raise ConnectionResetError("unexpected EOF")
        data += piece
    return data
