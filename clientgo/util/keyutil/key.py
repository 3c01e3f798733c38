"""Private and public keys in PEM, for files and Secrets. Mirrors client-go's util/keyutil/key.go.

    data, was_generated = keyutil.load_or_generate_key_file("/var/lib/agent/client.key")
    key = keyutil.parse_private_key_pem(data)

Keys are those of the package `cryptography`, in place of crypto/rsa and crypto/ecdsa; all cryptography is OpenSSL's.
As in Go, the curves of a key are P-224, P-256, P-384 and P-521, and a PKCS #8 file may also have a key of Ed25519 or
X25519. Errors of the content are ValueErrors with Go's text, and errors of a file OSErrors.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, x25519
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
    load_der_public_key,
)

from clientgo.golang import pem
from clientgo.golang.io import read_file
from clientgo.golang.os import mkdir_all, write_file

__all__ = [
    "EC_PRIVATE_KEY_BLOCK_TYPE",
    "PRIVATE_KEY_BLOCK_TYPE",
    "PUBLIC_KEY_BLOCK_TYPE",
    "RSA_PRIVATE_KEY_BLOCK_TYPE",
    "PrivateKey",
    "PublicKey",
    "load_or_generate_key_file",
    "make_elliptic_private_key_pem",
    "marshal_private_key_to_pem",
    "parse_private_key_pem",
    "parse_public_keys_pem",
    "private_key_from_file",
    "public_keys_from_file",
    "write_key",
]

EC_PRIVATE_KEY_BLOCK_TYPE = "EC PRIVATE KEY"
"""The type of a PEM block with a key on a curve. Go: keyutil.ECPrivateKeyBlockType."""

RSA_PRIVATE_KEY_BLOCK_TYPE = "RSA PRIVATE KEY"
"""The type of a PEM block with a key in PKCS #1. Go: keyutil.RSAPrivateKeyBlockType."""

PRIVATE_KEY_BLOCK_TYPE = "PRIVATE KEY"
"""The type of a PEM block with a key in PKCS #8. Go: keyutil.PrivateKeyBlockType."""

PUBLIC_KEY_BLOCK_TYPE = "PUBLIC KEY"
"""The type of a PEM block with a public key. Go: keyutil.PublicKeyBlockType."""

PrivateKey: TypeAlias = (
    rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | x25519.X25519PrivateKey
)
"""A private key that `parse_private_key_pem` returns."""

PublicKey: TypeAlias = rsa.RSAPublicKey | ec.EllipticCurvePublicKey
"""A public key that `parse_public_keys_pem` returns."""

_PRIVATE = (rsa.RSAPrivateKey, ec.EllipticCurvePrivateKey, ed25519.Ed25519PrivateKey, x25519.X25519PrivateKey)
_CURVES = (ec.SECP224R1, ec.SECP256R1, ec.SECP384R1, ec.SECP521R1)
_UNREADABLE = (ValueError, TypeError, UnsupportedAlgorithm)

# Tags of DER, and the formats that follow from the second tag in the sequence of a private key.
_INTEGER, _OCTETS, _SEQUENCE = 0x02, 0x04, 0x30
_PKCS1, _SEC1, _PKCS8 = _INTEGER, _OCTETS, _SEQUENCE


def make_elliptic_private_key_pem() -> bytes:
    """Return a new private key on the curve P-256, in PEM. Go: keyutil.MakeEllipticPrivateKeyPEM."""
    return marshal_private_key_to_pem(ec.generate_private_key(ec.SECP256R1()))


def write_key(key_path: str | Path, data: bytes) -> None:
    """Write a key to a file that only its owner can read. Missing folders are created with mode 0755.

    An existing file is overwritten and keeps its mode. Raises OSError. Go: keyutil.WriteKey.
    """
    mkdir_all(Path(key_path).parent, 0o755)
    write_file(key_path, data, 0o600)


def load_or_generate_key_file(key_path: str | Path) -> tuple[bytes, bool]:
    """Return the key in a file, and False; or write a new key to the file, and return it and True.

    Only a missing file is written. Raises ValueError for a file without a private key, and OSError.
    Go: keyutil.LoadOrGenerateKeyFile.
    """
    try:
        data = read_file(key_path)
        parse_private_key_pem(data)
        return data, False
    except FileNotFoundError:
        pass
    except OSError as err:
        raise OSError(err.errno, f"error loading key from {key_path}: {err.strerror}") from err
    except ValueError as err:
        raise ValueError(f"error loading key from {key_path}: {err}") from None
    data = make_elliptic_private_key_pem()
    try:
        write_key(key_path, data)
    except OSError as err:
        raise OSError(err.errno, f"error writing key to {key_path}: {err.strerror}") from err
    return data, True


def marshal_private_key_to_pem(private_key: PrivateKey) -> bytes:
    """Return a key of RSA or on a curve in PEM. Raises TypeError for another key.

    Go: keyutil.MarshalPrivateKeyToPEM.
    """
    if not isinstance(private_key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
        raise TypeError(f"private key is not a recognized type: {type(private_key).__name__}")
    return private_key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())


def private_key_from_file(file: str | Path) -> PrivateKey:
    """Return the first private key in a file. Raises ValueError and OSError. Go: keyutil.PrivateKeyFromFile."""
    data = read_file(file)
    try:
        return parse_private_key_pem(data)
    except ValueError as err:
        raise ValueError(f"error reading private key file {file}: {err}") from None


def public_keys_from_file(file: str | Path) -> list[PublicKey]:
    """Return the public keys in a file. Raises ValueError and OSError. Go: keyutil.PublicKeysFromFile."""
    data = read_file(file)
    try:
        return parse_public_keys_pem(data)
    except ValueError as err:
        raise ValueError(f"error reading public key file {file}: {err}") from None


def parse_private_key_pem(key_data: bytes) -> PrivateKey:
    """Return the first private key in `key_data`. Other and malformed blocks are skipped.

    Raises ValueError if there is none. Go: keyutil.ParsePrivateKeyPEM.
    """
    formats = {
        EC_PRIVATE_KEY_BLOCK_TYPE: _SEC1,
        RSA_PRIVATE_KEY_BLOCK_TYPE: _PKCS1,
        PRIVATE_KEY_BLOCK_TYPE: _PKCS8,
    }
    for block in pem.blocks(key_data):
        if block.type in formats and _format_of(block.bytes) == formats[block.type]:
            key = _private_key(block.bytes)
            if key is not None:
                return key
    raise ValueError("data does not contain a valid RSA or ECDSA private key")


def parse_public_keys_pem(key_data: bytes) -> list[PublicKey]:
    """Return the public keys of all public keys, private keys and certificates in `key_data`.

    The type of a block does not matter. As in Go, a key on a curve in PKCS #8 is skipped, as are all other blocks.
    Raises ValueError if there is none. Go: keyutil.ParsePublicKeysPEM.
    """
    keys = [key for block in pem.blocks(key_data) if (key := _public_key(block.bytes)) is not None]
    if not keys:
        raise ValueError("data does not contain any valid RSA or ECDSA public keys")
    return keys


def _private_key(der: bytes) -> PrivateKey | None:
    try:
        key = load_der_private_key(der, None)
    except _UNREADABLE:
        return None
    if isinstance(key, ec.EllipticCurvePrivateKey) and not isinstance(key.curve, _CURVES):
        return None
    return key if isinstance(key, _PRIVATE) else None


def _public_key(der: bytes) -> PublicKey | None:
    format = _format_of(der)
    if format is not None:
        private = _private_key(der)
        if isinstance(private, rsa.RSAPrivateKey):
            return private.public_key()
        if isinstance(private, ec.EllipticCurvePrivateKey) and format == _SEC1:
            return private.public_key()
        return None
    key: object = None
    try:
        # A public key of PKCS #1 is a sequence of two integers; Go reads none.
        if _first_tag(der) == _SEQUENCE:
            key = load_der_public_key(der)
    except _UNREADABLE:
        try:
            key = x509.load_der_x509_certificate(der).public_key()
        except _UNREADABLE:
            return None
    if isinstance(key, ec.EllipticCurvePublicKey):
        return key if isinstance(key.curve, _CURVES) else None
    return key if isinstance(key, rsa.RSAPublicKey) else None


def _format_of(der: bytes) -> int | None:
    """Return the format of a private key; None for content that is none.

    A private key is a sequence that begins with a small number, its version. An integer follows in PKCS #1, octets in
    SEC 1, and a sequence in PKCS #8. OpenSSL would read each of them under the name of another.
    """
    start = _content(der)
    if der[start : start + 2] != bytes((_INTEGER, 1)):
        return None
    tag = der[start + 3 : start + 4]
    return tag[0] if tag and tag[0] in (_PKCS1, _SEC1, _PKCS8) else None


def _first_tag(der: bytes) -> int | None:
    tag = der[_content(der) :][:1]
    return tag[0] if tag else None


def _content(der: bytes) -> int:
    """Return where the content of the outermost value begins."""
    length = der[1:2]
    return 2 + (length[0] & 0x7F if length and length[0] & 0x80 else 0)
