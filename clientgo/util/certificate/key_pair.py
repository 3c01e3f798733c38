"""A certificate with its private key. Replaces tls.Certificate and tls.X509KeyPair of Go."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from clientgo import transport
from clientgo.golang import pem
from clientgo.golang.io import read_file
from clientgo.util import keyutil
from clientgo.util.cert import CERTIFICATE_BLOCK_TYPE

__all__ = ["Certificate", "load_x509_key_pair", "x509_key_pair"]


@dataclass(frozen=True)
class Certificate(transport.Certificate):
    """A certificate with its chain and its key in PEM, as a transport needs it, and the certificate itself.

    Go: tls.Certificate.
    """

    leaf: x509.Certificate = field(repr=False, compare=False)


def x509_key_pair(cert_pem: bytes, key_pem: bytes) -> Certificate:
    """Return the certificates of `cert_pem`, the leaf first, with the first key of `key_pem`.

    Other blocks are skipped, so that both may be in one file. Raises ValueError unless the key is the leaf's.
    Go: tls.X509KeyPair.
    """
    chain = [block.bytes for block in pem.blocks(cert_pem) if block.type == CERTIFICATE_BLOCK_TYPE]
    if not chain:
        raise ValueError("tls: failed to find any PEM data in certificate input")
    key_block = next((block for block in pem.blocks(key_pem) if block.type.endswith("PRIVATE KEY")), None)
    if key_block is None:
        raise ValueError("tls: failed to find any PEM data in key input")
    key_data = pem.encode(key_block.type, key_block.bytes)
    try:
        leaf = x509.load_der_x509_certificate(chain[0])
        public = leaf.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        key = keyutil.parse_private_key_pem(key_data).public_key()
    except (ValueError, UnsupportedAlgorithm) as err:
        raise ValueError(f"tls: failed to parse certificate or private key: {err}") from None
    if key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo) != public:
        raise ValueError("tls: private key does not match public key")
    certificates = b"".join(pem.encode(CERTIFICATE_BLOCK_TYPE, der) for der in chain)
    return Certificate(certificates, key_data, leaf)


def load_x509_key_pair(cert_file: str | Path, key_file: str | Path) -> Certificate:
    """Return the pair of two files. Raises OSError, and ValueError like `x509_key_pair`. Go: tls.LoadX509KeyPair."""
    return x509_key_pair(read_file(cert_file), read_file(key_file))
