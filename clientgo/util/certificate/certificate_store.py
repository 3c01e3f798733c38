"""A store that keeps pairs of certificate and key as files. Mirrors util/certificate/certificate_store.go.

Differs: it checks a new pair before it writes the file, since an update within the same second overwrites the file of
the current pair, and it replaces the link in one step.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Protocol

from cryptography.hazmat.primitives.serialization import Encoding

from clientgo import klog
from clientgo.golang import pem
from clientgo.golang.os import mkdir_all
from clientgo.util.cert import CERTIFICATE_BLOCK_TYPE, parse_certs_pem
from clientgo.util.certificate.certificate_manager import NoCertKeyError, Store
from clientgo.util.certificate.key_pair import Certificate, load_x509_key_pair, x509_key_pair
from clientgo.utils.clock import REAL_CLOCK

__all__ = ["FileStore", "new_file_store", "new_file_store_with_logger"]

_KEY_EXTENSION = ".key"
_CERT_EXTENSION = ".crt"
_PEM_EXTENSION = ".pem"
_CURRENT_PAIR = "current"
_UPDATED_PAIR = "updated"


class FileStore(Store, Protocol):
    """A store with files. Go: certificate.FileStore."""

    def current_path(self) -> str:
        """Return the path of the file with the current pair, which need not exist. Go: FileStore.CurrentPath."""
        ...


def new_file_store(
    pair_name_prefix: str, cert_directory: str, key_directory: str, cert_file: str, key_file: str
) -> FileStore:
    """Return a store with one file for each pair.

    The current pair is the first that exists of `CERT_DIRECTORY/PREFIX-current.pem`, of `cert_file` and `key_file`, and
    of `CERT_DIRECTORY/PREFIX.crt` and `KEY_DIRECTORY/PREFIX.key`. A new pair becomes a file in `cert_directory` with
    the time in its name, and `PREFIX-current.pem` a symbolic link to it. An interrupted update is completed at once.
    Raises OSError. Go: certificate.NewFileStore.
    """
    return new_file_store_with_logger(
        klog.background(), pair_name_prefix, cert_directory, key_directory, cert_file, key_file
    )


def new_file_store_with_logger(
    logger: klog.Logger,
    pair_name_prefix: str,
    cert_directory: str,
    key_directory: str,
    cert_file: str,
    key_file: str,
) -> FileStore:
    """Return a store like `new_file_store`, with a logger. Go: certificate.NewFileStoreWithLogger."""
    store = _FileStore(logger, pair_name_prefix, Path(cert_directory), Path(key_directory), cert_file, key_file)
    store.recover()
    return store


class _FileStore:
    """The only store of this module. Not thread-safe, as in Go: the manager calls it from one thread."""

    def __init__(
        self,
        logger: klog.Logger,
        pair_name_prefix: str,
        cert_directory: Path,
        key_directory: Path,
        cert_file: str,
        key_file: str,
    ) -> None:
        self._logger = logger
        self._prefix = pair_name_prefix
        self._cert_directory = cert_directory
        self._key_directory = key_directory
        self._cert_file = cert_file
        self._key_file = key_file

    def current_path(self) -> str:
        """See FileStore. Go: FileStore.CurrentPath."""
        return str(self._path(_CURRENT_PAIR))

    def recover(self) -> None:
        """Complete an update that was interrupted between its two symbolic links. Raises OSError."""
        current, updated = self._path(_CURRENT_PAIR), self._path(_UPDATED_PAIR)
        if current.exists() or not _is_link(updated):
            return
        updated.rename(current)

    def current(self) -> Certificate:
        """See Store. Go: Store.Current."""
        pair_file = self._path(_CURRENT_PAIR)
        if pair_file.exists():
            self._logger.info("Loading cert/key pair from a file", filePath=str(pair_file))
            return _load_file(pair_file)
        for cert, key in (
            (self._cert_file, self._key_file),
            (
                str(self._cert_directory / (self._prefix + _CERT_EXTENSION)),
                str(self._key_directory / (self._prefix + _KEY_EXTENSION)),
            ),
        ):
            if cert and key and Path(cert).exists() and Path(key).exists():
                self._logger.info("Loading cert/key pair", certFile=cert, keyFile=key)
                return load_x509_key_pair(cert, key)
        raise NoCertKeyError(
            f'no cert/key files read at "{pair_file}", ("{self._cert_file}", "{self._key_file}") or '
            f'("{self._cert_directory}", "{self._key_directory}")'
        )

    def update(self, cert: bytes, key: bytes) -> Certificate:
        """See Store. The file is on disk before the link changes. Go: Store.Update."""
        certificates = parse_certs_pem(cert)
        key_block = next(pem.blocks(key), None)
        if key_block is None:
            raise ValueError("invalid key data")
        blocks = [pem.encode(CERTIFICATE_BLOCK_TYPE, each.public_bytes(Encoding.DER)) for each in certificates]
        data = b"".join([*blocks, pem.encode(key_block.type, key_block.bytes)])
        x509_key_pair(data, data)
        mkdir_all(self._cert_directory, 0o755)
        path = self._path(f"{datetime.fromtimestamp(REAL_CLOCK.now()):%Y-%m-%d-%H-%M-%S}")
        with open(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        pair = _load_file(path)
        self._update_symlink(path)
        return pair

    def _update_symlink(self, path: Path) -> None:
        """Point the link of the current pair to a file. A reader sees the old pair or the new one."""
        current, updated = self._path(_CURRENT_PAIR), self._path(_UPDATED_PAIR)
        _is_link(current)
        if _is_link(updated):
            updated.unlink()
        if not path.exists():
            raise FileNotFoundError(
                f'file "{path}" does not exist so it can not be used as the currently selected cert/key'
            )
        updated.symlink_to(path.absolute())
        updated.replace(current)

    def _path(self, qualifier: str) -> Path:
        return self._cert_directory / f"{self._prefix}-{qualifier}{_PEM_EXTENSION}"


def _is_link(path: Path) -> bool:
    """Report whether the path exists. Raises OSError if it is not a symbolic link."""
    if path.is_symlink():
        return True
    if path.exists():
        raise FileExistsError(f'expected "{path}" to be a symlink but it is a file')
    return False


def _load_file(path: Path) -> Certificate:
    try:
        return load_x509_key_pair(path, path)
    except ValueError as err:
        raise ValueError(f'could not convert data from "{path}" into cert/key pair: {err}') from None
