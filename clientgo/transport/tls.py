"""TLS contexts from PEM certificates, with the behaviour of Go's crypto/tls.

Replaces TLSConfigFor of transport/transport.go and tls.X509KeyPair. A separate module, which is loaded with the first
context, since importing ssl is slow (test/bench/start).
"""

from __future__ import annotations

import contextlib
import os
import re
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from clientgo.klog.exceptions import as_operational

if TYPE_CHECKING:
    from clientgo.transport.config import Certificate

__all__ = ["build_context", "check_certificate", "validity"]


class _TLSSocket(ssl.SSLSocket):
    """A TLS socket that closes itself if the peer has reset the connection before the handshake, unlike the ssl
    module's.
    """

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        try:
            return super().recv(buflen, flags)
        except OSError:
            if self.version() is None:
                self.close()
            raise


def build_context(ca: bytes | None, certificate: Certificate | None, *, insecure: bool) -> ssl.SSLContext:
    """Return a TLS context for connections to a server. Without `ca` it trusts the system's authorities.

    Raises ValueError for an invalid certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.sslsocket_class = _TLSSocket
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # Here and not for each connection: threads share the context, and OpenSSL does not lock it.
    context.set_alpn_protocols(["http/1.1"])
    # As in Go, only subject alternative names are matched, and any certificate that the user names is an anchor.
    context.hostname_checks_common_name = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif ca is not None:
        _load_ca(context, ca)
    else:
        context.load_default_certs()
    if certificate is not None:
        _load_client_certificate(context, certificate)
    return context


# A block ends before the next one begins, so that each byte is scanned once.
_PEM_CERTIFICATE = re.compile(
    rb"-----BEGIN CERTIFICATE-----(?:(?!-----BEGIN CERTIFICATE-----).)+?-----END CERTIFICATE-----", re.DOTALL
)


def _load_ca(context: ssl.SSLContext, ca: bytes) -> None:
    """Trust exactly these authorities; an empty file trusts none. Raises ValueError if none is readable."""
    if not ca:
        return
    certificates = _PEM_CERTIFICATE.findall(ca)
    if not certificates:
        known = b"-----BEGIN" in ca
        reason = "no valid certificate authority data seen" if known else "unable to parse bytes as PEM block"
        raise as_operational(ValueError(f"unable to load root certificates: {reason}"))
    failures = []
    for certificate in certificates:
        try:
            context.load_verify_locations(cadata=certificate.decode("ascii"))
        except (ssl.SSLError, UnicodeDecodeError) as err:
            failures.append(err)
    if len(failures) == len(certificates):
        text = f"unable to load root certificates: failed to parse certificate: {failures[0]}"
        raise as_operational(ValueError(text)) from failures[0]


def check_certificate(certificate: Certificate) -> None:
    """Raise ValueError unless this is a certificate with its matching key. Go: tls.X509KeyPair."""
    _load_client_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), certificate)


def _load_client_certificate(context: ssl.SSLContext, certificate: Certificate) -> None:
    with _as_file(certificate.cert) as cert_path, _as_file(certificate.key) as key_path:
        try:
            context.load_cert_chain(cert_path, key_path, password="")
        except ssl.SSLError as err:
            reason = (
                "private key does not match public key"
                if err.reason == "KEY_VALUES_MISMATCH"
                else str(err.reason or err)
            )
            raise ValueError(f"tls: failed to load the client certificate: {reason}") from None


@contextlib.contextmanager
def _as_file(data: bytes) -> Iterator[str]:
    """Yield the path of a file with the data, in memory where possible, since the ssl module only reads files."""
    if hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd"):
        with open(os.memfd_create("clientgo"), "wb") as file:
            file.write(data)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
        return
    import tempfile  # imported here, since it imports four compression modules

    with tempfile.TemporaryDirectory(prefix="clientgo-") as folder:  # readable only by this user
        path = os.path.join(folder, "data.pem")
        with open(path, "wb") as file:
            file.write(data)
        yield path


def validity(certificate: bytes) -> tuple[float, float]:
    """Return the start and the end of the validity of the first certificate in PEM, in seconds since 1970.

    Raises ValueError if there is none. Go: NotBefore and NotAfter of x509.Certificate.
    """
    found = _PEM_CERTIFICATE.search(certificate)
    if found is None:
        raise ValueError("no certificate in PEM")
    try:
        _, signed, _ = _element(ssl.PEM_cert_to_DER_cert(found.group().decode("ascii", "replace")))
        _, rest, _ = _element(signed)
        tag, _, after = _element(rest)
        rest = after if tag == _VERSION else rest
        for _ in ("serialNumber", "signature", "issuer"):
            _, _, rest = _element(rest)
        _, times, _ = _element(rest)
        start_tag, start, times = _element(times)
        end_tag, end, _ = _element(times)
        return _seconds(start_tag, start), _seconds(end_tag, end)
    except IndexError:
        raise ValueError("the certificate is truncated") from None


# The tags of X.509 in DER: the optional version, and a date whose year has two digits.
_VERSION, _UTC_TIME = 0xA0, 0x17


def _element(data: bytes) -> tuple[int, bytes, bytes]:
    """Return the tag and the content of the first DER element, and what follows it. Raises IndexError."""
    length, begin = data[1], 2
    if length >= 0x80:
        begin += length & 0x7F
        length = int.from_bytes(data[2:begin], "big")
    if len(data) < begin + length:
        raise IndexError
    return data[0], data[begin : begin + length], data[begin + length :]


def _seconds(tag: int, text: bytes) -> float:
    digits = text.decode("ascii", "replace")
    if tag == _UTC_TIME:
        digits = ("19" if digits[:2] >= "50" else "20") + digits
    return datetime.strptime(digits, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC).timestamp()
