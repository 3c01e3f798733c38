"""Reasons for rejected certificates, with Go's texts.

Replaces HostnameError and CertificateInvalidError of Go's crypto/x509.

OpenSSL reports a mismatch without the certificate's names, and an expired certificate without a time. The ssl module
does not return the certificate of a failed handshake, so that a second connection reads it; see `dial`.
"""

from __future__ import annotations

import ipaddress
import ssl
import time
from collections.abc import Callable
from typing import Any, Final

from clientgo.golang.http.failures import with_text

__all__ = ["Certificate", "peer_certificate_context", "rejection"]

# A certificate in the form of `ssl.SSLSocket.getpeercert`.
Certificate = dict[str, Any]

# OpenSSL's codes X509_V_ERR_*.
_TIME_CODES: Final = (9, 10)  # not yet valid, expired
_NAME_CODES: Final = (62, 64)  # another host, another IP address

# Go prints only the number of names if there are more.
_MAX_NAMES: Final = 100


def rejection(err: ssl.SSLCertVerificationError, name: str, read: Callable[[], Certificate]) -> OSError:
    """Return the error for a certificate that the verification for `name` rejected.

    Calls `read`, which returns the peer's certificate, only if the text depends on it. `read` may raise OSError,
    EOFError or ValueError; then the text is OpenSSL's.
    """
    reason = err.verify_message
    if err.verify_code in _TIME_CODES + _NAME_CODES:
        try:
            certificate = read()
        except (OSError, EOFError, ValueError):
            certificate = {}
        if err.verify_code in _TIME_CODES:
            reason = _time_reason(reason, certificate, time.time())
        elif certificate:
            reason = _name_reason(certificate, name)
    return with_text(err, f"tls: failed to verify certificate: {reason}")


def peer_certificate_context() -> ssl.SSLContext:
    """Return a context that accepts every certificate, to read one. No data may be sent on its connections."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _time_reason(reason: str, certificate: Certificate, now: float) -> str:
    """Return the bound that the current time violates. Go: CertificateInvalidError, Expired."""
    current = f"x509: certificate has expired or is not yet valid: current time {_rfc3339(now)}"
    try:
        not_before, not_after = (ssl.cert_time_to_seconds(certificate[key]) for key in ("notBefore", "notAfter"))
    except (KeyError, ValueError, OverflowError):
        return f"{current}: {reason}"
    if now > not_after:
        return f"{current} is after {_rfc3339(not_after)}"
    if now < not_before:
        return f"{current} is before {_rfc3339(not_before)}"
    # OpenSSL rejected another certificate of the chain, which the ssl module does not return.
    return f"{current}: an authority's certificate in the chain: {reason}"


def _name_reason(certificate: Certificate, name: str) -> str:
    """Return the names of the certificate, and the name that is not among them. Go: HostnameError."""
    names = certificate.get("subjectAltName", ())
    if not names and ("commonName", name) in [pair for part in certificate.get("subject", ()) for pair in part]:
        return "x509: certificate relies on legacy Common Name field, use SANs instead"
    is_address = _is_address(name)
    if is_address:
        known = [_address_text(value) for kind, value in names if kind == "IP Address"]
        if not known:
            return f"x509: cannot validate certificate for {name} because it doesn't contain any IP SANs"
    else:
        known = [_printable(value) for kind, value in names if kind == "DNS"]
    if len(known) >= _MAX_NAMES:
        counted = "IP SANs" if is_address else "names"
        return f"x509: certificate is valid for {len(known)} {counted}, but none matched {name}"
    if not known:
        return f"x509: certificate is not valid for any names, but wanted to match {name}"
    return f"x509: certificate is valid for {', '.join(known)}, not {name}"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _address_text(value: str) -> str:
    """Return the address in its shortest form: Python prints all groups of an IPv6 address."""
    try:
        return str(ipaddress.ip_address(value.strip()))
    except ValueError:
        return _printable(value)


def _printable(value: str) -> str:
    """Return the text without characters that could control a terminal."""
    return value if value.isprintable() else ascii(value)


def _rfc3339(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
