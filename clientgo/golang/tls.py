"""Certificates in memory for the ssl module, which only reads files. Replaces tls.X509KeyPair."""

from __future__ import annotations

import os
import ssl
import tempfile
from pathlib import Path

__all__ = ["load_key_pair"]


def load_key_pair(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """Load a certificate and its key, in PEM, into the context; they are on disk only while OpenSSL reads them.

    Raises ssl.SSLError if they do not match.
    """
    with tempfile.TemporaryDirectory(prefix="clientgo-") as folder:
        paths = Path(folder) / "tls.crt", Path(folder) / "tls.key"
        for path, text in zip(paths, (certificate, key), strict=True):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
        context.load_cert_chain(*paths)
