"""The certificates of the embedded API server, with only the standard library.

The demo and tests need a server with TLS after a plain `pip install`, so this module creates an authority, whose key is
discarded, and the server's certificate, which cannot sign others. Keys are on the curve P-256. OpenSSL does all
cryptography of a connection; the code here only signs.

It is private to the embedded server and to tests. Its arithmetic is not constant-time: the time of a signature depends
on the key, and an observer could learn the key from many signatures. Programs use `util.cert` and `util.keyutil`, which
sign with OpenSSL.
"""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
from datetime import UTC, datetime
from functools import cache

from clientgo.golang import pem

__all__ = ["make_certificates"]

# The curve P-256.
_P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
_YEAR = 365 * 24 * 3600

_ECDSA_SHA256 = "1.2.840.10045.4.3.2"
_EC_PUBLIC_KEY = "1.2.840.10045.2.1"
_PRIME256V1 = "1.2.840.10045.3.1.7"
_COMMON_NAME = "2.5.4.3"
_BASIC_CONSTRAINTS = "2.5.29.19"
_KEY_USAGE = "2.5.29.15"
_EXTENDED_KEY_USAGE = "2.5.29.37"
_SERVER_AUTH = "1.3.6.1.5.5.7.3.1"
_SUBJECT_KEY = "2.5.29.14"
_AUTHORITY_KEY = "2.5.29.35"
_ALTERNATIVE_NAMES = "2.5.29.17"

_Point = tuple[int, int, int]


def _double(point: _Point) -> _Point:
    x, y, z = point
    if not y:
        return 0, 0, 0
    yy = y * y % _P
    s = 4 * x * yy % _P
    zz = z * z % _P
    m = 3 * (x - zz) * (x + zz) % _P
    nx = (m * m - 2 * s) % _P
    return nx, (m * (s - nx) - 8 * yy * yy) % _P, 2 * y * z % _P


def _add(a: _Point, b: _Point) -> _Point:
    if not a[2]:
        return b
    if not b[2]:
        return a
    za, zb = a[2] * a[2] % _P, b[2] * b[2] % _P
    ua, ub = a[0] * zb % _P, b[0] * za % _P
    sa, sb = a[1] * zb * b[2] % _P, b[1] * za * a[2] % _P
    if ua == ub:
        return _double(a) if sa == sb else (0, 0, 0)
    h, r = (ub - ua) % _P, (sb - sa) % _P
    hh = h * h % _P
    hhh, v = h * hh % _P, ua * hh % _P
    nx = (r * r - hhh - 2 * v) % _P
    return nx, (r * (v - nx) - sa * hhh) % _P, h * a[2] * b[2] % _P


@cache
def _steps() -> tuple[_Point, ...]:
    """Return the generator's doublings, which save half the work of each multiplication."""
    steps: list[_Point] = [(*_G, 1)]
    while len(steps) < _N.bit_length():
        steps.append(_double(steps[-1]))
    return tuple(steps)


def _multiply(scalar: int) -> tuple[int, int]:
    """Return scalar times the generator, in affine coordinates."""
    total: _Point = (0, 0, 0)
    for step in _steps():
        if scalar & 1:
            total = _add(total, step)
        scalar >>= 1
    inverse = pow(total[2], -1, _P)
    return total[0] * inverse * inverse % _P, total[1] * inverse**3 % _P


def _sign(key: int, message: bytes) -> bytes:
    digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
    while True:
        nonce = secrets.randbelow(_N - 1) + 1
        r = _multiply(nonce)[0] % _N
        s = pow(nonce, -1, _N) * (digest + r * key) % _N
        if r and s:
            return _sequence(_integer(r), _integer(s))


# ---- DER


def _tlv(tag: int, body: bytes) -> bytes:
    size = len(body)
    if size < 0x80:
        return bytes((tag, size)) + body
    octets = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(octets))) + octets + body


def _sequence(*parts: bytes) -> bytes:
    return _tlv(0x30, b"".join(parts))


def _integer(value: int) -> bytes:
    return _tlv(0x02, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def _octets(body: bytes) -> bytes:
    return _tlv(0x04, body)


def _bits(body: bytes, unused: int = 0) -> bytes:
    return _tlv(0x03, bytes((unused,)) + body)


def _oid(dotted: str) -> bytes:
    first, second, *rest = (int(part) for part in dotted.split("."))
    out = bytes((40 * first + second,))
    for number in rest:
        groups = [number & 0x7F]
        while number := number >> 7:
            groups.append(number & 0x7F | 0x80)
        out += bytes(reversed(groups))
    return _tlv(0x06, out)


def _time(seconds: float) -> bytes:
    moment = datetime.fromtimestamp(seconds, UTC)
    return _tlv(0x18, moment.strftime("%Y%m%d%H%M%SZ").encode())


def _extension(dotted: str, body: bytes, critical: bool = False) -> bytes:
    return _sequence(_oid(dotted), *((_tlv(0x01, b"\xff"),) if critical else ()), _octets(body))


def _names(hosts: list[str]) -> bytes:
    parts = []
    for host in hosts:
        try:
            parts.append(_tlv(0x87, ipaddress.ip_address(host).packed))
        except ValueError:
            parts.append(_tlv(0x82, host.encode()))
    return _sequence(*parts)


class _Key:
    """A private key on the curve, with its encodings for certificates."""

    def __init__(self) -> None:
        self.number = secrets.randbelow(_N - 1) + 1
        x, y = _multiply(self.number)
        self.point = b"\x04" + x.to_bytes(32, "big") + y.to_bytes(32, "big")
        self.identifier = hashlib.sha1(self.point, usedforsecurity=False).digest()

    def __repr__(self) -> str:
        return "<Key>"

    def pem(self) -> str:
        body = _sequence(
            _integer(1),
            _octets(self.number.to_bytes(32, "big")),
            _tlv(0xA0, _oid(_PRIME256V1)),
            _tlv(0xA1, _bits(self.point)),
        )
        return pem.encode("EC PRIVATE KEY", body).decode()


def make_certificates(
    hosts: list[str],
    now: float,
    names: tuple[str, str] = ("clientgo-apiserver-ca", "clientgo-apiserver"),
    years: int = 10,
) -> tuple[str, str, str]:
    """Return the authority's certificate, the server's certificate and the server's key in PEM, valid from yesterday.

    `hosts` are names and addresses; `names` are the names of the authority and the server. The authority's key is
    discarded: it signs only this certificate, which is valid for these hosts and cannot sign others.
    """
    authority, key = _Key(), _Key()
    issuer, validity = _name(names[0]), _validity(now, years)
    of_authority = (
        _extension(_BASIC_CONSTRAINTS, _sequence(_tlv(0x01, b"\xff")), critical=True),  # is an authority
        _extension(_KEY_USAGE, _bits(b"\x04", 2), critical=True),  # keyCertSign
        _extension(_SUBJECT_KEY, _octets(authority.identifier)),
    )
    of_server = (
        _extension(_BASIC_CONSTRAINTS, _sequence(), critical=True),  # is not an authority
        _extension(_KEY_USAGE, _bits(b"\x80", 7), critical=True),  # digitalSignature
        _extension(_EXTENDED_KEY_USAGE, _sequence(_oid(_SERVER_AUTH))),
        _extension(_SUBJECT_KEY, _octets(key.identifier)),
        _extension(_AUTHORITY_KEY, _sequence(_tlv(0x80, authority.identifier))),
        _extension(_ALTERNATIVE_NAMES, _names(hosts)),
    )
    return (
        _certificate(authority, issuer, authority, issuer, of_authority, validity),
        _certificate(key, _name(names[1]), authority, issuer, of_server, validity),
        key.pem(),
    )


def _validity(now: float, years: int) -> bytes:
    return _sequence(_time(now - 24 * 3600), _time(now + years * _YEAR))


def _name(common_name: str) -> bytes:
    return _sequence(_tlv(0x31, _sequence(_oid(_COMMON_NAME), _tlv(0x0C, common_name.encode()))))


def _certificate(
    key: _Key, subject: bytes, signer: _Key, issuer: bytes, extensions: tuple[bytes, ...], validity: bytes
) -> str:
    algorithm = _sequence(_oid(_ECDSA_SHA256))
    body = _sequence(
        _tlv(0xA0, _integer(2)),
        _integer(secrets.randbits(120) | 1),
        algorithm,
        issuer,
        validity,
        subject,
        _sequence(_sequence(_oid(_EC_PUBLIC_KEY), _oid(_PRIME256V1)), _bits(key.point)),
        _tlv(0xA3, _sequence(*extensions)),
    )
    return pem.encode("CERTIFICATE", _sequence(body, algorithm, _bits(_sign(signer.number, body)))).decode()
