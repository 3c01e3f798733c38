"""Real certificates for tests, made by the openssl command in a folder of the test's own."""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Pair:
    """A certificate and its key, as files."""

    cert: Path
    key: Path


class Authority:
    """A certificate authority that signs what a test needs."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self._folder = folder
        self.pair = Pair(folder / f"{name}.crt", folder / f"{name}.key")
        _openssl(
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"),
            *("-subj", f"/CN={name}", "-keyout", str(self.pair.key), "-out", str(self.pair.cert)),
        )

    @property
    def path(self) -> str:
        return str(self.pair.cert)

    @property
    def data(self) -> bytes:
        return self.pair.cert.read_bytes()

    def trust(self) -> ssl.SSLContext:
        """Return a client's context that trusts this authority. Like Go's, it requires no key usage extension."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=self.data.decode())
        return context

    def issue(self, name: str, *alternative_names: str, days: int = 30, common_name: str = "") -> Pair:
        """Return a certificate for the alternative names ("DNS:a", "IP:127.0.0.1"); a negative `days` has expired."""
        pair = Pair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        request, extensions = self._folder / f"{name}.csr", self._folder / f"{name}.ext"
        _openssl(
            *("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-subj", f"/CN={common_name or name}", "-keyout", str(pair.key), "-out", str(request)),
        )
        extensions.write_text(f"subjectAltName={','.join(alternative_names)}\n" if alternative_names else "\n")
        _openssl(
            *("x509", "-req", "-in", str(request), "-CA", str(self.pair.cert), "-CAkey", str(self.pair.key)),
            *("-CAcreateserial", "-days", str(days), "-extfile", str(extensions), "-out", str(pair.cert)),
        )
        return pair


def _openssl(*args: str) -> None:
    subprocess.run(["openssl", *args], check=True, capture_output=True)
