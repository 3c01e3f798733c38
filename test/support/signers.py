"""Certificates of the package cryptography for tests, and a signer of CertificateSigningRequests."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from clientgo.api.certificates import v1 as certificatesv1
from clientgo.api.certificates import v1beta1 as certificatesv1beta1
from clientgo.util import keyutil
from clientgo.utils.clock import REAL_CLOCK

DAY = 24 * 3600.0


def subject(common_name: str = "", organizations: Iterable[str] = ()) -> x509.Name:
    names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in organizations]
    return x509.Name([*names, *([x509.NameAttribute(NameOID.COMMON_NAME, common_name)] if common_name else [])])


def alternatives(dns_names: Iterable[str] = (), addresses: Iterable[str] = ()) -> x509.SubjectAlternativeName:
    return x509.SubjectAlternativeName(
        [*map(x509.DNSName, dns_names), *(x509.IPAddress(ipaddress.ip_address(each)) for each in addresses)]
    )


def template(
    common_name: str = "", organizations: Iterable[str] = (), dns: Iterable[str] = (), ips: Iterable[str] = ()
) -> x509.CertificateSigningRequestBuilder:
    builder = x509.CertificateSigningRequestBuilder(subject(common_name, organizations))
    names = alternatives(dns, ips)
    return builder.add_extension(names, critical=False) if [*names] else builder


class Authority:
    """A certificate authority, with the clock of the library. Its certificates live from `start` to `end` days."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = subject("authority")
        self.signed = 0

    def pair(
        self,
        common_name: str = "",
        organizations: Iterable[str] = (),
        dns: Iterable[str] = (),
        ips: Iterable[str] = (),
        *,
        start: float = -1.0,
        end: float = 9.0,
    ) -> tuple[bytes, bytes]:
        """Return a certificate and its key in PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = alternatives(dns, ips)
        certificate = self._sign(key.public_key(), subject(common_name, organizations), names, start, end)
        return certificate, keyutil.marshal_private_key_to_pem(key)

    def issue(
        self, request: certificatesv1.CertificateSigningRequest, *, start: float = 0.0, end: float = 10.0
    ) -> bytes:
        """Return the certificate for a request."""
        self.signed += 1
        csr = x509.load_pem_x509_csr(request.spec.request)
        names = [each.value for each in csr.extensions if isinstance(each.value, x509.SubjectAlternativeName)]
        key = csr.public_key()
        assert isinstance(key, ec.EllipticCurvePublicKey)
        return self._sign(key, csr.subject, names[0] if names else alternatives(), start, end)

    def _sign(
        self,
        key: ec.EllipticCurvePublicKey,
        name: x509.Name,
        names: x509.SubjectAlternativeName,
        start: float,
        end: float,
    ) -> bytes:
        now = datetime.fromtimestamp(REAL_CLOCK.now(), UTC).replace(microsecond=0)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + timedelta(days=start))
            .not_valid_after(now + timedelta(days=end))
        )
        builder = builder.add_extension(names, critical=False) if [*names] else builder
        return builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)


def approve(request: Any, condition: str = "Approved") -> None:
    """Add a condition to a request of any version."""
    version = certificatesv1 if isinstance(request, certificatesv1.CertificateSigningRequest) else certificatesv1beta1
    request.status.conditions.append(
        version.CertificateSigningRequestCondition(type=condition, status="True", reason="Test", message="why")
    )
