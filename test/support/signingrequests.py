"""Certificate requests of PKCS #10, unsigned: the API server parses them and does not check the signature."""

from __future__ import annotations

import base64

NAMES = {"CN": bytes([0x55, 4, 3]), "O": bytes([0x55, 4, 10])}


def tlv(tag: int, *parts: bytes) -> bytes:
    body = b"".join(parts)
    length = bytes([len(body)]) if len(body) < 0x80 else bytes([0x82, *len(body).to_bytes(2, "big")])
    return bytes([tag]) + length + body


def request_pem(*sets: str, tag: int = 0x0C, encoding: str = "utf-8") -> str:
    """Return the base64 of a request whose subject has these sets of names: "CN=a", or "CN=a+O=b" for two in a set."""
    subject = []
    for each in sets:
        pairs = [name.partition("=") for name in each.split("+")]
        values = [tlv(0x30, tlv(6, NAMES[name]), tlv(tag, value.encode(encoding))) for name, _, value in pairs]
        subject.append(tlv(0x31, *values))
    info = tlv(0x30, tlv(2, b"\0"), tlv(0x30, *subject))
    body = base64.encodebytes(tlv(0x30, info)).decode()
    pem = f"-----BEGIN CERTIFICATE REQUEST-----\n{body}-----END CERTIFICATE REQUEST-----\n"
    return base64.b64encode(pem.encode()).decode()
