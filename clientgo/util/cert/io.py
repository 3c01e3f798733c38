"""Files of certificates. Mirrors client-go's util/cert/io.go."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography import x509
from cryptography.x509.verification import Store

from clientgo.golang.io import read_file
from clientgo.golang.os import mkdir_all, write_file
from clientgo.util.cert.pem import parse_certs_pem

__all__ = ["can_read_cert_and_key", "certs_from_file", "new_pool", "new_pool_from_bytes", "write_cert"]


def can_read_cert_and_key(cert_path: str | Path, key_path: str | Path) -> bool:
    """Report whether both files can be read. Raises ValueError if only one can. Go: cert.CanReadCertAndKey."""
    readable = {path: _can_read(path) for path in (cert_path, key_path)}
    if not any(readable.values()):
        return False
    for path, is_readable in readable.items():
        if not is_readable:
            raise ValueError(f"error reading {path}, certificate and key must be supplied as a pair")
    return True


def _can_read(path: str | Path) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True


def write_cert(cert_path: str | Path, data: bytes) -> None:
    """Write certificates to a file that everybody can read. Missing folders are created with mode 0755.

    An existing file is overwritten and keeps its mode. Raises OSError. Go: cert.WriteCert.
    """
    mkdir_all(Path(cert_path).parent, 0o755)
    write_file(cert_path, data, 0o644)


def new_pool(filename: str | Path) -> Store:
    """Return the certificates of a file as a store for `cryptography.x509.verification`.

    Raises ValueError and OSError. Go: cert.NewPool.
    """
    data = read_file(filename)
    try:
        return new_pool_from_bytes(data)
    except ValueError as err:
        raise ValueError(f"error creating pool from {filename}: {err}") from None


def new_pool_from_bytes(pem_block: bytes) -> Store:
    """Return certificates in PEM as a store for `cryptography.x509.verification`.

    Raises ValueError. Go: cert.NewPoolFromBytes.
    """
    return Store(parse_certs_pem(pem_block))


def certs_from_file(file: str | Path) -> list[x509.Certificate]:
    """Return the certificates of a file. Raises ValueError and OSError. Go: cert.CertsFromFile."""
    data = read_file(file)
    try:
        return parse_certs_pem(data)
    except ValueError as err:
        raise ValueError(f"error reading {file}: {err}") from None
