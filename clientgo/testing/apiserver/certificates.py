"""A self-signed certificate for the server, made with nothing but the standard library.

kubectl and every other client of kubeconfigs send a bearer token over https only, so the server has to speak it without
anybody having to make certificates first. One P-256 key and one certificate, which is its own authority.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import os
import secrets
import ssl
import tempfile
from datetime import UTC, datetime
from pathlib import Path

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


def _multiply(scalar: int) -> tuple[int, int]:
    """scalar times the generator, in affine coordinates."""
    total: _Point = (0, 0, 0)
    step: _Point = (*_G, 1)
    while scalar:
        if scalar & 1:
            total = _add(total, step)
        step = _double(step)
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


def _pem(label: str, body: bytes) -> str:
    text = base64.encodebytes(body).decode().replace("\n", "")
    lines = [text[i : i + 64] for i in range(0, len(text), 64)]
    return "\n".join((f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""))


def self_signed(hosts: list[str], now: float) -> tuple[str, str]:
    """(certificate, private key) in PEM, valid for these names for ten years from yesterday."""
    key = secrets.randbelow(_N - 1) + 1
    x, y = _multiply(key)
    point = b"\x04" + x.to_bytes(32, "big") + y.to_bytes(32, "big")
    algorithm = _sequence(_oid(_ECDSA_SHA256))
    name = _sequence(_tlv(0x31, _sequence(_oid(_COMMON_NAME), _tlv(0x0C, b"clientgo-apiserver"))))
    identifier = hashlib.sha1(point, usedforsecurity=False).digest()
    extensions = _sequence(
        _extension("2.5.29.19", _sequence(_tlv(0x01, b"\xff")), critical=True),  # basicConstraints: CA
        _extension("2.5.29.15", _bits(b"\x84", 2), critical=True),  # keyUsage: digitalSignature, keyCertSign
        _extension("2.5.29.37", _sequence(_oid("1.3.6.1.5.5.7.3.1"))),  # extKeyUsage: serverAuth
        _extension("2.5.29.14", _octets(identifier)),  # subjectKeyIdentifier
        _extension("2.5.29.35", _sequence(_tlv(0x80, identifier))),  # authorityKeyIdentifier
        _extension("2.5.29.17", _names(hosts)),  # subjectAltName
    )
    body = _sequence(
        _tlv(0xA0, _integer(2)),
        _integer(secrets.randbits(120) | 1),
        algorithm,
        name,
        _sequence(_time(now - 24 * 3600), _time(now + 10 * _YEAR)),
        name,
        _sequence(_sequence(_oid(_EC_PUBLIC_KEY), _oid(_PRIME256V1)), _bits(point)),
        _tlv(0xA3, extensions),
    )
    certificate = _sequence(body, algorithm, _bits(_sign(key, body)))
    private = _sequence(
        _integer(1), _octets(key.to_bytes(32, "big")), _tlv(0xA0, _oid(_PRIME256V1)), _tlv(0xA1, _bits(point))
    )
    return _pem("CERTIFICATE", certificate), _pem("EC PRIVATE KEY", private)


def context_of(certificate: str, key: str) -> ssl.SSLContext:
    """A server context; the key is on disk, in a folder of its own, only while OpenSSL reads it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory(prefix="clientgo-") as folder:
        path = Path(folder) / "both.pem"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(certificate + key)
        context.load_cert_chain(path)
    return context


class Identity:
    """The certificate of one server, self-signed."""

    def __init__(self, pem: str) -> None:
        """`pem` is what `self_signed` gave: the certificate, and behind it the key."""
        mark = pem.index("-----BEGIN EC PRIVATE KEY-----")
        self.certificate = pem[:mark]
        self.context = context_of(self.certificate, pem[mark:])

    def __repr__(self) -> str:
        return "<Identity self-signed>"
