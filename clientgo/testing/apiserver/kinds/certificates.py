"""The subject of a CertificateSigningRequest, and its certificate. Go parses both with crypto/x509."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import NamedTuple

from clientgo.golang import pem
from clientgo.golang.strconv import quote

STORAGE = "certificates.k8s.io/certificatesigningrequests"
DECISIONS = ("Approved", "Denied")

# The object identifier 2.5.4.10, organizationName, in DER.
_ORGANIZATION = bytes([0x55, 0x04, 0x0A])
_SEQUENCE, _SET, _INTEGER, _OBJECT_IDENTIFIER = 0x30, 0x31, 0x02, 0x06
_BMP_STRING = 0x1E


def organizations(request: str) -> list[str]:
    """Return the organizations of the subject, which become groups; `request` is the base64 of PEM. O(len(request)).

    Raises ValueError for a text that is not a certificate request.
    """
    # A signer reads the first block too, so the block must be found as Go finds it.
    block = next(_blocks(request), None)
    if block is None or block.type != "CERTIFICATE REQUEST":
        raise ValueError("PEM block type must be CERTIFICATE REQUEST")
    return list(_organizations(block.bytes))


def _blocks(text: str) -> Iterator[pem.Block]:
    """Yield the blocks of the base64 of PEM; none if the text is not base64."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return iter(())
    return pem.blocks(data)


def check_certificate(certificate: str) -> None:
    """Raise ValueError unless the base64 `certificate` holds certificates in PEM. O(len(certificate)).

    Go parses each certificate; here its outer element must be a whole sequence in DER.
    """
    blocks = list(_blocks(certificate))
    if not blocks:
        raise ValueError("must contain one or more CERTIFICATE PEM blocks")
    for block in blocks:
        if block.type != "CERTIFICATE":
            raise ValueError(f"only CERTIFICATE PEM blocks are allowed, found {quote(block.type)}")
        if block.headers:
            raise ValueError("no PEM block headers are permitted")
        if _expect(block.bytes, _SEQUENCE).rest:
            raise ValueError("x509: trailing data")


class _Element(NamedTuple):
    """An element of DER."""

    tag: int
    body: bytes
    rest: bytes
    """The bytes after the element."""


def _element(data: bytes) -> _Element:
    if len(data) < 2:
        raise ValueError("asn1: syntax error: data truncated")
    length, start = data[1], 2
    if length & 0x80:
        start += length & 0x7F
        if length in (0x80, 0xFF) or start > 6:
            raise ValueError("asn1: structure error: length too large")
        length = int.from_bytes(data[2:start], "big")
    if start + length > len(data):
        raise ValueError("asn1: syntax error: data truncated")
    return _Element(data[0], data[start : start + length], data[start + length :])


def _expect(data: bytes, tag: int) -> _Element:
    element = _element(data)
    if element.tag != tag:
        raise ValueError("asn1: structure error: tags don't match")
    return element


def _organizations(der: bytes) -> Iterator[str]:
    """Yield the organizations of a request of PKCS #10, which are in any set of its subject."""
    outer = _expect(der, _SEQUENCE)
    if outer.rest:
        raise ValueError("asn1: syntax error: trailing data")
    version = _expect(_expect(outer.body, _SEQUENCE).body, _INTEGER)
    names = _expect(version.rest, _SEQUENCE).body
    while names:
        one = _expect(names, _SET)
        names = one.rest
        pairs = one.body
        while pairs:
            pair = _expect(pairs, _SEQUENCE)
            pairs = pair.rest
            kind = _expect(pair.body, _OBJECT_IDENTIFIER)
            value = _element(kind.rest)
            if kind.body == _ORGANIZATION:
                yield value.body.decode("utf-16-be" if value.tag == _BMP_STRING else "utf-8", "replace")
