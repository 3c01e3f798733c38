"""Certificates in PEM. Mirrors client-go's util/cert/pem.go."""

from __future__ import annotations

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from clientgo.golang import pem

__all__ = ["CERTIFICATE_BLOCK_TYPE", "CERTIFICATE_REQUEST_BLOCK_TYPE", "encode_certificates", "parse_certs_pem"]

CERTIFICATE_BLOCK_TYPE = "CERTIFICATE"
"""The type of a PEM block with a certificate. Go: cert.CertificateBlockType."""

CERTIFICATE_REQUEST_BLOCK_TYPE = "CERTIFICATE REQUEST"
"""The type of a PEM block with a request for a certificate. Go: cert.CertificateRequestBlockType."""


def parse_certs_pem(pem_certs: bytes) -> list[x509.Certificate]:
    """Return the certificates in `pem_certs`. Blocks with headers and of other types are skipped.

    Raises ValueError for a malformed certificate, and if there is none. Go: cert.ParseCertsPEM.
    """
    blocks = pem.blocks(pem_certs)
    found = [each.bytes for each in blocks if each.type == CERTIFICATE_BLOCK_TYPE and not each.headers]
    if not found:
        raise ValueError("data does not contain any valid RSA or ECDSA certificates")
    return [x509.load_der_x509_certificate(each) for each in found]


def encode_certificates(*certs: x509.Certificate) -> bytes:
    """Return the certificates in PEM, one after another. Go: cert.EncodeCertificates."""
    return b"".join(pem.encode(CERTIFICATE_BLOCK_TYPE, each.public_bytes(Encoding.DER)) for each in certs)
