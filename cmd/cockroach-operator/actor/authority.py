"""The certificate authority of a cluster. Go's operator runs `cockroach cert` for it."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from clientgo.util import cert, keyutil

_DAY = timedelta(days=1)
_SERVER_AUTH, _CLIENT_AUTH = ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH


class Authority:
    """The signer of the certificates of nodes and clients. Its key is in a Secret and never in a log."""

    def __init__(self, name: str, now: float, *, key: str = "", certificate: str = "", years: int = 10) -> None:
        """Create an authority, or load one from a key and a certificate in PEM.

        Raises ValueError for an invalid key or certificate.
        """
        pem = key.encode() or keyutil.make_elliptic_private_key_pem()
        private = keyutil.parse_private_key_pem(pem)
        if not isinstance(private, ec.EllipticCurvePrivateKey):
            raise ValueError("expected a private key on a curve")
        self._private, self.key = private, pem.decode()
        if certificate:
            (self._own,) = cert.parse_certs_pem(certificate.encode())
        else:
            self._own = self._sign(_name(name), _name(name), private.public_key(), now, years, is_authority=True)
        self.certificate = cert.encode_certificates(self._own).decode()

    def __repr__(self) -> str:
        return "<Authority>"

    def issue(self, name: str, hosts: Sequence[str], now: float, *, years: int) -> tuple[str, str]:
        """Return a certificate and its key in PEM, valid from yesterday on.

        Its owner authenticates as `name`, and with hosts also as a server at these names and addresses.
        """
        pem = keyutil.make_elliptic_private_key_pem()
        (public,) = keyutil.parse_public_keys_pem(pem)
        assert isinstance(public, ec.EllipticCurvePublicKey)
        found = self._sign(_name(name), self._own.subject, public, now, years, hosts)
        return cert.encode_certificates(found).decode(), pem.decode()

    def _sign(
        self,
        subject: x509.Name,
        issuer: x509.Name,
        public: ec.EllipticCurvePublicKey,
        now: float,
        years: int,
        hosts: Sequence[str] = (),
        *,
        is_authority: bool = False,
    ) -> x509.Certificate:
        at = datetime.fromtimestamp(now, UTC)
        usage = x509.KeyUsage(not is_authority, False, False, False, False, is_authority, False, False, False)
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._private.public_key())
        builder = (
            x509.CertificateBuilder(issuer, subject, public, x509.random_serial_number())
            .not_valid_before(at - _DAY)
            .not_valid_after(at + years * 365 * _DAY)
            .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(signer, critical=False)
        )
        if not is_authority:
            purposes = [*[_SERVER_AUTH] * bool(hosts), _CLIENT_AUTH]
            builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        if hosts:
            names = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self._private, hashes.SHA256())


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
